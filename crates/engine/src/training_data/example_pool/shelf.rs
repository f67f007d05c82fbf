//! The pools of all projects, in memory: those that were asked lately.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use model::{Position, Scope};

use crate::training_data::example_pool::pool::Pool;

/// Questions that all pools hold together; beyond that those that were not asked for longest go,
/// and are read again when somebody asks.
const MOST_QUESTIONS: usize = 250_000;
/// Projects that have a pool.
const MOST_PROJECTS: usize = 1000;

/// All pools.
#[derive(Default)]
pub(crate) struct ExampleShelf {
    projects: Mutex<HashMap<Scope, Arc<ProjectExamples>>>,
    asked: AtomicU64,
}

/// One project's pool, and how far it follows the log.
#[derive(Default)]
pub(crate) struct ProjectExamples {
    pub(crate) pool: RwLock<Pool>,
    /// Everything up to here is in it; `None` when it was not filled yet.
    pub(crate) reached: tokio::sync::Mutex<Option<Position>>,
    /// When it was last asked, counted in questions.
    asked: AtomicU64,
}

impl ExampleShelf {
    /// A project's pool; empty when it is new here.
    pub(crate) fn of(&self, scope: &Scope) -> Arc<ProjectExamples> {
        let now = self.asked.fetch_add(1, Ordering::Relaxed);
        let mut projects = self.projects();
        let project = Arc::clone(projects.entry(scope.clone()).or_default());
        project.asked.store(now, Ordering::Relaxed);
        project
    }

    /// A project's pool, if there is one.
    pub(crate) fn known(&self, scope: &Scope) -> Option<Arc<ProjectExamples>> {
        self.projects().get(scope).cloned()
    }

    /// Lets those go that were not asked for longest, until what is left fits.
    pub(crate) fn tidy(&self) {
        let mut projects = self.projects();
        let mut questions: usize = projects.values().map(|project| project.len()).sum();
        while projects.len() > 1 && (questions > MOST_QUESTIONS || projects.len() > MOST_PROJECTS) {
            let oldest = projects
                .iter()
                .min_by_key(|(_, project)| project.asked.load(Ordering::Relaxed))
                .map(|(scope, _)| scope.clone());
            let Some(gone) = oldest.and_then(|scope| projects.remove(&scope)) else { break };
            questions -= gone.len().min(questions);
        }
    }

    /// Forgets everything: it is read again when somebody asks.
    pub(crate) fn clear(&self) {
        self.projects().clear();
    }

    fn projects(&self) -> MutexGuard<'_, HashMap<Scope, Arc<ProjectExamples>>> {
        self.projects.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ProjectExamples {
    pub(crate) fn len(&self) -> usize {
        self.read(Pool::len)
    }

    pub(crate) fn read<T>(&self, look: impl FnOnce(&Pool) -> T) -> T {
        look(&self.pool.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn change(&self, change: impl FnOnce(&mut Pool)) {
        change(&mut self.pool.write().unwrap_or_else(PoisonError::into_inner));
    }
}
