//! One vector index per project and model, in memory.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::{Mutex, RwLock};
use sql::Connection;
use vector_index::{Filter, Found, Index};

use crate::row_keys::Key;
use crate::similarity::SimilarQuery;
use crate::similarity::entry::{self, Entry, StoredVector};
use crate::similarity::touched::Turns;

type SharedIndex = Arc<RwLock<Index>>;

#[derive(Default)]
pub(crate) struct SimilarityIndexes {
    // By project and model.
    indexes: RwLock<HashMap<Key, HashMap<String, SharedIndex>>>,
    complete: AtomicBool,
    // `Some` while the loader runs.
    newer: Mutex<Option<Newer>>,
}

/// Changes made by the writer while the loader runs. They are newer than the loader's rows.
#[derive(Default)]
struct Newer {
    // Turns that the writer has inserted.
    turns: HashSet<Key>,
    // Removed projects. The writer inserts turns of a new project with the same key.
    gone: HashSet<Key>,
}

impl SimilarityIndexes {
    pub(crate) fn new() -> Self {
        Self { newer: Mutex::new(Some(Newer::default())), ..Self::default() }
    }

    /// True when the loader has finished.
    pub(crate) fn is_complete(&self) -> bool {
        self.complete.load(Ordering::Acquire)
    }

    pub(crate) fn finish_loading(&self) {
        *self.newer.lock() = None;
        self.complete.store(true, Ordering::Release);
    }

    /// Removes the indexes of deleted projects, because a new project may reuse a key.
    pub(crate) fn forget(&self, projects: &[Key]) {
        if let Some(newer) = &mut *self.newer.lock() {
            newer.gone.extend(projects);
        }
        let mut indexes = self.indexes.write();
        indexes.retain(|project, _| !projects.contains(project));
    }

    pub(crate) fn search(&self, project: Key, query: &SimilarQuery, filter: Filter) -> Found {
        let Some(shelf) = self.get(project, query.vector.model()) else {
            return Found { exact: true, ..Found::default() };
        };
        shelf.read().search(query.vector.values(), query.most, query.floor, filter)
    }

    /// Updates turns to their current state in the database.
    pub(crate) fn refresh(&self, connection: &Connection, touched: &Turns) -> sql::Result<()> {
        if touched.is_empty() {
            return Ok(());
        }
        let mut newer = self.newer.lock();
        if let Some(newer) = &mut *newer {
            newer.turns.extend(touched.keys());
        }
        let mut by_project: BTreeMap<Key, Vec<Fresh>> = BTreeMap::new();
        for (entry, vector) in entry::read_touched(connection, touched)? {
            let vector_too = touched.get(&entry.turn).copied().unwrap_or(false);
            let fresh = self.fresh(connection, entry, vector, vector_too)?;
            by_project.entry(fresh.entry.project).or_default().push(fresh);
        }
        for (project, turns) in by_project {
            self.put(project, &turns);
        }
        Ok(())
    }

    fn fresh(
        &self,
        connection: &Connection,
        entry: Entry,
        vector: Option<Option<StoredVector>>,
        vector_too: bool,
    ) -> sql::Result<Fresh> {
        let models = self.project_indexes(entry.project);
        let is_here = || models.iter().any(|(_, shelf)| shelf.read().has(entry.turn));
        // The common case: the turn is in the index and only its labels changed.
        if !vector_too && entry.corrects.is_none() && is_here() {
            return Ok(Fresh { entry, direction: FreshDirection::AsBefore });
        }
        let mut direction = FreshDirection::Nowhere;
        let stored = match vector {
            Some(stored) => stored,
            None => entry::read_vector(connection, entry.turn)?,
        };
        if let Some((model, own)) = stored
            && let Some(values) = entry::together(connection, &entry, &model, &own)?
        {
            direction = FreshDirection::Of { model, values };
        }
        Ok(Fresh { entry, direction })
    }

    /// Inserts turns of one project. The lock is taken once, because a search holds it for long.
    fn put(&self, project: Key, turns: &[Fresh]) {
        for fresh in turns {
            if let FreshDirection::Of { model, values } = &fresh.direction {
                self.shelf(project, model, values.len());
            }
        }
        for (model, shelf) in self.project_indexes(project) {
            let mut index = shelf.write();
            for Fresh { entry, direction } in turns {
                match direction {
                    FreshDirection::AsBefore => _ = index.relabel(entry.turn, entry.labels),
                    FreshDirection::Of { model: of, values } if *of == model => {
                        insert(&mut index, entry, values);
                    }
                    FreshDirection::Of { .. } | FreshDirection::Nowhere => {
                        _ = index.remove(entry.turn)
                    }
                }
            }
        }
    }

    /// Inserts a loaded turn, unless the writer has updated it or its project was removed.
    pub(crate) fn load(&self, model: &str, entry: &Entry, values: &[f32]) {
        let newer = self.newer.lock();
        let is_outdated = |newer: &Newer| {
            newer.turns.contains(&entry.turn) || newer.gone.contains(&entry.project)
        };
        if newer.as_ref().is_some_and(is_outdated) {
            return;
        }
        let shelf = self.shelf(entry.project, model, values.len());
        insert(&mut shelf.write(), entry, values);
    }

    fn get(&self, project: Key, model: &str) -> Option<SharedIndex> {
        let indexes = self.indexes.read();
        indexes.get(&project)?.get(model).cloned()
    }

    fn shelf(&self, project: Key, model: &str, dims: usize) -> SharedIndex {
        if let Some(shelf) = self.get(project, model) {
            return shelf;
        }
        let mut indexes = self.indexes.write();
        let new = || Arc::new(RwLock::new(Index::new(dims)));
        let models = indexes.entry(project).or_default();
        Arc::clone(models.entry(model.to_owned()).or_insert_with(new))
    }

    /// One index, unless the project has used several models.
    fn project_indexes(&self, project: Key) -> Vec<(String, SharedIndex)> {
        let indexes = self.indexes.read();
        let models = indexes.get(&project).into_iter().flatten();
        models.map(|(model, shelf)| (model.clone(), Arc::clone(shelf))).collect()
    }
}

struct Fresh {
    entry: Entry,
    direction: FreshDirection,
}

enum FreshDirection {
    AsBefore,
    Of { model: String, values: Vec<f32> },
    Nowhere,
}

fn insert(index: &mut Index, entry: &Entry, values: &[f32]) {
    if !index.insert(entry.turn, values, entry.labels) {
        // A zero vector is similar to nothing.
        tracing::warn!(
            turn = entry.turn,
            "a vector has another dimension than its model's index; skipped"
        );
    }
}

#[cfg(test)]
mod tests {
    use model::{Scope, Vector};

    use super::*;
    use vector_index::Labels;

    #[test]
    fn loaded_turn_of_a_removed_project_is_skipped() {
        let indexes = SimilarityIndexes::new();
        let load = |project: Key, turn: Key| {
            let entry = Entry { turn, project, labels: Labels::default(), corrects: None };
            indexes.load("tiny", &entry, &[1.0, 0.0]);
        };
        load(1, 1);
        indexes.forget(&[1]);
        load(1, 2);
        load(2, 3);
        let query = SimilarQuery {
            scope: Scope::default(),
            vector: Vector::new("tiny".into(), vec![1.0, 0.0]),
            most: 5,
            floor: 0.5,
            user: None,
            intent: None,
        };
        let found = |project| indexes.search(project, &query, Filter::default()).neutral.len();
        assert_eq!((found(1), found(2)), (0, 1));
    }
}
