//! Caches keys of ids in the writer's session.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet, VecDeque};

const MAX_KEYS: usize = 100_000;

/// Keys by table, project and id. Disabled until `remember` is called.
#[derive(Debug, Default)]
pub struct Keys {
    remembers: Cell<bool>,
    known: RefCell<HashMap<(&'static str, i64, String), i64>>,
    // For one transaction: ids without a key, and unused keys.
    unknown: RefCell<HashSet<(&'static str, i64, String)>>,
    free: RefCell<HashMap<&'static str, VecDeque<i64>>>,
    head: Cell<u64>,
    // Keys of committed projects by tenant and name, in reader sessions. Removed tenants stay,
    // because shared databases do not remove tenants.
    projects: RefCell<HashMap<(String, String), i64>>,
}

impl Keys {
    pub fn remember(&self) {
        self.remembers.set(true);
    }

    pub fn get(&self, table: &'static str, project: i64, id: &str) -> Option<i64> {
        if !self.remembers.get() {
            return None;
        }
        self.known.borrow().get(&(table, project, id.to_owned())).copied()
    }

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

    /// Clears cached absences, because other nodes may have created keys since.
    pub fn begin(&self) {
        self.unknown.borrow_mut().clear();
        self.free.borrow_mut().clear();
    }

    /// Records that an id has no key. Only this session can create it.
    pub fn put_unknown(&self, table: &'static str, project: i64, id: &str) {
        self.unknown.borrow_mut().insert((table, project, id.to_owned()));
    }

    pub fn has_none(&self, table: &'static str, project: i64, id: &str) -> bool {
        self.unknown.borrow().contains(&(table, project, id.to_owned()))
    }

    pub fn put_free(&self, table: &'static str, key: i64) {
        self.free.borrow_mut().entry(table).or_default().push_back(key);
    }

    /// Takes a prefetched unused key.
    pub fn take_free(&self, table: &'static str) -> Option<i64> {
        self.free.borrow_mut().get_mut(table)?.pop_front()
    }

    pub fn project(&self, tenant: &str, name: &str) -> Option<i64> {
        self.projects.borrow().get(&(tenant.to_owned(), name.to_owned())).copied()
    }

    /// Caches a project's key in reader sessions. The writer does not, because it may roll back.
    pub fn put_project(&self, tenant: &str, name: &str, key: i64) {
        if !self.remembers.get() {
            let mut projects = self.projects.borrow_mut();
            if projects.len() >= MAX_KEYS / 10 {
                projects.clear();
            }
            projects.insert((tenant.to_owned(), name.to_owned()), key);
        }
    }

    /// Clears the cache after a rollback.
    pub fn clear(&self) {
        self.known.borrow_mut().clear();
        self.unknown.borrow_mut().clear();
    }

    /// Clears one table of the cache.
    pub fn forget(&self, table: &'static str) {
        self.known.borrow_mut().retain(|(of, _, _), _| *of != table);
        self.unknown.borrow_mut().retain(|(of, _, _)| *of != table);
    }

    /// True when another node has written since this session's last write.
    pub fn others_wrote(&self, head: u64) -> bool {
        self.head.get() != head
    }

    /// The log head at this session's last write.
    pub fn head(&self) -> u64 {
        self.head.get()
    }

    pub fn wrote(&self, head: u64) {
        self.head.set(head);
    }
}
