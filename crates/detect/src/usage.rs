//! Detects which retrieved items an answer used: by name, citation or content, or as a paraphrase.
//!
//! The answer and each item are parsed once, so the cost is linear in their total length. Names
//! include modules that code imports, and tables and columns of SQL.

mod answer_kind;
mod tokenizer;
mod word_lists;
mod weight;
mod rule;
mod runs;
mod identifiers;
mod suffix_array;
mod parsed_answer;
mod link;
mod layout;
mod citation;
mod name;
mod certainty;
mod name_match;
mod name_variants;
mod content_overlap;
mod imports;
mod sql_names;
mod schema;
mod passages;
mod paraphrase;

use rustc_hash::FxHashSet;

pub use answer_kind::AnswerKind;
pub use parsed_answer::ParsedAnswer;
pub use rule::UsageRule;

use certainty::Certainty;
use citation::CitationIndex;
use content_overlap::{ContentOverlap, OverlapBuffers};
use imports::{Import, match_imports};
use name::{ItemName, NameEndings};
use name_match::NameMatch;
use name_variants::derive_names;
use paraphrase::ParaphraseSearch;
use schema::{ItemSchema, TableOwners, read_schemas};

#[derive(Clone, Copy, Debug, Default)]
pub struct ReturnedItem<'a> {
    pub entity_id: &'a str,
    pub name: Option<&'a str>,
    pub content: Option<&'a str>,
    /// Rank in the result list, from 1.
    pub rank: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UseReason {
    Name,
    /// The answer cites its id or its number, or links to it.
    Citation,
    /// The answer contains its words or its identifiers.
    Content,
    /// The answer restates one of its sentences in other words.
    Paraphrase,
}

impl UseReason {
    pub const fn as_word(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Citation => "citation",
            Self::Content => "content",
            Self::Paraphrase => "paraphrase",
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct UseEvidence {
    pub reason: UseReason,
    pub start: usize,
    pub end: usize,
    /// Share of the item's content found in the answer, 0 to 1; 1 for a name or a citation, the
    /// cosine of both sentences for a paraphrase.
    pub share: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ItemUse {
    Used(UseEvidence),
    /// No evidence found.
    Ignored,
    /// Name and content are unknown and the item is not cited.
    Unknown,
}

/// Detects the use of each item in the answer. Returns one result per item, in order.
pub fn detect_item_use(
    rule: &UsageRule,
    answer: &ParsedAnswer<'_>,
    items: &[ReturnedItem<'_>],
) -> Vec<ItemUse> {
    let retrieval = Retrieval::new(rule, answer, items);
    let mut paraphrases = ParaphraseSearch::new(answer);
    let mut buffers = OverlapBuffers::default();
    let detect = |at: usize| {
        let content = items[at].content.filter(|content| !content.trim().is_empty());
        let content =
            content.map(|text| &text[..text.floor_char_boundary(rule.most_content_bytes)]);
        if let Some(content) = content {
            buffers.tokenized.tokenize(content);
            paraphrases.add_item(at, content, &buffers.tokenized);
        }
        retrieval.detect_one_item(at, content, &mut buffers)
    };
    let mut uses: Vec<ItemUse> = (0..items.len()).map(detect).collect();
    for found in paraphrases.find_paraphrases(rule, |at| uses[at] == ItemUse::Ignored) {
        let (range, share) = ((found.first, found.last), f64::from(found.cosine));
        uses[found.item] = used_at_tokens(answer, UseReason::Paraphrase, range, share);
    }
    uses
}

/// The items of one retrieval, with the evidence that depends on all of them.
struct Retrieval<'a> {
    rule: &'a UsageRule,
    answer: &'a ParsedAnswer<'a>,
    items: &'a [ReturnedItem<'a>],
    cited: CitationIndex,
    names: Vec<Vec<ItemName>>,
    endings: NameEndings,
    imports: Vec<Option<&'a Import>>,
    schemas: Vec<ItemSchema>,
    table_owners: TableOwners,
}

impl<'a> Retrieval<'a> {
    fn new(
        rule: &'a UsageRule,
        answer: &'a ParsedAnswer<'a>,
        items: &'a [ReturnedItem<'a>],
    ) -> Self {
        let names: Vec<Vec<ItemName>> =
            items.iter().map(|item| item.name.map(derive_names).unwrap_or_default()).collect();
        let mut endings = NameEndings::default();
        for (item, names) in items.iter().zip(&names) {
            endings.add_name(item.name.unwrap_or_default(), names);
        }
        let schemas = read_schemas(answer, items);
        Self {
            rule,
            answer,
            items,
            cited: CitationIndex::new(answer, items),
            names,
            endings,
            imports: match_imports(&answer.imports, items),
            table_owners: TableOwners::new(&schemas),
            schemas,
        }
    }

    /// Detects the use of one item without paraphrases. The buffers hold its content tokenized.
    fn detect_one_item(
        &self,
        at: usize,
        content: Option<&str>,
        buffers: &mut OverlapBuffers,
    ) -> ItemUse {
        let (rule, answer, item, names) =
            (self.rule, self.answer, &self.items[at], &self.names[at]);
        if let Some(citation) = self.cited.find_citation(item) {
            return used_at(UseReason::Citation, citation.start, citation.end, 1.0);
        }
        let found = names.iter().filter_map(|name| name.find_best_match(answer, &self.endings));
        let name_match = found.max_by_key(|name_match| name_match.certainty);
        let used = |reason, found: NameMatch| {
            used_at_tokens(answer, reason, (found.first, found.last), 1.0)
        };
        if let Some(found) = name_match.filter(|found| found.certainty == Certainty::Sure) {
            return used(UseReason::Name, found);
        }
        if let Some(import) = self.imports[at] {
            return used_at(UseReason::Name, import.start, import.end, 1.0);
        }
        let schema = &self.schemas[at];
        if let Some(range) = schema.find_in_sql(answer, content, &self.table_owners) {
            return used_at_tokens(answer, UseReason::Name, range, 1.0);
        }
        if let Some(found) = find_mentioned_id(answer, &self.endings, item.entity_id) {
            return used(UseReason::Citation, found);
        }
        let Some(content) = content else {
            // Without content, nothing else can support a likely name.
            return match name_match {
                Some(found) if found.certainty == Certainty::Likely => used(UseReason::Name, found),
                None if names.is_empty() => ItemUse::Unknown,
                Some(_) | None => ItemUse::Ignored,
            };
        };
        let name_words: FxHashSet<u32> = names.iter().flat_map(ItemName::word_hashes).collect();
        let mut overlap = ContentOverlap::measure(rule, answer, content, &name_words, buffers);
        if schema.is_contradicted(answer) {
            overlap.discard_words();
        }
        if let Some((first, last, share)) = overlap.find_evidence(rule, answer) {
            return used_at_tokens(answer, UseReason::Content, (first, last), share);
        }
        match name_match {
            Some(found) if overlap.support >= required_support(rule, found.certainty) => {
                used(UseReason::Name, found)
            }
            Some(_) | None => ItemUse::Ignored,
        }
    }
}

fn required_support(rule: &UsageRule, certainty: Certainty) -> usize {
    match certainty {
        Certainty::Common => rule.support_for_a_common_name,
        Certainty::Likely => rule.support_for_a_likely_name,
        Certainty::Sure => 0,
    }
}

/// Matches a distinctive id without brackets: "see kb-5520".
fn find_mentioned_id(
    answer: &ParsedAnswer<'_>,
    endings: &NameEndings,
    id: &str,
) -> Option<NameMatch> {
    let marks = id.chars().filter(|c| !c.is_alphanumeric()).count();
    let digits = id.contains(|c: char| c.is_ascii_digit());
    let letters = id.contains(char::is_alphabetic);
    if id.len() < 5 || marks == 0 || !letters || id.contains(char::is_whitespace) {
        return None;
    }
    let found = ItemName::parse(id)?.find_best_match(answer, endings)?;
    let written = answer.written_text(found.first, found.last);
    let start = answer.tokenized.tokens[found.first].start as usize;
    let before = answer.text[..start].chars().next_back();
    // "blue-green" is also an ordinary word; in brackets or as code it is the id.
    let distinctive = digits || marks >= 2 || matches!(before, Some('(' | '`' | '<' | '#' | '@'));
    (distinctive && written.eq_ignore_ascii_case(id)).then_some(found)
}

fn used_at_tokens(
    answer: &ParsedAnswer<'_>,
    reason: UseReason,
    (first, last): (usize, usize),
    share: f64,
) -> ItemUse {
    let tokens = &answer.tokenized.tokens;
    used_at(reason, tokens[first].start as usize, tokens[last].end as usize, share)
}

fn used_at(reason: UseReason, start: usize, end: usize, share: f64) -> ItemUse {
    ItemUse::Used(UseEvidence { reason, start, end, share })
}

#[cfg(test)]
mod tests;
