//! Build tools whose targets, tasks or scripts say what is done.

use super::super::script::{Word, Words};
use super::line::Line;
use super::{Check, recognise, with_filter};

/// `nx test web`, `turbo run test --filter=web`, `lerna run test`.
pub(super) fn monorepo(name: &str, line: Line<'_>) -> Option<Check> {
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

/// Parts of a target's name that make it no check.
const OTHER_PARTS: Words = Words("clean watch install setup deps data server list update fixtures");
/// First parts of names of tests.
const TEST_HEADS: Words = Words(
    "test tests check spec specs unittest pytest jest vitest verify ci e2e unit integration validate precommit smoke",
);
/// First parts of names of weaker checks.
const STATIC_HEADS: Words =
    Words("lint typecheck types fmt format mypy eslint tsc clippy vet style prettier");

/// A target or script name: `test`, `test:unit`, `check`, `lint`, `build`, and nothing else.
fn by_target(runner: &str, target: &str) -> Option<Check> {
    let parts = || target.split([':', '-', '_', '.', '/']);
    if parts().any(|part| OTHER_PARTS.contains(part)) {
        return None;
    }
    Some(match parts().next().unwrap_or_default() {
        head if TEST_HEADS.contains(head) => Check::tests(runner),
        head if STATIC_HEADS.contains(head) => Check::checker(runner),
        "type" if target.contains("check") => Check::checker(runner),
        "build" | "compile" | "assemble" | "bundle" | "dist" => Check::build(runner),
        _ if parts().any(|p| matches!(p, "test" | "tests")) => Check::tests(runner),
        _ if parts().any(|p| matches!(p, "lint" | "typecheck")) => Check::checker(runner),
        _ => return None,
    })
}

/// Programs whose words are targets.
const MAKERS: Words = Words(
    "make gmake nmake just task rake poe mage invoke inv doit pants earthly dagger ant sbt lein mill buck2",
);

pub(super) fn build_tools(name: &str, line: Line<'_>) -> Option<Check> {
    match name {
        _ if MAKERS.contains(name) => maker(name, line),
        "mvn" | "mvnw" | "mvnd" => maven(line),
        "gradle" | "gradlew" => gradle(line),
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

fn maker(name: &str, line: Line<'_>) -> Option<Check> {
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
    let mut at = line.skip(1, VALUED);
    while line.text(at).contains('=') {
        at = line.skip(at + 1, VALUED);
    }
    let check = if line.text(at).is_empty() {
        matches!(name, "make" | "gmake" | "ant").then(|| Check::build(name))?
    } else {
        // The strongest of several targets.
        line.from(at)
            .0
            .iter()
            .filter(|w| !w.text.starts_with('-') && !w.text.contains('='))
            .filter_map(|w| by_target(&format!("{name} {}", w.text), &w.text))
            .max_by_key(|check| check.kind)?
    };
    let dir = line.value(&["-C", "--directory", "-d", "--working-directory"]);
    Some(Check { dir, ..check })
}

/// `hatch run test`, `pixi run test`, `pdm run lint`: a script of the project by its name.
pub(super) fn environment_script(line: Line<'_>) -> Option<Check> {
    let name = line.name();
    let runs = matches!(name, "hatch" | "pixi" | "pdm" | "rye" | "pipenv") && line.text(1) == "run";
    let script = runs.then(|| line.text(2))?;
    let script = script.rsplit(':').next().unwrap_or(script);
    by_target(&format!("{name} run {script}"), script)
}

fn maven(line: Line<'_>) -> Option<Check> {
    let phase = |names: Words| line.operands().any(|w| names.contains(&w.text));
    let skipped = line
        .0
        .iter()
        .any(|w| w.text.starts_with("-DskipTests") || w.text.starts_with("-Dmaven.test.skip"));
    let check = if phase(Words("test verify install package integration-test deploy")) && !skipped {
        Check::tests("mvn test")
    } else if skipped || phase(Words("compile test-compile")) {
        Check::build("mvn")
    } else {
        return None;
    };
    let dir = line.value(&["-f", "--file"]).map(manifest_dir);
    Some(with_filter(
        Check { dir, ..check },
        line.has(&["-pl", "--projects", "-Dtest"]),
    ))
}

fn gradle(line: Line<'_>) -> Option<Check> {
    let excluded: Vec<&str> = line
        .0
        .windows(2)
        .filter_map(|pair| match pair {
            [x, task] if x.text == "-x" || x.text == "--exclude-task" => Some(task.text.as_str()),
            _ => None,
        })
        .collect();
    let tasks = || {
        line.operands()
            .filter(|w| !excluded.contains(&w.text.as_str()))
            .map(|w| w.text.rsplit(':').next().unwrap_or_default())
    };
    let tested = |task: &str| {
        matches!(task, "test" | "check")
            || task.ends_with("Test")
            || (task == "build" && !excluded.contains(&"test"))
    };
    let check = if tasks().any(tested) {
        Check::tests("gradle test")
    } else if tasks()
        .any(|task| task.contains("assemble") || task.contains("ompile") || task.ends_with("build"))
    {
        Check::build("gradle")
    } else {
        return None;
    };
    let dir = line.value(&["-p", "--project-dir"]);
    let one_project = line
        .operands()
        .any(|w| w.text.trim_start_matches(':').contains(':'));
    Some(with_filter(
        Check { dir, ..check },
        one_project || line.has(&["--tests"]),
    ))
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
    let mut workspace = line.value(&["--filter", "-F", "-w", "--workspace"]);
    let mut at = line.skip(1, VALUED);
    if name == "yarn" && line.text(at) == "workspace" {
        workspace = line.0.get(at + 1).cloned();
        at = line.skip(at + 2, VALUED);
    }
    let runs = matches!(line.text(at), "run" | "run-script");
    if runs {
        at = line.skip(at + 1, VALUED);
    }
    let script = line.text(at);
    // Programs of the project stand where scripts do: `yarn jest`, `pnpm vitest run`.
    let program = || {
        (!runs && name != "npm" && at > 0)
            .then(|| recognise(line.from(at).0))
            .flatten()
    };
    let runner = if runs && script != "test" {
        format!("{name} run {script}")
    } else {
        format!("{name} {script}")
    };
    let check = match script {
        "t" | "tst" if !runs => Check::tests(format!("{name} test")),
        _ if !runs
            && Words("install add ci remove init publish pack link update audit")
                .contains(script) =>
        {
            return None;
        }
        "build" if !runs && matches!(name, "npm" | "bun") => return None,
        _ => program().or_else(|| by_target(&runner, script))?,
    };
    let filtered = line
        .0
        .iter()
        .skip(at + 1)
        .any(|w| !w.text.starts_with('-') && w.text != "run");
    let mut check = with_filter(check, filtered || workspace.is_some());
    // A package filter that is a path says where; a package name says that it is elsewhere, not where.
    check.dir = dir.or_else(|| workspace.filter(|w| w.text.starts_with("./")));
    Some(check)
}

pub(super) fn manifest_dir(manifest: Word) -> Word {
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
