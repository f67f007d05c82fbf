//! Keys of ids that the one session which writes has seen: what it knows it need not ask.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet, VecDeque};

/// More than these are not worth their memory.
const MAX_KEYS: usize = 100_000;

/// The keys of ids, by table and project. Remembers nothing until it is told to.
#[derive(Debug, Default)]
pub struct Keys {
    remembers: Cell<bool>,
    known: RefCell<HashMap<(&'static str, i64, String), i64>>,
    // Both for one transaction only: ids that have no key, and keys that no id has yet.
    unknown: RefCell<HashSet<(&'static str, i64, String)>>,
    free: RefCell<HashMap<&'static str, VecDeque<i64>>>,
    head: Cell<u64>,
    // By tenant and name, of sessions that only read; only what was committed comes in here. A tenant that
    // is removed is not forgotten: nobody removes one from a database that nodes share.
    projects: RefCell<HashMap<(String, String), i64>>,
}

impl Keys {
    pub fn remember(&self) {
        self.remembers.set(true);
    }

    /// The key, if it is known.
    pub fn get(&self, table: &'static str, project: i64, id: &str) -> Option<i64> {
        if !self.remembers.get() {
            return None;
        }
        self.known.borrow().get(&(table, project, id.to_owned())).copied()
    }

    /// The id has this key.
    pub fn put(&self, table: &'static str, project: i64, id: &str, key: i64) {
        if self.remembers.get() {
            let mut known = self.known.borrow_mut();
            if known.len() >= MAX_KEYS {
                known.clear();
            }
            let id = (table, project, id.to_owned());
            self.unknown.borrow_mut().remove(&id);
            known.insert(id, key);
        }
    }

    /// A transaction begins: others may have made keys since.
    pub fn begin(&self) {
        self.unknown.borrow_mut().clear();
        self.free.borrow_mut().clear();
    }

    /// The id has no key, and none gets it but by this session.
    pub fn put_unknown(&self, table: &'static str, project: i64, id: &str) {
        self.unknown.borrow_mut().insert((table, project, id.to_owned()));
    }

    /// Whether it is known that the id has no key.
    pub fn has_none(&self, table: &'static str, project: i64, id: &str) -> bool {
        self.unknown.borrow().contains(&(table, project, id.to_owned()))
    }

    /// A key that no id has.
    pub fn put_free(&self, table: &'static str, key: i64) {
        self.free.borrow_mut().entry(table).or_default().push_back(key);
    }

    /// A key for an id that has none.
    pub fn take_free(&self, table: &'static str) -> Option<i64> {
        self.free.borrow_mut().get_mut(table)?.pop_front()
    }

    /// The key of a project, if this session only reads and has seen it.
    pub fn project(&self, tenant: &str, name: &str) -> Option<i64> {
        self.projects.borrow().get(&(tenant.to_owned(), name.to_owned())).copied()
    }

    /// The project has this key. Whoever writes may have to take that back, and forgets it at once.
    pub fn put_project(&self, tenant: &str, name: &str, key: i64) {
        if !self.remembers.get() {
            let mut projects = self.projects.borrow_mut();
            if projects.len() >= MAX_KEYS / 10 {
                projects.clear();
            }
            projects.insert((tenant.to_owned(), name.to_owned()), key);
        }
    }

    /// Forgets everything: what was written may not be there.
    pub fn clear(&self) {
        self.known.borrow_mut().clear();
        self.unknown.borrow_mut().clear();
    }

    /// Forgets a table: its ids may have other keys now.
    pub fn forget(&self, table: &'static str) {
        self.known.borrow_mut().retain(|(of, _, _), _| *of != table);
        self.unknown.borrow_mut().retain(|(of, _, _)| *of != table);
    }

    /// Where the log stands before this session writes. Answers whether somebody else has written since
    /// it last did.
    pub fn others_wrote(&self, head: u64) -> bool {
        self.head.get() != head
    }

    /// Where the log stood when this session last wrote.
    pub fn head(&self) -> u64 {
        self.head.get()
    }

    /// Where the log stands after this session wrote.
    pub fn wrote(&self, head: u64) {
        self.head.set(head);
    }
}
