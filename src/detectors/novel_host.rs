//! `novel_host`: contact with a host that is not known.
//!
//! - Invariant: the call is the first of its conversation that names this host, by end of step, and the host is
//!   neither known (`known_hosts`, globs allowed; `allow_cidrs`) nor of this machine. Raw addresses and hosts in
//!   shell commands count. A contact that failed or was refused is a note. Once a conversation has named more
//!   hosts than are kept (256), further contacts are not assessed.
//! - Reason `after_block`: one of the five calls before was a contact that failed or was refused; severity rises.
//! - Ignores: loopback, unspecified addresses, `localhost` and names below it (A17); hosts only mentioned.
//! - Source rule (gptme anomaly_watchdog, first version): `browser` and `read_web` alone, hosts compared as
//!   texts with `known_hosts`, nothing remembered: the same host fires again.
//! - Cost: one comparison for calls without contact; else a walk over the ledger's hosts (256 at most).

use std::net::IpAddr;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use ipnet::IpNet;
use smallvec::SmallVec;

use crate::lanes::{Call, View};
use crate::model::{
    AnomalyType, Confidence, Fact, Finding, Lack, Member, Name, Outcome, Role, Severity,
};

use super::ready::Ready;
use super::repeats::hash;
use super::settings::config;
use super::{Detector, Judgement, Rules, wording};

config! {
    /// Settings of `novel_host`.
    pub struct Config (enabled: false) {
        /// Hosts that are known; globs (`*.example.org`) and address ranges allowed.
        known_hosts: Vec<String> = Vec::new(),
        /// Address ranges that are known.
        allow_cidrs: Vec<String> = Vec::new(),
        /// The hosts that most agents need are known too: package registries, git hosts, model APIs.
        preset: bool = false,
    }
}

/// Hosts of the preset.
const PRESET: &[&str] = &[
    "pypi.org",
    "files.pythonhosted.org",
    "registry.npmjs.org",
    "registry.yarnpkg.com",
    "crates.io",
    "*.crates.io",
    "proxy.golang.org",
    "sum.golang.org",
    "rubygems.org",
    "repo.maven.apache.org",
    "repo1.maven.org",
    "api.nuget.org",
    "deb.debian.org",
    "security.debian.org",
    "archive.ubuntu.com",
    "security.ubuntu.com",
    "github.com",
    "*.github.com",
    "*.githubusercontent.com",
    "gitlab.com",
    "bitbucket.org",
    "codeberg.org",
    "api.openai.com",
    "api.anthropic.com",
    "generativelanguage.googleapis.com",
    "api.mistral.ai",
    "openrouter.ai",
    "huggingface.co",
    "docker.io",
    "*.docker.io",
    "ghcr.io",
    "quay.io",
    "mcr.microsoft.com",
    "registry.k8s.io",
    "dl-cdn.alpinelinux.org",
    "static.crates.io",
    "index.crates.io",
    "static.rust-lang.org",
    "nodejs.org",
    "packagist.org",
    "hex.pm",
    "plugins.gradle.org",
    "services.gradle.org",
    "api.deepseek.com",
    "api.groq.com",
    "api.x.ai",
    "api.cohere.com",
    "dashscope.aliyuncs.com",
];
/// Calls before in which a blocked contact raises the severity.
const BLOCKED_WITHIN: usize = 5;
/// What the source trusts always, as texts.
const SOURCE_TRUSTED: &[&str] = &["localhost", "127.0.0.1", "::1", "0.0.0.0"];

impl Config {
    /// What cannot be among the hosts and ranges: the key and what is wrong. The source takes them as they stand.
    pub(super) fn wrong(&self, rules: Rules) -> Vec<(&'static str, String)> {
        let aware = rules == Rules::Aware;
        let hosts = self.known_hosts.iter().filter_map(|host| {
            let all = host.trim().chars().all(|c| c == '*') && !host.is_empty();
            let what = match glob(host) {
                Err(error) if network(host).is_none() => {
                    format!("`{host}` is no glob: {}", error.kind())
                }
                _ if aware && host.trim().is_empty() => "an empty text is no host".to_owned(),
                _ if aware && (all || everywhere(host)) => {
                    format!("`{host}` is every host: none would be novel; set `enabled: false`")
                }
                _ => return None,
            };
            Some(("known_hosts", what))
        });
        let ranges = self.allow_cidrs.iter().filter_map(|range| {
            let what = if network(range).is_none() {
                format!("`{range}` is no address range, as in 10.0.0.0/8")
            } else if aware && everywhere(range) {
                format!("`{range}` is every address: none would be novel")
            } else {
                return None;
            };
            Some(("allow_cidrs", what))
        });
        hosts.chain(ranges).collect()
    }
}

/// Whether a range leaves no address out.
fn everywhere(range: &str) -> bool {
    network(range).is_some() && range.trim().ends_with("/0")
}

/// A host as calls name theirs: ASCII, no port, no brackets, no dot at the end. Globs keep their form.
fn plain_host(host: &str) -> String {
    let host = host.trim().trim_end_matches('.');
    let host = host
        .strip_prefix('[')
        .and_then(|h| h.split(']').next())
        .unwrap_or(host);
    if host.contains(['*', '?', '[', '{']) {
        return host.to_owned();
    }
    let name = match host.split_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    url::Host::parse(name).map_or_else(|_| name.to_owned(), |host| host.to_string())
}

fn glob(host: &str) -> Result<globset::Glob, globset::Error> {
    let host = plain_host(host);
    GlobBuilder::new(&host).case_insensitive(true).build()
}

/// A range, or one address.
fn network(text: &str) -> Option<IpNet> {
    let text = text.trim();
    let net = text
        .parse::<IpNet>()
        .ok()
        .or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from))?;
    Some(net.trunc())
}

/// The detector.
#[derive(Debug)]
pub(super) struct NovelHost {
    ready: Ready,
    known: GlobSet,
    ranges: Vec<IpNet>,
    /// As texts, for the source's rule.
    listed: Vec<String>,
}

impl NovelHost {
    pub(super) fn new(config: &Config, rules: Rules) -> Self {
        let preset = PRESET.iter().copied().filter(|_| config.preset);
        let mut known = GlobSetBuilder::new();
        let hosts = config.known_hosts.iter().map(String::as_str);
        for host in hosts.filter(|host| network(host).is_none()).chain(preset) {
            if let Ok(glob) = glob(host) {
                known.add(glob);
            }
        }
        Self {
            ready: Ready::new(config.common(), rules),
            known: known.build().unwrap_or_default(),
            ranges: config
                .allow_cidrs
                .iter()
                .chain(&config.known_hosts)
                .filter_map(|text| network(text))
                .collect(),
            listed: config
                .known_hosts
                .iter()
                .map(|host| host.trim().to_lowercase())
                .collect(),
        }
    }

    pub(super) fn is_known(&self, host: &str) -> bool {
        if host == "localhost" || host.ends_with(".localhost") || self.known.is_match(host) {
            return true;
        }
        host.parse::<IpAddr>().is_ok_and(|address| {
            let address = address.to_canonical();
            address.is_loopback()
                || address.is_unspecified()
                || self.ranges.iter().any(|range| range.contains(&address))
        })
    }

    /// The host to report, and how many are novel.
    fn novel(&self, view: &View<'_>, judged: &Call) -> Option<(Name, usize)> {
        if self.ready.rules == Rules::Source {
            let host = view.names.text(judged.more.host?);
            let trusted =
                SOURCE_TRUSTED.contains(&&*host) || self.listed.iter().any(|h| **h == *host);
            return (!trusted).then_some((host, 1));
        }
        if judged.more.contacts == 0 {
            return None;
        }
        let mut novel =
            view.ledger.hosts().iter().filter(|contact| {
                contact.first.span == judged.span && !self.is_known(&contact.host)
            });
        let first = novel.next()?;
        Some((first.host.clone(), 1 + novel.count()))
    }

    fn after_block(view: &View<'_>) -> Option<Member> {
        let blocked = |call: &&Call| {
            call.more.contacts > 0 && matches!(call.outcome, Outcome::Failed(_) | Outcome::Refused)
        };
        let before = view.calls().iter().rev().skip(1).take(BLOCKED_WITHIN);
        before.into_iter().find(blocked).map(Call::member)
    }
}

impl Detector for NovelHost {
    fn anomaly(&self) -> AnomalyType {
        AnomalyType::NovelHost
    }

    fn rules(&self) -> Rules {
        self.ready.rules
    }

    fn judge(&self, view: &View<'_>) -> Judgement {
        let Some(judged) = view.call() else {
            return Judgement::Quiet;
        };
        if judged.key.is_none() && matches!(judged.role, Role::Fetch | Role::Shell) {
            return Judgement::NotAssessed(Lack::NoArguments);
        }
        let ignored = self.ready.of(view.names, judged.tool);
        if ignored.is_some_and(|over| over.ignore) {
            return Judgement::Quiet;
        }
        let source = self.ready.rules == Rules::Source;
        let Some((host, count)) = self.novel(view, judged) else {
            let unkept = view.ledger.hosts_unkept_by(judged.order);
            return if !source && judged.more.contacts > 0 && unkept {
                Judgement::NotAssessed(Lack::Truncated)
            } else {
                Judgement::Quiet
            };
        };
        let blocked = Self::after_block(view).filter(|_| !source);
        let failed = matches!(judged.outcome, Outcome::Failed(_) | Outcome::Refused);
        let (own, reason) = match (failed && !source, blocked.is_some()) {
            (true, _) => (Severity::Info, Some("failed")),
            (false, true) => (Severity::Error, Some("after_block")),
            (false, false) => (Severity::Warning, None),
        };
        let mut members: SmallVec<[Member; 4]> = blocked
            .filter(|_| reason == Some("after_block"))
            .into_iter()
            .collect();
        members.push(judged.member());
        let tool = view.names.text(judged.tool);
        Judgement::Found(Box::new(Finding {
            anomaly: AnomalyType::NovelHost,
            rule: 1,
            severity: self.ready.severity(own),
            confidence: Confidence::Likely,
            reason,
            members,
            count: 1,
            evidence_key: hash(host.as_bytes()),
            shape: SmallVec::new(),
            message: wording::message(format!(
                "`{}` contacted `{}`, a host that is not known{}",
                wording::name(&tool),
                wording::name(&host),
                if reason == Some("after_block") {
                    ", right after a contact that was blocked"
                } else {
                    ""
                },
            )),
            facts: vec![
                ("host", Fact::Text(host)),
                ("hosts", Fact::Int(i64::try_from(count).unwrap_or(i64::MAX))),
            ],
            tool: Some(tool),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Bench;
    use super::*;
    use crate::lanes::Contact;

    fn contact(bench: &mut Bench, host: &str, outcome: Outcome) {
        let mut call = bench.blank("fetch", host);
        call.role = Role::Fetch;
        call.more.contacts = 1;
        call.more.host = Some(bench.names.id(&Name::from(host)));
        call.outcome = outcome;
        bench.push(call);
        let pushed = bench.lane.calls().last().unwrap();
        bench.ledger.add_host(Contact {
            host: Name::from(host),
            order: pushed.order,
            first: pushed.member(),
        });
    }

    fn fired(config: &str, rules: Rules, hosts: &[(&str, Outcome)]) -> Vec<(usize, Severity)> {
        let mut bench = Bench::default();
        for (host, outcome) in hosts {
            contact(&mut bench, host, *outcome);
        }
        let config: Config = serde_json::from_str(config).unwrap();
        let found = bench.found(&NovelHost::new(&config, rules)).into_iter();
        found.map(|(at, finding)| (at, finding.severity)).collect()
    }

    const OK: Outcome = Outcome::Succeeded;

    #[test]
    fn a17_the_first_contact_alone_and_never_this_machine() {
        let config =
            r#"{"known_hosts": ["*.docs.test", "API.test"], "allow_cidrs": ["10.1.2.3/8"]}"#;
        let hosts = [
            ("a.docs.test", OK),
            ("api.test", OK),
            ("10.9.9.9", OK),
            ("::ffff:10.0.0.1", OK),
            ("127.8.9.10", OK),
            ("::1", OK),
            ("0.0.0.0", OK),
            ("localhost", OK),
            ("docs.test", OK),
            ("docs.test", OK),
            ("203.0.113.9", OK),
        ];
        let warning = Severity::Warning;
        assert_eq!(
            fired(config, Rules::Aware, &hosts),
            [(8, warning), (10, warning)]
        );
        assert_eq!(
            fired(r#"{"preset": true}"#, Rules::Aware, &[("pypi.org", OK)]),
            []
        );
    }

    #[test]
    fn a17_ranges_and_other_spellings_are_known() {
        let config = r#"{"known_hosts": ["10.0.0.0/8", "[2001:db8::1]", "B\u00fccher.test", "api.test:8443", "x.test."]}"#;
        let hosts = [
            ("10.1.2.3", OK),
            ("2001:db8::1", OK),
            ("xn--bcher-kva.test", OK),
            ("api.test", OK),
            ("x.test", OK),
            ("192.168.0.1", OK),
        ];
        assert_eq!(
            fired(config, Rules::Aware, &hosts),
            [(5, Severity::Warning)]
        );
    }

    #[test]
    fn a17_beyond_the_hosts_kept_nothing_is_assessed() {
        let mut bench = Bench::default();
        for number in 0..=crate::lanes::Ledger::HOSTS_MAX {
            contact(&mut bench, &format!("h{number}.test"), OK);
        }
        let config: Config = serde_json::from_str("{}").unwrap();
        let detector = NovelHost::new(&config, Rules::Aware);
        let found = bench.found(&detector);
        assert_eq!(found.len(), crate::lanes::Ledger::HOSTS_MAX);
        let last = bench.at(&detector, crate::lanes::Ledger::HOSTS_MAX);
        assert!(matches!(last, Judgement::NotAssessed(Lack::Truncated)));
    }

    #[test]
    fn a17_a_new_host_after_a_block_is_worse() {
        let hosts = [("a.test", Outcome::Refused), ("b.test", OK)];
        assert_eq!(
            fired("{}", Rules::Aware, &hosts),
            [(0, Severity::Info), (1, Severity::Error)]
        );
    }

    #[test]
    fn the_source_remembers_nothing_and_compares_texts() {
        let hosts = [
            ("a.test", OK),
            ("a.test", OK),
            ("x.b.test", OK),
            ("127.0.0.1", OK),
        ];
        let config = r#"{"known_hosts": ["*.b.test"]}"#;
        let warning = Severity::Warning;
        assert_eq!(
            fired(config, Rules::Source, &hosts),
            [(0, warning), (1, warning), (2, warning)]
        );
    }

    #[test]
    fn wrong_hosts_and_ranges_are_told() {
        let config: Config =
            serde_json::from_str(r#"{"known_hosts": ["a["], "allow_cidrs": ["10.0.0.0/40"]}"#)
                .unwrap();
        let keys: Vec<_> = config
            .wrong(Rules::Aware)
            .into_iter()
            .map(|(key, _)| key)
            .collect();
        assert_eq!(keys, ["known_hosts", "allow_cidrs"]);
    }
}
