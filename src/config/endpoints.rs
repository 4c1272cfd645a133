//! `host:port`: where we listen.

use crate::security::Protection;

use super::problems::Problems;
use super::report::Problem;
use super::tree::Place;

/// An address to listen on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Listen {
    pub(super) host: String,
    pub(super) port: u16,
}

impl Listen {
    /// Reads `host:port`; an IPv6 host stands in brackets, an empty host is every interface.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no address to listen on");
        let why = |why: &str| format!("`{text}` is no address to listen on: {why}");
        if text.contains("://") {
            return Err(why("it is written without a scheme such as http://"));
        }
        if text.contains('/') {
            return Err(why("it has no path"));
        }
        let (host, port) = text.rsplit_once(':').ok_or_else(wrong)?;
        let host = match host.strip_prefix('[') {
            Some(rest) => rest.strip_suffix(']').ok_or_else(wrong)?,
            None if host.contains(':') => return Err(wrong()),
            None => host,
        };
        let digits = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
        let port = port.parse().map_err(|_| match digits {
            true => why("ports go up to 65535"),
            false => wrong(),
        })?;
        Ok(Self {
            host: host.to_owned(),
            port,
        })
    }

    /// Whether only this host can reach it.
    pub(super) fn is_loopback(&self) -> bool {
        match self.host.parse::<std::net::IpAddr>() {
            Ok(address) => address.is_loopback(),
            Err(_) => {
                let host = self.host.trim_end_matches('.').to_ascii_lowercase();
                host == "localhost" || host.ends_with(".localhost")
            }
        }
    }

    /// Whether what is sent to `there` arrives here.
    fn hears(&self, there: &Self) -> bool {
        let address = |host: &str| host.parse::<std::net::IpAddr>().ok();
        let same = match (address(&self.host), address(&there.host)) {
            (Some(ours), Some(theirs)) => {
                ours == theirs || (ours.is_unspecified() && theirs.is_loopback())
            }
            _ if self.host.is_empty() => there.is_loopback(),
            _ => {
                self.host.eq_ignore_ascii_case(&there.host)
                    || (there.is_loopback() && (self.is_loopback() || self.is_any()))
            }
        };
        self.port == there.port && self.port != 0 && (same || (there.is_any() && self.is_local()))
    }

    /// Every interface.
    fn is_any(&self) -> bool {
        matches!(self.host.as_str(), "" | "0.0.0.0" | "::")
    }

    /// Whether a client of this host that asks for no address in particular gets here.
    fn is_local(&self) -> bool {
        self.is_any() || self.is_loopback()
    }

    /// Whether both cannot be bound at a time.
    fn collides(&self, other: &Self) -> bool {
        let same = |a: &Self, b: &Self| {
            a.host.eq_ignore_ascii_case(&b.host) || (a.is_loopback() && b.is_loopback())
        };
        self.port == other.port
            && self.port != 0
            && (self.is_any() || other.is_any() || same(self, other))
    }
}

/// What other hosts meet at an address.
pub(super) enum Exposed {
    /// A receiver, guarded like this.
    Receiver(Protection),
    /// Health or metrics.
    Page,
}

impl Exposed {
    /// What is to be said of an address that other hosts reach.
    fn warning(&self, place: Place, whose: &str, port: u16) -> Option<Problem> {
        let reached = format!("{whose} can be reached from other hosts");
        let this_host = format!("localhost:{port} is only this host");
        match self {
            Self::Receiver(protection) => {
                let (what, keys) = protection.lack()?;
                let problem = Problem::warning(place, format!("{reached}: {what}"));
                Some(problem.help(format!("below {whose} write {keys}; {this_host}")))
            }
            Self::Page => {
                let problem = Problem::warning(place, reached);
                let open = "it has neither TLS nor authentication, and takes nothing in";
                Some(problem.help(format!("{open}; {this_host}")))
            }
        }
    }
}

/// All addresses of one configuration.
#[derive(Debug, Default)]
pub(super) struct Listeners {
    known: Vec<(Listen, Option<Place>, String)>,
}

impl Listeners {
    /// Checks an address and remembers it. `place` is where it is written, `None` for a default.
    pub(super) fn add(
        &mut self,
        text: &str,
        place: Option<Place>,
        whose: &str,
        exposed: &Exposed,
        problems: &mut Problems,
    ) {
        let report = |message: String| match place {
            Some(place) => Problem::error(place, message),
            None => Problem::missing(message),
        };
        let listen = match Listen::parse(text) {
            Ok(listen) => listen,
            Err(message) => {
                let advice = "write host:port, like localhost:4317, 0.0.0.0:4317 or [::1]:4317";
                problems.push(report(message).help(advice));
                return;
            }
        };
        let taken = self
            .known
            .iter()
            .find(|(known, ..)| known.collides(&listen));
        if let Some((_, theirs, other)) = taken {
            let message = format!("{whose} and {other} both want port {}", listen.port);
            let problem = match place.or(*theirs) {
                Some(place) => Problem::error(place, message),
                None => Problem::missing(message),
            };
            problems.push(problem.help("give each a port of its own"));
        }
        if let (false, Some(place)) = (listen.is_loopback(), place)
            && let Some(problem) = exposed.warning(place, whose, listen.port)
        {
            problems.push(problem);
        }
        self.known.push((listen, place, whose.to_owned()));
    }

    /// Whose address it is that is sent to, if it is one of ours.
    pub(super) fn at(&self, host: &str, port: u16) -> Option<&str> {
        let there = Listen {
            host: host.trim_matches(['[', ']']).to_owned(),
            port,
        };
        let ours = self.known.iter().find(|(known, ..)| known.hears(&there));
        ours.map(|(_, _, whose)| whose.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_to_listen_on() {
        for (text, host, port) in [
            ("localhost:0", "localhost", 0),
            ("0.0.0.0:4317", "0.0.0.0", 4317),
            ("[::1]:4318", "::1", 4318),
            (":4317", "", 4317),
        ] {
            let want = Listen {
                host: host.to_owned(),
                port,
            };
            assert_eq!(Listen::parse(text), Ok(want), "{text}");
        }
        for wrong in [
            "",
            "localhost",
            "http://localhost:1",
            "::1:4317",
            "[::1:1",
            "a:70000",
            "a:",
        ] {
            assert!(Listen::parse(wrong).is_err(), "{wrong}");
        }
        for (wrong, why) in [
            ("http://localhost:4318", "scheme"),
            ("localhost:4318/v1/traces", "path"),
            ("localhost:70000", "65535"),
        ] {
            let message = Listen::parse(wrong).unwrap_err();
            assert!(message.contains(why), "{message}");
        }
    }

    #[test]
    fn what_is_sent_back_to_ourselves() {
        for (ours, host, port, want) in [
            ("localhost:4317", "localhost", 4317, true),
            ("localhost:4317", "127.0.0.1", 4317, true),
            ("127.0.0.1:4317", "localhost", 4317, true),
            ("0.0.0.0:4317", "localhost", 4317, true),
            ("0.0.0.0:4317", "127.0.0.1", 4317, true),
            (":4317", "[::1]", 4317, true),
            ("[::]:4317", "localhost", 4317, true),
            ("localhost:4317", "0.0.0.0", 4317, true),
            ("10.0.0.7:4317", "10.0.0.7", 4317, true),
            ("collector:4317", "COLLECTOR", 4317, true),
            ("localhost:4317", "localhost", 4319, false),
            ("0.0.0.0:4317", "jaeger", 4317, false),
            ("0.0.0.0:4317", "10.0.0.8", 4317, false),
            ("localhost:0", "localhost", 0, false),
            // Two loopback addresses are two places.
            ("127.0.0.1:4317", "127.0.0.2", 4317, false),
        ] {
            let mut listeners = Listeners::default();
            let listen = Listen::parse(ours).unwrap();
            listeners.known.push((listen, None, "ours".to_owned()));
            let found = listeners.at(host, port).is_some();
            assert_eq!(found, want, "{ours} {host}:{port}");
        }
    }

    #[test]
    fn loopback_or_not() {
        for (text, want) in [
            ("localhost:1", true),
            ("127.9.9.9:1", true),
            ("[::1]:1", true),
            ("0.0.0.0:1", false),
            (":1", false),
            ("[::]:1", false),
            ("collector:1", false),
        ] {
            assert_eq!(
                Listen::parse(text).map(|l| l.is_loopback()),
                Ok(want),
                "{text}"
            );
        }
    }
}
