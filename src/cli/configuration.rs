//! From `--config` and `--set` to settings: the texts and the environment are read here, through `runtime`.

use std::cell::RefCell;
use std::path::Path;

use crate::config::{self, Purpose, Settings, Source, Warnings};
use crate::runtime::{clock, environment, files};

use super::arguments::ConfigArguments;
use super::failure::Failure;

/// The smallest configuration that runs, shown to whoever gives none.
pub(super) const MINIMAL: &str = "\
receivers: {otlp: {}}
exporters: {debug: {}}
service: {pipelines: {traces: {receivers: [otlp], processors: [anomaly], exporters: [debug]}}}
";

/// Settings for `run`, with what is allowed but looks wrong.
///
/// # Errors
/// No configuration at all, one that cannot be read, one that is wrong.
pub(super) fn load(arguments: &ConfigArguments) -> Result<(Settings, Warnings), Failure> {
    if arguments.config.is_empty() {
        return Err(Failure::Usage(format!(
            "no configuration; write this to a file and give it as --config FILE:\n\n{MINIMAL}"
        )));
    }
    load_for(Purpose::Run, arguments)
}

/// Settings for a purpose. For [`Purpose::Replay`] no configuration means all defaults.
///
/// # Errors
/// A configuration that cannot be read, or that is wrong.
pub(super) fn load_for(
    purpose: Purpose,
    arguments: &ConfigArguments,
) -> Result<(Settings, Warnings), Failure> {
    with_environment(|env| {
        let sources = sources(&arguments.config)?;
        Ok(config::load_for(
            purpose,
            &sources,
            &arguments.set,
            env,
            clock::now(),
        )?)
    })
}

/// The merged configuration as text.
///
/// # Errors
/// As [`load`], except that the meaning of keys is not looked at.
pub(super) fn effective(
    arguments: &ConfigArguments,
    printing: config::Printing,
) -> Result<String, Failure> {
    with_environment(|env| {
        let sources = sources(&arguments.config)?;
        Ok(config::effective(&sources, &arguments.set, env, printing)?)
    })
}

/// A variable that is no text is an error of its own, not one that is not set.
fn with_environment<T>(
    load: impl FnOnce(&dyn Fn(&str) -> Option<String>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let unreadable = RefCell::new(None);
    let loaded = load(&|name| {
        environment::get(name).unwrap_or_else(|error| {
            unreadable.borrow_mut().get_or_insert(error);
            None
        })
    });
    match unreadable.into_inner() {
        Some(error) => Err(Failure::NoConfiguration(error.to_string())),
        None => loaded,
    }
}

fn sources(uris: &[String]) -> Result<Vec<Source>, Failure> {
    uris.iter().map(|uri| source(uri)).collect()
}

/// `PATH`, `-`, `file:PATH`, `env:NAME` or `yaml:TEXT`.
pub(super) fn source(uri: &str) -> Result<Source, Failure> {
    if let Some(text) = uri.strip_prefix("yaml:") {
        return Ok(Source {
            name: "yaml:".to_owned(),
            text: text.to_owned(),
            paths: true,
        });
    }
    if let Some(name) = uri.strip_prefix("env:") {
        let value = environment::get(name)
            .map_err(|error| Failure::NoConfiguration(error.to_string()))?
            .ok_or_else(|| {
                Failure::NoConfiguration(format!("environment variable `{name}` is not set"))
            })?;
        return Ok(Source::file(uri, value));
    }
    if uri.starts_with("http:") || uri.starts_with("https:") {
        return Err(Failure::Usage(format!(
            "`{uri}`: a configuration is not fetched from the network; give a file"
        )));
    }
    let path = uri.strip_prefix("file:").unwrap_or(uri);
    let text = files::read_text(Path::new(path), config::TEXT_MAX)
        .map_err(|error| Failure::NoConfiguration(error.to_string()))?;
    let name = if path == "-" { "stdin" } else { path };
    Ok(Source::file(name, text))
}
