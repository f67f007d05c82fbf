//! Fails when a crate imports against the table below, or when modules of a crate form a cycle.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Allowed imports of each crate. A crate that is missing here must be added.
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("embed", &["model"]),
    // The pair score was fitted for the built-in vectors and uses single tokens.
    ("detect", &["embed", "model"]),
    ("learn", &["model"]),
    ("ingest", &["model", "store"]),
    ("vector_index", &["model"]),
    ("sql", &[]),
    ("store", &["model", "sql", "vector_index"]),
    // Vectors in Redis have the packed form of the index.
    ("connectors", &["model", "vector_index"]),
    ("report", &["model", "store"]),
    ("export", &["learn"]),
    ("outbound", &["model"]),
    (
        "engine",
        &[
            "connectors",
            "ingest",
            "detect",
            "embed",
            "model",
            "export",
            "learn",
            "outbound",
            "report",
            "store",
            "vector_index",
        ],
    ),
    ("web", &["model", "engine", "report"]),
    ("api", &["model", "engine", "web", "report"]),
    // Sends generated conversations through the engine's public API only.
    ("demo", &["model", "engine"]),
    ("mcp", &[]),
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
    ("parquet", &["export"]),
];
const NEVER: &[(&str, &[&str])] = &[
    ("model", &["tokio", "rand", "getrandom"]),
    ("embed", &["tokio", "rand", "getrandom"]),
    ("detect", &["tokio", "rand", "getrandom"]),
    ("learn", &["tokio", "rand", "getrandom"]),
    ("vector_index", &["tokio", "rand", "getrandom"]),
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
fn modules_of_a_crate_form_no_cycle() {
    let mut roots: Vec<PathBuf> =
        crate_names().iter().map(|n| crates().join(n).join("src")).collect();
    roots.push(Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    for root in roots {
        let imports = module_imports(&root);
        for module in imports.keys() {
            let path = cycle_through(module, &imports);
            assert!(path.is_none(), "{}: {}", root.display(), path.unwrap().join(" -> "));
        }
    }
}

/// Top-level modules and the siblings they name by `crate::`.
fn module_imports(root: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let mut imports: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in rust_files(root) {
        let inside = file.strip_prefix(root).unwrap();
        let first = inside.components().next().unwrap().as_os_str().to_str().unwrap();
        let module = first.trim_end_matches(".rs").to_owned();
        if module == "lib" || module == "main" {
            continue;
        }
        let text = fs::read_to_string(&file).unwrap();
        let named = without_tests(&text).split("crate::").skip(1).map(|rest| {
            rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>()
        });
        imports.entry(module.clone()).or_default().extend(named.filter(|name| *name != module));
    }
    imports
}

/// The file up to its test module. `#[cfg(test)] mod tests;` may stand anywhere, also above the imports.
fn without_tests(text: &str) -> &str {
    const MARK: &str = "#[cfg(test)]\nmod ";
    let holds =
        |at: usize| text[at + MARK.len()..].lines().next().is_some_and(|l| l.ends_with('{'));
    let at = text.match_indices(MARK).map(|(at, _)| at).find(|at| holds(*at));
    at.map_or(text, |at| &text[..at])
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

/// A path from a module back to itself, if there is one.
fn cycle_through(start: &str, imports: &BTreeMap<String, BTreeSet<String>>) -> Option<Vec<String>> {
    let mut open = vec![vec![start.to_owned()]];
    let mut seen = BTreeSet::new();
    while let Some(path) = open.pop() {
        let here = path.last().unwrap();
        for next in imports.get(here).into_iter().flatten() {
            let mut longer = path.clone();
            longer.push(next.clone());
            if next == start {
                return Some(longer);
            }
            if seen.insert(next.clone()) {
                open.push(longer);
            }
        }
    }
    None
}

#[test]
fn file_is_read_up_to_its_test_module() {
    let named = "mod a;\n#[cfg(test)]\nmod tests;\n\nuse crate::b;\n";
    assert_eq!(without_tests(named), named);
    let held = format!("{named}#[cfg(test)]\nmod tests {{\n    use crate::c;\n}}\n");
    assert_eq!(without_tests(&held), named);
}

#[test]
fn cycle_search_finds_a_cycle() {
    let edge = |to: &str| BTreeSet::from([to.to_owned()]);
    let imports = [("a", "b"), ("b", "c"), ("c", "a")];
    let imports = imports.map(|(from, to)| (from.to_owned(), edge(to))).into_iter().collect();
    assert_eq!(cycle_through("a", &imports).unwrap(), ["a", "b", "c", "a"]);
}
