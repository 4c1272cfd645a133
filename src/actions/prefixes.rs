//! Commands that run another command: `sudo`, `env`, `timeout 5`, `xargs`, `docker exec`, `bash -c`.
//!
//! Invariant: what is left is the command that does the work; when the grammar of a prefix is not
//! followed, the prefix stays and nothing is guessed.

use super::script::{Simple, Word, base_name};

/// Most prefixes taken off one command.
const MAX_PREFIXES: usize = 16;

/// How a prefix command reads its own arguments.
struct Prefix {
    name: &'static str,
    /// Options that take the next word as their value.
    valued: &'static [&'static str],
    /// Words that follow the options before the command (`timeout 5`).
    operands: usize,
    /// `NAME=value` words may stand before the command.
    assigns: bool,
}

const fn prefix(name: &'static str, valued: &'static [&'static str], operands: usize) -> Prefix {
    Prefix {
        name,
        valued,
        operands,
        assigns: false,
    }
}

const PREFIXES: &[Prefix] = &[
    Prefix {
        name: "env",
        valued: &["-u", "--unset", "-C", "--chdir", "-S"],
        operands: 0,
        assigns: true,
    },
    Prefix {
        name: "sudo",
        valued: &[
            "-u", "-g", "-h", "-p", "-C", "-D", "-R", "-T", "--user", "--group", "--chdir",
        ],
        operands: 0,
        assigns: true,
    },
    Prefix {
        name: "cross-env",
        valued: &[],
        operands: 0,
        assigns: true,
    },
    prefix("doas", &["-u", "-C"], 0),
    prefix("timeout", &["-k", "--kill-after", "-s", "--signal"], 1),
    prefix("gtimeout", &["-k", "--kill-after", "-s", "--signal"], 1),
    prefix("nohup", &[], 0),
    prefix("nice", &["-n", "--adjustment"], 0),
    prefix("ionice", &["-c", "-n"], 0),
    prefix("chrt", &[], 1),
    prefix("taskset", &[], 1),
    prefix("stdbuf", &["-i", "-o", "-e"], 0),
    prefix("setsid", &[], 0),
    prefix("time", &["-f", "-o"], 0),
    prefix("command", &[], 0),
    prefix("builtin", &[], 0),
    prefix("exec", &["-a"], 0),
    prefix("unbuffer", &[], 0),
    prefix("xvfb-run", &["-n", "-s", "--server-args", "-e"], 0),
    prefix("caffeinate", &["-t", "-w"], 0),
    prefix("watch", &["-n", "--interval"], 0),
    prefix(
        "xargs",
        &[
            "-n",
            "-P",
            "-I",
            "-L",
            "-d",
            "-a",
            "-s",
            "-E",
            "--max-args",
            "--max-procs",
        ],
        0,
    ),
    prefix("dotenv", &["-f", "-e"], 0),
    prefix("flock", &["-w", "-E"], 1),
    prefix("strace", &["-e", "-o", "-p"], 0),
    prefix("proot", &[], 0),
];

/// Takes every prefix off.
pub(super) fn strip(mut simple: Simple) -> Simple {
    for _ in 0..MAX_PREFIXES {
        let Some(next) = strip_one(&mut simple) else {
            break;
        };
        if next == 0 || next >= simple.words.len() {
            break;
        }
        simple.words.drain(..next);
    }
    simple
}

/// Where the command behind the first prefix begins.
fn strip_one(simple: &mut Simple) -> Option<usize> {
    let name = simple.name().to_owned();
    if matches!(
        name.as_str(),
        "docker" | "podman" | "docker-compose" | "kubectl" | "nerdctl"
    ) {
        return container(simple);
    }
    let prefix = PREFIXES.iter().find(|p| p.name == name)?;
    if matches!(name.as_str(), "command" | "script" | "xvfb-run") && has(simple, &["-v", "-V"]) {
        return None;
    }
    let at = skip_options(simple, 1, prefix.valued);
    let mut at = at + prefix.operands;
    if prefix.assigns {
        while simple.words.get(at).is_some_and(is_assignment) {
            at += 1;
        }
    }
    if at >= simple.words.len() {
        return None;
    }
    match prefix.name {
        "timeout" | "gtimeout" => simple.limited = true,
        "env" | "sudo" => {
            let dir = value(simple, &["-C", "--chdir", "-D"], at);
            simple.dir = dir.or_else(|| simple.dir.take());
        }
        "xargs" => {
            // What comes in on standard input is appended, and nobody knows what it is.
            simple.words.push(Word {
                text: "$(xargs)".to_owned(),
                dynamic: true,
            });
        }
        _ => {}
    }
    Some(at)
}

/// `docker exec [options] name command`, `docker compose run service command`, `kubectl exec pod -- command`.
fn container(simple: &mut Simple) -> Option<usize> {
    const VALUED: &[&str] = &[
        "-e",
        "--env",
        "-u",
        "--user",
        "-w",
        "--workdir",
        "--env-file",
        "-f",
        "--file",
        "-p",
        "--project-name",
        "-v",
        "--volume",
        "--name",
        "--network",
        "-n",
        "--namespace",
        "-c",
        "--container",
        "--entrypoint",
        "--profile",
        "--project-directory",
        "--platform",
        "--mount",
        "--context",
        "-m",
        "--memory",
        "--cpus",
        "--index",
    ];
    let kubectl = simple.name() == "kubectl";
    let mut at = skip_options(simple, 1, VALUED);
    if simple.words.get(at).is_some_and(|w| w.text == "compose") {
        at = skip_options(simple, at + 1, VALUED);
    }
    let verb = simple.words.get(at)?.text.as_str();
    if !matches!(verb, "exec" | "run") {
        return None;
    }
    let options_from = at;
    at = if kubectl {
        simple.words.iter().position(|w| w.text == "--")? + 1
    } else {
        // The container, image or service is one word.
        skip_options(simple, at + 1, VALUED) + 1
    };
    if at >= simple.words.len() {
        return None;
    }
    let dir = simple
        .words
        .get(options_from..at)
        .and_then(|options| find_value(options, &["-w", "--workdir"]));
    simple.dir = dir;
    simple.away = true;
    Some(at)
}

fn has(simple: &Simple, flags: &[&str]) -> bool {
    simple
        .words
        .iter()
        .skip(1)
        .take_while(|w| w.text.starts_with('-'))
        .any(|w| flags.contains(&w.text.as_str()))
}

fn value(simple: &Simple, flags: &[&str], until: usize) -> Option<Word> {
    find_value(simple.words.get(..until)?, flags)
}

fn find_value(words: &[Word], flags: &[&str]) -> Option<Word> {
    words.iter().enumerate().find_map(|(at, word)| {
        if flags.contains(&word.text.as_str()) {
            return words.get(at + 1).cloned();
        }
        let (flag, value) = word.text.split_once('=')?;
        flags.contains(&flag).then(|| Word {
            text: value.to_owned(),
            dynamic: word.dynamic,
        })
    })
}

/// The first word from `at` on that is no option nor an option's value.
fn skip_options(simple: &Simple, mut at: usize, valued: &[&str]) -> usize {
    while let Some(word) = simple.words.get(at) {
        match word.text.as_str() {
            "--" => return at + 1,
            flag if flag.len() > 1 && flag.starts_with('-') => {
                at += if valued.contains(&flag) { 2 } else { 1 };
            }
            _ => return at,
        }
    }
    at
}

fn is_assignment(word: &Word) -> bool {
    word.text.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// The text that an inner shell runs: `bash -lc '...'`, `sh <<EOF`, `eval '...'`, `powershell -Command ...`.
/// `None` when it is none, or its text is not known here.
pub(super) fn inner_shell(simple: &Simple) -> Option<String> {
    match simple.name() {
        "bash" | "sh" | "zsh" | "dash" | "ksh" | "ash" | "fish" => {
            let mut words = simple.words.iter().skip(1);
            while let Some(word) = words.next() {
                let flag = word.text.as_str();
                if matches!(flag, "-o" | "+o" | "-O" | "--rcfile" | "--init-file") {
                    words.next();
                } else if flag.starts_with('-') && !flag.starts_with("--") && flag.contains('c') {
                    return words.find(|w| !w.text.starts_with('-')).and_then(known);
                } else if !flag.starts_with('-') || flag == "-" {
                    return None;
                }
            }
            simple.input.clone()
        }
        "su" | "script" => find_value(&simple.words, &["-c", "--command", "-qc", "-qec"])
            .as_ref()
            .and_then(known),
        "eval" => joined(simple.words.get(1..)?),
        "powershell" | "pwsh" => {
            let at = simple
                .words
                .iter()
                .position(|w| matches!(w.text.to_ascii_lowercase().as_str(), "-command" | "-c"))?;
            joined(simple.words.get(at + 1..)?).map(|text| text.replace('\\', "/"))
        }
        "cmd" => {
            let at = simple
                .words
                .iter()
                .position(|w| w.text.eq_ignore_ascii_case("/c"))?;
            joined(simple.words.get(at + 1..)?).map(|text| text.replace('\\', "/"))
        }
        name if base_name(name) == "busybox" => None,
        _ => None,
    }
}

/// A text with an expansion in it is still worth parsing: the expansion stays what it is.
fn known(word: &Word) -> Option<String> {
    (!word.dynamic || !is_only_expansion(&word.text)).then(|| word.text.clone())
}

fn is_only_expansion(text: &str) -> bool {
    text.starts_with('$') && !text.contains(char::is_whitespace)
}

fn joined(words: &[Word]) -> Option<String> {
    let mut text = String::new();
    for word in words {
        if is_only_expansion(&word.text) && word.dynamic {
            return None;
        }
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(&word.text);
    }
    (!text.is_empty()).then_some(text)
}
