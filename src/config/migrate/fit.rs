//! Leaves out what our own reading does not take, and names it.

use super::super::build::build;
use super::super::problems::Problems;
use super::super::report::{Grade, Problem};
use super::super::tree::{Entry, Node, Place, Value};
use super::Notes;
use crate::config::Purpose;
use crate::model::Timestamp;

/// Rounds of leaving out: each takes away at least one entry.
const ROUNDS_MAX: usize = 200;

/// Takes away entries until nothing is left that is an error here, or nothing that could be taken away.
pub(super) fn fit(ours: &mut Node, now: Timestamp, notes: &mut Notes) {
    for _ in 0..ROUNDS_MAX {
        let Some(faults) = faults(ours, now) else {
            return;
        };
        let mut changed = false;
        for fault in faults {
            let Some(place) = fault.place else { continue };
            if let Some(path) = take_away(ours, place, "") {
                notes.add(place, format!("`{path}` is left out: {}", fault.message));
                changed = true;
            }
        }
        if !changed {
            return;
        }
    }
}

/// What is wrong with a tree; `None` where nothing is. Values that the environment gives are not looked at.
pub(super) fn faults(ours: &Node, now: Timestamp) -> Option<Vec<Problem>> {
    let mut tree = ours.clone();
    let mut port = 20_000;
    stand_in(&mut tree, &mut port);
    let mut problems = Problems::default();
    let _ = build(&tree, Purpose::Run, now, &mut problems);
    let list = problems.into_list().into_iter();
    let errors: Vec<Problem> = list.filter(|one| one.grade == Grade::Error).collect();
    (!errors.is_empty()).then_some(errors)
}

/// Puts something in place of values that refer to the environment: an address where one has to stand, else nothing.
fn stand_in(node: &mut Node, port: &mut u32) {
    match &mut node.value {
        Value::Map(entries) => {
            for entry in entries.iter_mut() {
                let Value::Scalar(scalar) = &mut entry.value.value else {
                    continue;
                };
                if scalar.text.contains('$') && entry.key.ends_with("endpoint") {
                    *port += 1;
                    let scheme = scalar.text.split_once("://").map(|(scheme, _)| scheme);
                    let scheme = scheme.map_or(String::new(), |scheme| format!("{scheme}://"));
                    scalar.text = format!("{scheme}elsewhere.example:{port}");
                }
            }
            entries.retain(|entry| !refers(&entry.value));
            for entry in entries {
                stand_in(&mut entry.value, port);
            }
        }
        Value::List(members) => {
            members.retain(|member| !refers(member));
            members.iter_mut().for_each(|member| stand_in(member, port));
        }
        Value::Scalar(_) => {}
    }
}

fn refers(node: &Node) -> bool {
    matches!(&node.value, Value::Scalar(scalar) if scalar.text.contains('$'))
}

/// Takes away the innermost entry or member that stands at `place`, and gives its path.
fn take_away(node: &mut Node, place: Place, path: &str) -> Option<String> {
    match &mut node.value {
        Value::Map(entries) => {
            for entry in entries.iter_mut() {
                let below = join(path, &entry.key);
                if let Some(path) = take_away(&mut entry.value, place, &below) {
                    return Some(path);
                }
            }
            let at = entries.iter().position(|entry| is_at(entry, place))?;
            Some(join(path, &entries.remove(at).key))
        }
        Value::List(members) => {
            for member in members.iter_mut() {
                if let Some(path) = take_away(member, place, path) {
                    return Some(path);
                }
            }
            let at = members.iter().position(|member| member.place == place)?;
            members.remove(at);
            Some(path.to_owned())
        }
        Value::Scalar(_) => None,
    }
}

fn is_at(entry: &Entry, place: Place) -> bool {
    entry.key_place == place || entry.value.place == place
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.to_owned()
    } else {
        format!("{path}.{key}")
    }
}
