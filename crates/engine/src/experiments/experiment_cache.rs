//! Cache of parsed experiments, so that assignments need not parse definitions.
//!
//! Definitions never change. Status and moves are in the row that every assignment reads, so a
//! stale entry is detected by comparison and needs no invalidation.

use std::collections::HashMap;
use std::sync::Arc;

use model::{ExperimentId, Scope};
use parking_lot::Mutex;
use store::StoredStanding;

use crate::experiments::view::ExperimentView;

/// The cache is cleared when it reaches this size.
const MAX_CACHED_EXPERIMENTS: usize = 1_000;

#[derive(Debug, Default)]
pub(crate) struct ExperimentCache {
    views: Mutex<HashMap<(Scope, ExperimentId), Arc<ExperimentView>>>,
}

impl ExperimentCache {
    /// The cached experiment, unless it is stale.
    pub(crate) fn find_current(
        &self,
        scope: &Scope,
        id: &ExperimentId,
        standing: &StoredStanding,
    ) -> Option<Arc<ExperimentView>> {
        let views = self.views.lock();
        let view = views.get(&(scope.clone(), id.clone()))?;
        view.matches_standing(standing).then(|| Arc::clone(view))
    }

    pub(crate) fn insert_view(&self, scope: &Scope, view: ExperimentView) -> Arc<ExperimentView> {
        let view = Arc::new(view);
        let mut views = self.views.lock();
        if views.len() >= MAX_CACHED_EXPERIMENTS {
            views.clear();
        }
        views.insert((scope.clone(), view.id.clone()), Arc::clone(&view));
        view
    }
}
