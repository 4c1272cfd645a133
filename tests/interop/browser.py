"""Headless Chromium, for suites that look at pages."""

import subprocess

import harness as h


def browse(folder, *arguments, wait=3000):
    """Runs the browser once, with `wait` milliseconds of the page's own time; gives what it printed."""
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    command += [f"--user-data-dir={folder / 'profile'}", f"--virtual-time-budget={wait}", *arguments]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=h.DEADLINE, check=False)
    h.check(ran.returncode == 0, f"the browser ended with {ran.returncode}: {ran.stderr[-600:]}")
    return ran.stdout


def drawn(folder, url, picture, wait=20000):
    """The document behind `url` after its scripts ran; a picture of it goes to `picture`."""
    browse(folder, f"--screenshot={picture}", "--window-size=1400,1000", url, wait=wait)
    return browse(folder, "--dump-dom", url, wait=wait)
