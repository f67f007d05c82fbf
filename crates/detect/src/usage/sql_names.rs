//! Tables and columns that the SQL of an answer names.
//!
//! A scan of keywords, not a parser: answers hold fragments, templates and statements inside other
//! languages, and use detection runs for every answer.

use super::answer_kind::AnswerKind;
use super::tokenizer::{Gap, Token, TokenizedText};
use super::word_lists::word_lists;
use crate::text::hash;

const MAX_TABLES: usize = 64;
const MAX_COLUMNS: usize = 400;
const MAX_NAME_TOKENS: usize = 16;

/// Keys of the parts of a qualified name, the table or column last.
pub(super) type NameParts = Vec<u32>;

#[derive(Clone, Debug)]
pub(super) struct SqlTable {
    pub(super) parts: NameParts,
    alias: Option<u32>,
    pub(super) statement: u32,
    /// Inclusive token range.
    pub(super) first: usize,
    pub(super) last: usize,
}

#[derive(Clone, Debug)]
pub(super) struct SqlColumn {
    /// The table or alias before the dot.
    owner: Option<u32>,
    pub(super) key: u32,
    pub(super) statement: u32,
    first: usize,
    last: usize,
}

impl SqlColumn {
    /// Inclusive token range.
    pub(super) fn range(&self) -> (usize, usize) {
        (self.first, self.last)
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct SqlNames {
    pub(super) tables: Vec<SqlTable>,
    pub(super) columns: Vec<SqlColumn>,
}

impl SqlNames {
    /// `prose` is the text with code and quotations masked.
    pub(super) fn new(
        text: &str,
        prose: &str,
        kind: AnswerKind,
        tokenized: &TokenizedText,
        ignored: &[bool],
    ) -> Self {
        let mut scanner = Scanner::new(text, prose, kind, tokenized);
        let mut at = 0;
        while at < tokenized.tokens.len() {
            at = if ignored[at] { at + 1 } else { scanner.read_word(at) };
        }
        let Scanner { mut names, local_names, .. } = scanner;
        // A common table expression hides the table of its name.
        names
            .tables
            .retain(|table| table.parts.len() > 1 || !local_names.contains(&table.parts[0]));
        names
    }

    pub(super) fn find_table(&self, parts: &[u32]) -> Option<&SqlTable> {
        self.tables.iter().find(|table| names_agree(&table.parts, parts))
    }

    /// Finds a column of a table, with the table or its alias before it, or alone in a statement
    /// that names the table. Returns the inclusive token range.
    pub(super) fn find_column(&self, table: &[u32], column: u32) -> Option<(usize, usize)> {
        let is_owned = |found: &&SqlColumn| {
            found.key == column
                && self.tables.iter().any(|named| {
                    let alias = named.alias.or(named.parts.last().copied());
                    named.statement == found.statement
                        && names_agree(&named.parts, table)
                        && found.owner.is_none_or(|owner| Some(owner) == alias)
                })
        };
        self.columns.iter().find(is_owned).map(|found| (found.first, found.last))
    }
}

/// True when two qualified names may mean the same table: no part that both have differs.
pub(super) fn names_agree(one: &[u32], other: &[u32]) -> bool {
    let mut pairs = one.iter().rev().zip(other.iter().rev());
    pairs.len() > 0 && pairs.all(|(a, b)| a == b)
}

/// A name with its parts: `sales.orders`, `[Sales].[Order Details]`.
pub(super) struct ReadName {
    pub(super) parts: NameParts,
    pub(super) end: usize,
    is_quoted: bool,
}

/// Reads the qualified name that starts at a token.
pub(super) fn read_name(text: &str, tokenized: &TokenizedText, at: usize) -> ReadName {
    let tokens = &tokenized.tokens;
    let before = text[..tokens[at].start as usize].chars().next_back();
    let mut open = before.and_then(closing_mark);
    let is_quoted = open.is_some();
    let key = |first: usize, end: usize| hash(0, tokenized.folded_range(first, end - 1).as_bytes());
    let (mut parts, mut first, mut end) = (Vec::new(), at, at + 1);
    while end < tokens.len() && end - at < MAX_NAME_TOKENS {
        let between = &text[tokens[end - 1].end as usize..tokens[end].start as usize];
        let Some(has_dot) = continue_name(between, &mut open) else { break };
        if has_dot {
            parts.push(key(first, end));
            first = end;
        }
        end += 1;
    }
    parts.push(key(first, end));
    ReadName { parts, end, is_quoted }
}

fn closing_mark(c: char) -> Option<char> {
    match c {
        '[' => Some(']'),
        '"' | '`' => Some(c),
        _ => None,
    }
}

/// Reads the characters between two tokens of a name. `None` when the name ends; else true when
/// they separate two parts.
fn continue_name(between: &str, open: &mut Option<char>) -> Option<bool> {
    let mut has_dot = false;
    for c in between.chars() {
        match *open {
            Some(closing) if c == closing => *open = None,
            Some('`') if c == '.' => has_dot = true,
            Some(_) if c == '\n' || c == '\'' || c == '(' => return None,
            Some(_) => {}
            None if c == '.' => has_dot = true,
            None if c == '_' => {}
            None if has_dot => *open = Some(closing_mark(c)?),
            None => return None,
        }
    }
    // A quotation mark that closes the name ends it.
    let ends = open.is_none() && !has_dot && between.contains([']', '"', '`']);
    (!ends).then_some(has_dot)
}

/// The grammar position of the next name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    Column,
    Table,
    /// After a table: an alias, or another table after a comma.
    AfterTable,
    /// After `CREATE TABLE`: the statement makes this table.
    NewTable,
}

struct Scanner<'a> {
    text: &'a str,
    prose: &'a str,
    kind: AnswerKind,
    tokenized: &'a TokenizedText,
    names: SqlNames,
    /// Names of common table expressions and of tables that the answer creates.
    local_names: Vec<u32>,
    statements: u32,
    /// First keyword of the current statement.
    verb: Option<&'a str>,
    started_in_code: bool,
    makes_index: bool,
    position: Position,
    /// Depths of parentheses at which a SELECT waits for its FROM.
    open_selects: Vec<i32>,
    depth: i32,
    previous: &'a str,
    previous_key: Option<u32>,
}

impl<'a> Scanner<'a> {
    fn new(text: &'a str, prose: &'a str, kind: AnswerKind, tokenized: &'a TokenizedText) -> Self {
        Self {
            text,
            prose,
            kind,
            tokenized,
            names: SqlNames::default(),
            local_names: Vec::new(),
            statements: 0,
            verb: None,
            started_in_code: false,
            makes_index: false,
            position: Position::Column,
            open_selects: Vec::new(),
            depth: 0,
            previous: "",
            previous_key: None,
        }
    }

    /// Reads the word or name at a token and returns the token after it.
    fn read_word(&mut self, at: usize) -> usize {
        let tokens = &self.tokenized.tokens;
        let token = &tokens[at];
        let word = self.tokenized.folded_token(token);
        let is_joined = |token: &Token| matches!(token.gap, Gap::None | Gap::Underscore | Gap::Dot);
        let is_part = (at > 0 && is_joined(token)) || tokens.get(at + 1).is_some_and(is_joined);
        let is_alone = !is_part;
        if self.verb.is_none() {
            if is_alone && is_verb(word) && self.may_start(at, word) {
                self.start_statement(at, word);
            }
            return at + 1;
        }
        let start = at.checked_sub(1).map_or(0, |before| tokens[before].end as usize);
        let between = &self.text[start..token.start as usize];
        if self.ends_statement(at, between) {
            self.verb = None;
            return self.read_word(at);
        }
        for c in between.chars() {
            self.depth += i32::from(c == '(') - i32::from(c == ')');
        }
        let name = read_name(self.text, self.tokenized, at);
        if is_alone && !name.is_quoted && word_lists().sql_keywords.contains(&token.hash) {
            self.read_keyword(word, between);
            self.previous = word;
            return at + 1;
        }
        self.read_identifier(at, between, &name);
        self.previous = "";
        self.previous_key = (name.parts.len() == 1).then(|| name.parts[0]);
        name.end
    }

    /// True when SQL may start here: in code, or with a keyword in capitals at the start of a line.
    fn may_start(&self, at: usize, word: &str) -> bool {
        let start = self.tokenized.tokens[at].start as usize;
        let written = &self.text[start..start + word.len()];
        let line = self.text[..start].rsplit('\n').next().unwrap_or_default();
        let in_code = self.kind == AnswerKind::Code || self.is_code(at);
        let heads_line = line.trim().is_empty() && written.bytes().all(|b| b.is_ascii_uppercase());
        (in_code || heads_line) && self.is_statement(at, word)
    }

    /// True unless the word is a name of other languages: a function "update", `with open(…)`.
    fn is_statement(&self, at: usize, word: &str) -> bool {
        let tokens = &self.tokenized.tokens;
        let is_word = |p: &Token, word: &str| self.tokenized.folded_token(p) == word;
        let mut near = at + 1..tokens.len().min(at + MAX_NAME_TOKENS / 2);
        match word {
            "update" => near.any(|at| is_word(&tokens[at], "set")),
            "with" => near.any(|at| {
                let after = &self.text[tokens[at].end as usize..];
                is_word(&tokens[at], "as") && after.trim_start().starts_with('(')
            }),
            _ => true,
        }
    }

    fn is_code(&self, at: usize) -> bool {
        let start = self.tokenized.tokens[at].start as usize;
        self.prose.as_bytes().get(start) != self.text.as_bytes().get(start)
    }

    fn start_statement(&mut self, at: usize, word: &'a str) {
        self.statements += 1;
        self.verb = Some(word);
        self.started_in_code = self.is_code(at);
        self.makes_index = false;
        self.depth = 0;
        self.open_selects.clear();
        if word == "select" {
            self.open_selects.push(0);
        }
        self.position = if word == "update" { Position::Table } else { Position::Column };
        (self.previous, self.previous_key) = (word, None);
    }

    fn ends_statement(&self, at: usize, between: &str) -> bool {
        let left_code = self.started_in_code && !self.is_code(at);
        left_code || [";", "```", "\"\"\"", "\n\n"].iter().any(|mark| between.contains(mark))
    }

    fn read_keyword(&mut self, word: &str, between: &str) {
        let verb = self.verb.unwrap_or_default();
        let makes = verb == "create" || verb == "drop";
        self.makes_index |= word == "index" && makes;
        self.position = match word {
            "select" => {
                self.open_selects.push(self.depth);
                // `name AS (SELECT …)`
                if self.previous == "as" && between.contains('(') {
                    self.local_names.extend(self.previous_key);
                }
                Position::Column
            }
            "from" if self.previous == "delete" => Position::Table,
            "from" if self.previous != "distinct" => self.close_select(),
            "join" | "into" | "references" => Position::Table,
            "using" if verb == "delete" || verb == "merge" => Position::Table,
            "on" if self.makes_index => Position::Table,
            "table" | "view" if makes => Position::NewTable,
            "table" if verb == "alter" || verb == "truncate" => Position::Table,
            "as" | "if" | "not" | "exists" | "only" | "lateral" => self.position,
            _ => Position::Column,
        };
    }

    /// `FROM` after a `SELECT` at the same depth names tables; in `extract(year FROM x)` it does
    /// not.
    fn close_select(&mut self) -> Position {
        let Some(at) = self.open_selects.iter().rposition(|depth| *depth == self.depth) else {
            return Position::Column;
        };
        self.open_selects.truncate(at);
        Position::Table
    }

    fn read_identifier(&mut self, at: usize, between: &str, name: &ReadName) {
        let is_call =
            self.text[self.tokenized.tokens[name.end - 1].end as usize..].starts_with('(');
        let is_value = between.contains(['\'', '{', '$', '%', ':', '@']);
        let is_next_table = self.position == Position::AfterTable && between.contains(',');
        let reads_table = self.position == Position::Table || is_next_table;
        // Columns may follow the table of INSERT and REFERENCES without a space.
        let is_function = is_call && !matches!(self.previous, "into" | "references" | "on");
        if self.position == Position::NewTable {
            self.local_names.extend(name.parts.last());
            self.position = Position::Column;
        } else if reads_table && !between.contains('(') && !is_function && !is_value {
            self.push_table(at, name);
        } else if self.position == Position::AfterTable && between.trim().is_empty() {
            if let Some(table) = self.names.tables.last_mut() {
                table.alias = name.parts.last().copied();
            }
        } else if !is_value && self.names.columns.len() < MAX_COLUMNS {
            self.position = Position::Column;
            let [.., key] = name.parts[..] else { return };
            let owner = name.parts.len().checked_sub(2).map(|owner| name.parts[owner]);
            let (statement, last) = (self.statements, name.end - 1);
            self.names.columns.push(SqlColumn { owner, key, statement, first: at, last });
        }
    }

    fn push_table(&mut self, at: usize, name: &ReadName) {
        self.position = Position::AfterTable;
        if self.names.tables.len() < MAX_TABLES {
            self.names.tables.push(SqlTable {
                parts: name.parts.clone(),
                alias: None,
                statement: self.statements,
                first: at,
                last: name.end - 1,
            });
        }
    }
}

fn is_verb(word: &str) -> bool {
    const VERBS: [&str; 10] = [
        "select", "insert", "update", "delete", "merge", "truncate", "alter", "create", "drop",
        "with",
    ];
    VERBS.contains(&word)
}
