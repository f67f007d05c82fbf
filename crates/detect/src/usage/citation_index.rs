//! Looks up the items that an answer cites.

use rustc_hash::{FxHashMap, FxHashSet};

use super::ReturnedItem;
use super::citation::{Citation, Cited, citations};
use super::link::{can_be_linked, ends_of, is_year};
use super::parsed_answer::Written;
use crate::text::hash;

/// Index of an answer's citations, so that each item costs one lookup.
pub(super) struct CitedItems {
    all: Vec<Citation>,
    /// Index in `all` of the first citation per target.
    numbers: FxHashMap<u64, usize>,
    labels: FxHashMap<u64, usize>,
    links: FxHashMap<u64, usize>,
    ids: FxHashSet<u64>,
    /// When all ids are numbers, a cited number is never a rank.
    only_ids: bool,
}

impl CitedItems {
    pub(super) fn of(answer: &Written<'_>, items: &[ReturnedItem<'_>]) -> Self {
        let all = citations(answer.text, &answer.speech, answer.kind);
        let (mut numbers, mut labels) = (FxHashMap::default(), FxHashMap::default());
        let mut links = FxHashMap::default();
        for (at, citation) in all.iter().enumerate() {
            match &citation.what {
                Cited::Number(number) => {
                    numbers.entry(*number).or_insert(at);
                }
                Cited::Label(label) => {
                    labels.entry(key(label)).or_insert(at);
                }
                Cited::Link(link) => ends_of(link).for_each(|end| {
                    links.entry(key(end)).or_insert(at);
                }),
            }
        }
        let ids: FxHashSet<u64> = items.iter().filter_map(|i| i.entity_id.parse().ok()).collect();
        let only_ids = !items.is_empty() && ids.len() == items.len();
        Self { all, numbers, labels, links, ids, only_ids }
    }

    /// The first citation of an item. A number is an id if such an id exists, else a rank.
    pub(super) fn citation_of(&self, item: &ReturnedItem<'_>) -> Option<&Citation> {
        if self.all.is_empty() {
            return None;
        }
        let id = item.entity_id.to_lowercase();
        let number: Option<u64> = item.entity_id.parse().ok();
        let rank = item.rank.map(u64::from).filter(|r| !self.only_ids && !self.ids.contains(r));
        let is_small = number.is_some_and(|n| is_year(n) || n < 1_000);
        let found = [
            number.and_then(|n| self.numbers.get(&n)),
            rank.and_then(|rank| self.numbers.get(&rank)),
            (!is_small).then(|| self.labels.get(&key(&id))).flatten(),
            can_be_linked(&id).then(|| self.links.get(&key(&id))).flatten(),
        ];
        found.into_iter().flatten().min().map(|at| &self.all[*at])
    }
}

fn key(text: &str) -> u64 {
    let half = |seed| u64::from(hash(seed, text.as_bytes()));
    half(1) << 32 | half(2)
}
