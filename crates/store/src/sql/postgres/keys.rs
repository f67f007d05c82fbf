//! Keys of ids that the one session which writes has seen: what it knows it need not ask.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

/// More than these are not worth their memory.
const MOST: usize = 100_000;

/// The keys of ids, by table and project. Remembers nothing until it is told to.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    remembers: Cell<bool>,
    known: RefCell<HashMap<(&'static str, i64, String), i64>>,
    head: Cell<u64>,
}

impl Keys {
    /// From now on.
    pub(crate) fn remember(&self) {
        self.remembers.set(true);
    }

    /// The key, if it is known.
    pub(crate) fn get(&self, table: &'static str, project: i64, id: &str) -> Option<i64> {
        if !self.remembers.get() {
            return None;
        }
        self.known.borrow().get(&(table, project, id.to_owned())).copied()
    }

    /// The id has this key.
    pub(crate) fn put(&self, table: &'static str, project: i64, id: &str, key: i64) {
        if self.remembers.get() {
            let mut known = self.known.borrow_mut();
            if known.len() >= MOST {
                known.clear();
            }
            known.insert((table, project, id.to_owned()), key);
        }
    }

    /// Forgets everything: what was written may not be there.
    pub(crate) fn clear(&self) {
        self.known.borrow_mut().clear();
    }

    /// Forgets a table: its ids may have other keys now.
    pub(crate) fn forget(&self, table: &'static str) {
        self.known.borrow_mut().retain(|(of, _, _), _| *of != table);
    }

    /// Where the log stands before this session writes. Answers whether somebody else has written since
    /// it last did.
    pub(crate) fn others_wrote(&self, head: u64) -> bool {
        self.head.get() != head
    }

    /// Where the log stands after this session wrote.
    pub(crate) fn wrote(&self, head: u64) {
        self.head.set(head);
    }
}
