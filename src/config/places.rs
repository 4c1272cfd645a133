//! Directories and links of the processor: what could never work, or would take everything in.

use crate::detectors::Rules;
use crate::model::{AnomalyType, unusable_directory};

use super::problems::Problems;
use super::report::Problem;
use super::tree::{Entry, Node};

/// Checks `workspace`, the detectors' `allowed_dirs` and `annotate.trace_url`. `rules` are those of scope_escape:
/// the source takes its directories as they stand.
pub(super) fn check(entry: &Entry, rules: Rules, problems: &mut Problems) {
    let home = home(entry, problems);
    roots(entry, home, problems);
    let path = ["detectors", AnomalyType::ScopeEscape.name(), "allowed_dirs"];
    if let Some(dirs) = entry.value.at(&path).filter(|_| rules == Rules::Aware) {
        for dir in dirs.value.members() {
            if let Some(text) = dir.text() {
                directory(dir, text, home, problems);
            }
        }
    }
    if let Some(url) = entry.value.at(&["annotate", "trace_url"]) {
        trace_url(url, problems);
    }
}

fn home<'a>(entry: &'a Entry, problems: &mut Problems) -> Option<&'a str> {
    let written = entry.value.at(&["workspace", "home"])?;
    let home = written.value.text()?;
    let absolute = home.starts_with('/') || home.get(1..2) == Some(":");
    if !absolute {
        problems.push(
            Problem::error(
                written.shown(),
                format!("`{home}` is no absolute directory"),
            )
            .help("write what `~` stands for, like /home/agent"),
        );
        return None;
    }
    Some(home)
}

fn roots(entry: &Entry, home: Option<&str>, problems: &mut Problems) {
    let Some(written) = entry.value.at(&["workspace", "root"]) else {
        return;
    };
    let one = std::slice::from_ref(&written.value);
    let list = matches!(written.value.value, super::tree::Value::List(_));
    let members: &[Node] = if list { written.value.members() } else { one };
    if list && members.is_empty() {
        problems.push(
            Problem::error(written.key_place, "a workspace without a directory: nothing could be judged")
                .help("write a directory, or leave `root` out: then it is the resource's working directory"),
        );
    }
    let infer = members.iter().find(|member| member.text() == Some("infer"));
    for member in members {
        let Some(text) = member.text() else { continue };
        if text == "infer" || text.contains('{') || problems.is_dropped(member.place) {
            continue;
        }
        let good = directory(member, text, home, problems);
        if let Some(infer) = infer.filter(|_| good) {
            problems.push(
                Problem::error(
                    infer.place,
                    format!("nothing is ever inferred beside `{text}`"),
                )
                .help(
                    "write infer alone, or beside directories with attributes that may be missing",
                ),
            );
        }
    }
}

/// Reports a directory that is of no use; whether it is.
fn directory(node: &Node, text: &str, home: Option<&str>, problems: &mut Problems) -> bool {
    let Some(what) = unusable_directory(text, home) else {
        return true;
    };
    problems.push(
        Problem::error(node.place, format!("`{text}` {what}"))
            .help("write an absolute directory, like /srv/agent or C:\\agent"),
    );
    false
}

/// What stands for an id in a link.
const PLACEHOLDERS: [&str; 2] = ["trace_id", "span_id"];

fn trace_url(written: &Entry, problems: &mut Problems) {
    let Some(text) = written.value.text().filter(|text| !text.is_empty()) else {
        return;
    };
    let example = "write a URL with {trace_id}, like https://jaeger.example/trace/{trace_id}";
    let mut wrong = Vec::new();
    if !text.starts_with("http://") && !text.starts_with("https://") {
        wrong.push(format!("`{text}` is no URL"));
    }
    let mut rest = text;
    while let Some((_, after)) = rest.split_once('{') {
        let Some((name, behind)) = after.split_once('}') else {
            wrong.push("a `{` that is never closed".to_owned());
            break;
        };
        if !PLACEHOLDERS.contains(&name) {
            wrong.push(format!("there is no `{{{name}}}` to fill in"));
        }
        rest = behind;
    }
    if wrong.is_empty() && !text.contains("{trace_id}") {
        wrong.push("without `{trace_id}` every link would be the same".to_owned());
    }
    for message in wrong {
        let help = format!("{example}; allowed: {{{}}}", PLACEHOLDERS.join("}, {"));
        problems.push(Problem::error(written.shown(), message).help(help));
    }
}
