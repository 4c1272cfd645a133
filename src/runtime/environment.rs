//! The only place that reads environment variables.
//!
//! Invariant: a variable that is set and cannot be read as text is an error, not an absent one.

/// A variable that is no text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the environment variable {0} is no UTF-8 text")]
pub struct NotText(pub String);

/// The value of `name`; `None` when it is not set.
pub fn get(name: &str) -> Result<Option<String>, NotText> {
    match std::env::var(name) {
        Ok(value) => Ok(Some(value)),
        Err(std::env::VarError::NotPresent) => Ok(None),
        Err(std::env::VarError::NotUnicode(_)) => Err(NotText(name.to_owned())),
    }
}

/// The names of all variables that are text, sorted; for suggestions.
pub fn names() -> Vec<String> {
    let mut names: Vec<String> = std::env::vars_os()
        .filter_map(|(name, _)| name.into_string().ok())
        .collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_is_set() {
        assert!(get("PATH").expect("text").is_some());
        assert_eq!(get("AGENT_SENTINEL_SURELY_NOT_SET"), Ok(None));
        assert!(names().contains(&"PATH".to_owned()));
    }
}
