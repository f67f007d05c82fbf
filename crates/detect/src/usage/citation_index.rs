//! Looks up the items that an answer cites.

use rustc_hash::{FxHashMap, FxHashSet};

use super::ReturnedItem;
use super::citation::{Citation, CitationTarget, extract_citations};
use super::link::{is_linkable_id, is_year, link_ends};
use super::parsed_answer::ParsedAnswer;
use crate::text::hash;

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
