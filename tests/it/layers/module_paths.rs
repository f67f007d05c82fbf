//! Reads the module paths in a Rust file: `use` trees, and paths in types, expressions and macros.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// Segments of a path, such as `["super", "queue", "Queue"]`, or of a module: `["log", "queue"]`.
pub(super) type Segments = Vec<String>;

/// One module, with the paths written in it outside tests.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ModuleSource {
    pub module: Segments,
    pub paths: Vec<WrittenPath>,
    pub imports: Vec<Import>,
    /// Children that are declared under `#[cfg(test)]`.
    pub test_children: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct WrittenPath {
    pub segments: Segments,
    pub line: usize,
}

/// A name that a `use` declaration adds to its module. The name of a glob import is `*`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Import {
    pub name: String,
    pub path: WrittenPath,
}

/// The module in `text`, followed by the modules written inside it as `mod name { … }`.
pub(super) fn parse_modules(module: Segments, text: &str) -> Vec<ModuleSource> {
    let tokens: TokenStream = text.parse().unwrap_or_else(|e| panic!("{}: {e}", module.join("::")));
    let mut modules = Vec::new();
    read_module(module, tokens, &mut modules);
    modules
}

fn read_module(module: Segments, tokens: TokenStream, modules: &mut Vec<ModuleSource>) {
    modules.push(ModuleSource { module, ..ModuleSource::default() });
    read_tokens(tokens, modules.len() - 1, modules);
}

/// Adds to the module at index `current`.
fn read_tokens(tokens: TokenStream, current: usize, modules: &mut Vec<ModuleSource>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut at = 0;
    while at < tokens.len() {
        let rest = &tokens[at..];
        let source = &mut modules[current];
        at += match rest {
            [TokenTree::Punct(_), TokenTree::Group(attribute), ..]
                if is_punct(&rest[0], '#') && is_cfg_test(attribute) =>
            {
                2 + skip_item(&rest[2..], source)
            }
            [TokenTree::Ident(word), TokenTree::Ident(name), TokenTree::Group(body), ..]
                if word == "mod" =>
            {
                let child = source.module.iter().cloned().chain([name.to_string()]).collect();
                read_module(child, body.stream(), modules);
                3
            }
            // `use<'a>` in a type captures lifetimes and imports nothing.
            [TokenTree::Ident(word), next, ..] if word == "use" && !is_punct(next, '<') => {
                1 + read_use_tree(&rest[1..], &[], &mut source.imports)
            }
            [TokenTree::Ident(first), ..] => {
                let (segments, length) = read_path(rest);
                if segments.len() > 1 {
                    let line = first.span().start().line;
                    source.paths.push(WrittenPath { segments, line });
                }
                length
            }
            [TokenTree::Group(group), ..] => {
                read_tokens(group.stream(), current, modules);
                1
            }
            _ => 1,
        };
    }
}

/// True for `cfg(test)` and `cfg(all(test, …))`.
fn is_cfg_test(attribute: &Group) -> bool {
    let text = attribute.stream().to_string().replace(' ', "");
    text.starts_with("cfg(test)") || text.starts_with("cfg(all(test,")
}

/// Length of the item at the start of `tokens`, which is compiled for tests only.
fn skip_item(tokens: &[TokenTree], source: &mut ModuleSource) -> usize {
    let ends_item = |token: &TokenTree| {
        is_punct(token, ';')
            || matches!(token, TokenTree::Group(g) if g.delimiter() == Delimiter::Brace)
    };
    let length = tokens.iter().position(ends_item).map_or(tokens.len(), |last| last + 1);
    for pair in tokens[..length].windows(2) {
        if let [TokenTree::Ident(word), TokenTree::Ident(name)] = pair
            && word == "mod"
        {
            source.test_children.push(name.to_string());
        }
    }
    length
}

/// Adds the names that a `use` tree imports, and returns the tree's length in tokens.
fn read_use_tree(tokens: &[TokenTree], prefix: &[String], imports: &mut Vec<Import>) -> usize {
    let mut at = 0;
    while at < tokens.len() && !is_punct(&tokens[at], ';') {
        at += read_use_branch(&tokens[at..], prefix, imports);
        if tokens.get(at).is_some_and(|token| is_punct(token, ',')) {
            at += 1;
        }
    }
    at
}

/// One branch: `a::b`, `a as b`, `a::*`, `a::{…}` or `{…}`.
fn read_use_branch(tokens: &[TokenTree], prefix: &[String], imports: &mut Vec<Import>) -> usize {
    let (segments, mut at) = read_path(tokens);
    let mut path: Segments = prefix.iter().cloned().chain(segments).collect();
    // A path that starts with `::`, and the separator before `{` or `*`.
    while tokens.get(at).is_some_and(|token| is_punct(token, ':')) {
        at += 1;
    }
    let Some(next) = tokens.get(at) else {
        add_import(path, None, tokens, imports);
        return at;
    };
    match next {
        TokenTree::Group(group) => {
            let branches: Vec<_> = group.stream().into_iter().collect();
            read_use_tree(&branches, &path, imports);
            at + 1
        }
        TokenTree::Punct(p) if p.as_char() == '*' => {
            path.push("*".to_owned());
            add_import(path, None, tokens, imports);
            at + 1
        }
        TokenTree::Ident(word) if word == "as" => {
            add_import(path, tokens.get(at + 1).map(ToString::to_string), tokens, imports);
            at + 2
        }
        TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {
            add_import(path, None, tokens, imports);
            at.max(1)
        }
    }
}

fn add_import(
    mut segments: Segments,
    alias: Option<String>,
    tokens: &[TokenTree],
    imports: &mut Vec<Import>,
) {
    if segments.len() > 1 && segments.last().is_some_and(|last| last == "self") {
        segments.pop();
    }
    let (Some(name), Some(token)) = (alias.or_else(|| segments.last().cloned()), tokens.first())
    else {
        return;
    };
    let path = WrittenPath { segments, line: token.span().start().line };
    imports.push(Import { name, path });
}

/// The path `a::b::c` at the start of `tokens`, and its length in tokens.
fn read_path(tokens: &[TokenTree]) -> (Segments, usize) {
    let mut segments = Vec::new();
    let mut at = 0;
    while let Some(TokenTree::Ident(segment)) = tokens.get(at) {
        segments.push(segment.to_string());
        at += 1;
        match &tokens[at..] {
            [a, b, TokenTree::Ident(_), ..] if is_punct(a, ':') && is_punct(b, ':') => at += 2,
            _ => break,
        }
    }
    (segments, at)
}

fn is_punct(token: &TokenTree, wanted: char) -> bool {
    matches!(token, TokenTree::Punct(p) if p.as_char() == wanted)
}

#[test]
fn use_trees_are_read_with_names_and_lines() {
    let text =
        "use crate::{\n    a::{self, B as C},\n    d::*,\n};\nuse super::e;\nuse ::std::fmt;";
    let modules = parse_modules(Vec::new(), text);
    let imports: Vec<(&str, String, usize)> = modules[0]
        .imports
        .iter()
        .map(|import| (import.name.as_str(), import.path.segments.join("::"), import.path.line))
        .collect();
    let expected = [
        ("a", "crate::a", 2),
        ("C", "crate::a::B", 2),
        ("*", "crate::d::*", 3),
        ("e", "super::e", 5),
        ("fmt", "std::fmt", 6),
    ];
    assert_eq!(imports, expected.map(|(name, path, line)| (name, path.to_owned(), line)));
}

#[test]
fn inline_modules_are_modules_of_their_own() {
    let text = "mod a { use super::b; mod c { fn f() { crate::d::e(); } } }\nmod g;";
    let modules = parse_modules(vec!["m".to_owned()], text);
    let names: Vec<String> = modules.iter().map(|module| module.module.join("::")).collect();
    assert_eq!(names, ["m", "m::a", "m::a::c"]);
    assert_eq!(modules[1].imports[0].path.segments, ["super", "b"]);
    assert_eq!(modules[2].paths[0].segments, ["crate", "d", "e"]);
}
