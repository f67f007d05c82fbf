//! Facts read or written by the transaction that holds the log head. No other transaction can
//! change them.

use std::any::{Any, TypeId};
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};

use super::super::memory::CachedFact;

type Fact = Box<dyn Any + Send>;

/// Facts by type and key.
#[derive(Default)]
pub struct Memory {
    on: Cell<bool>,
    // `None`: the fact must be read, although this transaction created the row.
    known: RefCell<HashMap<(TypeId, i64), Option<Fact>>>,
    // Rows created by this transaction; no other row refers to them yet.
    made: RefCell<HashSet<(&'static str, i64)>>,
}

impl Memory {
    pub fn begin(&self) {
        self.clear();
        self.on.set(true);
    }

    pub fn end(&self) {
        self.clear();
        self.on.set(false);
    }

    pub fn clear(&self) {
        self.known.borrow_mut().clear();
        self.made.borrow_mut().clear();
    }

    pub fn get<T: CachedFact>(&self, key: i64) -> Option<T> {
        if !self.on.get() {
            return None;
        }
        match self.known.borrow().get(&(TypeId::of::<T>(), key)) {
            Some(known) => known.as_ref().and_then(|known| known.downcast_ref()).cloned(),
            None if self.made.borrow().contains(&(T::TABLE, key)) => T::for_new_row(),
            None => None,
        }
    }

    pub fn put<T: CachedFact>(&self, key: i64, fact: T) {
        if self.on.get() {
            self.known.borrow_mut().insert((TypeId::of::<T>(), key), Some(Box::new(fact)));
        }
    }

    /// Marks a fact as unknown.
    pub fn forget<T: CachedFact>(&self, key: i64) {
        if self.on.get() {
            self.known.borrow_mut().insert((TypeId::of::<T>(), key), None);
        }
    }

    /// Records a created row.
    pub fn made(&self, table: &'static str, key: i64) {
        if self.on.get() {
            self.made.borrow_mut().insert((table, key));
        }
    }
}
