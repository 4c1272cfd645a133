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
    // A third of the letters may differ; below that a guess would be noise.
    (distance * 3 <= longest).then_some(name)
}

/// Case and separators are the commonest slips: `maxSize`, `max-size`.
fn fold(name: &str) -> String {
    name.chars()
        .filter(|c| !matches!(c, '_' | '-'))
        .flat_map(char::to_lowercase)
        .collect()
}

/// The problem of a key that nobody reads.
pub(super) fn unknown_key(place: Place, key: &str, allowed: &[&str]) -> Problem {
    let problem = Problem::error(place, format!("unknown key `{key}`"));
    advise(problem, key, allowed)
}

/// Adds what is near and what is allowed.
pub(super) fn advise(problem: Problem, typed: &str, allowed: &[&str]) -> Problem {
    let near = nearest(typed, allowed).map(|name| format!("did you mean `{name}`?"));
    let all = match allowed {
        [] => "no key is allowed here".to_owned(),
        names => format!("allowed: {}", names.join(", ")),
    };
    problem.helps(near).help(all)
}

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
            ("colour", None),
            ("", None),
        ] {
            assert_eq!(nearest(typed, &names), want, "{typed}");
        }
    }
}
