//! One index per project and model, in memory.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use rusqlite::Connection;

use super::super::keys::Key;
use super::entry::{self, Entry};
use crate::read::similar::SimilarQuery;
use crate::vectors::{Filter, Found, Index};

type Shelf = Arc<RwLock<Index>>;

/// All of them.
#[derive(Default)]
pub(in super::super) struct Shelves {
    // By project and model.
    indexes: RwLock<HashMap<Key, HashMap<String, Shelf>>>,
    complete: AtomicBool,
    // While everything is read in: turns that the writer has put in already, newer than what is
    // being read. `None` afterwards.
    newer: Mutex<Option<HashSet<Key>>>,
}

impl Shelves {
    /// Empty, and about to be filled.
    pub(in super::super) fn new() -> Self {
        Self { newer: Mutex::new(Some(HashSet::new())), ..Self::default() }
    }

    /// Whether everything was read in.
    pub(super) fn is_complete(&self) -> bool {
        self.complete.load(Ordering::Acquire)
    }

    /// Everything was read in.
    pub(super) fn finish_loading(&self) {
        *self.newer() = None;
        self.complete.store(true, Ordering::Release);
    }

    /// The nearest of each status.
    pub(super) fn search(&self, project: Key, query: &SimilarQuery, filter: Filter) -> Found {
        let Some(shelf) = self.get(project, query.vector.model()) else {
            return Found { exact: true, ..Found::default() };
        };
        let index = shelf.read().unwrap_or_else(PoisonError::into_inner);
        index.search(query.vector.values(), query.most, query.floor, filter)
    }

    /// Puts turns in as they are in the database now.
    pub(in super::super) fn refresh(
        &self,
        connection: &Connection,
        touched: &BTreeMap<Key, bool>,
    ) -> rusqlite::Result<()> {
        if touched.is_empty() {
            return Ok(());
        }
        let mut newer = self.newer();
        if let Some(newer) = &mut *newer {
            newer.extend(touched.keys());
        }
        for (turn, vector_too) in touched {
            // One that has no answer is not in the index, and an answer is never taken back.
            if let Some(entry) = entry::of(connection, *turn)? {
                self.put(connection, &entry, *vector_too)?;
            }
        }
        Ok(())
    }

    fn put(
        &self,
        connection: &Connection,
        entry: &Entry,
        vector_too: bool,
    ) -> rusqlite::Result<()> {
        // Usually somebody only said something about a turn that is here.
        if !vector_too && entry.corrects.is_none() && self.relabel(entry) {
            return Ok(());
        }
        self.forget(entry);
        let Some((model, own)) = entry::vector_of(connection, entry.turn)? else { return Ok(()) };
        if let Some(values) = entry::together(connection, entry, &model, &own)? {
            self.insert(model, entry, &values);
        }
        Ok(())
    }

    /// Puts a turn in that was read a while ago, unless the writer has put it in since.
    pub(super) fn load(&self, model: String, entry: &Entry, values: &[f32]) {
        let newer = self.newer();
        if newer.as_ref().is_some_and(|newer| newer.contains(&entry.turn)) {
            return;
        }
        self.insert(model, entry, values);
    }

    fn insert(&self, model: String, entry: &Entry, values: &[f32]) {
        let shelf = self.shelf(entry.project, model, values.len());
        let mut index = shelf.write().unwrap_or_else(PoisonError::into_inner);
        if !index.insert(entry.turn, values, entry.labels) {
            // Not comparable with anything, so there is nothing to find.
            tracing::warn!(turn = entry.turn, "a vector of another length than its model's others");
        }
    }

    fn relabel(&self, entry: &Entry) -> bool {
        let relabelled = |shelf: &Shelf| {
            let mut index = shelf.write().unwrap_or_else(PoisonError::into_inner);
            index.relabel(entry.turn, entry.labels)
        };
        self.of_project(entry.project).iter().any(relabelled)
    }

    fn forget(&self, entry: &Entry) {
        for shelf in self.of_project(entry.project) {
            shelf.write().unwrap_or_else(PoisonError::into_inner).remove(entry.turn);
        }
    }

    fn get(&self, project: Key, model: &str) -> Option<Shelf> {
        let indexes = self.indexes.read().unwrap_or_else(PoisonError::into_inner);
        indexes.get(&project)?.get(model).cloned()
    }

    fn shelf(&self, project: Key, model: String, dims: usize) -> Shelf {
        if let Some(shelf) = self.get(project, &model) {
            return shelf;
        }
        let mut indexes = self.indexes.write().unwrap_or_else(PoisonError::into_inner);
        let new = || Arc::new(RwLock::new(Index::new(dims)));
        Arc::clone(indexes.entry(project).or_default().entry(model).or_insert_with(new))
    }

    /// One, unless the project has had several models.
    fn of_project(&self, project: Key) -> Vec<Shelf> {
        let indexes = self.indexes.read().unwrap_or_else(PoisonError::into_inner);
        let models = indexes.get(&project).into_iter().flat_map(HashMap::values);
        models.cloned().collect()
    }

    fn newer(&self) -> MutexGuard<'_, Option<HashSet<Key>>> {
        self.newer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
