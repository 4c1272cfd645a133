//! Hosts as texts: what a URL or a remote address names, without user, port and brackets, lower case.

use std::net::IpAddr;

use crate::model::Name;

/// Longest host name.
const MAX: usize = 253;

/// The host of a URL (`https://user@Host:80/x`), or of an address without a scheme when `bare` is set
/// (`localhost:3000/health`). `None` when there is none, or what stands there is no host.
pub(super) fn of_url(text: &str, bare: bool) -> Option<Name> {
    let text = text.trim();
    if let Some(host) = as_browsers_read(text, bare) {
        return host;
    }
    // What no browser takes, with a variable for a port, say.
    let rest = match text.split_once("://") {
        Some((scheme, rest)) if is_scheme(scheme) => {
            if scheme.eq_ignore_ascii_case("file") {
                return None;
            }
            rest
        }
        _ if bare => text,
        _ => return None,
    };
    let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    let authority = rest.get(..end)?;
    of_authority(authority)
}

/// Schemes whose addresses always name a host, however many slashes follow.
const SPECIAL: &[&str] = &["http:", "https:", "ws:", "wss:", "ftp:"];

/// The host as the URL standard reads it; `None` when the text is no such URL, or a broken one.
fn as_browsers_read(text: &str, bare: bool) -> Option<Option<Name>> {
    let special = SPECIAL.iter().any(|scheme| {
        text.get(..scheme.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    });
    let url = if special {
        url::Url::parse(text)
    } else if bare && !text.contains("://") {
        url::Url::parse(&format!("http://{text}"))
    } else {
        return None;
    };
    let url = url.ok()?;
    Some(url.host_str().and_then(of_authority))
}

/// `user@host:port`, brackets around IPv6.
pub(super) fn of_authority(authority: &str) -> Option<Name> {
    let host = authority.rsplit('@').next()?;
    if let Some(inner) = host.strip_prefix('[') {
        let (address, _) = inner.split_once(']')?;
        // A zone (`%eth0`) tells the way, not the host.
        let address = address.split('%').next().unwrap_or(address);
        return address
            .parse::<IpAddr>()
            .ok()
            .map(|ip| ip.to_canonical().to_string().into());
    }
    let host = host.split(':').next()?;
    named(host)
}

/// The remote end of `user@host:path`, as scp and git write it.
pub(super) fn of_remote(text: &str) -> Option<Name> {
    if text.contains("://") {
        return of_url(text, false);
    }
    let (host, _) = text.split_once(':')?;
    // `C:\x` and `./a:b` are files.
    if host.len() < 2 || host.contains('/') {
        return None;
    }
    of_authority(host)
}

/// A host by its name or number, in the form that the WHATWG rules give it: IPv4 in any spelling as four
/// numbers, international names in ASCII, IPv4 inside IPv6 as IPv4.
pub(super) fn named(host: &str) -> Option<Name> {
    let host = host.trim_end_matches('.');
    if host.is_empty() || host.len() > MAX || host.contains(['$', '`', '*', '{']) {
        return None;
    }
    let text = match url::Host::parse(host).ok()? {
        url::Host::Domain(name) => name,
        url::Host::Ipv4(address) => address.to_string(),
        url::Host::Ipv6(address) => IpAddr::V6(address).to_canonical().to_string(),
    };
    text.chars()
        .any(char::is_alphanumeric)
        .then(|| text.trim_end_matches('.').into())
}

fn is_scheme(text: &str) -> bool {
    !text.is_empty()
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_and_remotes() {
        for (url, expected) in [
            ("https://User:pw@Example.ORG.:8443/x?y", Some("example.org")),
            ("http://[2001:db8::5]:80/x", Some("2001:db8::5")),
            ("http://3405803785/x", Some("203.0.113.9")),
            ("http://0x7f.1/", Some("127.0.0.1")),
            ("http://[::ffff:10.0.0.1]/", Some("10.0.0.1")),
            (
                "https://b\u{fc}cher.example/",
                Some("xn--bcher-kva.example"),
            ),
            ("localhost:3000/health", Some("localhost")),
            ("https://a.test\\@b.test/", Some("a.test")),
            ("file:///etc/passwd", None),
            ("http://$HOST/x", None),
            ("https://exam\nple.org/x", Some("example.org")),
            ("https:example.org", Some("example.org")),
            ("HTTPS:\\\\a.test\\b", Some("a.test")),
            ("https://github.com@evil.test/x", Some("evil.test")),
            ("https://a.test:$PORT/x", Some("a.test")),
            ("http://017700000001/", Some("127.0.0.1")),
            ("http://[fe80::1%25eth0]/", Some("fe80::1")),
            ("http://%65xample.org/", Some("example.org")),
            ("wss://\u{4f8b}\u{3048}.test/s", Some("xn--r8jz45g.test")),
            ("ssh://git@git.test:2222/a", Some("git.test")),
            ("example.org:80/a", Some("example.org")),
            ("not a host", None),
        ] {
            assert_eq!(of_url(url, true).as_deref(), expected, "{url}");
        }
        assert_eq!(of_url("example.org", false), None);
        assert_eq!(
            of_remote("git@git.test:a/b.git").as_deref(),
            Some("git.test")
        );
        assert_eq!(of_remote("C:/x"), None);
        assert_eq!(of_remote("./a:b"), None);
    }
}
