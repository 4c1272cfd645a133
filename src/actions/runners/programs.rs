//! Runners, linters and builders by the name of their program.

use super::line::Line;
use super::targets::{manifest_dir, monorepo};
use super::{Check, recognise, with_filter};

pub(super) fn tests_by_name(name: &str, line: Line<'_>) -> Option<Check> {
    let operand = || line.operands().next().is_some();
    Some(match name {
        "pytest" | "py.test" => with_filter(
            Check {
                dir: line.value(&["--rootdir"]),
                ..Check::tests("pytest")
            },
            operand() || line.has(&["-k", "-m", "--lf", "--last-failed", "--deselect"]),
        ),
        "unittest" | "doctest" | "nose2" | "nosetests" | "trial" | "stestr" | "zope-testrunner" => {
            with_filter(
                Check::tests(name),
                line.operands().any(|w| w.text != "discover"),
            )
        }
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
            // Where it was built; the sources lie beside it.
            dir: line.value(&["--test-dir"]).map(manifest_dir),
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
    let named = line
        .value(&["-e", "-s", "--session"])
        .map(|w| w.text)
        .unwrap_or_default();
    let of = |env: &str| match env {
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
    };
    // The strongest of several.
    named.split(',').map(of).max_by_key(|check| check.kind)
}

pub(super) fn static_by_name(name: &str, line: Line<'_>) -> Option<Check> {
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
        "cmake" => Check::tests("cmake test"),
        "turbo" | "nx" | "lerna" | "ng" | "rush" | "moon" => return monorepo(name, line),
        _ => return None,
    })
}

fn builds(name: &str, line: Line<'_>) -> bool {
    match name {
        "vite" | "next" | "nuxt" | "astro" | "ng" | "turbo" | "nx" | "mkdocs" | "hugo"
        | "parcel" => line.operands().next().is_some_and(|w| w.text == "build"),
        "ninja" | "meson" => line.operands().all(|w| w.text != "test"),
        "cmake" => line
            .value(&["--target", "-t"])
            .is_none_or(|w| !matches!(w.text.as_str(), "test" | "check" | "RUN_TESTS")),
        _ => true,
    }
}
