//! `host:port`, where we listen and where we send to.

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
        if let Some((_, _, other)) = self
            .known
            .iter()
            .find(|(known, ..)| known.collides(&listen))
        {
            let message = format!("port {} is taken by {other} already", listen.port);
            problems.push(report(message).help(format!("give {whose} a port of its own")));
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

/// What is wrong with the address of a backend, if anything. `schemes` are those it may begin with; `bare`
/// allows `host:port` without one.
pub(super) fn wrong_target(text: &str, bare: bool) -> Option<String> {
    let text = text.trim();
    let (scheme, rest) = match text.split_once("://") {
        Some((scheme, rest)) => (Some(scheme.to_ascii_lowercase()), rest),
        None => (None, text),
    };
    match scheme.as_deref() {
        Some("http" | "unix") | None => {}
        Some("https") => {
            return Some(
                "this build speaks no TLS; send to a collector beside the agent, or use http://"
                    .to_owned(),
            );
        }
        Some(other) => return Some(format!("scheme `{other}` is not known; write http://")),
    }
    if scheme.is_none() && !bare {
        return Some(format!("write a URL, like http://{rest}"));
    }
    if scheme.as_deref() == Some("unix") {
        return None;
    }
    let authority = rest.split('/').next().unwrap_or(rest);
    let port = match authority.rsplit_once(':') {
        Some((_, tail)) if tail.ends_with(']') => None,
        Some((_, port)) => Some(port),
        None => None,
    };
    let host_missing = authority.is_empty() || authority.starts_with(':');
    let bad_port = port.is_some_and(|port| {
        port.parse::<u16>().is_ok_and(|p| p == 0) || port.parse::<u16>().is_err()
    });
    if host_missing || bad_port || authority.contains(char::is_whitespace) {
        return Some(format!("`{text}` is no address; write host:port"));
    }
    (bare && scheme.is_none() && port.is_none())
        .then(|| format!("`{text}` has no port; write {text}:4317"))
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

    #[test]
    fn targets() {
        for good in [
            "jaeger:4317",
            "http://jaeger:4317",
            "[::1]:4317",
            "10.0.0.1:1",
        ] {
            assert_eq!(wrong_target(good, true), None, "{good}");
        }
        for good in ["http://x:4318", "http://x/otlp", "http://[::1]:1/v1"] {
            assert_eq!(wrong_target(good, false), None, "{good}");
        }
        for bad in [
            "jaeger",
            "https://x:1",
            "ftp://x:1",
            ":4317",
            "x:0",
            "x:y",
            "http://",
        ] {
            assert!(wrong_target(bad, true).is_some(), "{bad}");
        }
        assert!(wrong_target("x:4318", false).is_some());
    }
}
