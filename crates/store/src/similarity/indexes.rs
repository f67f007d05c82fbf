//! One vector index per project and model, in memory.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use parking_lot::{Mutex, RwLock};
use sql::Connection;
use vector_index::{Filter, Found, Index};

use crate::metrics::SimilarityStats;
use crate::row_keys::Key;
use crate::similarity::SimilarQuery;
use crate::similarity::entry::{self, Entry, StoredVector};
use crate::similarity::touched::Turns;

/// Limits of the similarity index. Beyond them, turns without a verdict leave it, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimilarityLimits {
    pub project_turns: usize,
    /// Of all projects together.
    pub turns: usize,
}

impl Default for SimilarityLimits {
    fn default() -> Self {
        Self { project_turns: 250_000, turns: 500_000 }
    }
}

type SharedIndex = Arc<RwLock<Index>>;

#[derive(Default)]
pub(crate) struct SimilarityIndexes {
    // By project and model.
    indexes: RwLock<HashMap<Key, HashMap<String, SharedIndex>>>,
    complete: AtomicBool,
    // `Some` while the loader runs.
    newer: Mutex<Option<Newer>>,
    limits: SimilarityLimits,
    // Turns of all indexes.
    turns: AtomicUsize,
}

/// An index over its limit loses this fraction at once, because finding the oldest reads all keys.
const EVICTED_FRACTION: usize = 64;

/// Changes made by the writer while the loader runs. They are newer than the loader's rows.
#[derive(Default)]
struct Newer {
    // Turns that the writer has inserted.
    turns: HashSet<Key>,
    // Removed projects. The writer inserts turns of a new project with the same key.
    gone: HashSet<Key>,
}

impl SimilarityIndexes {
    pub(crate) fn new(limits: SimilarityLimits) -> Self {
        Self { newer: Mutex::new(Some(Newer::default())), limits, ..Self::default() }
    }

    pub(crate) fn stats(&self) -> SimilarityStats {
        let mut stats = SimilarityStats::default();
        for shelf in self.indexes.read().values().flat_map(HashMap::values) {
            let index = shelf.read();
            stats.turns += index.len() as u64;
            stats.bytes += index.bytes() as u64;
        }
        stats
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
        let gone = indexes.extract_if(|project, _| projects.contains(project));
        let turns: usize =
            gone.flat_map(|(_, models)| models).map(|(_, shelf)| shelf.read().len()).sum();
        self.turns.fetch_sub(turns, Ordering::Relaxed);
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
            let before = index.len();
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
            self.limit_project(&mut index, before);
        }
        self.limit_all();
    }

    /// Counts the turns that an index gained since it had `before`, and evicts those over the limit
    /// of a project.
    fn limit_project(&self, index: &mut Index, before: usize) {
        let most = self.limits.project_turns;
        if index.len() > most {
            index.evict_oldest(index.len() - most + most / EVICTED_FRACTION);
        }
        let after = index.len();
        self.turns.fetch_add(after.saturating_sub(before), Ordering::Relaxed);
        self.turns.fetch_sub(before.saturating_sub(after), Ordering::Relaxed);
    }

    /// Evicts turns of the largest indexes while all together are over the limit.
    fn limit_all(&self) {
        while self.turns.load(Ordering::Relaxed) > self.limits.turns {
            let indexes = self.indexes.read();
            let shelves = indexes.values().flat_map(HashMap::values);
            let Some(largest) = shelves.max_by_key(|shelf| shelf.read().len()) else { return };
            let mut index = largest.write();
            let before = index.len();
            if before == 0 {
                return;
            }
            let over = self.turns.load(Ordering::Relaxed).saturating_sub(self.limits.turns);
            index.evict_oldest(over + before / EVICTED_FRACTION);
            self.limit_project(&mut index, before);
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
        let mut index = shelf.write();
        let before = index.len();
        insert(&mut index, entry, values);
        self.limit_project(&mut index, before);
        drop(index);
        self.limit_all();
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
    use vector_index::{Labels, Tier};

    #[test]
    fn loaded_turn_of_a_removed_project_is_skipped() {
        let indexes = SimilarityIndexes::new(SimilarityLimits::default());
        load(&indexes, 1, 1, Tier::Neutral);
        indexes.forget(&[1]);
        load(&indexes, 1, 2, Tier::Neutral);
        load(&indexes, 2, 3, Tier::Neutral);
        assert_eq!((found(&indexes, 1).len(), found(&indexes, 2).len()), (0, 1));
        assert_eq!(indexes.turns.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn full_index_evicts_the_oldest_turns_without_a_verdict() {
        let indexes = SimilarityIndexes::new(SimilarityLimits { project_turns: 4, turns: 6 });
        load(&indexes, 1, 1, Tier::Rejected);
        (2..=8).for_each(|turn| load(&indexes, 1, turn, Tier::Neutral));
        assert_eq!(found(&indexes, 1), [1, 6, 7, 8]);
        // The largest project makes room for others.
        (11..=13).for_each(|turn| load(&indexes, 2, turn, Tier::Accepted));
        assert_eq!(found(&indexes, 2), [11, 12, 13]);
        assert_eq!(found(&indexes, 1), [1, 7, 8]);
        let stats = indexes.stats();
        assert!(stats.turns == 6 && stats.bytes > 0, "{stats:?}");
    }

    fn load(indexes: &SimilarityIndexes, project: Key, turn: Key, tier: Tier) {
        let labels = Labels { tier, ..Labels::default() };
        let entry = Entry { turn, project, labels, corrects: None };
        indexes.load("tiny", &entry, &[1.0, 0.0]);
    }

    fn found(indexes: &SimilarityIndexes, project: Key) -> Vec<Key> {
        let query = SimilarQuery {
            scope: Scope::default(),
            vector: Vector::new("tiny".into(), vec![1.0, 0.0]),
            most: 50,
            floor: 0.5,
            user: None,
            intent: None,
        };
        let Found { accepted, neutral, rejected, .. } =
            indexes.search(project, &query, Filter::default());
        let mut keys: Vec<Key> =
            [accepted, neutral, rejected].iter().flatten().map(|near| near.key).collect();
        keys.sort_unstable();
        keys
    }
}
