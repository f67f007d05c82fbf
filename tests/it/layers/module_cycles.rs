//! Finds cycles between sibling modules of a crate, at every depth.
//!
//! A path written in module `a::b::c` that leads to `a::d::e` is an edge from `b` to `d` among the
//! children of `a`. A child that uses its parent, or a parent that uses its child, adds no edge.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::Path;

use super::module_paths::{ModuleSource, Segments, parse_modules};
use super::rust_files;

/// Re-exports followed for one path. The bound ends imports that name each other.
const MAX_REEXPORTS: usize = 8;
/// Places listed for one edge of a cycle.
const MAX_PLACES: usize = 5;

const ADVICE: &str = "Move the shared item into the module that owns it, pass it as an argument, \
                      or merge the files if they are one idea.";

/// Modules of a crate by their path. The root has the empty path.
type Modules = BTreeMap<Segments, CrateModule>;

struct CrateModule {
    source: ModuleSource,
    /// The path of the file, relative to the folder that reports name.
    file: String,
}

/// Edges between the children of one module, with the places that cause each.
type Siblings = BTreeMap<(String, String), BTreeSet<Place>>;
/// File, line and the path written there.
type Place = (String, usize, String);

/// One report per cycle in the crate whose sources are in `src`. Files are named relative to `base`.
pub(super) fn report_cycles(src: &Path, base: &Path) -> Vec<String> {
    let modules = read_modules(src, base);
    let mut reports = describe_globs(&modules);
    for (parent, siblings) in &sibling_edges(&modules) {
        reports.extend(describe_cycles(parent, siblings));
    }
    reports
}

/// All modules but those compiled for tests only.
fn read_modules(src: &Path, base: &Path) -> Modules {
    let mut modules = Modules::new();
    for path in rust_files(src) {
        let text = fs::read_to_string(&path).unwrap();
        let file = path.strip_prefix(base).unwrap().display().to_string();
        for source in parse_modules(module_of(path.strip_prefix(src).unwrap()), &text) {
            modules.insert(source.module.clone(), CrateModule { source, file: file.clone() });
        }
    }
    let tests: Vec<Segments> = modules.values().flat_map(|m| test_modules(&m.source)).collect();
    modules.retain(|module, _| !tests.iter().any(|test| module.starts_with(test)));
    modules
}

/// `log/queue.rs` is the module `log::queue`.
fn module_of(file: &Path) -> Segments {
    let mut segments: Segments = file
        .with_extension("")
        .iter()
        .map(|segment| segment.to_str().unwrap().to_owned())
        .collect();
    if segments.last().is_some_and(|last| ["lib", "main", "mod"].contains(&last.as_str())) {
        segments.pop();
    }
    segments
}

fn test_modules(source: &ModuleSource) -> impl Iterator<Item = Segments> {
    source.test_children.iter().map(|child| joined(&source.module, child))
}

fn joined(module: &[String], child: &str) -> Segments {
    module.iter().cloned().chain([child.to_owned()]).collect()
}

/// Edges between siblings, by their parent.
fn sibling_edges(modules: &Modules) -> BTreeMap<Segments, Siblings> {
    let mut edges: BTreeMap<Segments, Siblings> = BTreeMap::new();
    for (from, CrateModule { source, file }) in modules {
        for path in source.paths.iter().chain(source.imports.iter().map(|import| &import.path)) {
            for to in resolve(modules, from, &path.segments, MAX_REEXPORTS) {
                let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
                if let (Some(a), Some(b)) = (from.get(shared), to.get(shared)) {
                    let place = (file.clone(), path.line, path.segments.join("::"));
                    let siblings = edges.entry(from[..shared].to_vec()).or_default();
                    siblings.entry((a.clone(), b.clone())).or_default().insert(place);
                }
            }
        }
    }
    edges
}

/// The modules that a path leads to: the one it names, and those reached from there by re-exports.
/// A path into another crate leads to `from` itself.
fn resolve(modules: &Modules, from: &[String], path: &[String], depth: usize) -> Vec<Segments> {
    let (here, rest) = walk(modules, from, path);
    let mut found = vec![here.clone()];
    if let (Some((name, deeper)), Some(module)) = (rest.split_first(), modules.get(&here))
        && depth > 0
    {
        for import in module.source.imports.iter().filter(|import| import.name == *name) {
            let path = [&import.path.segments, deeper].concat();
            found.extend(resolve(modules, &here, &path, depth - 1));
        }
    }
    found
}

/// Follows a path through modules, and returns the last one with the segments that are left.
fn walk<'a>(modules: &Modules, from: &[String], path: &'a [String]) -> (Segments, &'a [String]) {
    let path = if path.first().is_some_and(|first| first == "self") { &path[1..] } else { path };
    let supers = path.iter().take_while(|segment| *segment == "super").count();
    let (mut here, mut rest) = match path.first() {
        Some(first) if first == "crate" => (Segments::new(), &path[1..]),
        Some(_) | None => (from[..from.len().saturating_sub(supers)].to_vec(), &path[supers..]),
    };
    while let Some((segment, deeper)) = rest.split_first() {
        let child = joined(&here, segment);
        if !modules.contains_key(&child) {
            break;
        }
        (here, rest) = (child, deeper);
    }
    (here, rest)
}

/// Reports glob imports of modules, because names behind them cannot be followed.
fn describe_globs(modules: &Modules) -> Vec<String> {
    let mut reports = Vec::new();
    for (from, CrateModule { source, file }) in modules {
        for import in source.imports.iter().filter(|import| import.name == "*") {
            let (line, segments) = (import.path.line, &import.path.segments);
            if walk(modules, from, &segments[..segments.len() - 1]).1.is_empty() {
                let path = segments.join("::");
                reports.push(format!(
                    "{file}:{line}: `use {path}` hides the modules it reaches.\nName the items."
                ));
            }
        }
    }
    reports
}

/// Describes one shortest cycle for each set of modules that form one.
fn describe_cycles(parent: &[String], siblings: &Siblings) -> Vec<String> {
    let names: BTreeSet<&str> = siblings.keys().map(|(from, _)| from.as_str()).collect();
    let mut seen = BTreeSet::new();
    let cycles = names.iter().filter_map(|name| shortest_cycle(name, siblings));
    let cycles = cycles.filter(|cycle| seen.insert(cycle.iter().copied().collect::<BTreeSet<_>>()));
    cycles.map(|cycle| describe_cycle(parent, &cycle, siblings)).collect()
}

/// The names on the shortest way from a module back to itself. The first is also the last.
fn shortest_cycle<'a>(start: &'a str, siblings: &'a Siblings) -> Option<Vec<&'a str>> {
    let mut open = VecDeque::from([vec![start]]);
    let mut seen = BTreeSet::new();
    while let Some(path) = open.pop_front() {
        let here = path[path.len() - 1];
        for (_, next) in siblings.keys().filter(|(from, _)| from == here) {
            let longer = [path.as_slice(), &[next.as_str()]].concat();
            if next == start {
                return Some(longer);
            }
            if seen.insert(next) {
                open.push_back(longer);
            }
        }
    }
    None
}

fn describe_cycle(parent: &[String], cycle: &[&str], siblings: &Siblings) -> String {
    let full = |name: &str| joined(parent, name).join("::");
    let path: Vec<String> = cycle.iter().map(|name| full(name)).collect();
    let mut text = format!("module cycle {}\n", path.join(" -> "));
    for edge in cycle.windows(2) {
        let places = &siblings[&(edge[0].to_owned(), edge[1].to_owned())];
        text += &format!("  {} uses {}:\n", full(edge[0]), full(edge[1]));
        for (file, line, path) in places.iter().take(MAX_PLACES) {
            text += &format!("    {file}:{line}: {path}\n");
        }
        if places.len() > MAX_PLACES {
            text += &format!("    and {} more\n", places.len() - MAX_PLACES);
        }
    }
    text + ADVICE
}

/// Reports of a crate with these files.
fn report_crate(files: &[(&str, &str)]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let file = folder.path().join("src").join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    report_cycles(&folder.path().join("src"), folder.path())
}

#[test]
fn nested_cycles_are_reported_with_files_and_lines() {
    let super_path = "fn f() {\n    super::b::g();\n}";
    let nested_tree = "use crate::{\n    other::X,\n    p::{q, b::{self, G}},\n};";
    let type_path = "struct A(Vec<super::b::G>);";
    let reexport = "use super::G;";
    let macro_path = "fn f() {\n    println!(\"{}\", crate::p::b::N);\n}";
    let cases = [
        ("super path", super_path, 2, "super::b::g"),
        ("nested tree", nested_tree, 3, "crate::p::b"),
        ("path in a type", type_path, 1, "super::b::G"),
        ("re-export of the parent", reexport, 1, "super::G"),
        ("path in a macro", macro_path, 2, "crate::p::b::N"),
    ];
    for (name, a, line, path) in cases {
        let reports = report_crate(&[
            ("lib.rs", "mod p;\nmod other;"),
            ("other.rs", "pub struct X;"),
            ("p.rs", "mod a;\nmod b;\nmod q;\npub use b::G;"),
            ("p/a.rs", a),
            ("p/b.rs", "pub use deep::G;\nmod deep;"),
            ("p/b/deep.rs", "pub struct G;\n\nfn g() { super::super::a::f() }"),
            ("p/q.rs", "pub struct Q;"),
        ]);
        let expected = format!(
            "module cycle p::a -> p::b -> p::a\n  p::a uses p::b:\n    src/p/a.rs:{line}: {path}\n"
        );
        assert_eq!(reports.len(), 1, "{name}: {reports:#?}");
        assert!(reports[0].starts_with(&expected), "{name}: {}", reports[0]);
        let back = "  p::b uses p::a:\n    src/p/b/deep.rs:3: super::super::a::f\n";
        assert!(reports[0].contains(back), "{name}: {}", reports[0]);
        assert!(reports[0].ends_with(ADVICE), "{name}: {}", reports[0]);
    }
}

#[test]
fn cycle_of_three_modules_is_reported_once() {
    let reports = report_crate(&[
        ("a.rs", "use crate::b::B;"),
        ("b.rs", "use super::c::C;"),
        ("c.rs", "use crate::A;"),
        ("lib.rs", "mod a;\nmod b;\nmod c;\npub use a::A;"),
    ]);
    assert_eq!(reports.len(), 1, "{reports:#?}");
    assert!(reports[0].starts_with("module cycle a -> b -> c -> a\n"), "{}", reports[0]);
}

#[test]
fn parents_tests_comments_and_other_crates_make_no_cycle() {
    let reports = report_crate(&[
        ("lib.rs", "mod p;"),
        ("p.rs", "mod a;\nmod b;\n#[cfg(test)]\nmod probe;\nuse a::f;\npub struct Own;"),
        ("p/a.rs", "use super::{b::g, Own};\nuse other::b;"),
        (
            "p/b.rs",
            "//! See [super::a].\nuse super::Own;\nconst T: &str = \"super::a::f\";\n\
             #[cfg(test)]\nuse super::a::f;\n#[cfg(test)]\nmod tests { use super::super::a::f; }",
        ),
        ("p/probe.rs", "use super::a::f;\npub fn x() {}"),
    ]);
    assert_eq!(reports, [""; 0]);
}

#[test]
fn glob_import_of_a_module_is_reported() {
    let reports = report_crate(&[
        ("lib.rs", "mod a;\npub use a::*;\nuse std::fmt::*;"),
        ("a.rs", "pub enum Kind { One }\nuse Kind::*;"),
    ]);
    assert_eq!(reports.len(), 1, "{reports:#?}");
    assert!(reports[0].starts_with("src/lib.rs:2: `use a::*`"), "{}", reports[0]);
}
