//! The tools of languages: `cargo test`, `go vet`, `dotnet build`.

use super::super::script::{Words, base_name};
use super::line::Line;
use super::programs::tests_by_name;
use super::targets::manifest_dir;
use super::wrappers::is_python;
use super::{Check, with_filter};

/// Programs whose `test` runs tests.
const TESTERS: Words = Words(
    "deno swift mix dart flutter zig stack cabal rails composer forge gleam dune hardhat anchor truffle nimble dbt helm molecule ng meson \
     ninja conan hatch rye react-scripts vue-cli-service",
);
/// Programs whose `build` builds.
const BUILDERS: Words = Words("swift stack cabal dune zig hatch flit next gleam forge dotnet");

pub(super) fn language_tools(name: &str, line: Line<'_>) -> Option<Check> {
    let at = line.skip(1, &["-C", "--manifest-path", "--color", "--config", "-Z"]);
    // `cargo +nightly test`.
    let at = if line.text(at).starts_with('+') {
        at + 1
    } else {
        at
    };
    let verb = line.text(at);
    let rest = line.from(at);
    Some(match (name, verb) {
        ("cargo", _) => {
            let check = cargo(verb, rest)?;
            let dir = line
                .value(&["-C"])
                .or_else(|| line.value(&["--manifest-path"]).map(manifest_dir));
            Check { dir, ..check }
        }
        ("go", "test") => {
            let partial = rest.has(&["-run"]) || !rest.operands().any(|w| w.text.contains("..."));
            with_filter(Check::tests("go test"), partial)
        }
        ("go", "vet") => Check::checker("go vet"),
        ("go", "install") if rest.operands().any(|w| w.text.contains('@')) => return None,
        ("go", "build" | "install") => Check::build("go build"),
        ("dotnet", "test") => with_filter(Check::tests("dotnet test"), rest.has(&["--filter"])),
        ("zig", "build") if rest.text(1) == "test" => Check::tests("zig build test"),
        ("crystal", "spec") | ("dune", "runtest") | ("elm-test", _) => {
            Check::tests(format!("{name} {verb}"))
        }
        (_, "test" | "test:unit") if TESTERS.contains(name) => {
            let partial = rest.operands().next().is_some();
            with_filter(Check::tests(format!("{name} {verb}")), partial)
        }
        ("deno", "check" | "lint")
        | ("dart" | "flutter", "analyze")
        | ("mix", "credo" | "dialyzer" | "format") => Check::checker(format!("{name} {verb}")),
        (_, "build") if BUILDERS.contains(name) => Check::build(format!("{name} build")),
        ("mix", "compile") => Check::build("mix compile"),
        ("node", _) if line.has(&["--test"]) => with_filter(
            Check::tests("node --test"),
            line.operands().next().is_some(),
        ),
        ("ruby", script) if script.ends_with("_test.rb") || script.contains("test/") => {
            with_filter(Check::tests("ruby test"), true)
        }
        (python, script) if is_python(python) => python_script(script, line, at)?,
        _ => return None,
    })
}

fn cargo(verb: &str, rest: Line<'_>) -> Option<Check> {
    Some(match verb {
        "test" | "t" if rest.has(&["--no-run"]) => Check::build("cargo test"),
        "nextest" if rest.text(1) != "run" => return None,
        "test" | "t" | "nextest" | "llvm-cov" | "tarpaulin" | "mutants" => {
            let runner = if verb == "nextest" {
                "cargo nextest"
            } else {
                "cargo test"
            };
            let partial = rest.operands().any(|w| w.text != "run")
                || rest.has(&["-p", "--package", "--test", "--lib", "--doc", "--bin"]);
            with_filter(Check::tests(runner), partial)
        }
        "check" | "c" | "clippy" | "build" | "b" => Check::build(format!("cargo {verb}")),
        "fmt" if rest.0.iter().any(|w| w.text == "--check") => Check::checker("cargo fmt"),
        "doc" | "deny" => Check::checker(format!("cargo {verb}")),
        _ => return None,
    })
}

/// `python manage.py test`, `python tests/runtests.py`, `python setup.py test`, `python test_x.py`.
fn python_script(script: &str, line: Line<'_>, at: usize) -> Option<Check> {
    let file = base_name(script);
    if let Some(check) = tests_by_name(file, line.from(at)) {
        return Some(check);
    }
    if file == "setup.py" && line.text(at + 1) == "test" {
        return Some(Check::tests("setup.py test"));
    }
    let stem = file.strip_suffix(".py")?;
    (stem == "test" || stem.starts_with("test_") || stem.ends_with("_test"))
        .then(|| with_filter(Check::tests("python tests"), true))
}
