//! `host:port`: where we listen.

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
        if text.contains("://") || text.contains('/') {
            return Err(wrong());
        }
        let (host, port) = text.rsplit_once(':').ok_or_else(wrong)?;
        let host = match host.strip_prefix('[') {
            Some(rest) => rest.strip_suffix(']').ok_or_else(wrong)?,
            None if host.contains(':') => return Err(wrong()),
            None => host,
        };
        let port = port.parse().map_err(|_| wrong())?;
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

    /// Whether both cannot be bound at a time.
    fn collides(&self, other: &Self) -> bool {
        let any = |host: &str| matches!(host, "" | "0.0.0.0" | "::");
        let same = |a: &Self, b: &Self| {
            a.host.eq_ignore_ascii_case(&b.host) || (a.is_loopback() && b.is_loopback())
        };
        self.port == other.port
            && self.port != 0
            && (any(&self.host) || any(&other.host) || same(self, other))
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
        if let (false, Some(place)) = (listen.is_loopback(), place) {
            problems.push(
                Problem::warning(place, format!("{whose} can be reached from other hosts")).help(
                    "there is no authentication in this release; localhost is only this host",
                ),
            );
        }
        self.known.push((listen, place, whose.to_owned()));
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
