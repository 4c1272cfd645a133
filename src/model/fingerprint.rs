//! The name of a kind of finding: what people group by, and put into `ignore` entries.
//!
//! Invariant: the same in every process, on every machine and in every version. Made of the rule, the service,
//! the tool and the agent and of nothing else: neither ids nor times nor texts, so that it is the same in
//! tomorrow's run.

use sha2::{Digest, Sha256};

use super::Service;

/// The first 64 bits of SHA-256 over five texts joined by one NUL: the rule as `stuck/1`, `service.namespace`,
/// `service.name`, the tool, the agent; what is not known is empty. Shown as 16 hex digits. In a shell:
/// `printf 'stuck/1\0shop\0checkout\0get_order\0planner' | sha256sum | cut -c1-16`.
pub fn fingerprint(rule: &str, service: &Service, tool: Option<&str>, agent: Option<&str>) -> u64 {
    let parts = [
        rule,
        &service.namespace,
        &service.name,
        tool.unwrap_or_default(),
        agent.unwrap_or_default(),
    ];
    let mut sha = Sha256::new();
    for (at, part) in parts.into_iter().enumerate() {
        if at > 0 {
            sha.update([0]);
        }
        sha.update(part);
    }
    let digest = sha.finalize();
    digest
        .iter()
        .take(8)
        .fold(0, |all, byte| (all << 8) | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Name;

    #[test]
    fn is_pinned() {
        let service = Service {
            namespace: Name::from("shop"),
            name: Name::from("checkout"),
        };
        let of = |rule, tool, agent| format!("{:016x}", fingerprint(rule, &service, tool, agent));
        // As the line in its documentation prints them: a change here breaks what people have written down.
        assert_eq!(
            of("stuck/1", Some("get_order"), Some("planner")),
            "4d7a736eeee180e6"
        );
        assert_eq!(of("premature_victory/1", None, None), "c2f87169bec060a0");
        assert_ne!(
            of("stuck/1", Some("a"), None),
            of("stuck/1", None, Some("a"))
        );
    }
}
