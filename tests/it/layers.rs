//! Fails when a crate imports against the table below, or when sibling modules form a cycle.

mod module_cycles;
mod module_paths;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Allowed imports of each crate. A crate that is missing here must be added.
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("embed", &["model"]),
    // The pair score was fitted for the built-in vectors and uses single tokens.
    ("detect", &["embed", "model"]),
    // Reads the tokens of the embedding model's vocabulary.
    ("reader", &["embed", "model"]),
    ("learn", &["model"]),
    ("ingest", &["model"]),
    ("vector_index", &["model"]),
    ("sql", &[]),
    ("store", &["model", "sql", "vector_index"]),
    // Vectors in Redis have the packed form of the index.
    ("connectors", &["model", "vector_index"]),
    ("outbound", &["model"]),
    (
        "engine",
        &[
            "connectors",
            "ingest",
            "detect",
            "embed",
            "model",
            "learn",
            "outbound",
            "reader",
            "store",
            "vector_index",
        ],
    ),
    // A wire format, which gives attributes no meaning.
    ("otlp", &[]),
    ("web", &["model", "engine"]),
    ("api", &["model", "engine", "otlp", "web"]),
    // Sends generated conversations through the engine's public API only.
    ("demo", &["model", "engine"]),
    ("mcp", &["model"]),
    ("testkit", &["model"]),
];

/// External crates that only one of our crates may use, and items that pure crates never use.
const ONLY: &[(&str, &[&str])] = &[
    ("axum", &["api"]),
    ("askama", &["web"]),
    ("rmcp", &["mcp"]),
    ("rusqlite", &["sql", "store"]),
    ("tokio-postgres", &["sql", "store"]),
    ("redis", &["connectors"]),
    ("rdkafka", &["connectors"]),
    ("object_store", &["connectors"]),
    ("parquet", &["engine"]),
    ("prost", &["otlp"]),
];
const NEVER: &[(&str, &[&str])] = &[
    ("model", &["tokio", "rand", "getrandom"]),
    ("embed", &["tokio", "rand", "getrandom"]),
    ("detect", &["tokio", "rand", "getrandom"]),
    ("reader", &["tokio", "rand", "getrandom"]),
    ("learn", &["tokio", "rand", "getrandom"]),
    ("vector_index", &["tokio", "rand", "getrandom"]),
    ("otlp", &["tokio", "rand", "getrandom"]),
];

/// Functions that mark an event as redacted, and the files that may call them.
const MARK_REDACTED: &[(&str, &[&str])] = &[
    (
        "assert_redacted",
        &[
            "model/src/event.rs",
            "ingest/src/redact/fields.rs",
            "store/src/event_rows.rs",
            "store/src/queries/dead_letters.rs",
            "testkit/src/sample.rs",
        ],
    ),
    // Events of ids, numbers and the application's own settings.
    (
        "assert_no_user_text",
        &[
            "model/src/event.rs",
            "engine/src/experiments.rs",
            "engine/src/experiments/assign.rs",
            "engine/src/routing/admin.rs",
            "engine/src/routing/choose.rs",
            "engine/src/turns/session.rs",
        ],
    ),
];

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("crates")
}

fn crate_names() -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(crates())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn dependencies(name: &str) -> BTreeSet<String> {
    let manifest = fs::read_to_string(crates().join(name).join("Cargo.toml")).unwrap();
    let manifest: toml::Table = manifest.parse().unwrap();
    manifest["dependencies"].as_table().unwrap().keys().cloned().collect()
}

#[test]
fn crates_import_only_allowed_crates() {
    let names = crate_names();
    for name in &names {
        let (_, allowed) = MAY_IMPORT
            .iter()
            .find(|(known, _)| known == name)
            .unwrap_or_else(|| panic!("crates/{name} is not in the table of tests/it/layers.rs"));
        let dependencies = dependencies(name);
        for ours in names.iter().filter(|ours| dependencies.contains(*ours)) {
            assert!(allowed.contains(&ours.as_str()), "{name} must not import {ours}");
        }
        for (outside, owners) in ONLY {
            let uses = dependencies.contains(*outside);
            assert!(
                !uses || owners.contains(&name.as_str()),
                "only {owners:?} may use {outside}, not {name}"
            );
        }
        for (_, banned) in NEVER.iter().filter(|(of, _)| of == name) {
            let used: Vec<_> = banned.iter().filter(|b| dependencies.contains(**b)).collect();
            assert!(used.is_empty(), "{name} must not use {used:?}");
        }
    }
}

#[test]
fn modules_form_no_cycle_at_any_depth() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let sources = crate_names().into_iter().map(|name| crates().join(name).join("src"));
    let reports: Vec<String> = sources
        .chain([root.join("src")])
        .flat_map(|src| module_cycles::report_cycles(&src, root))
        .collect();
    assert!(reports.is_empty(), "{}", reports.join("\n\n"));
}

pub(crate) fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

#[test]
fn only_listed_files_mark_events_as_redacted() {
    for (function, allowed) in MARK_REDACTED {
        for path in rust_files(&crates()) {
            let file = path.strip_prefix(crates()).unwrap().display().to_string();
            let calls = fs::read_to_string(&path).unwrap().contains(function);
            let expected = "redact the event with `Core::redact` instead";
            assert!(
                !calls || allowed.contains(&file.as_str()),
                "{file} calls {function}: {expected}"
            );
        }
    }
}
