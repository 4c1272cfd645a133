//! What can be typed. The help texts are the doc comments.

use std::path::PathBuf;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Args, Parser, Subcommand, ValueEnum};

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// An OpenTelemetry collector for the spans of AI agents: passes every span on unchanged and marks the
/// ones where an agent fails without crashing
#[derive(Debug, Parser)]
#[command(
    name = "agent-sentinel",
    version,
    about,
    styles = STYLES,
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true,
    after_help = "Exit codes: 0 done, 1 failed while running, 64 wrong usage, 65 unreadable input, \
                  70 own mistake,\n75 port in use, 78 wrong configuration"
)]
pub struct Arguments {
    /// What to do; nothing named means to run.
    #[command(subcommand)]
    pub command: Option<Command>,

    /// Arguments of `run`, when no command is named.
    #[command(flatten)]
    pub run: RunArguments,
}

/// What can be done.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Receive, judge and pass on; the same as giving --config alone
    Run(RunArguments),
    /// Check a configuration and print everything that is wrong with it
    Validate(ValidateArguments),
    /// Judge recorded spans: OTLP/JSON lines or protobuf requests
    Replay(ReplayArguments),
    /// Show the whole path on bundled runs, with nothing to set up
    Demo(DemoArguments),
    /// List the detectors, their thresholds and severities
    Detectors(DetectorsArguments),
    /// Print the merged configuration, without secrets
    PrintConfig(PrintConfigArguments),
}

/// Where the configuration comes from.
#[derive(Debug, Default, Args)]
pub struct ConfigArguments {
    /// Configuration file; also file:PATH, env:NAME, yaml:TEXT. Later ones are laid over earlier ones
    #[arg(short, long = "config", value_name = "FILE")]
    pub config: Vec<String>,

    /// Sets one key, as in --set processors.anomaly.settle=0s
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_and_value)]
    pub set: Vec<(String, String)>,
}

/// `run`.
#[derive(Debug, Default, Args)]
pub struct RunArguments {
    /// Its configuration.
    #[command(flatten)]
    pub config: ConfigArguments,
}

/// `validate`.
#[derive(Debug, Args)]
pub struct ValidateArguments {
    /// Its configuration.
    #[command(flatten)]
    pub config: ConfigArguments,

    /// Take warnings for errors
    #[arg(long)]
    pub deny_warnings: bool,
}

/// `print-config`.
#[derive(Debug, Args)]
pub struct PrintConfigArguments {
    /// Its configuration.
    #[command(flatten)]
    pub config: ConfigArguments,
}

/// `detectors`.
#[derive(Debug, Args)]
pub struct DetectorsArguments {
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// `replay`.
#[derive(Debug, Args)]
pub struct ReplayArguments {
    /// Its configuration.
    #[command(flatten)]
    pub config: ConfigArguments,

    /// How to print
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,

    /// With --format json: also one record per session
    #[arg(long)]
    pub sessions: bool,

    /// Write all spans, marked, as OTLP/JSON lines; `-` is standard output
    #[arg(long, value_name = "OUT")]
    pub annotated: Option<PathBuf>,

    /// Exit with 1 if there is a finding of this severity or a higher one
    #[arg(long, value_enum, value_name = "SEVERITY")]
    pub fail_on: Option<FailOn>,

    /// In place of timelines: all sessions by service, agent and type, the ten worst, and what was not assessed
    #[arg(long)]
    pub summary: bool,

    /// In place of timelines: why each detector fired at this span, or did not. The first hex digits of its id
    /// are enough, as long as the id of no other step begins so
    #[arg(long, value_name = "SPAN", value_parser = span_prefix)]
    pub explain: Option<SpanPrefix>,

    /// Findings that are new, gone or moved since an earlier output of --format json. Only new ones count for
    /// --fail-on
    #[arg(long, value_name = "OLD")]
    pub compare: Option<PathBuf>,

    /// What a plain rule would find, beside what the repetition family finds
    #[arg(long, value_enum, value_name = "RULE")]
    pub baseline: Option<BaselineRule>,

    /// Files of OTLP/JSON, .pb or .binpb, plain or compressed; `-` is standard input
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,
}

/// The first digits of a span id.
#[derive(Clone, Debug)]
pub struct SpanPrefix {
    /// As typed.
    pub text: String,
    /// The spans that it stands for.
    pub watch: crate::engine::Watch,
}

fn span_prefix(text: &str) -> Result<SpanPrefix, String> {
    match crate::engine::Watch::parse(text.trim()) {
        Some(watch) => Ok(SpanPrefix {
            text: text.trim().to_owned(),
            watch,
        }),
        None => Err("a span id is 16 hex digits; write the first few of them, or all".to_owned()),
    }
}

/// A plain rule to compare with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BaselineRule {
    /// The same tool with the same arguments three times in a row
    Same3,
}

/// `demo`.
#[derive(Debug, Args)]
pub struct DemoArguments {}

/// For people or for programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    #[default]
    Text,
    /// One JSON object a line
    Json,
}

/// A severity on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// Any finding
    Info,
    /// Somebody should look
    Warning,
    /// The run is failing
    Error,
    /// Only by configuration
    Critical,
}

impl FailOn {
    /// The severity itself.
    pub fn severity(self) -> crate::model::Severity {
        use crate::model::Severity;
        match self {
            Self::Info => Severity::Info,
            Self::Warning => Severity::Warning,
            Self::Error => Severity::Error,
            Self::Critical => Severity::Critical,
        }
    }
}

fn key_and_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => {
            Ok((key.trim().to_owned(), value.to_owned()))
        }
        _ => Err("write KEY=VALUE, as in processors.anomaly.settle=0s".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_holds() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn help_fits_a_screen() {
        let help = Arguments::command()
            .term_width(100)
            .render_help()
            .to_string();
        assert!(help.lines().count() <= 24, "{help}");
    }

    #[test]
    fn a_bare_config_runs() {
        let arguments =
            Arguments::try_parse_from(["x", "--config", "a", "-c", "b"]).expect("parses");
        assert!(arguments.command.is_none());
        assert_eq!(arguments.run.config.config, ["a", "b"]);
    }

    #[test]
    fn set_keeps_everything_after_the_first_equals_sign() {
        let arguments =
            Arguments::try_parse_from(["x", "run", "--set", "a.b=c=d"]).expect("parses");
        let Some(Command::Run(run)) = arguments.command else {
            panic!("run");
        };
        assert_eq!(run.config.set, [("a.b".to_owned(), "c=d".to_owned())]);
        assert!(Arguments::try_parse_from(["x", "run", "--set", "a.b"]).is_err());
    }
}
