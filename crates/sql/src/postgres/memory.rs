//! What a transaction that holds the head of the log has read or written: nobody else can change it
//! meanwhile, so it need not be asked again.

use std::any::{Any, TypeId};
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};

use super::super::memory::CachedFact;

type Fact = Box<dyn Any + Send>;

/// Facts by their sort and the key of what they are about.
#[derive(Default)]
pub struct Memory {
    on: Cell<bool>,
    // `None`: it must be asked, although the row was made here.
    known: RefCell<HashMap<(TypeId, i64), Option<Fact>>>,
    // Rows that this transaction has made: nothing else can refer to them yet.
    made: RefCell<HashSet<(&'static str, i64)>>,
}

impl Memory {
    pub fn begin(&self) {
        self.clear();
        self.on.set(true);
    }

    /// The transaction is over.
    pub fn end(&self) {
        self.clear();
        self.on.set(false);
    }

    /// Forgets everything: what is known may not be so.
    pub fn clear(&self) {
        self.known.borrow_mut().clear();
        self.made.borrow_mut().clear();
    }

    /// What is known, if anything is.
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

    /// This is so now.
    pub fn put<T: CachedFact>(&self, key: i64, fact: T) {
        if self.on.get() {
            self.known.borrow_mut().insert((TypeId::of::<T>(), key), Some(Box::new(fact)));
        }
    }

    /// This may be otherwise now.
    pub fn forget<T: CachedFact>(&self, key: i64) {
        if self.on.get() {
            self.known.borrow_mut().insert((TypeId::of::<T>(), key), None);
        }
    }

    /// A row was made.
    pub fn made(&self, table: &'static str, key: i64) {
        if self.on.get() {
            self.made.borrow_mut().insert((table, key));
        }
    }
}
