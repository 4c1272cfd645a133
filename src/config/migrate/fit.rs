//! Leaves out what our own reading does not take, and names it.

use super::super::tree::{Entry, Node, Place, Value};
use super::stand::StandIns;
use super::{NOWHERE, Notes};
use crate::model::Timestamp;

/// Rounds of leaving out: each takes away at least one entry.
const ROUNDS_MAX: usize = 200;

/// Keys that the collector knows and we do not, with the reason.
const KEYS: [(&str, &str); 3] = [
    ("batch", "requests leave as they came"),
    ("storage", "queues are kept in memory"),
    ("loglevel", "`verbosity` says it now"),
];

/// Keys from the top to an entry.
pub(super) type Path = Vec<String>;

/// Something taken away.
struct Taken {
    path: Path,
    /// A member of the list at `path`, and not an entry.
    member: bool,
    /// What stood there, if that was a text.
    text: Option<String>,
}

/// Takes away entries until nothing is left that is an error here, or nothing that could be taken away. Gives the
/// paths of what went.
pub(super) fn fit(
    ours: &mut Node,
    now: Timestamp,
    stand_ins: &mut StandIns,
    notes: &mut Notes,
) -> Vec<Path> {
    let mut lost: Vec<Path> = Vec::new();
    for _ in 0..ROUNDS_MAX {
        let mut changed = false;
        for fault in stand_ins.faults(ours, now) {
            // What we made ourselves is not what is wrong.
            let Some(place) = fault.place.filter(|place| *place != NOWHERE) else {
                continue;
            };
            let Some(taken) = take_away(ours, place, &mut Vec::new()) else {
                continue;
            };
            changed = true;
            // Why a key is empty was said of what stood in it; that a component goes is always said.
            let below =
                |path: &Path| path.len() > taken.path.len() && path.starts_with(&taken.path);
            if taken.path.len() <= 2 || !lost.iter().any(below) {
                notes.add(place, words(&taken, &fault.message));
            }
            if !taken.member {
                lost.push(taken.path);
            }
        }
        if !changed {
            break;
        }
    }
    lost
}

fn words(taken: &Taken, message: &str) -> String {
    let member = if taken.member { "a member of " } else { "" };
    let key = taken.path.last().map_or("", String::as_str);
    let known = KEYS.iter().find(|(name, _)| *name == key);
    let reason = match (known, &taken.text) {
        (Some((_, reason)), _) if message.starts_with("unknown key") => (*reason).to_owned(),
        // A URL may hold a password, or a token in its query.
        (_, Some(text)) if text.contains(['@', '?']) => message.replace(text.as_str(), "***"),
        _ => message.to_owned(),
    };
    let path = taken.path.join(".");
    format!("{member}`{path}` is left out: {reason}")
}

/// Takes away the innermost entry or member that stands at `place`.
fn take_away(node: &mut Node, place: Place, path: &mut Path) -> Option<Taken> {
    match &mut node.value {
        Value::Map(entries) => {
            for entry in entries.iter_mut() {
                path.push(entry.key.clone());
                if let Some(taken) = take_away(&mut entry.value, place, path) {
                    return Some(taken);
                }
                path.pop();
            }
            let at = entries.iter().position(|entry| is_at(entry, place))?;
            let entry = entries.remove(at);
            path.push(entry.key);
            Some(taken(path, false, &entry.value))
        }
        Value::List(members) => {
            for member in members.iter_mut() {
                if let Some(taken) = take_away(member, place, path) {
                    return Some(taken);
                }
            }
            let at = members.iter().position(|member| member.place == place)?;
            let member = members.remove(at);
            Some(taken(path, true, &member))
        }
        Value::Scalar(_) => None,
    }
}

fn taken(path: &Path, member: bool, node: &Node) -> Taken {
    Taken {
        path: path.clone(),
        member,
        text: node.text().map(str::to_owned),
    }
}

fn is_at(entry: &Entry, place: Place) -> bool {
    entry.key_place == place || entry.value.place == place
}
