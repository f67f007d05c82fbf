//! Documentation tests: the blocks of every page run and print what the page shows, and links resolve.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs the blocks of these pages with `scripts/run-doc`. Returns success and the output.
fn run_doc(options: &[&str], pages: &[PathBuf]) -> (bool, String) {
    let mut command = Command::new("scripts/run-doc");
    command.arg(env!("CARGO_BIN_EXE_uptake")).args(options).args(pages);
    let output = command.output().unwrap();
    let printed = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&printed).into_owned())
}

/// Adds the Markdown files of a folder and of its subfolders.
fn collect_pages(folder: &Path, pages: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect_pages(&path, pages);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(path);
        }
    }
}

/// README.md, examples/README.md and all pages in docs, sorted.
fn list_pages() -> Vec<PathBuf> {
    let mut pages = vec![PathBuf::from("README.md"), PathBuf::from("examples/README.md")];
    collect_pages(Path::new("docs"), &mut pages);
    pages.sort();
    pages
}

/// Reads from the script's output how many blocks of a page ran.
fn count_blocks(printed: &str, page: &str) -> u32 {
    let line = printed.lines().find(|line| line.starts_with(&format!("{page}: "))).unwrap();
    line.split(' ').nth(1).unwrap().parse().unwrap()
}

#[test]
fn every_block_of_every_page_runs_and_is_answered_as_shown() {
    let (succeeded, printed) = run_doc(&[], &list_pages());
    assert!(succeeded, "{printed}");
    eprintln!("{printed}");
    // Guards against a parser that finds no blocks and therefore passes.
    for (page, minimum) in [
        ("docs/quickstart.md", 10),
        ("docs/api.md", 4),
        ("docs/api/events.md", 4),
        ("README.md", 4),
    ] {
        assert!(count_blocks(&printed, page) >= minimum, "{page}\n{printed}");
    }
}

#[test]
fn readme_then_quickstart_run_on_one_data_folder() {
    let pages = ["README.md", "docs/quickstart.md"].map(PathBuf::from);
    let (succeeded, printed) = run_doc(&["--same-folder"], &pages);
    assert!(succeeded, "{printed}");
    for page in ["README.md", "docs/quickstart.md"] {
        assert!(count_blocks(&printed, page) >= 4, "{page}\n{printed}");
    }
}

#[test]
fn a_page_that_is_not_true_is_named_with_its_line_and_what_was_seen() {
    let folder = tempfile::tempdir().unwrap();
    let page = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let live = "curl -s http://127.0.0.1:8787/health/live";
    let cases = [
        (
            format!("# A\n\n```sh\n{live}\n```\n```json\n{{\"status\": \"dead\"}}\n```\n"),
            7,
            "\"dead\"",
        ),
        ("# A\n```sh\ntrue\nls /nowhere\n```\n".to_owned(), 3, "at line 4"),
        (
            "```sh\ncurl -s http://127.0.0.1:8787/api/v1/turns/t9\n```\n".to_owned(),
            2,
            "\"status\":404",
        ),
        (
            "```python\nx = 1\n```\n\n```python\nassert x == 2\n```\n".to_owned(),
            6,
            "AssertionError",
        ),
        ("```sh\necho one two\n```\n```text\none … three\n```\n".to_owned(), 5, "one … three"),
        ("```sh fails\ntrue\n```\n".to_owned(), 2, "did not fail"),
        ("```sh whatever\ntrue\n```\n".to_owned(), 2, "no such mark"),
    ];
    let wrong: Vec<PathBuf> =
        cases.iter().enumerate().map(|(n, (text, ..))| page(&format!("{n}.md"), text)).collect();
    let fine = "```sh\nX=1\n```\n```sh\ntest $X = 1\nuptake --version\n```\n```sh skip: no\nfalse\n```\n\
        ```sh fails\nfalse\n```\n```python\nprint({'a': 1.234, 'b': [1, 2]})\n```\n```json\n{\"a\": 1.23, \"b\": [2]}\n```\n";
    let mut all = wrong.clone();
    all.push(page("fine.md", fine));
    let (succeeded, printed) = run_doc(&[], &all);
    assert!(!succeeded, "{printed}");
    for (path, (_, line, seen)) in wrong.iter().zip(&cases) {
        let place = format!("FAILED {}:{line}: ", path.display());
        let report =
            printed.split("FAILED ").find(|part| format!("FAILED {part}").starts_with(&place));
        assert!(report.is_some_and(|report| report.contains(seen)), "{place}{seen}\n{printed}");
    }
    assert!(
        printed.contains("fine.md: 4 blocks ran, 1 answers compared, 1 skipped (no)"),
        "{printed}"
    );
}

#[test]
fn links_between_pages_resolve_and_the_index_names_every_page() {
    let mut all = list_pages();
    let others = [
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "STYLE.md",
        "changelog.d/README.md",
        "deploy/README.md",
        "training/README.md",
    ];
    all.extend(others.map(PathBuf::from));
    collect_pages(Path::new("bench"), &mut all);
    for page in &all {
        let text = std::fs::read_to_string(page).unwrap();
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = target.split('#').next().unwrap();
            if target.contains("://") || file.is_empty() {
                continue;
            }
            let linked = page.parent().unwrap_or(Path::new("")).join(file);
            assert!(linked.exists(), "{}: {target} does not exist", page.display());
        }
    }
    let index = std::fs::read_to_string("docs/README.md").unwrap();
    let in_index =
        |page: &&PathBuf| page.starts_with("docs") && !page.starts_with("docs/decisions");
    for page in all.iter().filter(in_index) {
        let name = page.strip_prefix("docs").unwrap().to_str().unwrap();
        assert!(
            name == "README.md" || index.contains(&format!("]({name})")),
            "docs/README.md does not link to {name}"
        );
    }
}

/// `engine/x.rs` stands for `crates/engine/src/x.rs`; a path may leave the crate out.
#[test]
fn architecture_names_only_files_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files: Vec<String> = crate::layers::rust_files(&root.join("crates"))
        .into_iter()
        .chain(crate::layers::rust_files(&root.join("src")))
        .chain(crate::layers::rust_files(&root.join("tests")))
        .map(|file| file.strip_prefix(root).unwrap().to_str().unwrap().replace("/src/", "/"))
        .collect();
    files.sort();
    let page = std::fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let named: Vec<&str> =
        page.split('`').skip(1).step_by(2).filter(|name| name.ends_with(".rs")).collect();
    assert!(named.len() > 50, "only {} files are named", named.len());
    for name in named {
        let ending = format!("/{name}");
        let exists = files.iter().any(|file| file == name || file.ends_with(&ending));
        assert!(exists, "ARCHITECTURE.md names {name}, which does not exist");
    }
}
