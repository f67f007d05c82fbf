//! LRU cache of example pools by project.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use model::{Position, Scope};
use parking_lot::{Mutex, RwLock};

use crate::training_data::example_pool::pool::IndexedPool;

/// Questions in all pools together. Beyond it the least recently used pools are evicted, and
/// rebuilt on demand.
const MAX_CACHED_QUESTIONS: usize = 250_000;
const MAX_CACHED_PROJECTS: usize = 1000;

#[derive(Default)]
pub(crate) struct ExamplePoolCache {
    projects: Mutex<HashMap<Scope, Arc<ProjectPool>>>,
    asked: AtomicU64,
}

/// One project's pool and its position in the log.
#[derive(Default)]
pub(crate) struct ProjectPool {
    pub(crate) pool: RwLock<IndexedPool>,
    /// Position up to which the log is applied; `None` before the pool is built.
    pub(crate) synced_to: tokio::sync::Mutex<Option<Position>>,
    /// Logical time of the last use.
    asked: AtomicU64,
}

impl ExamplePoolCache {
    /// A project's pool; empty if it is new.
    pub(crate) fn get_or_create(&self, scope: &Scope) -> Arc<ProjectPool> {
        let now = self.asked.fetch_add(1, Ordering::Relaxed);
        let mut projects = self.projects.lock();
        let project = Arc::clone(projects.entry(scope.clone()).or_default());
        project.asked.store(now, Ordering::Relaxed);
        project
    }

    pub(crate) fn get(&self, scope: &Scope) -> Option<Arc<ProjectPool>> {
        self.projects.lock().get(scope).cloned()
    }

    /// Evicts the least recently used pools until the limits hold.
    pub(crate) fn evict(&self) {
        let mut projects = self.projects.lock();
        let mut questions: usize = projects.values().map(|project| project.len()).sum();
        while projects.len() > 1
            && (questions > MAX_CACHED_QUESTIONS || projects.len() > MAX_CACHED_PROJECTS)
        {
            let oldest = projects
                .iter()
                .min_by_key(|(_, project)| project.asked.load(Ordering::Relaxed))
                .map(|(scope, _)| scope.clone());
            let Some(gone) = oldest.and_then(|scope| projects.remove(&scope)) else { break };
            questions -= gone.len().min(questions);
        }
    }

    /// Drops all pools. They are rebuilt on demand.
    pub(crate) fn clear(&self) {
        self.projects.lock().clear();
    }
}

impl ProjectPool {
    pub(crate) fn len(&self) -> usize {
        self.read(IndexedPool::len)
    }

    pub(crate) fn read<T>(&self, look: impl FnOnce(&IndexedPool) -> T) -> T {
        look(&self.pool.read())
    }

    pub(crate) fn update(&self, change: impl FnOnce(&mut IndexedPool)) {
        change(&mut self.pool.write());
    }
}
