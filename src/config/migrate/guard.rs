//! A receiver that loses what guarded it listens on this host alone, until somebody says what guards it here.

use super::super::tree::{Node, Value};
use super::fit::Path;
use super::{Notes, made, scalar};

/// Shuts the receivers that lost their authenticator, their certificate or the roots of their clients.
pub(super) fn shut(ours: &mut Node, lost: &[Path], notes: &mut Notes) {
    for path in lost {
        let [section, id, protocols, protocol, rest @ ..] = path.as_slice() else {
            continue;
        };
        if section == "receivers" && protocols == "protocols" && is_guard(rest) {
            let keys = [section, id, protocols, protocol].map(String::as_str);
            if let Some(node) = at_mut(ours, &keys) {
                shut_one(node, &keys, notes);
            }
        }
    }
}

fn is_guard(rest: &[String]) -> bool {
    let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
    matches!(
        rest.as_slice(),
        ["auth", ..] | ["tls"] | ["tls", "client_ca_file"]
    )
}

fn shut_one(node: &mut Node, keys: &[&str], notes: &mut Notes) {
    let place = node.place;
    let Value::Map(entries) = &mut node.value else {
        return;
    };
    let default = if keys.last() == Some(&"http") {
        4318
    } else {
        4317
    };
    // Without an address of its own it listens on this host alone.
    let Some(endpoint) = entries.iter_mut().find(|entry| entry.key == "endpoint") else {
        return;
    };
    let (host, port) = match endpoint.value.text().and_then(|text| text.rsplit_once(':')) {
        Some((host, port)) => (host, port.parse::<u16>().unwrap_or(default)),
        None => ("", default),
    };
    if matches!(host, "localhost" | "127.0.0.1" | "[::1]") {
        return;
    }
    let here = format!("localhost:{port}");
    let place = if endpoint.value.place.source == place.source {
        endpoint.value.place
    } else {
        place
    };
    notes.add(
        place,
        format!(
            "`{}` listens on {here} alone, since what guarded it is left out: write `auth` or `tls` before you open it",
            keys.join(".")
        ),
    );
    *endpoint = made("endpoint", Vec::new());
    endpoint.value = Node {
        place,
        ..scalar(&here)
    };
}

fn at_mut<'a>(node: &'a mut Node, keys: &[&str]) -> Option<&'a mut Node> {
    let [key, rest @ ..] = keys else {
        return Some(node);
    };
    match &mut node.value {
        Value::Map(entries) => {
            let entry = entries.iter_mut().find(|entry| entry.key == *key)?;
            at_mut(&mut entry.value, rest)
        }
        Value::List(_) | Value::Scalar(_) => None,
    }
}
