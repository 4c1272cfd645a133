//! Recognises checks by the shape of the command: program, sub-command, script or target name. Never by a
//! word inside a path or an argument.
//!
//! Invariant: a command that only lists, collects, shows help or a version is no check.

use crate::model::CheckKind;

use super::script::{Word, base_name};

/// A check, as the command line tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Check {
    /// The runner as people call it.
    pub(super) runner: String,
    /// What kind.
    pub(super) kind: CheckKind,
    /// Directory named by an option (`-C`, `--prefix`, `--manifest-path`, ...).
    pub(super) dir: Option<Word>,
    /// A path or a filter narrows it.
    pub(super) partial: bool,
    /// It builds: weak evidence as well.
    pub(super) builds: bool,
}

impl Check {
    fn new(runner: impl Into<String>, kind: CheckKind) -> Self {
        Self {
            runner: runner.into(),
            kind,
            dir: None,
            partial: false,
            builds: false,
        }
    }

    fn tests(runner: impl Into<String>) -> Self {
        Self::new(runner, CheckKind::Tests)
    }

    fn checker(runner: impl Into<String>) -> Self {
        Self::new(runner, CheckKind::Static)
    }

    fn build(runner: impl Into<String>) -> Self {
        Self {
            builds: true,
            ..Self::checker(runner)
        }
    }
}

/// The words of a command with helpers to read them.
#[derive(Clone, Copy)]
pub(super) struct Line<'a>(pub(super) &'a [Word]);

impl<'a> Line<'a> {
    pub(super) fn text(&self, at: usize) -> &'a str {
        self.0.get(at).map_or("", |w| w.text.as_str())
    }

    pub(super) fn name(&self) -> &'a str {
        base_name(self.text(0))
    }

    pub(super) fn has(&self, flags: &[&str]) -> bool {
        self.0
            .iter()
            .skip(1)
            .take_while(|w| w.text != "--")
            .any(|w| {
                flags.contains(&w.text.as_str())
                    || w.text
                        .split_once('=')
                        .is_some_and(|(f, _)| flags.contains(&f))
            })
    }

    pub(super) fn value(&self, flags: &[&str]) -> Option<Word> {
        self.0.iter().enumerate().skip(1).find_map(|(at, word)| {
            if flags.contains(&word.text.as_str()) {
                return self.0.get(at + 1).cloned();
            }
            let (flag, value) = word.text.split_once('=')?;
            flags.contains(&flag).then(|| Word {
                text: value.to_owned(),
                dynamic: word.dynamic,
            })
        })
    }

    /// Words that are no options, the name left out.
    pub(super) fn operands(&self) -> impl Iterator<Item = &'a Word> + use<'a> {
        self.0.iter().skip(1).filter(|w| !w.text.starts_with('-'))
    }

    fn from(&self, at: usize) -> Self {
        Self(self.0.get(at..).unwrap_or_default())
    }

    /// The first word from `at` on that is no option; `valued` ones take the next word along.
    fn skip(&self, mut at: usize, valued: &[&str]) -> usize {
        while let Some(word) = self.0.get(at) {
            match word.text.as_str() {
                "--" => return at + 1,
                flag if flag.starts_with('-') => at += if valued.contains(&flag) { 2 } else { 1 },
                _ => break,
            }
        }
        at
    }
}

/// The check that a command is.
pub(super) fn recognise(words: &[Word]) -> Option<Check> {
    let mut line = Line(words);
    let mut dir = None;
    // Runners of runners: `poetry run python -m pytest` needs three.
    for _ in 0..6 {
        match unwrapped(line) {
            Some((next, d)) if next > 0 && next < line.0.len() => {
                dir = d.or(dir);
                line = line.from(next);
            }
            _ => break,
        }
    }
    if only_tells(line) {
        return None;
    }
    let mut check = by_name(line)?;
    check.dir = check.dir.or(dir);
    Some(check)
}

/// Lists, collects, helps, shows a version: nothing is checked.
fn only_tells(line: Line<'_>) -> bool {
    line.has(&[
        "--collect-only",
        "--co",
        "--list",
        "--listTests",
        "--list-tests",
        "--help",
        "--version",
        "--no-run",
        "--dry-run",
        "--listonly",
        "--showConfig",
        "--show-config",
        "--fixtures",
        "--setup-plan",
        "--collectonly",
        "--just-print",
        "--print-config",
        "--init",
        "--list-files",
    ]) || (matches!(line.name(), "make" | "gmake" | "just" | "ctest" | "task")
        && line.has(&["-n", "-N", "-l", "--summary"]))
        || (matches!(line.name(), "pytest" | "jest" | "cargo" | "go") && line.has(&["-h", "-V"]))
        || (line.name() == "go" && line.has(&["-list"]))
}

/// Where the real runner begins, and the directory that the wrapper sets.
fn unwrapped(line: Line<'_>) -> Option<(usize, Option<Word>)> {
    let first = line.text(1);
    let name = line.name();
    match name {
        "uv" | "poetry" | "pdm" | "pipenv" | "rye" | "hatch" | "conda" | "mamba" | "micromamba"
        | "pixi" => {
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
            let at = line.skip(1, VALUED);
            (line.text(at) == "run").then(|| {
                let dir = line.value(&["--directory", "--project", "-C"]);
                (line.skip(at + 1, VALUED), dir)
            })
        }
        "npx" | "bunx" | "uvx" | "pipx" | "dlx" => {
            let at = line.skip(1, &["-p", "--package", "--from", "--with", "-c"]);
            let at = if name == "pipx" && line.text(at) == "run" {
                line.skip(at + 1, &[])
            } else {
                at
            };
            Some((at, None))
        }
        "npm" | "pnpm" if matches!(first, "exec" | "dlx" | "x") => {
            Some((line.skip(2, &["--package", "-C", "--filter"]), None))
        }
        "yarn" if matches!(first, "exec" | "dlx") => Some((line.skip(2, &[]), None)),
        "bundle" if first == "exec" => Some((line.skip(2, &[]), None)),
        "direnv" if first == "exec" => Some((3, None)),
        "mise" | "asdf" | "rtx" if matches!(first, "exec" | "x") => Some((line.skip(2, &[]), None)),
        "op" | "doppler" | "infisical" if first == "run" => Some((line.skip(2, &[]), None)),
        "nix" if matches!(first, "develop" | "shell") => {
            let at = line
                .0
                .iter()
                .position(|w| matches!(w.text.as_str(), "-c" | "--command"))?;
            Some((at + 1, None))
        }
        "coverage" | "kcov" | "slipcover" if first == "run" || name != "coverage" => {
            let at = line.skip(
                if first == "run" { 2 } else { 1 },
                &["--source", "--rcfile", "--include", "--omit"],
            );
            Some((at, None))
                .filter(|_| !line.has(&["-m"]))
                .or_else(|| module(line))
        }
        "node" | "bun" | "tsx" | "ts-node" | "php" | "ruby" | "deno"
            if is_tool_path(
                line.text(line.skip(1, &["-r", "--require", "--import", "--loader"])),
            ) =>
        {
            Some((
                line.skip(1, &["-r", "--require", "--import", "--loader"]),
                None,
            ))
        }
        _ if is_python(name) => module(line).or_else(|| {
            // `python venv/bin/pytest`.
            let at = line.skip(1, &["-W", "-X"]);
            is_tool_path(line.text(at)).then_some((at, None))
        }),
        _ => None,
    }
}

/// `-m module`.
fn module(line: Line<'_>) -> Option<(usize, Option<Word>)> {
    let at = line.0.iter().position(|w| w.text == "-m")?;
    let before_script = line
        .0
        .iter()
        .take(at)
        .skip(1)
        .all(|w| w.text.starts_with('-') || w.text == "run");
    before_script.then_some((at + 1, None))
}

fn is_python(name: &str) -> bool {
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

fn by_name(line: Line<'_>) -> Option<Check> {
    let name = line.name();
    tests_by_name(name, line)
        .or_else(|| static_by_name(name, line))
        .or_else(|| build_tools(name, line))
        .or_else(|| language_tools(name, line))
}

fn with_filter(mut check: Check, partial: bool) -> Check {
    check.partial |= partial;
    check
}

fn tests_by_name(name: &str, line: Line<'_>) -> Option<Check> {
    let operand = || line.operands().next().is_some();
    Some(match name {
        "pytest" | "py.test" => with_filter(
            Check {
                dir: line.value(&["--rootdir"]),
                ..Check::tests("pytest")
            },
            operand() || line.has(&["-k", "-m", "--lf", "--last-failed", "--deselect"]),
        ),
        "unittest" | "nose2" | "nosetests" | "trial" | "stestr" | "zope-testrunner" => with_filter(
            Check::tests(name),
            line.operands().any(|w| w.text != "discover"),
        ),
        "manage.py" | "django-admin" if line.text(1) == "test" => {
            with_filter(Check::tests("django test"), line.operands().count() > 1)
        }
        "runtests.py" | "run_tests.py" | "runtests" | "run_tests" | "run-tests"
        | "run_tests.sh" | "run-tests.sh" | "runtests.sh" => {
            with_filter(Check::tests(name), operand())
        }
        "jest" | "vitest" | "mocha" | "ava" | "tap" | "tape" | "jasmine" | "karma" | "cypress"
        | "playwright" | "wdio" | "qunit" | "uvu" | "c8" | "nyc" | "testcafe" | "wtr"
        | "web-test-runner" => js_runner(name, line)?,
        "rspec" | "cucumber" | "minitest" | "phpunit" | "pest" | "paratest" | "behat"
        | "codecept" | "bats" | "shellspec" | "busted" | "prove" | "kaocha" | "ospec"
        | "ginkgo" | "gotestsum" | "richgo" | "robot" | "behave" | "lit" | "specs2" | "catch2"
        | "gtest" | "testem" => with_filter(Check::tests(name), operand()),
        "tox" | "nox" => tox(name, line)?,
        "ctest" => Check {
            dir: line.value(&["--test-dir"]),
            partial: line.has(&["-R", "-L", "-E"]),
            ..Check::tests("ctest")
        },
        "artisan" if line.text(1) == "test" => Check::tests("artisan test"),
        "cargo-nextest" => Check::tests("cargo nextest"),
        "hurl" if line.has(&["--test"]) => Check::tests("hurl"),
        "xcodebuild" if line.operands().any(|w| w.text == "test") => {
            Check::tests("xcodebuild test")
        }
        _ => return None,
    })
}

fn js_runner(name: &str, line: Line<'_>) -> Option<Check> {
    let first = line.text(1);
    if matches!(name, "cypress" | "playwright") && !matches!(first, "run" | "test") {
        return None;
    }
    if matches!(name, "c8" | "nyc") {
        return recognise(line.from(line.skip(1, &["-r", "--reporter"])).0);
    }
    if name == "vitest" && matches!(first, "list" | "bench" | "init") {
        return None;
    }
    let operands = line
        .operands()
        .filter(|w| !matches!(w.text.as_str(), "run" | "test" | "watch" | "related"))
        .count();
    let check = Check {
        dir: line.value(&["--rootDir", "--root", "--dir", "--project"]),
        ..Check::tests(name)
    };
    Some(with_filter(
        check,
        operands > 0
            || line.has(&[
                "-t",
                "--testNamePattern",
                "-g",
                "--grep",
                "--testPathPattern",
            ]),
    ))
}

/// `tox -e lint` checks, `tox -e docs` does not test.
fn tox(name: &str, line: Line<'_>) -> Option<Check> {
    if line.has(&["-l", "--listenvs", "-a"]) {
        return None;
    }
    let env = line
        .value(&["-e", "-s", "--session"])
        .map(|w| w.text)
        .unwrap_or_default();
    Some(match env.as_str() {
        e if e.contains("lint")
            || e.contains("type")
            || e.contains("mypy")
            || e.contains("format")
            || e.contains("style") =>
        {
            Check::checker(name)
        }
        e if e.contains("doc") || e.contains("build") => Check::build(name),
        _ => Check::tests(name),
    })
}

fn static_by_name(name: &str, line: Line<'_>) -> Option<Check> {
    let first = line.text(1);
    Some(match name {
        "mypy" | "pyright" | "basedpyright" | "pylint" | "flake8" | "pyflakes" | "bandit"
        | "eslint" | "stylelint" | "oxlint" | "shellcheck" | "golangci-lint" | "staticcheck"
        | "rubocop" | "phpstan" | "psalm" | "hadolint" | "yamllint" | "actionlint" | "cppcheck"
        | "clang-tidy" | "ktlint" | "swiftlint" | "tslint" | "semgrep" | "vulture"
        | "pycodestyle" | "markdownlint" | "py_compile" | "compileall" | "biome" | "pyre"
        | "pytype" | "ty" | "svelte-check" | "sorbet" | "dialyzer" | "credo" | "detekt" => {
            Check::checker(name)
        }
        "ruff" if first != "format" || line.has(&["--check"]) => Check::checker("ruff"),
        "black" | "isort" | "prettier" | "gofmt" | "rustfmt" | "shfmt" | "clang-format"
            if line.has(&[
                "--check",
                "-c",
                "--diff",
                "-l",
                "-d",
                "--list-different",
                "--check-only",
            ]) =>
        {
            Check::checker(name)
        }
        "tsc" | "vue-tsc" | "tsgo" => Check::build(name),
        "pre-commit" | "prek" | "lefthook" if first == "run" => Check::checker(name),
        "bash" | "sh" if first == "-n" => Check::checker("bash -n"),
        "node" if matches!(first, "--check" | "-c") => Check::checker("node --check"),
        "terraform" | "tofu" if first == "validate" => Check::checker("terraform validate"),
        "vite" | "webpack" | "rollup" | "esbuild" | "tsup" | "parcel" | "sphinx-build"
        | "mkdocs" | "hugo" | "pyinstaller" | "gcc" | "g++" | "clang" | "clang++" | "cc"
        | "c++" | "javac" | "rustc" | "kotlinc" | "scalac" | "ghc" | "nvcc" | "swiftc"
        | "ninja" | "cmake" | "meson" | "emcc" | "msbuild" | "next" | "nuxt" | "astro" | "ng"
        | "turbo" | "nx"
            if builds(name, line) =>
        {
            Check::build(name)
        }
        "turbo" | "nx" | "lerna" | "ng" | "rush" | "moon" => return monorepo(name, line),
        _ => return None,
    })
}

fn builds(name: &str, line: Line<'_>) -> bool {
    match name {
        "vite" | "next" | "nuxt" | "astro" | "ng" | "turbo" | "nx" | "mkdocs" | "hugo"
        | "parcel" => line.operands().next().is_some_and(|w| w.text == "build"),
        "ninja" | "meson" => line.operands().all(|w| w.text != "test"),
        _ => true,
    }
}

/// `nx test web`, `turbo run test --filter=web`, `lerna run test`.
fn monorepo(name: &str, line: Line<'_>) -> Option<Check> {
    let target = line
        .operands()
        .map(|w| w.text.as_str())
        .find(|w| !matches!(*w, "run" | "run-many" | "affected"))?;
    let target = line
        .value(&["-t", "--target", "--targets"])
        .map_or(target.to_owned(), |w| w.text);
    let target = target.rsplit(':').next().unwrap_or_default();
    let check = by_target(&format!("{name} {target}"), target)?;
    Some(with_filter(
        check,
        line.has(&["--filter", "--scope", "--projects", "-p"]) || name == "nx",
    ))
}

/// A target or script name: `test`, `test:unit`, `check`, `lint`, `build`, and nothing else.
fn by_target(runner: &str, target: &str) -> Option<Check> {
    let head = target
        .split([':', '-', '_', '.', '/'])
        .next()
        .unwrap_or_default();
    let parts = || target.split([':', '-', '_', '.', '/']);
    if parts().any(|p| {
        matches!(
            p,
            "clean"
                | "watch"
                | "install"
                | "setup"
                | "deps"
                | "data"
                | "server"
                | "list"
                | "update"
                | "fixtures"
        )
    }) {
        return None;
    }
    Some(match head {
        "test" | "tests" | "check" | "spec" | "specs" | "unittest" | "pytest" | "jest"
        | "vitest" | "verify" | "ci" | "e2e" | "unit" | "integration" | "validate"
        | "precommit" | "citest" | "smoke" => Check::tests(runner),
        "lint" | "typecheck" | "types" | "fmt" | "format" | "mypy" | "eslint" | "tsc"
        | "clippy" | "vet" | "style" | "prettier" => Check::checker(runner),
        "type" if target.contains("check") => Check::checker(runner),
        "build" | "compile" | "assemble" | "bundle" | "dist" => Check::build(runner),
        _ if parts().any(|p| matches!(p, "test" | "tests")) => Check::tests(runner),
        _ if parts().any(|p| matches!(p, "lint" | "typecheck")) => Check::checker(runner),
        _ => return None,
    })
}

fn build_tools(name: &str, line: Line<'_>) -> Option<Check> {
    match name {
        "make" | "gmake" | "nmake" | "just" | "task" | "rake" | "mage" | "invoke" | "inv"
        | "doit" | "pants" | "earthly" | "dagger" | "ant" | "sbt" | "lein" | "mill" | "buck2" => {
            const VALUED: &[&str] = &[
                "-C",
                "-f",
                "--directory",
                "--file",
                "--makefile",
                "-d",
                "--justfile",
                "--working-directory",
                "-j",
                "-o",
            ];
            let dir = line.value(&["-C", "--directory", "-d", "--working-directory"]);
            let mut at = line.skip(1, VALUED);
            while line.text(at).contains('=') {
                at = line.skip(at + 1, VALUED);
            }
            let target = line.text(at);
            let mut check = if target.is_empty() {
                (name == "make" || name == "gmake" || name == "ant").then(|| Check::build(name))?
            } else {
                // The strongest of several targets.
                line.from(at)
                    .0
                    .iter()
                    .filter(|w| !w.text.starts_with('-') && !w.text.contains('='))
                    .filter_map(|w| by_target(&format!("{name} {}", w.text), &w.text))
                    .max_by_key(|check| check.kind)?
            };
            check.dir = dir;
            Some(check)
        }
        "mvn" | "mvnw" | "mvnd" => {
            let phases: Vec<&str> = line.operands().map(|w| w.text.as_str()).collect();
            let tests = phases.iter().any(|p| {
                matches!(
                    *p,
                    "test" | "verify" | "install" | "package" | "integration-test" | "deploy"
                )
            });
            let skipped = line.0.iter().any(|w| {
                w.text.starts_with("-DskipTests") || w.text.starts_with("-Dmaven.test.skip")
            });
            let check = if tests && !skipped {
                Check::tests("mvn test")
            } else if skipped
                || phases
                    .iter()
                    .any(|p| matches!(*p, "compile" | "test-compile" | "package"))
            {
                Check::build("mvn")
            } else {
                return None;
            };
            let dir = line.value(&["-f", "--file"]).map(manifest_dir);
            let partial = line.has(&["-pl", "--projects", "-Dtest"]);
            Some(with_filter(Check { dir, ..check }, partial))
        }
        "gradle" | "gradlew" => {
            let skipped = line
                .0
                .windows(2)
                .any(|pair| matches!(pair, [x, t] if x.text == "-x" && t.text == "test"));
            let task = |w: &&Word| {
                let task = w.text.rsplit(':').next().unwrap_or_default();
                task == "test"
                    || task == "check"
                    || task.ends_with("Test")
                    || (task == "build" && !skipped)
                    || task.ends_with("UnitTest")
            };
            let check = if line.operands().any(|w| task(&w)) {
                Check::tests("gradle test")
            } else if line.operands().any(|w| {
                w.text.contains("assemble")
                    || w.text.contains("ompile")
                    || w.text.ends_with("build")
            }) {
                Check::build("gradle")
            } else {
                return None;
            };
            let dir = line.value(&["-p", "--project-dir"]);
            let partial = line.has(&["--tests"])
                || line
                    .operands()
                    .any(|w| w.text.trim_start_matches(':').contains(':'));
            Some(with_filter(Check { dir, ..check }, partial))
        }
        "bazel" | "bazelisk" | "blaze" => match line.text(line.skip(1, &[])) {
            "test" | "coverage" => Some(with_filter(
                Check::tests("bazel test"),
                !line.has(&["//..."]),
            )),
            "build" => Some(Check::build("bazel build")),
            _ => None,
        },
        "npm" | "yarn" | "pnpm" | "bun" => node_scripts(name, line),
        _ => None,
    }
}

/// `npm test`, `npm run test:unit`, `yarn test`, `pnpm -C web test`, `pnpm --filter web run test`.
fn node_scripts(name: &str, line: Line<'_>) -> Option<Check> {
    const VALUED: &[&str] = &[
        "--prefix",
        "-C",
        "--dir",
        "--cwd",
        "--filter",
        "-F",
        "-w",
        "--workspace",
        "--workspace-concurrency",
    ];
    let dir = line.value(&["--prefix", "-C", "--dir", "--cwd"]);
    let workspace = line.value(&["--filter", "-F", "-w", "--workspace"]);
    let mut at = line.skip(1, VALUED);
    if name == "yarn" && line.text(at) == "workspace" {
        at = line.skip(at + 2, VALUED);
    }
    let runs = matches!(
        line.text(at),
        "run" | "run-script" | "rum" | "urn" | "--run"
    );
    if runs {
        at = line.skip(at + 1, VALUED);
    }
    let script = line.text(at);
    let check = match script {
        "t" | "tst" | "it" if !runs => Check::tests(format!("{name} test")),
        "install" | "add" | "ci" | "remove" | "init" | "publish" | "pack" | "link" | "update"
        | "audit"
            if !runs =>
        {
            return None;
        }
        "build" if !runs && matches!(name, "npm" | "bun") => return None,
        _ => match by_target(&format!("{name} {script}"), script) {
            Some(check) => check,
            // `yarn jest`, `pnpm vitest run`, `bun jest`: programs of the project.
            None if !runs && at > 0 => recognise(line.from(at).0)?,
            None => return None,
        },
    };
    let filtered = line
        .0
        .iter()
        .skip_while(|w| w.text != "--")
        .skip(1)
        .any(|w| !w.text.starts_with('-'));
    let mut check = with_filter(check, filtered || workspace.is_some());
    // A package filter that is a path says where; a package name says that it is elsewhere, not where.
    check.dir = dir.or_else(|| workspace.filter(|w| w.text.starts_with("./")));
    Some(check)
}

fn manifest_dir(manifest: Word) -> Word {
    let text = manifest
        .text
        .rsplit_once('/')
        .map_or(".", |(dir, _)| dir)
        .to_owned();
    Word {
        text,
        dynamic: manifest.dynamic,
    }
}

fn language_tools(name: &str, line: Line<'_>) -> Option<Check> {
    let at = line.skip(1, &["-C", "--manifest-path", "--color", "--config", "-Z"]);
    // `cargo +nightly test`.
    let at = if line.text(at).starts_with('+') {
        at + 1
    } else {
        at
    };
    let verb = line.text(at);
    let rest = line.from(at);
    let operand = || rest.operands().next().is_some();
    Some(match (name, verb) {
        ("cargo", "test" | "t")
        | ("cargo", "nextest")
        | ("cargo", "llvm-cov" | "tarpaulin" | "mutants") => {
            let runner = if verb == "nextest" {
                "cargo nextest"
            } else {
                "cargo test"
            };
            if verb == "nextest" && rest.text(1) != "run" {
                return None;
            }
            let filter = rest.operands().any(|w| w.text != "run");
            with_filter(
                cargo(Check::tests(runner), line),
                filter || rest.has(&["-p", "--package", "--test", "--lib", "--doc", "--bin"]),
            )
        }
        ("cargo", "check" | "c" | "clippy" | "build" | "b" | "fmt" | "doc" | "deny") => {
            if verb == "fmt" && !rest.0.iter().any(|w| w.text == "--check") {
                return None;
            }
            let runner = format!("cargo {verb}");
            let built = matches!(verb, "check" | "c" | "build" | "b" | "clippy");
            cargo(
                if built {
                    Check::build(runner)
                } else {
                    Check::checker(runner)
                },
                line,
            )
        }
        ("go", "test") => with_filter(
            Check::tests("go test"),
            rest.has(&["-run"]) || !rest.operands().any(|w| w.text.contains("...")),
        ),
        ("go", "vet") => Check::checker("go vet"),
        ("go", "build" | "install") => Check::build("go build"),
        ("dotnet", "test") => with_filter(Check::tests("dotnet test"), rest.has(&["--filter"])),
        ("dotnet", "build") => Check::build("dotnet build"),
        ("deno", "test")
        | ("swift", "test")
        | ("mix", "test")
        | ("dart" | "flutter", "test")
        | ("zig", "test")
        | ("stack" | "cabal", "test")
        | ("rails", "test")
        | ("composer", "test")
        | ("forge", "test")
        | ("gleam", "test")
        | ("crystal", "spec")
        | ("dune", "test" | "runtest")
        | ("hardhat", "test")
        | ("anchor", "test")
        | ("truffle", "test")
        | ("elm-test", _)
        | ("nimble", "test")
        | ("dbt", "test")
        | ("helm", "test")
        | ("molecule", "test")
        | ("ng", "test")
        | ("meson", "test")
        | ("ninja", "test")
        | ("conan", "test")
        | ("react-scripts" | "vue-cli-service", "test" | "test:unit") => {
            with_filter(Check::tests(format!("{name} {verb}")), operand())
        }
        ("deno", "check" | "lint")
        | ("dart" | "flutter", "analyze")
        | ("mix", "credo" | "dialyzer" | "format") => Check::checker(format!("{name} {verb}")),
        (
            "swift" | "stack" | "cabal" | "dune" | "zig" | "hatch" | "flit" | "next" | "gleam"
            | "forge",
            "build",
        )
        | ("mix", "compile") => Check::build(format!("{name} {verb}")),
        ("python" | "python3", "setup.py") if line.text(at + 1) == "test" => {
            Check::tests("setup.py test")
        }
        ("node", _) if line.has(&["--test"]) => with_filter(
            Check::tests("node --test"),
            line.operands().next().is_some(),
        ),
        ("ruby", _) if verb.ends_with("_test.rb") || verb.contains("test/") => {
            with_filter(Check::tests("ruby test"), true)
        }
        (python, script) if is_python(python) => python_script(script, line, at)?,
        _ => return None,
    })
}

fn cargo(mut check: Check, line: Line<'_>) -> Check {
    check.dir = line
        .value(&["-C"])
        .or_else(|| line.value(&["--manifest-path"]).map(manifest_dir));
    check
}

/// `python manage.py test`, `python tests/runtests.py`, `python test_x.py`.
fn python_script(script: &str, line: Line<'_>, at: usize) -> Option<Check> {
    let file = base_name(script);
    if let Some(check) = tests_by_name(file, line.from(at)) {
        return Some(check);
    }
    let stem = file.strip_suffix(".py")?;
    (stem == "test" || stem.starts_with("test_") || stem.ends_with("_test"))
        .then(|| with_filter(Check::tests("python tests"), true))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Option<Check> {
        let words: Vec<Word> = text
            .split(' ')
            .map(|w| Word {
                text: w.to_owned(),
                dynamic: false,
            })
            .collect();
        recognise(&words)
    }

    #[test]
    fn words_in_paths_and_arguments_are_no_runs() {
        for text in [
            "make clean",
            "cat jest.config.js",
            "echo cargo test",
            "ls tests",
            "pip install pytest",
            "npm install jest",
            "rm -rf pytest_cache",
            "git commit -m test",
            "vim test_a.py",
            "pytest --collect-only",
            "pytest --co -q",
            "jest --listTests",
            "cargo test --no-run",
            "pytest --version",
            "npm run dev",
            "npm ci",
            "go test -list .",
            "make -n test",
            "tox -l",
            "mvn clean",
            "gradle clean",
            "make test-clean",
            "python app.py",
            "cargo run",
            "npx create-react-app x",
            "playwright install",
            "ruff format .",
        ] {
            assert_eq!(check(text), None, "{text}");
        }
    }
}
