//! Programs that run a runner: `uv run`, `npx`, `python -m`, `bundle exec`.

use super::super::script::{Word, Words};
use super::line::Line;

/// Managers of environments: `<name> run`.
const ENVIRONMENTS: Words = Words("uv poetry pdm pipenv rye hatch conda mamba micromamba pixi");
/// Their options that take a value.
const VALUED: &[&str] = &[
    "--with",
    "--python",
    "-p",
    "--extra",
    "--group",
    "--env-file",
    "--project",
    "--directory",
    "-C",
    "-n",
    "--name",
    "--package",
    "-e",
    "--only-group",
    "--with-requirements",
    "--index-url",
    "-E",
];
/// Options of interpreters that take a value.
const INTERPRETER: &[&str] = &["-r", "--require", "--import", "--loader", "-W", "-X"];

/// Where the real runner begins, and the directory that the wrapper sets.
pub(super) fn unwrapped(line: Line<'_>) -> Option<(usize, Option<Word>)> {
    let first = line.text(1);
    let name = line.name();
    let at = match name {
        _ if ENVIRONMENTS.contains(name) => {
            let at = line.skip(1, VALUED);
            let dir = line.value(&["--directory", "--project", "-C"]);
            return (line.text(at) == "run").then(|| (line.skip(at + 1, VALUED), dir));
        }
        "npx" | "bunx" | "uvx" | "pipx" | "dlx" => {
            let at = line.skip(1, &["-p", "--package", "--from", "--with", "-c"]);
            match (name, line.text(at)) {
                ("pipx", "run") => line.skip(at + 1, &[]),
                _ => at,
            }
        }
        // `sh ./gradlew test`, `bash run_tests.sh`.
        "bash" | "sh" | "zsh" if !first.is_empty() && !first.starts_with('-') => 1,
        "npm" | "pnpm" if matches!(first, "exec" | "dlx" | "x") => {
            line.skip(2, &["--package", "-C", "--filter"])
        }
        "yarn" if matches!(first, "exec" | "dlx") => line.skip(2, &[]),
        "bundle" if first == "exec" => line.skip(2, &[]),
        "direnv" if first == "exec" => 3,
        "mise" | "asdf" | "rtx" if matches!(first, "exec" | "x") => line.skip(2, &[]),
        "op" | "doppler" | "infisical" if first == "run" => line.skip(2, &[]),
        "nix" if matches!(first, "develop" | "shell") => {
            line.0
                .iter()
                .position(|w| matches!(w.text.as_str(), "-c" | "--command"))?
                + 1
        }
        "coverage" if first != "run" => return None,
        "coverage" | "kcov" | "slipcover" if line.has(&["-m"]) => module(line)?,
        "coverage" | "kcov" | "slipcover" => line.skip(
            if first == "run" { 2 } else { 1 },
            &["--source", "--rcfile", "--include", "--omit"],
        ),
        "node" | "bun" | "tsx" | "ts-node" | "php" | "ruby" | "deno" => {
            let at = line.skip(1, INTERPRETER);
            let tool = is_tool_path(line.text(at)) || (name == "php" && line.text(at) == "artisan");
            return tool.then_some((at, None));
        }
        _ if is_python(name) => match module(line) {
            Some(at) => at,
            None => {
                // `python venv/bin/pytest`.
                let at = line.skip(1, INTERPRETER);
                return is_tool_path(line.text(at)).then_some((at, None));
            }
        },
        _ => return None,
    };
    Some((at, None))
}

/// What stands behind `-m`.
fn module(line: Line<'_>) -> Option<usize> {
    let at = line.0.iter().position(|w| w.text == "-m")?;
    let options = line
        .0
        .iter()
        .take(at)
        .skip(1)
        .all(|w| w.text.starts_with('-') || w.text == "run");
    options.then_some(at + 1)
}

pub(super) fn is_python(name: &str) -> bool {
    name.strip_prefix("python")
        .or_else(|| name.strip_prefix("pypy"))
        .is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || c == '.'))
        || name == "py"
}

/// A path to an installed program rather than to a script of the project.
fn is_tool_path(path: &str) -> bool {
    ["node_modules/", "vendor/bin/", "/bin/", ".venv/", "venv/"]
        .iter()
        .any(|part| path.contains(part))
        && !path.ends_with(".py")
}
