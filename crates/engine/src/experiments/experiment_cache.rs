//! Experiments in memory, so that an assignment need not read and parse their definitions.
//!
//! A definition never changes and what does change (status, moves) is in the one row that an
//! assignment reads anyway: a view that does not agree with it is read again. So nobody has to be told
//! when something changes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use model::{ExperimentId, Scope};
use store::StoredStanding;

use crate::experiments::view::ExperimentView;

/// More than this are forgotten, all at once.
const MAX_CACHED_EXPERIMENTS: usize = 1_000;

/// Those that units were assigned in.
#[derive(Debug, Default)]
pub(crate) struct ExperimentCache {
    views: Mutex<HashMap<(Scope, ExperimentId), Arc<ExperimentView>>>,
}

impl ExperimentCache {
    /// The experiment, if it is known as it stands.
    pub(crate) fn find_current(
        &self,
        scope: &Scope,
        id: &ExperimentId,
        standing: &StoredStanding,
    ) -> Option<Arc<ExperimentView>> {
        let views = self.views.lock().unwrap_or_else(PoisonError::into_inner);
        let view = views.get(&(scope.clone(), id.clone()))?;
        view.matches_standing(standing).then(|| Arc::clone(view))
    }

    /// Keeps it as it was just read.
    pub(crate) fn insert_view(&self, scope: &Scope, view: ExperimentView) -> Arc<ExperimentView> {
        let view = Arc::new(view);
        let mut views = self.views.lock().unwrap_or_else(PoisonError::into_inner);
        if views.len() >= MAX_CACHED_EXPERIMENTS {
            views.clear();
        }
        views.insert((scope.clone(), view.id.clone()), Arc::clone(&view));
        view
    }
}
