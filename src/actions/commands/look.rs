//! Commands that look at files, directories and processes.

use super::super::runners::Line;
use super::super::script::{Word, Words};
use super::super::world::{Nature, World, Writing};

/// Commands that show files named by their operands.
const SHOW: Words = Words(
    "cat head tail less more nl wc file stat md5sum sha256sum sha1sum xxd hexdump od strings \
     bat batcat column cut tr uniq sort comm paste fold rev tac diff cmp colordiff readlink \
     realpath basename dirname zcat pdftotext fmt expand base64 cksum view type get-content \
     select-string test [ [[ seq yes iconv nm objdump readelf ldd exiftool identify ffprobe \
     shuf split",
);

/// Commands whose first operand is a pattern or a program.
const FILTER: Words =
    Words("grep egrep fgrep zgrep rg ag ack awk gawk mawk jq yq sed xmllint pcregrep");
/// Commands that show what lies in directories.
const LIST: Words =
    Words("ls ll dir find tree du fd fdfind locate exa eza glob get-childitem cloc tokei");
/// Commands that tell something of the machine or of what runs on it.
const STATE: Words = Words(
    "ps pgrep pidof top htop jobs lsof netstat ss free df uptime who w vmstat iostat dmesg \
     journalctl nvidia-smi ping dig nslookup host traceroute ip ifconfig pstree fuser last wait",
);

pub(super) fn reading(world: &mut World<'_>, name: &str, line: Line<'_>) -> Option<Nature> {
    if SHOW.contains(name) {
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
    if FILTER.contains(name) {
        return Some(filter(world, name, line));
    }
    if LIST.contains(name) {
        world.effects.reads.any_file = true;
        return Some(find(world, name, line));
    }
    if STATE.contains(name) {
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
    // `sed -i '' 's/a/b/' file`, as on BSD: an empty ending is no operand.
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
        for word in operands
            .into_iter()
            .filter(|word| !word.text.contains(['{', '}']))
        {
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
        } else if !word.text.is_empty() && (!word.text.starts_with('-') || word.text == "-") {
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
        return if executes.is_none_or(|name| SHOW.contains(name) || FILTER.contains(name)) {
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
        let dir = match line.operands().next() {
            Some(word) => world.directory_at(word),
            None => world.directory(),
        };
        world.notes_edit(dir.as_deref());
    }
    Nature::Work
}
