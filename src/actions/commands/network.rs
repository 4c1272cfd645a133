//! Commands that talk to other hosts.

use super::super::hosts;
use super::super::runners::Line;
use super::super::script::{Word, Words};
use super::super::world::{Nature, World, Writing};

pub(super) fn network(world: &mut World<'_>, name: &str, line: Line<'_>) -> Option<Nature> {
    match name {
        "curl" | "wget" | "http" | "https" | "xh" | "aria2c" | "httpie" | "invoke-webrequest"
        | "iwr" | "irm" | "invoke-restmethod" => Some(http(world, name, line)),
        "ssh" | "sftp" | "mosh" | "telnet" | "nc" | "ncat" | "netcat" | "ftp" | "socat" | "scp"
        | "rclone" | "nmap" => {
            let first = remote_operand(line);
            match name {
                "scp" => line
                    .operands()
                    .for_each(|word| world.contacts(hosts::of_remote(&word.text))),
                "rclone" | "socat" => {}
                _ => world.contacts(first.and_then(|word| hosts::of_authority(&word.text))),
            }
            world.effects.changes.unknown =
                !matches!(name, "nc" | "ncat" | "netcat" | "telnet" | "nmap");
            world.effects.reads.service = true;
            if name == "scp"
                && let Some(last) = line.operands().last()
                && hosts::of_remote(&last.text).is_none()
            {
                world.writes(
                    last,
                    Writing {
                        whole: true,
                        ..Writing::default()
                    },
                );
            }
            Some(Nature::Work)
        }
        "psql" | "pg_dump" | "pg_restore" | "mysql" | "mysqldump" | "mariadb" | "redis-cli"
        | "mongosh" | "ldapsearch" => {
            if let Some(host) = line.value(&["-h", "--host"]) {
                world.contacts(hosts::of_authority(&host.text));
            }
            line.operands()
                .for_each(|word| world.contacts(hosts::of_url(&word.text, false)));
            // What it does is told below.
            None
        }
        _ => None,
    }
}

fn remote_operand<'a>(line: Line<'a>) -> Option<&'a Word> {
    let mut words = line.0.iter().skip(1);
    while let Some(word) = words.next() {
        match word.text.as_str() {
            "-p" | "-i" | "-l" | "-o" | "-L" | "-R" | "-D" | "-F" | "-w" | "-J" | "-P" | "-S"
            | "-s" | "-q" | "-c" | "-b" => {
                words.next();
            }
            flag if flag.starts_with('-') => {}
            _ => return Some(word),
        }
    }
    None
}

/// The hosts that a client of HTTP is told to contact.
fn addresses(world: &mut World<'_>, name: &str, line: Line<'_>) {
    const VALUED: Words = Words(
        "-X --request -H --header -d --data --data-raw --data-binary --data-urlencode -F --form -u \
     --user -o --output -A --user-agent -e -b -c --cookie -m --max-time --connect-timeout -w \
     --write-out -x --proxy -T --upload-file --retry --retry-delay -P -t -U --json --cacert \
     --cert --key -K --resolve --interface -y -Y --limit-rate -Q --directory-prefix \
     --output-document --output-dir --method --body-data --post-data -Method -Body -OutFile \
     -Headers --unix-socket --abstract-unix-socket --noproxy --range --continue-at --max-redirs \
     --retry-max-time --proxy-user --proxy-header --url-query --dump-header -D --stderr --trace \
     --trace-ascii --netrc-file --cert-type --ciphers --aws-sigv4 --speed-limit --speed-time",
    );
    // What goes through a socket of this machine reaches no host, whatever name stands in the address.
    if line.has(&["--unix-socket", "--abstract-unix-socket"]) {
        return;
    }
    let mut words = line.0.iter().skip(1);
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        if matches!(text, "-x" | "--proxy") && name == "curl" {
            world.contacts(
                words
                    .next()
                    .and_then(|word| hosts::of_url(&word.text, true)),
            );
        } else if VALUED.contains(text)
            && !(name == "wget" && matches!(text, "-c" | "-b" | "-x" | "-K" | "-F" | "-d" | "-m"))
        {
            words.next();
        } else if !text.starts_with('-') {
            // These take a method, one address, and then members of the body.
            let one = matches!(name, "http" | "https" | "xh" | "httpie");
            if one && text.bytes().all(|byte| byte.is_ascii_uppercase()) {
                continue;
            }
            world.contacts(hosts::of_url(text, true));
            if one {
                break;
            }
        }
    }
}

fn http(world: &mut World<'_>, name: &str, line: Line<'_>) -> Nature {
    addresses(world, name, line);
    let output = if name == "wget" {
        ["-O", "--output-document", "-P", "--directory-prefix"]
    } else {
        ["-o", "--output", "-OutFile", "--output-dir"]
    };
    if let Some(target) = line.value(&output).filter(|w| w.text != "-") {
        world.writes(
            &target,
            Writing {
                whole: true,
                ..Writing::default()
            },
        );
    }
    world.effects.reads.service = true;
    let method = line
        .value(&["-X", "--request", "--method", "-Method"])
        .map(|w| w.text.to_uppercase());
    let sends = line.has(&[
        "-d",
        "--data",
        "--data-raw",
        "--data-binary",
        "--data-urlencode",
        "-F",
        "--form",
        "--json",
        "-T",
        "--upload-file",
        "--post-data",
        "-Body",
    ]);
    let reads = match method.as_deref() {
        Some(method) => matches!(method, "GET" | "HEAD" | "OPTIONS"),
        None => !sends,
    };
    if reads {
        return Nature::Look;
    }
    world.effects.changes.unknown = true;
    Nature::Work
}
