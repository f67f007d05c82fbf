//! Extracts citations (numbers and ids in brackets, and links) and looks up the cited items.
//!
//! Code and quotations do not cite. `rows[2]` is an index, and a footnote in a pasted article
//! belongs to that article.

use rustc_hash::{FxHashMap, FxHashSet};

use super::ReturnedItem;
use super::answer_kind::AnswerKind;
use super::layout::{
    CitationLayout, is_checkbox, is_in_comment, is_list_amount, is_numbered_label,
};
use super::link::{find_links, is_linkable_id, is_year, link_ends};
use super::parsed_answer::ParsedAnswer;
use super::word_lists::word_lists;
use crate::text::hash;

/// Maximum bytes inside brackets. Longer text is a remark.
const MAX_BRACKET_BYTES: usize = 120;
const MAX_CITATIONS: usize = 2_000;
const MAX_RANGE_WIDTH: u64 = 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Citation {
    pub(super) start: usize,
    pub(super) end: usize,
    target: CitationTarget,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum CitationTarget {
    /// A number: an id or a rank.
    Number(u64),
    /// Text in brackets, in lower case.
    Label(String),
    /// Link target, in lower case.
    Link(String),
}

/// Looks up the items that an answer cites.
pub(super) struct CitationIndex {
    citations: Vec<Citation>,
    /// Index in `citations` of the first citation per target.
    numbers: FxHashMap<u64, usize>,
    labels: FxHashMap<u64, usize>,
    links: FxHashMap<u64, usize>,
    ids: FxHashSet<u64>,
    /// When all ids are numbers, a cited number is never a rank.
    all_ids_numeric: bool,
}

impl CitationIndex {
    pub(super) fn new(answer: &ParsedAnswer<'_>, items: &[ReturnedItem<'_>]) -> Self {
        let citations = extract_citations(answer.text, &answer.prose, answer.kind);
        let (mut numbers, mut labels) = (FxHashMap::default(), FxHashMap::default());
        let mut links = FxHashMap::default();
        for (at, citation) in citations.iter().enumerate() {
            match &citation.target {
                CitationTarget::Number(number) => {
                    numbers.entry(*number).or_insert(at);
                }
                CitationTarget::Label(label) => {
                    labels.entry(label_key(label)).or_insert(at);
                }
                CitationTarget::Link(link) => link_ends(link).for_each(|end| {
                    links.entry(label_key(end)).or_insert(at);
                }),
            }
        }
        let ids: FxHashSet<u64> = items.iter().filter_map(|i| i.entity_id.parse().ok()).collect();
        let all_ids_numeric = !items.is_empty() && ids.len() == items.len();
        Self { citations, numbers, labels, links, ids, all_ids_numeric }
    }

    /// The first citation of an item. A number is an id if such an id exists, else a rank.
    pub(super) fn find_citation(&self, item: &ReturnedItem<'_>) -> Option<&Citation> {
        if self.citations.is_empty() {
            return None;
        }
        let id = item.entity_id.to_lowercase();
        let number: Option<u64> = item.entity_id.parse().ok();
        let rank =
            item.rank.map(u64::from).filter(|r| !self.all_ids_numeric && !self.ids.contains(r));
        let is_small = number.is_some_and(|n| is_year(n) || n < 1_000);
        let found = [
            number.and_then(|n| self.numbers.get(&n)),
            rank.and_then(|rank| self.numbers.get(&rank)),
            (!is_small).then(|| self.labels.get(&label_key(&id))).flatten(),
            is_linkable_id(&id).then(|| self.links.get(&label_key(&id))).flatten(),
        ];
        found.into_iter().flatten().min().map(|at| &self.citations[*at])
    }
}

fn label_key(text: &str) -> u64 {
    let half = |seed| u64::from(hash(seed, text.as_bytes()));
    half(1) << 32 | half(2)
}

/// Extracts all citations. `prose` is the text with code and quotations masked.
fn extract_citations(text: &str, prose: &str, kind: AnswerKind) -> Vec<Citation> {
    let mut found = Vec::new();
    let seen = match kind {
        AnswerKind::Response => prose,
        AnswerKind::Code => text,
    };
    let layout = CitationLayout::new(seen);
    let mut from = 0;
    let mut last_end = None;
    while let Some(open) = seen[from..].find(['[', '【']).map(|at| from + at) {
        if found.len() >= MAX_CITATIONS {
            break;
        }
        let inside = open + if seen[open..].starts_with('[') { 1 } else { '【'.len_utf8() };
        from = inside;
        let near =
            &seen[inside..seen.floor_char_boundary((inside + MAX_BRACKET_BYTES).min(seen.len()))];
        let Some(length) = near.find([']', '】', '\n']) else { continue };
        let (body, close) = (&near[..length], inside + length);
        let Some(mark) = seen[close..].chars().next().filter(|c| *c != '\n') else { continue };
        let end = close + mark.len_utf8();
        if is_checkbox(seen, open, body) {
            from = end;
            continue;
        }
        if body.contains(['[', '【']) || !can_be_citation(seen, (open, end), last_end, kind, layout)
        {
            continue;
        }
        last_end = Some(end);
        from = end;
        let counts = is_list_amount(seen, open, end)
            || is_numbered_label(seen, (open, end), body.contains(','), layout);
        parse_bracket(body, open, end, counts, &mut found);
    }
    if kind == AnswerKind::Response {
        found.extend(find_numbered_sources(prose));
    }
    found.extend(find_links(text, MAX_CITATIONS).into_iter().map(|(start, end)| Citation {
        start,
        end,
        target: CitationTarget::Link(text[start..end].to_lowercase()),
    }));
    found
}

fn can_be_citation(
    text: &str,
    (open, end): (usize, usize),
    last: Option<usize>,
    kind: AnswerKind,
    layout: CitationLayout,
) -> bool {
    let before = text[..open].chars().next_back();
    if kind == AnswerKind::Code && !is_in_comment(text, open) {
        return false;
    }
    match before {
        Some(']' | '】') => last == Some(open),
        // Directly after a word a bracket is an index, or a footnote at the end of a clause.
        Some(c) if c.is_alphanumeric() || matches!(c, '_' | ')' | '"' | '\'' | '$') => {
            let closes = text[end..].starts_with(['.', ',', ';', ':', '!', '?', '\n', '[']);
            kind == AnswerKind::Response
                && (c.is_alphabetic() || c == ')')
                && !layout.has_assignments
                && (closes || end == text.len())
        }
        Some(_) | None => !text[end..].starts_with('{'),
    }
}

fn parse_bracket(body: &str, start: usize, end: usize, counts: bool, found: &mut Vec<Citation>) {
    let mut keep = |what| found.push(Citation { start, end, target: what });
    let whole = body.trim().trim_start_matches(['^', '#', '@']).to_lowercase();
    let parts: Vec<&str> = whole.split([',', ';', '&', '|']).map(str::trim).collect();
    let numbers: Option<Vec<Vec<u64>>> = parts.iter().map(|part| parse_numbers(part)).collect();
    if let Some(numbers) = numbers {
        let all: Vec<u64> = numbers.into_iter().flatten().collect();
        // `[0, 1]` is an interval and `[2019]` a year.
        let cites = !all.contains(&0) && !counts;
        all.into_iter()
            .filter(|n| cites && !is_year(*n))
            .for_each(|n| keep(CitationTarget::Number(n)));
    }
    if parts.len() > 1 {
        parts.iter().for_each(|part| keep(CitationTarget::Label((*part).to_owned())));
    }
    // "doc: kb-12" cites kb-12.
    if let Some((_, label)) = whole.rsplit_once([' ', ':']) {
        keep(CitationTarget::Label(label.to_owned()));
    }
    keep(CitationTarget::Label(whole));
}

/// Parses "3", "2-4", "doc 3" or "3†source". A page gives no numbers; other text gives `None`.
fn parse_numbers(part: &str) -> Option<Vec<u64>> {
    let part = part.split('†').next()?.trim();
    if part.starts_with("p.") || part.starts_with("s. ") {
        return Some(Vec::new());
    }
    let stripped = part
        .split_once([' ', ':'])
        .filter(|(w, _)| word_lists().source_words.contains(w))
        .map(|(_, n)| n)
        .unwrap_or(part);
    let part = stripped.trim_start_matches([' ', '#', ':', '^']);
    if let Some((low, high)) = part.split_once(['-', '–']) {
        let (low, high) = (low.trim().parse().ok()?, high.trim().parse().ok()?);
        return (low < high && high - low < MAX_RANGE_WIDTH).then(|| (low..=high).collect());
    }
    (part.len() <= 9).then(|| part.parse().ok()).flatten().map(|n| vec![n])
}

/// Finds sources named by number without brackets: "according to document 3", "(Source: 1)",
/// "sources 1, 2 and 4".
fn find_numbered_sources(prose: &str) -> Vec<Citation> {
    let mut found = Vec::new();
    let mut expected = SourceState::Idle;
    let mut start = 0;
    for word in prose.split_inclusive(char::is_whitespace) {
        let (from, shown) = (start, word.trim());
        start += word.len();
        if shown.is_empty() {
            continue;
        }
        let end = from + word.trim_end().len();
        let mut cite =
            |n| found.push(Citation { start: from, end, target: CitationTarget::Number(n) });
        let bare = shown.trim_matches(|c: char| !c.is_alphanumeric());
        let number = bare.parse().ok().filter(|n| (1..100).contains(n));
        expected = match (expected, number) {
            (SourceState::Number, Some(n)) => {
                cite(n);
                if shown.ends_with(',') { SourceState::Number } else { SourceState::Conjunction }
            }
            // "Results: 3 days" is an amount; "Source: 3)" and "Source: 3" at a line end are
            // sources.
            (SourceState::LastNumber, Some(n))
                if !shown.ends_with(char::is_alphanumeric)
                    || word.ends_with('\n')
                    || start == prose.len() =>
            {
                cite(n);
                if shown.ends_with(',') { SourceState::LastNumber } else { SourceState::Idle }
            }
            (SourceState::Conjunction, None) if word_lists().conjunctions.contains(shown) => {
                SourceState::Number
            }
            _ => SourceState::after_word(shown),
        };
    }
    found
}

/// Parser state: the expected next word.
#[derive(Clone, Copy)]
enum SourceState {
    Idle,
    Number,
    /// A number that ends the clause.
    LastNumber,
    /// A conjunction, followed by another number.
    Conjunction,
}

impl SourceState {
    fn after_word(word: &str) -> Self {
        let word = word.trim_start_matches('(').to_lowercase();
        match word.strip_suffix(':') {
            Some(word) if word_lists().source_words.contains(word) => Self::LastNumber,
            None if word_lists().source_words.contains(word.as_str()) => Self::Number,
            Some(_) | None => Self::Idle,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::answer_kind::AnswerKind::{Code, Response};
    use super::*;
    use crate::text::mask_code_and_quotes;

    fn cited_numbers(text: &str, kind: AnswerKind) -> Vec<u64> {
        let found = extract_citations(text, &mask_code_and_quotes(text), kind);
        let number = |c: &Citation| match c.target {
            CitationTarget::Number(n) => Some(n),
            CitationTarget::Label(_) | CitationTarget::Link(_) => None,
        };
        found.iter().filter_map(number).collect()
    }

    #[test]
    fn bracketed_numbers_are_cited_only_as_sources() {
        for (text, expected) in [
            ("It rains [3].", &[3][..]),
            ("It rains [1][3], often [2, 4-6].", &[1, 3, 2, 4, 5, 6]),
            ("It rains[3].", &[3]),
            ("It rains [3, p. 12].", &[3]),
            ("Es regnet [3, S. 12].", &[3]),
            ("It rains 【3†source】 [^2] [Source 7]", &[3, 2, 7]),
            ("rows[1] is the last one", &[]),
            ("`rows [1]` and \"a footnote [4]\"", &[]),
            ("between [0, 1] since [2019]", &[]),
            ("- eggs [6]\n- lemons [2]\n", &[]),
            ("- The deadline is on Monday morning [2]\n", &[2]),
            ("[ ] open [x] done [see below]", &[]),
            ("- [1] milk\n- [2] eggs", &[]),
            ("- [2] eggs", &[]),
            ("[1] means the first step", &[]),
            ("In the plan [2] denotes the door.", &[]),
            ("As [1] shows, it rains.", &[1]),
            ("It rains.\n\nSources:\n- [1] Almanac\n- [3] Diary", &[1, 3]),
            ("It rains (Source: 1).", &[1]),
            ("It rains (source 2, 3 and 5) in 7 towns", &[2, 3, 5]),
            ("Result: 3 towns have rain", &[]),
            ("Laut Quelle 4 regnet es.", &[4]),
            ("[", &[]),
            ("[3", &[]),
        ] {
            assert_eq!(cited_numbers(text, Response), expected, "{text}");
        }
    }

    #[test]
    fn checkbox_is_not_a_citation_label() {
        let labels = |text: &str| {
            let found = extract_citations(text, &mask_code_and_quotes(text), Response);
            found.iter().filter(|c| c.target == CitationTarget::Label("x".to_owned())).count()
        };
        for (text, expected) in [
            ("- [x] done\n- [ ] open", 0),
            ("* [X] done", 0),
            ("1. [x] done", 0),
            ("[x] done", 0),
            ("It is done [x].", 1),
        ] {
            assert_eq!(labels(text), expected, "{text}");
        }
    }

    #[test]
    fn code_is_cited_only_in_comments() {
        assert_eq!(cited_numbers("x = [3]\n# as in [2]\ny = a[1]", Code), [2]);
    }
}
