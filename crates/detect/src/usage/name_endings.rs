//! Index of name endings: `login.py` identifies a file only when no other item ends with it.

use rustc_hash::FxHashMap;

use super::name::{ItemName, NamePart};
use crate::text::hash;

#[derive(Default)]
pub(super) struct NameEndings {
    /// Owner of each ending; `None` when several names share it.
    owners: FxHashMap<u32, Option<u32>>,
}

impl NameEndings {
    /// Adds the endings of an item's name. Chunks of one document share their name and count as one
    /// owner.
    pub(super) fn add_name(&mut self, full: &str, names: &[ItemName]) {
        let owner = hash(1, full.as_bytes());
        for name in names {
            match &name.part {
                NamePart::Whole | NamePart::Title => self.record_ending(name, name.first, owner),
                NamePart::Tail(tail) => {
                    self.record_ending(name, name.first, owner);
                    tail.preceding_parts
                        .iter()
                        .for_each(|first| self.record_ending(name, *first, owner));
                }
                NamePart::Head => {}
            }
        }
    }

    fn record_ending(&mut self, name: &ItemName, first: usize, owner: u32) {
        let end = ending_key(name, first);
        let known = self.owners.entry(end).or_insert(Some(owner));
        if *known != Some(owner) {
            *known = None;
        }
    }

    /// True when at most one item has this ending.
    pub(super) fn is_unique(&self, name: &ItemName, first: usize) -> bool {
        self.owners.get(&ending_key(name, first)) != Some(&None)
    }
}

fn ending_key(name: &ItemName, first: usize) -> u32 {
    hash(0, name.joined_from(first).as_bytes())
}
