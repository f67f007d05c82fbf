//! Maps keys to rows.
//!
//! The tables store only row numbers, four bytes each; the key is read from the row. Many small
//! tables keep each growth short and memory peaks low.

use hashbrown::HashTable;
use model::hash::{GOLDEN_GAMMA, mix64};

const TABLES: usize = 80;

/// Finds rows by key. Callers pass a function that reads the key of a row.
pub(super) struct RowTable {
    tables: Vec<HashTable<u32>>,
    len: usize,
}

impl RowTable {
    pub(super) fn new() -> Self {
        Self { tables: (0..TABLES).map(|_| HashTable::new()).collect(), len: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Bytes: a row number and a control byte per slot.
    pub(super) fn bytes(&self) -> usize {
        let slots = |table: &HashTable<u32>| table.capacity() * 8 / 7;
        self.tables.iter().map(|table| slots(table) * 5 + size_of::<HashTable<u32>>()).sum()
    }

    pub(super) fn get(&self, key: i64, key_at: impl Fn(u32) -> i64) -> Option<u32> {
        let hash = hash(key);
        self.tables[table_index(hash)].find(hash, |place| key_at(*place) == key).copied()
    }

    /// Adds a key that is not present.
    pub(super) fn add(&mut self, key: i64, place: u32, key_at: impl Fn(u32) -> i64) {
        let hash = hash(key);
        let rehash = |place: &u32| self::hash(key_at(*place));
        self.tables[table_index(hash)].insert_unique(hash, place, rehash);
        self.len += 1;
    }

    pub(super) fn change(&mut self, key: i64, from: u32, to: u32) {
        let hash = hash(key);
        if let Some(place) = self.tables[table_index(hash)].find_mut(hash, |place| *place == from) {
            *place = to;
        }
    }

    pub(super) fn remove(&mut self, key: i64, place: u32) {
        let hash = hash(key);
        let table = &mut self.tables[table_index(hash)];
        if let Ok(found) = table.find_entry(hash, |known| *known == place) {
            found.remove();
            self.len -= 1;
        }
    }
}

/// The finalizer of splitmix64, because keys are often consecutive.
pub(super) fn hash(key: i64) -> u64 {
    mix64(key.cast_unsigned().wrapping_add(GOLDEN_GAMMA))
}

/// Uses bits that the tables do not use themselves.
fn table_index(hash: u64) -> usize {
    (hash >> 40) as usize % TABLES
}
