//! What one simple command does. One table by name; what is not in it is a program of which nothing is
//! known but that it runs.

use super::edits;
use super::effects::{Nature, World, Writing};
use super::exits;
use super::git;
use super::hosts;
use super::runners::{self, Check, Line};
use super::script::{Simple, Word};
use crate::model::CheckKind;

/// Commands that show files named by their operands.
const SHOW: &[&str] = &[
    "cat",
    "head",
    "tail",
    "less",
    "more",
    "nl",
    "wc",
    "file",
    "stat",
    "md5sum",
    "sha256sum",
    "sha1sum",
    "xxd",
    "hexdump",
    "od",
    "strings",
    "bat",
    "batcat",
    "column",
    "cut",
    "tr",
    "uniq",
    "sort",
    "comm",
    "paste",
    "fold",
    "rev",
    "tac",
    "diff",
    "cmp",
    "colordiff",
    "readlink",
    "realpath",
    "basename",
    "dirname",
    "zcat",
    "pdftotext",
    "fmt",
    "expand",
    "base64",
    "cksum",
    "view",
    "type",
    "get-content",
    "select-string",
    "test",
    "[",
    "[[",
    "seq",
    "yes",
    "iconv",
    "nm",
    "objdump",
    "readelf",
    "ldd",
    "exiftool",
    "identify",
    "ffprobe",
    "shuf",
    "split",
];
/// Commands whose first operand is a pattern or a program.
const FILTER: &[&str] = &[
    "grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "awk", "gawk", "mawk", "jq", "yq", "sed",
    "xmllint", "pcregrep",
];
/// Commands that show what lies in directories.
const LIST: &[&str] = &[
    "ls",
    "ll",
    "dir",
    "find",
    "tree",
    "du",
    "fd",
    "fdfind",
    "locate",
    "exa",
    "eza",
    "glob",
    "get-childitem",
    "cloc",
    "tokei",
];
/// Commands that tell something of the machine or of what runs on it.
const STATE: &[&str] = &[
    "ps",
    "pgrep",
    "pidof",
    "top",
    "htop",
    "jobs",
    "lsof",
    "netstat",
    "ss",
    "free",
    "df",
    "uptime",
    "who",
    "w",
    "vmstat",
    "iostat",
    "dmesg",
    "journalctl",
    "nvidia-smi",
    "ping",
    "dig",
    "nslookup",
    "host",
    "traceroute",
    "ip",
    "ifconfig",
    "pstree",
    "fuser",
    "last",
    "wait",
];
/// Commands that neither read files nor change anything outside the shell.
const PLAIN: &[&str] = &[
    "echo", "printf", "pwd", "date", "whoami", "id", "uname", "hostname", "env", "printenv",
    "which", "command", "whereis", "hash", "alias", "unalias", "set", "unset", "shopt", "export",
    "source", ".", "read", "exit", "return", "break", "continue", "trap", "ulimit", "umask",
    "history", "clear", "tput", "arch", "nproc", "locale", "getconf", "expr", "let", "bc", "man",
    "info", "help", "false", "shift", "local", "declare", "getopts", "tty", "stty", "cal",
    "factor", "dirs", "disown", "bg", "fg", "nvm", "pyenv", "activate", "conda",
];

/// Applies what a command does.
pub(super) fn apply(world: &mut World<'_>, simple: &Simple, background: bool) {
    let line = Line(&simple.words);
    let name = line.name();
    redirections(world, simple, name);
    if simple.words.is_empty() {
        return;
    }
    if let Some(check) = ci_status(line) {
        world.checks(check, simple, background);
        world.effects.reads.service = true;
        return world.counts(Nature::Look);
    }
    if let Some(check) = runners::recognise(&simple.words) {
        world.checks(check, simple, background);
        return world.counts(Nature::Work);
    }
    let nature = shell_words(world, name, line)
        .or_else(|| reading(world, name, line))
        .or_else(|| files(world, name, line))
        .or_else(|| repository(world, name, line))
        .or_else(|| network(world, name, line))
        .or_else(|| services(world, name, line))
        .or_else(|| packages(world, name, line))
        .unwrap_or_else(|| program(world, simple));
    world.counts(nature);
}

fn redirections(world: &mut World<'_>, simple: &Simple, name: &str) {
    // Output of a program is a result; text that a printing command gives is written by the agent.
    let printed = matches!(
        name,
        "" | "cat"
            | "echo"
            | "printf"
            | "sed"
            | "awk"
            | "jq"
            | "yq"
            | "head"
            | "tail"
            | "envsubst"
            | "base64"
            | "perl"
            | "tr"
            | "cut"
            | "sort"
    );
    for output in &simple.outputs {
        world.writes(
            &output.target,
            Writing {
                deletes: false,
                whole: !output.appends,
                edit: printed,
            },
        );
    }
}

fn shell_words(world: &mut World<'_>, name: &str, line: Line<'_>) -> Option<Nature> {
    Some(match name {
        ":" | "true" => Nature::Void,
        "sleep" | "start-sleep" => Nature::Wait(duration(line)),
        "cd" | "pushd" | "chdir" | "set-location" => {
            match line.operands().next() {
                Some(word) => world.enter_directory(word),
                None => world.lose_directory(),
            }
            Nature::Void
        }
        "popd" => {
            world.lose_directory();
            Nature::Void
        }
        _ if PLAIN.contains(&name) => Nature::Look,
        _ => return None,
    })
}

/// Sums what `sleep 1m 5` says; unknown words count nothing.
fn duration(line: Line<'_>) -> u64 {
    let of = |word: &Word| -> Option<f64> {
        let text = word.text.as_str();
        let (number, factor) = match text.char_indices().last()? {
            (at, 's') => (text.get(..at)?, 1.0),
            (at, 'm') => (text.get(..at)?, 60.0),
            (at, 'h') => (text.get(..at)?, 3600.0),
            (at, 'd') => (text.get(..at)?, 86_400.0),
            _ => (text, 1.0),
        };
        let seconds: f64 = number.parse().ok()?;
        (seconds.is_finite() && seconds >= 0.0).then_some(seconds * factor)
    };
    let seconds: f64 = line.operands().filter_map(of).sum();
    whole_millis(seconds)
}

/// Milliseconds of a number of seconds, at most some centuries.
pub(super) fn whole_millis(seconds: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to a range that fits"
    )]
    let millis = (seconds.clamp(0.0, 1e10) * 1e3).round() as u64;
    millis
}

fn reading(world: &mut World<'_>, name: &str, line: Line<'_>) -> Option<Nature> {
    if SHOW.contains(&name) {
        if let Some(word) = line.value(&["-o", "--output"]).filter(|_| name == "sort") {
            world.writes(
                &word,
                Writing {
                    whole: true,
                    ..Writing::default()
                },
            );
        }
        line.operands()
            .take(16)
            .for_each(|word| world.reads_file(word));
        return Some(Nature::Look);
    }
    if FILTER.contains(&name) {
        return Some(filter(world, name, line));
    }
    if LIST.contains(&name) {
        world.effects.reads.any_file = true;
        return Some(find(world, name, line));
    }
    if STATE.contains(&name) {
        world.effects.reads.service = true;
        return Some(Nature::Look);
    }
    None
}

fn filter(world: &mut World<'_>, name: &str, line: Line<'_>) -> Nature {
    let in_place = matches!(name, "sed" | "yq")
        && line.0.iter().skip(1).any(|w| {
            let flag = w.text.as_str();
            flag.starts_with("--in-place")
                || (flag.starts_with('-')
                    && !flag.starts_with("--")
                    && flag.contains('i')
                    && !flag.starts_with("-e"))
        });
    let scripted = line.has(&["-e", "-f", "--expression", "--regexp", "--file"]);
    let recursive = name == "rg"
        || name == "ag"
        || name == "ack"
        || line.has(&["-r", "-R", "--recursive"])
        || line.0.iter().any(|w| {
            w.text.starts_with('-')
                && !w.text.starts_with("--")
                && w.text.contains(['r', 'R'])
                && name.ends_with("grep")
        });
    let skip = usize::from(!scripted);
    let operands: Vec<&Word> = operands_after_values(
        line,
        &[
            "-e",
            "-f",
            "-A",
            "-B",
            "-C",
            "-m",
            "--include",
            "--exclude",
            "-v",
            "-F",
            "--arg",
        ],
        name,
    )
    .into_iter()
    .skip(skip)
    .take(17)
    .collect();
    if in_place {
        for word in operands {
            world.writes(
                word,
                Writing {
                    edit: true,
                    ..Writing::default()
                },
            );
        }
        return Nature::Work;
    }
    if recursive || operands.len() > 16 {
        world.effects.reads.any_file = true;
    } else {
        operands.into_iter().for_each(|word| world.reads_file(word));
    }
    Nature::Look
}

/// Operands of a filter, the values of its options left out.
fn operands_after_values<'a>(line: Line<'a>, valued: &[&str], name: &str) -> Vec<&'a Word> {
    let mut out = Vec::new();
    let mut words = line.0.iter().skip(1);
    while let Some(word) = words.next() {
        if valued.contains(&word.text.as_str())
            && !(word.text == "-v" && name != "awk" && name != "gawk")
            && !(word.text == "-F" && name.ends_with("grep"))
        {
            words.next();
        } else if !word.text.starts_with('-') || word.text == "-" {
            out.push(word);
        }
    }
    out
}

fn find(world: &mut World<'_>, name: &str, line: Line<'_>) -> Nature {
    if name != "find" && name != "fd" {
        return Nature::Look;
    }
    let deletes = line.0.iter().any(|w| w.text == "-delete");
    let executes = line
        .0
        .iter()
        .position(|w| matches!(w.text.as_str(), "-exec" | "-execdir" | "-ok" | "-x"))
        .and_then(|at| line.0.get(at + 1))
        .map(|w| w.text.as_str());
    let changes = deletes
        || matches!(
            executes,
            Some("rm" | "mv" | "cp" | "sed" | "chmod" | "tee" | "perl" | "sh" | "bash")
        );
    if !changes {
        return if executes.is_none_or(|name| SHOW.contains(&name) || FILTER.contains(&name)) {
            Nature::Look
        } else {
            Nature::Work
        };
    }
    let removes = deletes || executes == Some("rm");
    if let Some(word) = line.operands().next() {
        world.writes(
            word,
            Writing {
                deletes: removes,
                ..Writing::default()
            },
        );
    }
    world.effects.changes.any_file = true;
    // What it touches is named by patterns: sources may be among it unless it clears away caches.
    if !removes {
        let dir = world.directory();
        world.notes_edit(dir.as_deref());
    }
    Nature::Work
}

fn files(world: &mut World<'_>, name: &str, line: Line<'_>) -> Option<Nature> {
    let edit = Writing {
        edit: true,
        ..Writing::default()
    };
    match name {
        "tee" | "out-file" | "set-content" | "sponge" => {
            let whole = !line.has(&["-a", "--append"]);
            line.operands()
                .for_each(|word| world.writes(word, Writing { whole, ..edit }));
        }
        "rm" | "unlink" | "rmdir" | "shred" | "trash" | "del" | "erase" | "remove-item" | "rd" => {
            line.operands().for_each(|word| {
                world.writes(
                    word,
                    Writing {
                        deletes: true,
                        ..edit
                    },
                )
            });
        }
        "cp" | "mv" | "install" | "rsync" | "ln" | "copy" | "move" | "copy-item" | "move-item"
        | "xcopy" => copies(world, name, line),
        "mkdir" | "md" | "touch" | "mkfifo" | "truncate" => {
            let mut skip = line.value(&["-m", "--mode", "-d", "-t", "-s", "-r"]);
            for word in line.operands() {
                if skip.as_ref() == Some(word) {
                    skip = None;
                } else {
                    world.writes(word, Writing::default());
                }
            }
        }
        "chmod" | "chown" | "chgrp" | "setfacl" => {
            line.operands().skip(1).take(16).for_each(|word| {
                let path = world.resolve(word);
                if !path.unresolved {
                    world.effects.changes.any_file = true;
                }
            });
        }
        "dd" => {
            for word in line.0.iter().skip(1) {
                if let Some(target) = word.text.strip_prefix("of=") {
                    let target = Word {
                        text: target.to_owned(),
                        dynamic: word.dynamic,
                    };
                    world.writes(
                        &target,
                        Writing {
                            whole: true,
                            ..Writing::default()
                        },
                    );
                }
            }
        }
        "perl" | "ruby"
            if line.0.iter().skip(1).any(|w| {
                w.text.starts_with('-')
                    && w.text.len() < 8
                    && w.text.contains('i')
                    && !w.text.starts_with("--")
            }) =>
        {
            line.operands()
                .skip(1)
                .for_each(|word| world.writes(word, edit));
        }
        "patch" | "apply_patch" | "applypatch" | "git-apply" => patch(world, line, name),
        "tar" | "unzip" | "gunzip" | "bunzip2" | "unxz" | "7z" | "zip" | "gzip" => {
            if let Some(dir) = line.value(&["-C", "-d", "--directory"]) {
                world.writes(&dir, Writing::default());
            }
            world.effects.changes.any_file = true;
        }
        _ => return None,
    }
    Some(Nature::Work)
}

fn copies(world: &mut World<'_>, name: &str, line: Line<'_>) {
    let edit = Writing {
        edit: true,
        ..Writing::default()
    };
    let moves = matches!(name, "mv" | "move" | "move-item");
    let target = line.value(&["-t", "--target-directory"]);
    let operands: Vec<&Word> = line.operands().take(64).collect();
    let (sources, destination) = match (&target, operands.split_last()) {
        (Some(target), _) => (operands.as_slice(), Some(target)),
        (None, Some((last, rest))) => (rest, Some(*last)),
        (None, None) => return,
    };
    if moves {
        sources.iter().for_each(|word| {
            world.writes(
                word,
                Writing {
                    deletes: true,
                    ..edit
                },
            )
        });
    }
    let Some(destination) = destination else {
        return;
    };
    if matches!(name, "rsync") && hosts::of_remote(&destination.text).is_some() {
        return world.contacts(hosts::of_remote(&destination.text));
    }
    if name == "rsync" {
        sources
            .iter()
            .for_each(|word| world.contacts(hosts::of_remote(&word.text)));
    }
    world.writes(
        destination,
        Writing {
            whole: !matches!(name, "ln"),
            ..edit
        },
    );
}

fn patch(world: &mut World<'_>, line: Line<'_>, name: &str) {
    let text = line
        .operands()
        .next()
        .map(|w| w.text.clone())
        .filter(|t| t.contains('\n'));
    match text {
        Some(text) if name != "patch" => patch_text(world, &text),
        _ => world.changes_tree(),
    }
}

/// Applies the headers of a patch.
pub(super) fn patch_text(world: &mut World<'_>, text: &str) {
    let patched = edits::patched(text);
    if patched.is_empty() {
        world.effects.changes.unknown = true;
    }
    for change in patched {
        let word = Word {
            text: change.path,
            dynamic: false,
        };
        world.writes(
            &word,
            Writing {
                deletes: change.deletes,
                whole: change.adds,
                edit: true,
            },
        );
    }
}

fn repository(world: &mut World<'_>, name: &str, line: Line<'_>) -> Option<Nature> {
    if name != "git" {
        return None;
    }
    let Some(effect) = git::effect(line.0) else {
        world.effects.reads.repo = true;
        return Some(Nature::Work);
    };
    world.effects.reads.repo |= effect.reads;
    world.effects.reads.any_file |= effect.reads_tree;
    world.effects.changes.repo |= effect.changes;
    if effect.changes_tree {
        world.effects.changes.any_file = true;
        let dir = match git::directory(line.0) {
            Some(dir) => world.directory_at(dir),
            None => world.directory(),
        };
        world.notes_edit(dir.as_deref());
    }
    if effect.remote {
        line.operands()
            .for_each(|word| world.contacts(hosts::of_remote(&word.text)));
    }
    Some(if effect.changes {
        Nature::Work
    } else {
        Nature::Look
    })
}

/// Reads the state of continuous integration: `gh pr checks`, `gh run watch`, `glab ci status`.
fn ci_status(line: Line<'_>) -> Option<Check> {
    let (first, second) = (line.text(1), line.text(2));
    let status = match (line.name(), first, second) {
        (_, "pr" | "mr", "checks")
        | ("gh", "run", "view" | "watch" | "list")
        | ("glab", "ci" | "pipeline", "status" | "view" | "list") => true,
        ("hub", "ci-status", _) => true,
        _ => false,
    };
    status.then(|| Check {
        runner: "ci".to_owned(),
        kind: CheckKind::Tests,
        dir: None,
        partial: false,
        builds: false,
    })
}

fn network(world: &mut World<'_>, name: &str, line: Line<'_>) -> Option<Nature> {
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

fn http(world: &mut World<'_>, name: &str, line: Line<'_>) -> Nature {
    const VALUED: &[&str] = &[
        "-X",
        "--request",
        "-H",
        "--header",
        "-d",
        "--data",
        "--data-raw",
        "--data-binary",
        "--data-urlencode",
        "-F",
        "--form",
        "-u",
        "--user",
        "-o",
        "--output",
        "-A",
        "--user-agent",
        "-e",
        "-b",
        "-c",
        "--cookie",
        "-m",
        "--max-time",
        "--connect-timeout",
        "-w",
        "--write-out",
        "-x",
        "--proxy",
        "-T",
        "--upload-file",
        "--retry",
        "--retry-delay",
        "-P",
        "-t",
        "-U",
        "--json",
        "--cacert",
        "--cert",
        "--key",
        "-K",
        "--resolve",
        "--interface",
        "-y",
        "-Y",
        "--limit-rate",
        "-Q",
        "--directory-prefix",
        "--output-document",
        "--output-dir",
        "--method",
        "--body-data",
        "--post-data",
        "-Method",
        "-Body",
        "-OutFile",
        "-Headers",
    ];
    let mut words = line.0.iter().skip(1);
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        if VALUED.contains(&text)
            && !(name == "wget" && matches!(text, "-c" | "-b" | "-x" | "-K" | "-F" | "-d" | "-m"))
        {
            words.next();
        } else if !text.starts_with('-') {
            let named = name != "http"
                || !matches!(text, "GET" | "POST" | "PUT" | "DELETE" | "PATCH" | "HEAD");
            world.contacts(named.then(|| hosts::of_url(text, true)).flatten());
        }
    }
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

fn services(world: &mut World<'_>, name: &str, line: Line<'_>) -> Option<Nature> {
    let verb = line.operands().next().map_or("", |w| w.text.as_str());
    let second = line.operands().nth(1).map_or("", |w| w.text.as_str());
    let looks = match name {
        "docker" | "podman" | "docker-compose" | "nerdctl" => {
            let verb = if verb == "compose" { second } else { verb };
            matches!(
                verb,
                "ps" | "logs"
                    | "images"
                    | "inspect"
                    | "stats"
                    | "top"
                    | "version"
                    | "info"
                    | "port"
                    | "config"
                    | "ls"
                    | "events"
            )
        }
        "kubectl" | "oc" => matches!(
            verb,
            "get"
                | "describe"
                | "logs"
                | "top"
                | "explain"
                | "version"
                | "api-resources"
                | "config"
                | "cluster-info"
                | "wait"
        ),
        "systemctl" | "service" | "supervisorctl" | "pm2" | "rc-service" => {
            matches!(
                verb,
                "status"
                    | "is-active"
                    | "list-units"
                    | "show"
                    | "list"
                    | "logs"
                    | "is-enabled"
                    | "cat"
            ) || second == "status"
        }
        "terraform" | "tofu" | "pulumi" => matches!(
            verb,
            "plan" | "show" | "output" | "state" | "providers" | "version" | "preview"
        ),
        "helm" => matches!(
            verb,
            "list" | "ls" | "status" | "get" | "template" | "lint" | "history" | "show" | "search"
        ),
        "aws" | "gcloud" | "az" | "gh" | "glab" | "heroku" | "fly" | "flyctl" | "doctl" => {
            let words = [
                "list", "get", "describe", "show", "view", "status", "ls", "logs", "diff",
                "checks", "watch",
            ];
            line.operands().take(4).any(|w| {
                words
                    .iter()
                    .any(|x| w.text == *x || w.text.starts_with(&format!("{x}-")))
            })
        }
        "redis-cli" => matches!(
            verb.to_ascii_lowercase().as_str(),
            "get" | "ping" | "info" | "keys" | "ttl" | "scan" | "hgetall" | "llen"
        ),
        "vercel" | "netlify" | "serverless" | "sls" | "ansible" | "ansible-playbook"
        | "alembic" | "flyway" | "liquibase" | "kill" | "pkill" | "killall" | "cap" | "eb"
        | "cdk" | "sam" | "skaffold" | "argocd" | "flux" | "initctl" | "reboot" | "shutdown"
        | "crontab" => false,
        _ => return migration(world, line),
    };
    world.effects.reads.service = true;
    if looks {
        return Some(Nature::Look);
    }
    world.effects.changes.service = true;
    Some(Nature::Work)
}

/// `python manage.py migrate`, `rails db:migrate`, `npx prisma migrate deploy`, `npm run deploy`.
fn migration(world: &mut World<'_>, line: Line<'_>) -> Option<Nature> {
    let migrates = line.0.iter().take(6).skip(1).any(|w| {
        matches!(
            w.text.as_str(),
            "migrate"
                | "db:migrate"
                | "db:reset"
                | "db:seed"
                | "deploy"
                | "db:push"
                | "publish"
                | "restart"
        ) || w.text.starts_with("deploy:")
            || w.text.starts_with("migrate:")
    });
    if !migrates {
        return None;
    }
    world.effects.changes.service = true;
    Some(Nature::Work)
}

fn packages(world: &mut World<'_>, name: &str, line: Line<'_>) -> Option<Nature> {
    let manager = matches!(
        name,
        "pip"
            | "pip3"
            | "uv"
            | "poetry"
            | "pdm"
            | "pipenv"
            | "conda"
            | "mamba"
            | "npm"
            | "yarn"
            | "pnpm"
            | "bun"
            | "cargo"
            | "go"
            | "gem"
            | "bundle"
            | "apt"
            | "apt-get"
            | "apk"
            | "dnf"
            | "yum"
            | "brew"
            | "pacman"
            | "choco"
            | "winget"
            | "composer"
            | "rustup"
            | "nix"
            | "snap"
            | "dotnet"
            | "mvn"
            | "pipx"
            | "easy_install"
            | "luarocks"
            | "opam"
            | "cabal"
            | "stack"
            | "mix"
    );
    let installs = line.0.iter().take(5).skip(1).any(|w| {
        matches!(
            w.text.as_str(),
            "install"
                | "add"
                | "i"
                | "ci"
                | "remove"
                | "uninstall"
                | "update"
                | "upgrade"
                | "sync"
                | "lock"
                | "get"
                | "tidy"
                | "require"
                | "deps.get"
                | "-S"
                | "restore"
                | "fetch"
                | "reinstall"
                | "autoremove"
                | "dist-upgrade"
                | "venv"
                | "download"
        )
    }) || (name == "yarn" && line.0.len() == 1);
    if !manager || !installs {
        return None;
    }
    if let Some(index) = line.value(&[
        "--index-url",
        "-i",
        "--extra-index-url",
        "--registry",
        "--find-links",
        "--source",
        "--index",
    ]) {
        world.contacts(hosts::of_url(&index.text, false));
    }
    for word in line.operands() {
        // `git+ssh://host/x`, `https://host/x.whl`.
        let url = word
            .text
            .split_once("git+")
            .map_or(word.text.as_str(), |(_, url)| url);
        world.contacts(hosts::of_url(url, false));
    }
    world.effects.changes.workspace = true;
    Some(Nature::Work)
}

/// Anything else is a program: what it answers depends on the whole workspace, what it changes is unknown.
fn program(world: &mut World<'_>, simple: &Simple) -> Nature {
    if exits::is_probe(simple) {
        return Nature::Look;
    }
    world.effects.reads.workspace = true;
    world.effects.changes.unknown = true;
    world.effects.weak_check = true;
    Nature::Work
}
