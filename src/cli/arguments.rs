//! What can be typed. The help texts are the doc comments.

use std::path::PathBuf;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::model::AnomalyType;

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
    /// Receive, judge and pass on (the word may be left out): run --config sentinel.yaml
    Run(RunArguments),
    /// Say everything that is wrong with a configuration: validate sentinel.yaml
    Validate(ValidateArguments),
    /// Judge recorded spans, OTLP/JSON or protobuf: replay traces.jsonl
    Replay(ReplayArguments),
    /// Show the whole path on bundled runs, with nothing to set up: demo
    Demo(DemoArguments),
    /// List the detectors, their thresholds and severities: detectors
    Detectors(DetectorsArguments),
    /// Print the merged configuration, without secrets: print-config -c sentinel.yaml
    PrintConfig(PrintConfigArguments),
    /// Make a collector's configuration into ours: migrate otelcol.yaml > sentinel.yaml
    Migrate(MigrateArguments),
    /// List the components that can be configured, as the collector does: components
    Components,
}

/// Where the configuration comes from.
#[derive(Debug, Default, Args)]
pub struct ConfigArguments {
    /// File, env:NAME, yaml:TEXT; later over earlier: -c a.yaml -c b.yaml
    #[arg(short, long = "config", value_name = "FILE")]
    pub config: Vec<String>,

    /// Set one key: --set processors.anomaly.settle=0s
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

    /// The same as --config: validate base.yaml site.yaml
    #[arg(value_name = "FILE", conflicts_with = "config")]
    pub files: Vec<String>,

    /// Take warnings for errors: exit 78 where `run` would only warn
    #[arg(long)]
    pub deny_warnings: bool,
}

impl ValidateArguments {
    /// Where the configuration comes from, however it was given.
    pub fn sources(&self) -> ConfigArguments {
        let given = [&self.config.config[..], &self.files[..]];
        ConfigArguments {
            config: given.concat(),
            set: self.config.set.clone(),
        }
    }
}

/// `print-config`.
#[derive(Debug, Args)]
pub struct PrintConfigArguments {
    /// Its configuration.
    #[command(flatten)]
    pub config: ConfigArguments,

    /// With what holds where nothing is said
    #[arg(long)]
    pub defaults: bool,

    /// Each value with the file and line, variable or --set that it comes from
    #[arg(long, conflicts_with = "format")]
    pub origin: bool,

    /// yaml or json
    #[arg(long, value_enum, default_value_t, hide_possible_values = true)]
    pub format: ConfigFormat,
}

/// `migrate`.
#[derive(Debug, Args)]
pub struct MigrateArguments {
    /// A configuration of the OpenTelemetry collector
    #[arg(value_name = "FILE")]
    pub file: String,
}

/// How a configuration is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ConfigFormat {
    /// As it is written.
    #[default]
    Yaml,
    /// For programs.
    Json,
}

/// `detectors`.
#[derive(Debug, Args)]
pub struct DetectorsArguments {
    /// A record a line, for programs: --format json
    #[arg(long, value_enum, default_value_t, hide_possible_values = true)]
    pub format: Format,
}

/// `replay`.
#[derive(Debug, Args)]
#[command(after_help = REPLAY_EXAMPLES, after_long_help = REPLAY_MORE)]
pub struct ReplayArguments {
    /// Its configuration.
    #[command(flatten)]
    pub config: ConfigArguments,

    /// A record a line, for programs: --format json
    #[arg(long, value_enum, default_value_t, hide_possible_values = true)]
    pub format: Format,

    /// One record a session as well: --format json --sessions
    #[arg(long)]
    pub sessions: bool,

    /// All spans, marked; `-` is standard output: --annotated out.jsonl
    #[arg(long, value_name = "OUT")]
    pub annotated: Option<PathBuf>,

    /// Exit 1 from info, warning, error or critical on: --fail-on warning
    #[arg(long, value_enum, value_name = "SEVERITY", hide_possible_values = true)]
    pub fail_on: Option<FailOn>,

    /// Exit 1 where content to judge by was missing: --fail-on-blind
    #[arg(
        long,
        value_name = "TYPES",
        num_args = 0..=1,
        require_equals = true,
        value_delimiter = ',',
        value_parser = anomaly_type
    )]
    pub fail_on_blind: Option<Vec<AnomalyType>>,

    /// Tables over all sessions, the worst, what was blind: --summary
    #[arg(long)]
    pub summary: bool,

    /// Why each detector fired at a span, or did not: --explain 9db49cb1
    #[arg(long, value_name = "SPAN", value_parser = span_prefix)]
    pub explain: Option<SpanPrefix>,

    /// New, gone, moved since an earlier JSON output: --compare old.jsonl
    #[arg(long, value_name = "OLD")]
    pub compare: Option<PathBuf>,

    /// Beside "the same call three times in a row": --baseline same3
    #[arg(long, value_enum, value_name = "RULE", hide_possible_values = true)]
    pub baseline: Option<BaselineRule>,

    /// OTLP/JSON, .pb or .binpb, plain or compressed; `-` is standard input
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,
}

/// The examples, which fit 80 columns.
macro_rules! replay_examples {
    () => {
        "\
Examples:
  agent-sentinel replay traces.jsonl                              timelines
  agent-sentinel replay --summary traces.jsonl                    many sessions
  agent-sentinel replay --fail-on error --fail-on-blind in.jsonl  a gate
  agent-sentinel replay --format json in.jsonl > old.jsonl        for --compare"
    };
}

const REPLAY_EXAMPLES: &str = replay_examples!();

const REPLAY_MORE: &str = concat!(
    replay_examples!(),
    "\n\n--compare: findings are one by session (trace id or conversation), type, tool and state. In sessions that \
     only one side knows, as when the same runs are recorded again, they are one by fingerprint (rule, service, agent \
     and tool), type and state. At another step they have moved; only new ones count for --fail-on. Write the earlier \
     output with --sessions, so that sessions without findings are known.",
    "\n\n--fail-on-blind: in some session a type that is on could not be assessed for want of captured arguments, \
     results or texts, or no session was read at all. With types named (--fail-on-blind=stuck,invalid_args) those \
     count alone, whatever they lacked: definitions, a workspace, spans.",
    "\n\n--explain: the first hex digits of a span's id, as long as the id of no other step begins so."
);

fn anomaly_type(text: &str) -> Result<AnomalyType, String> {
    let found = AnomalyType::ALL.into_iter().find(|one| one.name() == text);
    found.ok_or_else(|| "no such type; `agent-sentinel detectors` lists all".to_owned())
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

    #[test]
    fn each_command_and_option_is_one_line_of_help() {
        let mut all = Arguments::command().term_width(100);
        all.build();
        let help = all.render_help().to_string();
        let (_, commands) = help.split_once("Commands:\n").unwrap();
        let commands = commands.lines().take_while(|line| !line.is_empty());
        assert_eq!(commands.count(), all.get_subcommands().count(), "{help}");
        for command in all.get_subcommands_mut() {
            let name = command.get_name().to_owned();
            let help = command.clone().term_width(100).render_help().to_string();
            let (_, options) = help.split_once("Options:\n").unwrap();
            let options = options.lines().take_while(|line| !line.is_empty());
            for line in options {
                assert!(line.trim_start().starts_with('-'), "{name}: {line}");
                assert!(line.len() <= 100, "{name}: {line}");
            }
        }
    }

    #[test]
    fn types_stand_behind_an_equals_sign_only() {
        let blind = |arguments: &[&str]| {
            let all = [&["x", "replay"], arguments].concat();
            match Arguments::try_parse_from(all).ok()?.command? {
                Command::Replay(replay) => Some((replay.fail_on_blind, replay.inputs.len())),
                _ => None,
            }
        };
        assert_eq!(blind(&["in"]), Some((None, 1)));
        assert_eq!(
            blind(&["--fail-on-blind", "in"]),
            Some((Some(Vec::new()), 1))
        );
        let two = vec![AnomalyType::Stuck, AnomalyType::Loop];
        assert_eq!(
            blind(&["--fail-on-blind=stuck,loop", "in"]),
            Some((Some(two), 1))
        );
        assert_eq!(blind(&["--fail-on-blind=stick", "in"]), None);
    }
}
