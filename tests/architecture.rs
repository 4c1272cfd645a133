//! The shape of the house as a test: who may name whom, how large a file may be, where attribute keys
//! may stand.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
#![expect(clippy::disallowed_methods, reason = "reads the sources")]

use std::fs;
use std::path::{Path, PathBuf};

/// Module, and the modules it may name with `crate::` (src/ARCHITECTURE.md).
const MAY_NAME: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("otlp", &["model"]),
    ("dialects", &["model", "otlp"]),
    ("fingerprints", &["model"]),
    ("actions", &["model", "fingerprints"]),
    ("texts", &["model"]),
    ("schemas", &["model"]),
    ("security", &["model"]),
    (
        "steps",
        &[
            "model",
            "otlp",
            "dialects",
            "fingerprints",
            "actions",
            "texts",
            "schemas",
        ],
    ),
    ("lanes", &["model"]),
    ("detectors", &["model", "lanes"]),
    ("sessions", &["model", "lanes", "detectors"]),
    ("policies", &["model"]),
    ("annotations", &["model", "otlp"]),
    (
        "engine",
        &[
            "model",
            "steps",
            "lanes",
            "detectors",
            "sessions",
            "policies",
            "annotations",
        ],
    ),
    ("receivers", &["model", "otlp", "steps", "security"]),
    ("exporters", &["model", "otlp", "security"]),
    ("control", &["model", "engine"]),
    (
        "runtime",
        &[
            "model",
            "otlp",
            "steps",
            "engine",
            "receivers",
            "exporters",
            "control",
            "config",
            "security",
        ],
    ),
    (
        "config",
        &[
            "model",
            "steps",
            "detectors",
            "sessions",
            "policies",
            "annotations",
            "engine",
            "receivers",
            "exporters",
            "control",
            "security",
        ],
    ),
    (
        "cli",
        &[
            "model",
            "otlp",
            "steps",
            "detectors",
            "engine",
            "exporters",
            "control",
            "runtime",
            "config",
        ],
    ),
];

const MAX_CODE_LINES: usize = 400;

#[test]
fn modules_name_only_what_the_table_allows() {
    let mut wrong = Vec::new();
    for_each_source(|module, path, text| {
        let Some((_, allowed)) = MAY_NAME.iter().find(|(name, _)| *name == module) else {
            wrong.push(format!("{path}: module `{module}` is not in the table"));
            return;
        };
        for (line, text) in text.lines().enumerate() {
            for target in text.split("crate::").skip(1) {
                let target: String = target
                    .chars()
                    .take_while(|c| c.is_alphanumeric() || *c == '_')
                    .collect();
                if target != module && !allowed.contains(&target.as_str()) {
                    wrong.push(format!(
                        "{path}:{}: {module} must not name {target}",
                        line + 1
                    ));
                }
            }
        }
    });
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn files_stay_small() {
    let mut long = Vec::new();
    for_each_source(|_, path, text| {
        let lines = text.split("#[cfg(test)]").next().unwrap().lines().count();
        if lines > MAX_CODE_LINES {
            long.push(format!("{path}: {lines} lines"));
        }
    });
    assert!(
        long.is_empty(),
        "split by responsibility:\n{}",
        long.join("\n")
    );
}

/// Attribute keys belong to `dialects`, our own `sentinel.` ones to `annotations`, and those of the evaluation that it
/// writes.
#[test]
fn attribute_keys_stay_in_dialects() {
    let mut wrong = Vec::new();
    for_each_source(|module, path, text| {
        if module == "dialects" {
            return;
        }
        let code = text.split("#[cfg(test)]").next().unwrap();
        for (line, text) in code.lines().enumerate() {
            let text = text.trim_start();
            if text.starts_with("//") {
                continue;
            }
            for key in [
                "\"gen_ai.",
                "\"llm.",
                "\"openinference.",
                "\"traceloop.",
                "\"ai.",
            ] {
                let written = module == "annotations" && text.contains("\"gen_ai.evaluation.");
                if text.contains(key) && !written {
                    wrong.push(format!("{path}:{}: {key}...\"", line + 1));
                }
            }
        }
    });
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

fn for_each_source(mut visit: impl FnMut(&str, &str, &str)) {
    fn walk(dir: &Path, files: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, files)
            } else {
                files.push(path)
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    walk(&root, &mut files);
    files.retain(|path| path.extension().is_some_and(|e| e == "rs"));
    files.sort();
    assert!(!files.is_empty());
    for path in files {
        let relative = path.strip_prefix(&root).unwrap();
        let module = relative
            .iter()
            .next()
            .unwrap()
            .to_str()
            .unwrap()
            .trim_end_matches(".rs");
        // Files that exist for tests alone, declared with `#[cfg(test)]`.
        let name = path.file_stem().unwrap().to_str().unwrap();
        let for_tests = matches!(name, "tests" | "testing" | "properties");
        if !for_tests && !matches!(module, "lib" | "main") {
            visit(
                module,
                relative.to_str().unwrap(),
                &fs::read_to_string(&path).unwrap(),
            );
        }
    }
}
