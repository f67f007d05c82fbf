//! Tables and columns that an item describes, by its name or by the SQL in its content.

use rustc_hash::{FxHashMap, FxHashSet};

use super::ReturnedItem;
use super::parsed_answer::ParsedAnswer;
use super::sql_names::{NameParts, SqlTable, names_agree, read_name};
use super::tokenizer::TokenizedText;
use super::weight::is_known_word;
use super::word_lists::word_lists;

const MAX_DECLARED_TABLES: usize = 8;
/// Tokens between CREATE and TABLE: `CREATE GLOBAL TEMPORARY TABLE`.
const MAX_CREATE_TOKENS: usize = 4;
/// Minimum bytes of a column that shows that a text describes a table. Every table has an "id".
const MIN_COLUMN_BYTES: u32 = 4;

#[derive(Clone, Debug, Default)]
pub(super) struct ItemSchema {
    /// Tables that the content creates.
    declared: Vec<NameParts>,
    /// The name, read as a table, or as a table and its column.
    named: Option<NamedTable>,
}

#[derive(Clone, Debug)]
struct NamedTable {
    parts: NameParts,
    /// An everyday word, such as "orders": the content has to describe a table.
    is_everyday: bool,
}

impl ItemSchema {
    pub(super) fn new(name: Option<&str>, content: Option<&str>) -> Self {
        let declared = content.map(read_declared_tables).unwrap_or_default();
        Self { declared, named: name.and_then(read_table_name) }
    }

    /// All tables that the item may describe.
    fn tables(&self) -> impl Iterator<Item = &[u32]> {
        self.declared.iter().chain(self.named.iter().map(|named| &named.parts)).map(Vec::as_slice)
    }

    /// True when the item declares tables and the answer's SQL reads only others.
    pub(super) fn is_contradicted(&self, answer: &ParsedAnswer<'_>) -> bool {
        let sql = &answer.sql;
        !self.declared.is_empty()
            && !sql.tables.is_empty()
            && self.tables().all(|parts| sql.find_table(parts).is_none())
    }

    /// The tokens at which the answer's SQL names a table or column of the item.
    pub(super) fn find_in_sql(
        &self,
        answer: &ParsedAnswer<'_>,
        content: Option<&str>,
        owners: &TableOwners,
    ) -> Option<(usize, usize)> {
        let is_clear = |table: &&SqlTable| !owners.is_ambiguous(table);
        let declared = self.declared.iter().find_map(|parts| answer.sql.find_table(parts));
        if let Some(table) = declared.filter(is_clear) {
            return Some((table.first, table.last));
        }
        let named = self.named.as_ref()?;
        if let [table @ .., column] = &named.parts[..]
            && !table.is_empty()
            && let Some(found) = answer.sql.find_column(table, *column)
        {
            return Some(found);
        }
        let table = answer.sql.find_table(&named.parts).filter(is_clear)?;
        let is_table = !named.is_everyday
            || content.is_none_or(|content| describes_table(answer, table, content));
        is_table.then_some((table.first, table.last))
    }
}

/// True when a text has a column that the statement uses, or calls itself a table.
fn describes_table(answer: &ParsedAnswer<'_>, table: &SqlTable, content: &str) -> bool {
    let content = TokenizedText::new(content);
    let words: FxHashSet<u32> = content.tokens.iter().map(|token| token.hash).collect();
    let has_column = answer.sql.columns.iter().any(|column| {
        let (first, last) = column.range();
        let folded = answer.tokenized.folded_range(first, last);
        column.statement == table.statement
            && folded.len() >= MIN_COLUMN_BYTES as usize
            && words.contains(&column.key)
    });
    has_column || words.iter().any(|word| word_lists().table_words.contains(word))
}

/// Reads `orders`, `sales.orders`, "Order Details" or "orders table" as a table.
fn read_table_name(name: &str) -> Option<NamedTable> {
    let tokenized = TokenizedText::new(name);
    let tokens = &tokenized.tokens;
    let is_table_word = |at: usize| word_lists().table_words.contains(&tokens[at].hash);
    let mut range = 0..tokens.len();
    if range.len() > 1 && is_table_word(range.end - 1) {
        range.end -= 1;
    } else if range.len() > 1 && is_table_word(0) {
        range.start += 1;
    }
    let last = range.end.checked_sub(1).filter(|_| !range.is_empty())?;
    if name.contains(['/', '(', '#', ':']) {
        return None;
    }
    let plain = &name[tokens[range.start].start as usize..tokens[last].end as usize];
    let parts = if plain.contains(char::is_whitespace) {
        // In SQL such a name is one quoted identifier.
        vec![crate::text::hash(0, tokenized.folded_range(range.start, last).as_bytes())]
    } else {
        read_name(name, &tokenized, range.start).parts
    };
    let joined = tokenized.folded_range(range.start, last);
    Some(NamedTable { is_everyday: parts.len() == 1 && is_known_word(joined), parts })
}

/// Tables and views of CREATE statements.
fn read_declared_tables(content: &str) -> Vec<NameParts> {
    if !["CREATE", "create", "Create"].iter().any(|word| content.contains(word)) {
        return Vec::new();
    }
    let tokenized = TokenizedText::new(content);
    let tokens = &tokenized.tokens;
    let word = |at: usize| tokens.get(at).map_or("", |token| tokenized.folded_token(token));
    let mut found = Vec::new();
    for create in (0..tokens.len()).filter(|at| word(*at) == "create").take(MAX_DECLARED_TABLES) {
        let near = create + 1..=create + MAX_CREATE_TOKENS;
        let Some(kind) = near.into_iter().find(|at| matches!(word(*at), "table" | "view")) else {
            continue;
        };
        let mut at = kind + 1;
        while matches!(word(at), "if" | "not" | "exists") {
            at += 1;
        }
        if at < tokens.len() {
            found.push(read_name(content, &tokenized, at).parts);
        }
    }
    found
}

/// Index of table names, to see when several items have a table of one name.
#[derive(Default)]
pub(super) struct TableOwners {
    /// Qualified names by the key of their last part.
    qualified: FxHashMap<u32, Vec<NameParts>>,
}

impl TableOwners {
    pub(super) fn new(schemas: &[ItemSchema]) -> Self {
        let mut owners = Self::default();
        for parts in schemas.iter().flat_map(ItemSchema::tables).filter(|parts| parts.len() > 1) {
            let known = owners.qualified.entry(parts[parts.len() - 1]).or_default();
            if !known.iter().any(|other| other == parts) {
                known.push(parts.to_vec());
            }
        }
        owners
    }

    /// True when the answer's name fits the tables of several items: `accounts` for
    /// `crm.accounts` and `billing.accounts`.
    fn is_ambiguous(&self, table: &SqlTable) -> bool {
        let key = table.parts[table.parts.len() - 1];
        let fitting = self.qualified.get(&key).into_iter().flatten();
        fitting.filter(|parts| names_agree(parts, &table.parts)).count() > 1
    }
}

/// Schemas of the items, when the answer has SQL.
pub(super) fn read_schemas(
    answer: &ParsedAnswer<'_>,
    items: &[ReturnedItem<'_>],
) -> Vec<ItemSchema> {
    if answer.sql.tables.is_empty() {
        return vec![ItemSchema::default(); items.len()];
    }
    items.iter().map(|item| ItemSchema::new(item.name, item.content)).collect()
}
