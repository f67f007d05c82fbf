//! Index of name endings: `login.py` identifies a file only when no other item ends with it.

use rustc_hash::FxHashMap;

use super::name::{Name, Part};
use crate::text::hash;

#[derive(Default)]
pub(super) struct Endings {
    /// Owner of each ending; `None` when several names share it.
    owners: FxHashMap<u32, Option<u32>>,
}

impl Endings {
    /// Adds the endings of an item's name. Chunks of one document share their name and count as one
    /// owner.
    pub(super) fn add(&mut self, full: &str, names: &[Name]) {
        let owner = hash(1, full.as_bytes());
        for name in names {
            match &name.part {
                Part::Whole => self.note(name, name.first, owner),
                Part::Title => self.note(name, name.first, owner),
                Part::Tail(tail) => {
                    self.note(name, name.first, owner);
                    tail.before.iter().for_each(|first| self.note(name, *first, owner));
                }
                Part::Head => {}
            }
        }
    }

    fn note(&mut self, name: &Name, first: usize, owner: u32) {
        let end = key(name, first);
        let known = self.owners.entry(end).or_insert(Some(owner));
        if *known != Some(owner) {
            *known = None;
        }
    }

    /// True when at most one item has this ending.
    pub(super) fn is_one(&self, name: &Name, first: usize) -> bool {
        self.owners.get(&key(name, first)) != Some(&None)
    }
}

fn key(name: &Name, first: usize) -> u32 {
    hash(0, name.joined_from(first).as_bytes())
}
