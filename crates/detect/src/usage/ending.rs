//! How the names of the returned items end: `login.py` says which file is meant only where no other
//! item is a `login.py`.

use rustc_hash::FxHashMap;

use super::name::{Name, Part};
use crate::text::hash;

/// The ends of names, each with the one full name that has it.
#[derive(Default)]
pub(super) struct Endings {
    /// By the end: the full name, or nothing where several have it.
    owners: FxHashMap<u32, Option<u32>>,
}

impl Endings {
    /// Notes the ends of an item's name. Pieces of one document share their name: that is one owner.
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

    /// Whether only one of the items is called that.
    pub(super) fn is_one(&self, name: &Name, first: usize) -> bool {
        self.owners.get(&key(name, first)) != Some(&None)
    }
}

fn key(name: &Name, first: usize) -> u32 {
    hash(0, name.joined_from(first).as_bytes())
}
