//! Every code block of the documentation runs and prints what the page shows.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs the blocks of these pages: true when all passed, and the script's output.
fn run_pages(pages: &[PathBuf]) -> (bool, String) {
    let mut command = Command::new("scripts/run-doc");
    let output = command.arg(env!("CARGO_BIN_EXE_uptake")).args(pages).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&said).into_owned())
}

/// README and the pages in docs, in order.
fn pages() -> Vec<PathBuf> {
    let files = std::fs::read_dir("docs").unwrap().map(|file| file.unwrap().path());
    let mut pages: Vec<PathBuf> =
        files.filter(|file| file.extension().is_some_and(|ending| ending == "md")).collect();
    pages.push("README.md".into());
    pages.push("examples/README.md".into());
    pages.sort();
    pages
}

/// Number of blocks of a page that ran, from the script's output.
fn count_blocks(said: &str, page: &str) -> u32 {
    let line = said.lines().find(|line| line.starts_with(&format!("{page}: "))).unwrap();
    line.split(' ').nth(1).unwrap().parse().unwrap()
}

#[test]
fn documentation_blocks_run_and_print_the_shown_output() {
    let (went_well, said) = run_pages(&pages());
    assert!(went_well, "{said}");
    eprintln!("{said}");
    // A page whose blocks are no longer found would pass as well.
    for (page, least) in [("docs/quickstart.md", 10), ("docs/api.md", 10), ("README.md", 4)] {
        assert!(count_blocks(&said, page) >= least, "{page}\n{said}");
    }
}

#[test]
fn wrong_page_is_reported_with_line_and_actual_output() {
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
        ("```sh whatever\ntrue\n```\n".to_owned(), 2, "unknown mark"),
    ];
    let wrong: Vec<PathBuf> =
        cases.iter().enumerate().map(|(n, (text, ..))| page(&format!("{n}.md"), text)).collect();
    let fine = "```sh\nX=1\n```\n```sh\ntest $X = 1\nuptake --version\n```\n```sh skip: no\nfalse\n```\n\
        ```sh fails\nfalse\n```\n```python\nprint({'a': 1.234, 'b': [1, 2]})\n```\n```json\n{\"a\": 1.23, \"b\": [2]}\n```\n";
    let mut all = wrong.clone();
    all.push(page("fine.md", fine));
    let (went_well, said) = run_pages(&all);
    assert!(!went_well, "{said}");
    for (path, (_, line, seen)) in wrong.iter().zip(&cases) {
        let place = format!("FAILED {}:{line}: ", path.display());
        let response =
            said.split("FAILED ").find(|part| format!("FAILED {part}").starts_with(&place));
        assert!(response.is_some_and(|response| response.contains(seen)), "{place}{seen}\n{said}");
    }
    assert!(said.contains("fine.md: 4 blocks ran, 1 answers compared, 1 skipped (no)"), "{said}");
}

#[test]
fn documentation_links_resolve_and_the_index_lists_every_page() {
    let mut all = pages();
    all.extend(["ARCHITECTURE.md", "CONTRIBUTING.md"].map(PathBuf::from));
    for page in &all {
        let text = std::fs::read_to_string(page).unwrap();
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = target.split('#').next().unwrap();
            if target.contains("://") || file.is_empty() {
                continue;
            }
            let there = page.parent().unwrap_or(Path::new("")).join(file);
            assert!(there.exists(), "{}: {target} leads nowhere", page.display());
        }
    }
    let index = std::fs::read_to_string("docs/README.md").unwrap();
    for page in all.iter().filter(|page| page.starts_with("docs")) {
        let name = page.file_name().unwrap().to_str().unwrap();
        assert!(name == "README.md" || index.contains(name), "{name} is not in it");
    }
}
