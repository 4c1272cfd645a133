//! `processors.anomaly.ignore`: findings that somebody has looked at and accepted.

use serde::Deserialize;

use crate::model::{AnomalyType, Name, Timestamp};
use crate::policies::Ignore;

use super::globs;
use super::problems::Problems;
use super::report::Problem;
use super::suggest;
use super::tree::{Entry, Node, Place};

/// One entry as written.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Written {
    r#type: Option<String>,
    fingerprint: Option<String>,
    until: Option<String>,
    reason: Option<String>,
    // Read from their nodes, which know where they stand.
    #[serde(rename = "service")]
    _service: Option<String>,
    #[serde(rename = "agent")]
    _agent: Option<String>,
    #[serde(rename = "tool")]
    _tool: Option<String>,
}

/// What makes an entry the same as another: the finding, and whom it is narrowed to.
type Meant<'a> = (AnomalyType, u64, [Option<&'a str>; 3]);

/// Reads all entries; those whose time is over at `now` are warned about and left out.
pub(super) fn read(entry: Option<&Entry>, now: Timestamp, problems: &mut Problems) -> Vec<Ignore> {
    let members = entry.map_or(&[][..], |entry| entry.value.members());
    let mut seen: Vec<(Meant<'_>, Place)> = Vec::new();
    let mut read = Vec::new();
    for (at, member) in members.iter().enumerate() {
        let Some(ignore) = one(member, at + 1, now, problems) else {
            continue;
        };
        let narrowed = ["service", "agent", "tool"].map(|key| member.get(key)?.text());
        let narrowed = narrowed.map(|text| text.filter(|text| *text != "*"));
        let meant = (ignore.anomaly, ignore.fingerprint, narrowed);
        let place = member
            .entry("fingerprint")
            .map_or(member.place, Entry::shown);
        match seen.iter().find(|(other, _)| *other == meant) {
            Some((_, first)) => problems.push(
                Problem::error(place, "this finding is ignored already")
                    .also(*first, "by this entry")
                    .help("leave one of them out"),
            ),
            None => seen.push((meant, place)),
        }
        read.push(ignore);
    }
    read
}

fn one(member: &Node, number: usize, now: Timestamp, problems: &mut Problems) -> Option<Ignore> {
    let written: Written = problems.read_node(member)?;
    let place = |key: &str| member.entry(key).map_or(member.place, Entry::shown);
    for (key, there) in [
        ("type", written.r#type.is_some()),
        ("fingerprint", written.fingerprint.is_some()),
    ] {
        // What stands there and is of no use has been reported.
        let tried = member.get(key).is_some_and(|node| !node.is_null());
        if !there && !tried {
            let message = format!("`{key}` is missing here");
            problems.push(
                Problem::error(member.place, message)
                    .help("paste the line that `replay` prints under the finding"),
            );
        }
    }
    let r#type = written.r#type.as_deref();
    let anomaly = r#type.and_then(|text| anomaly(text, place("type"), problems));
    let fingerprint = written.fingerprint.as_deref();
    let fingerprint =
        fingerprint.and_then(|text| self::fingerprint(text, place("fingerprint"), problems));
    let until = match &written.until {
        None => Some(None),
        Some(text) => until(text, place("until"), problems).map(Some),
    };
    if written
        .reason
        .as_ref()
        .is_some_and(|reason| reason.trim().is_empty())
    {
        problems.push(
            Problem::error(place("reason"), "an empty `reason`")
                .help("say why the finding is fine, or leave `reason` out"),
        );
    }
    let mut glob = |key: &str| member.get(key).and_then(|node| globs::read(node, problems));
    let (service, agent, tool) = (glob("service"), glob("agent"), glob("tool"));
    let ignore = Ignore {
        entry: number,
        anomaly: anomaly?,
        fingerprint: fingerprint?,
        until: until?,
        reason: written.reason.map(Name::from),
        service,
        agent,
        tool,
    };
    if ignore.until.is_some_and(|until| until <= now) {
        let date = written.until.as_deref().unwrap_or_default();
        problems.push(
            Problem::warning(
                place("until"),
                format!("this was ignored until {date}, and is told again"),
            )
            .help("remove the entry, or look at the finding again and give it another date"),
        );
        return None;
    }
    Some(ignore)
}

fn anomaly(text: &str, place: Place, problems: &mut Problems) -> Option<AnomalyType> {
    let found = AnomalyType::ALL.into_iter().find(|one| one.name() == text);
    if found.is_none() {
        let names: Vec<&str> = AnomalyType::ALL.iter().map(|one| one.name()).collect();
        let problem = Problem::error(place, format!("`{text}` is no type of anomaly"));
        problems.push(suggest::advise(problem, text, &names));
    }
    found
}

/// Sixteen hex digits.
fn fingerprint(text: &str, place: Place, problems: &mut Problems) -> Option<u64> {
    let hex = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let read = u64::from_str_radix(text, 16).ok().filter(|_| hex);
    if read.is_none() {
        problems.push(
            Problem::error(place, format!("`{text}` is no fingerprint"))
                .help("it has 16 hexadecimal digits, as `sentinel.anomaly.fingerprint` and `replay` show it"),
        );
    }
    read
}

/// The end of the day named: the entry holds through it, by UTC.
fn until(text: &str, place: Place, problems: &mut Problems) -> Option<Timestamp> {
    let read = date(text);
    if read.is_none() {
        problems.push(Problem::error(place, format!("`{text}` is no date")).help(
            "write year, month and day, as 2027-03-01; the entry holds through that day (UTC)",
        ));
    }
    let seconds = read?.saturating_add(1).saturating_mul(86_400);
    Some(Timestamp::from_nanos(seconds.saturating_mul(1_000_000_000)))
}

/// Days from 1970-01-01 to a date `YYYY-MM-DD` of the Gregorian calendar, not before it.
fn date(text: &str) -> Option<u64> {
    let bytes = text.as_bytes();
    let shape = bytes.len() == 10
        && bytes.iter().enumerate().all(|(at, byte)| match at {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    if !shape {
        return None;
    }
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<u64>().ok();
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let leap = |year: u64| {
        (year.is_multiple_of(4) && !year.is_multiple_of(100)) || year.is_multiple_of(400)
    };
    let days_of = |month: u64| match month {
        4 | 6 | 9 | 11 => 30,
        2 if leap(year) => 29,
        2 => 28,
        _ => 31,
    };
    if year < 1970 || !(1..=12).contains(&month) || day == 0 || day > days_of(month) {
        return None;
    }
    let years: u64 = (1970..year)
        .map(|year| if leap(year) { 366 } else { 365 })
        .sum();
    let months: u64 = (1..month).map(days_of).sum();
    Some(years + months + day - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        for (text, days) in [
            ("1970-01-01", Some(0)),
            ("2000-03-01", Some(11_017)),
            ("2027-03-01", Some(20_878)),
            ("2024-02-29", Some(19_782)),
            ("9999-12-31", Some(2_932_896)),
            ("2023-02-29", None),
            ("2100-02-29", None),
            ("2027-13-01", None),
            ("2027-00-10", None),
            ("2027-04-31", None),
            ("2027-4-01", None),
            ("1969-12-31", None),
            ("01-03-2027", None),
            ("2027-03-01T00:00:00Z", None),
            ("", None),
        ] {
            assert_eq!(date(text), days, "{text}");
        }
    }
}
