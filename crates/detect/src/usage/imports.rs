//! Modules that the code of an answer imports, and the items they belong to.

use rustc_hash::FxHashSet;

use super::ReturnedItem;
use super::tokenizer::{TokenKind, TokenizedText};
use super::word_lists::word_lists;
use crate::text::hash;

const MAX_IMPORTS: usize = 200;
const MAX_PARTS: usize = 12;
const MAX_SYMBOLS: usize = 24;

/// One import: the keys of its path, the last first.
#[derive(Clone, Debug)]
pub(super) struct Import {
    /// Reversed paths that it may mean: the module, and the module with each imported symbol.
    paths: Vec<Vec<u32>>,
    root: Root,
    /// Byte range in the answer.
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The place at which an imported path starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Root {
    /// The own project: `./`, `..`, `crate::`, `#include "…"`.
    Project,
    /// A folder that may stand for one of the project: `@acme/model`, `git.acme.dev/ledger`.
    Folder,
    /// A full name of packages: `org.acme.time`.
    Package,
}

impl Root {
    fn new(path: &str) -> Self {
        let starts = |own: &&str| path.starts_with(*own);
        if ["crate::", "super::", "self::", "."].iter().any(starts) {
            Self::Project
        } else if path.contains('/') {
            Self::Folder
        } else {
            Self::Package
        }
    }
}

/// Reads the import lines of a text that `is_code` accepts by their start.
pub(super) fn collect_imports(text: &str, is_code: impl Fn(usize) -> bool) -> Vec<Import> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut in_go_group = false;
    for line in text.split_inclusive('\n') {
        let bare = line.trim();
        let from = start + (line.len() - line.trim_start().len());
        start += line.len();
        if found.len() >= MAX_IMPORTS {
            break;
        }
        if in_go_group {
            in_go_group = !bare.starts_with(')');
        }
        let import = match bare {
            "import (" => {
                in_go_group = true;
                None
            }
            _ if in_go_group => quoted_part(bare).map(|path| (path, "", Root::new(path))),
            _ => split_import(bare),
        };
        if let Some((path, symbols, root)) = import.filter(|_| is_code(from)) {
            let paths = read_paths(path, symbols);
            let end = from + bare.len();
            found.push(Import { paths, root, start: from, end });
        }
    }
    found
}

/// Splits an import line into path, symbols and root.
fn split_import(line: &str) -> Option<(&str, &str, Root)> {
    let line = line.trim_end_matches(';');
    if let Some(rest) = line.strip_prefix("#include") {
        let root = if rest.contains('"') { Root::Project } else { Root::Folder };
        return quoted_part(rest).map(|path| (path, "", root));
    }
    if let Some(rest) = line.strip_prefix("require_relative ") {
        return quoted_part(rest).map(|path| (path, "", Root::Project));
    }
    if let Some((before, rest)) = line.split_once("require(").or(line.split_once("import(")) {
        let path = quoted_part(rest)?;
        return Some((path, before, Root::new(path)));
    }
    let (keyword, rest) = line.split_once(' ')?;
    let rest = rest.trim_start();
    match keyword {
        "import" | "export" | "from" | "require" | "use" | "using" | "pub" => {}
        _ => return None,
    }
    if let Some((symbols, path)) = rest.rsplit_once("from ").filter(|_| keyword != "from") {
        let path = quoted_part(path)?;
        return Some((path, symbols, Root::new(path)));
    }
    let rest = ["static ", "type ", "use ", "function "]
        .iter()
        .fold(rest, |rest, word| rest.strip_prefix(word).unwrap_or(rest));
    if let Some(path) = quoted_part(rest) {
        return (keyword != "export").then_some((path, "", Root::new(path)));
    }
    let (path, symbols) = match keyword {
        "from" => rest.split_once(" import ")?,
        "export" => return None,
        _ => rest.split_once('{').unwrap_or((rest, "")),
    };
    let path = path.split(" as ").next().unwrap_or_default().trim();
    let is_path = !path.is_empty() && !path.contains(char::is_whitespace);
    is_path.then_some((path, symbols, Root::new(path)))
}

/// The text inside the first quotation marks or angle brackets.
fn quoted_part(text: &str) -> Option<&str> {
    let open = text.find(['"', '\'', '<'])?;
    let rest = &text[open + 1..];
    let length = rest.find(['"', '\'', '>'])?;
    Some(&rest[..length])
}

fn read_paths(path: &str, symbols: &str) -> Vec<Vec<u32>> {
    let module = read_reversed_path(path);
    let mut paths = Vec::new();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    for symbol in symbols.split(|c| !is_word(c)).filter(|word| !word.is_empty()).take(MAX_SYMBOLS) {
        let key = identifier_key(symbol);
        paths.push(std::iter::once(key).chain(module.iter().copied()).collect());
    }
    // The last part of `com.acme.Money` and `crate::limits::Bucket` is a symbol of a module.
    if !path.contains('/') && module.len() > 1 {
        paths.push(module[1..].to_vec());
    }
    paths.push(module);
    paths
}

/// Keys of the parts of a path, the last first, without roots and without the names that stand for
/// a folder.
fn read_reversed_path(path: &str) -> Vec<u32> {
    let (folder, rest) = path.rsplit_once(['/', '\\']).map_or(("", path), |(a, b)| (a, b));
    let stem = rest.rsplit_once('.').filter(|(_, end)| word_lists().file_endings.contains(end));
    let is_file = !folder.is_empty() || stem.is_some();
    let rest = stem.map_or(rest, |(stem, _)| stem);
    let borders: &[char] = if is_file { &[':', '#'] } else { &[':', '#', '.', '\\'] };
    let folders = folder.split(['/', '\\']);
    let parts = folders.chain(rest.split(borders)).map(|part| part.trim_start_matches('@'));
    let is_root =
        |part: &&str| matches!(*part, "" | "." | ".." | "crate" | "self" | "super" | "src" | "~");
    let mut keys: Vec<u32> = parts.filter(|part| !is_root(part)).map(identifier_key).collect();
    let stands_for_folder = ["index", "mod", "lib", "main", "__init__"].map(identifier_key);
    if keys.len() > 1 && keys.last().is_some_and(|last| stands_for_folder.contains(last)) {
        keys.pop();
    }
    keys.reverse();
    keys.truncate(MAX_PARTS);
    keys
}

fn identifier_key(text: &str) -> u32 {
    hash(0, TokenizedText::new(text).folded.as_bytes())
}

/// Imports by item, for items that exactly one import fits best.
pub(super) fn match_imports<'a>(
    imports: &'a [Import],
    items: &[ReturnedItem<'_>],
) -> Vec<Option<&'a Import>> {
    let mut owners = vec![None; items.len()];
    if imports.is_empty() {
        return owners;
    }
    let paths: Vec<ItemPath> = items.iter().map(|item| ItemPath::new(item.name)).collect();
    for import in imports {
        for imported in &import.paths {
            let depths: Vec<usize> =
                paths.iter().map(|path| path.match_depth(imported, import.root)).collect();
            let deepest = depths.iter().copied().max().unwrap_or(0);
            let fitting = |at: &usize| deepest > 0 && depths[*at] == deepest;
            let names: FxHashSet<&[u32]> =
                (0..items.len()).filter(fitting).map(|at| &paths[at].keys[..]).collect();
            // Chunks of one file have one name.
            if names.len() == 1 {
                for at in (0..items.len()).filter(fitting) {
                    owners[at].get_or_insert(import);
                }
            }
        }
    }
    owners
}

/// The name of an item, read as a path; empty for a title.
struct ItemPath {
    keys: Vec<u32>,
    /// The last part is an identifier of several words, such as `date_utils`.
    is_distinctive: bool,
}

impl ItemPath {
    fn new(name: Option<&str>) -> Self {
        let name = name.unwrap_or_default().trim();
        if name.contains(char::is_whitespace) {
            return Self { keys: Vec::new(), is_distinctive: false };
        }
        let last = name.rsplit(['/', '\\', ':', '#']).next().unwrap_or_default();
        let stem = last.rsplit_once('.').map_or(last, |(stem, _)| stem);
        let words = TokenizedText::new(stem);
        let letters = words.tokens.iter().filter(|token| token.kind == TokenKind::Letters).count();
        Self { keys: read_reversed_path(name), is_distinctive: letters > 1 }
    }

    /// Parts that the path and an imported one have in common at their ends; 0 when they are too
    /// few to mean the same module.
    fn match_depth(&self, imported: &[u32], root: Root) -> usize {
        let same = imported.iter().zip(&self.keys).take_while(|(a, b)| a == b).count();
        let is_whole = same == imported.len() || same == self.keys.len();
        let is_enough = match same {
            0 => false,
            1 => is_whole && (root == Root::Project || self.is_distinctive),
            _ => is_whole || root == Root::Folder,
        };
        if is_enough { same } else { 0 }
    }
}
