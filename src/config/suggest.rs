//! "Did you mean": the nearest of the allowed names.

use super::report::Problem;
use super::tree::Place;

/// The nearest of `allowed`, if it is near enough to have been meant.
pub(super) fn nearest<'a>(typed: &str, allowed: &[&'a str]) -> Option<&'a str> {
    let folded = fold(typed);
    let (distance, name) = allowed
        .iter()
        .map(|name| (strsim::damerau_levenshtein(&folded, &fold(name)), *name))
        .min()?;
    let longest = typed.chars().count().max(name.chars().count());
    // A third of the letters may differ, or one may be the beginning of the other (`warning`, `warn`);
    // beyond that a guess would be noise.
    let near = distance * 3 <= longest;
    let begun = |name: &&&str| {
        let name = fold(name);
        folded.len().min(name.len()) >= 3
            && (folded.starts_with(&name) || name.starts_with(&folded))
    };
    if near {
        Some(name)
    } else {
        allowed.iter().find(begun).copied()
    }
}

/// Case and separators are the commonest slips: `maxSize`, `max-size`.
fn fold(name: &str) -> String {
    name.chars()
        .filter(|c| !matches!(c, '_' | '-'))
        .flat_map(char::to_lowercase)
        .collect()
}

/// Keys of what a detector does differently for a tool, and of no detector itself.
const OF_TOOLS: [&str; 4] = ["poll", "ignore", "role", "key"];

/// The problem of a key that nobody reads.
pub(super) fn unknown_key(place: Place, key: &str, allowed: &[&str]) -> Problem {
    let problem = Problem::error(place, format!("unknown key `{key}`"));
    if OF_TOOLS.contains(&key) && allowed.contains(&"tools") {
        let line = format!("it stands below a tool's name: tools: {{\"name\": {{{key}: ...}}}}");
        return problem.help(line).help(wrapped("allowed: ", allowed));
    }
    advise(problem, key, allowed)
}

/// Adds what is near and what is allowed.
pub(super) fn advise(problem: Problem, typed: &str, allowed: &[&str]) -> Problem {
    let near = nearest(typed, allowed).map(|name| format!("did you mean `{name}`?"));
    let all = match allowed {
        [] => "no key is allowed here".to_owned(),
        names => wrapped("allowed: ", names),
    };
    problem.helps(near).help(all)
}

/// Names separated by commas, in lines of at most [`WIDTH`] bytes.
pub(super) fn wrapped(lead: &str, names: &[&str]) -> String {
    let mut out = lead.to_owned();
    let mut width = out.len();
    for (at, name) in names.iter().enumerate() {
        let comma = usize::from(at + 1 < names.len());
        if at > 0 && width + 1 + name.len() + comma > WIDTH {
            out.push('\n');
            width = 0;
        } else if at > 0 {
            out.push(' ');
            width += 1;
        }
        out.push_str(name);
        width += name.len() + comma;
        if comma > 0 {
            out.push(',');
        }
    }
    out
}

/// Width of a line of advice, so that it fits 100 columns with its margin.
const WIDTH: usize = 84;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_enough() {
        let names = ["threshold", "window", "min_repeats", "max_request_size"];
        for (typed, want) in [
            ("treshold", Some("threshold")),
            ("Threshold", Some("threshold")),
            ("wnidow", Some("window")),
            ("maxRequestSize", Some("max_request_size")),
            ("min-repeats", Some("min_repeats")),
            ("thresh", Some("threshold")),
            ("colour", None),
            ("", None),
        ] {
            assert_eq!(nearest(typed, &names), want, "{typed}");
        }
    }
}
