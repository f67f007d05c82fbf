//! Confidence sequence of an experiment, day by day.

use std::collections::BTreeMap;

use learn::experiment::{VariantComparison, compute_results};
use model::{Scope, Timestamp};
use store::StoredSums;

use super::ExperimentView;
use super::evidence::build_evidence;
use crate::error::EngineError;
use crate::experiments::Experiments;

/// Maximum rows per sequence: one for each day, variant and move of the shares.
const MAX_ROWS: usize = 20_000;
const DAY_MICROS: i64 = 86_400_000_000;

/// Results at the end of a day.
#[derive(Clone, Debug, PartialEq)]
pub struct SequencePoint {
    /// Start of the day.
    pub day: Timestamp,
    /// Each treatment against the control.
    pub comparisons: Vec<VariantComparison>,
}

impl Experiments {
    /// The differences and their intervals at the end of each day with changes. `None` when the
    /// experiment exceeds the row limit.
    pub async fn experiment_sequence(
        &self,
        scope: &Scope,
        view: &ExperimentView,
    ) -> Result<Option<Vec<SequencePoint>>, EngineError> {
        self.load_sequence(scope, view, MAX_ROWS).await
    }

    pub(super) async fn load_sequence(
        &self,
        scope: &Scope,
        view: &ExperimentView,
        most: usize,
    ) -> Result<Option<Vec<SequencePoint>>, EngineError> {
        let rows = self.core.store.experiment_days(scope, &view.id, most + 1).await?;
        Ok((rows.len() <= most).then(|| daily_points(view, rows)))
    }
}

/// Each day's sums replace the earlier ones of the same variant and move.
fn daily_points(view: &ExperimentView, rows: Vec<(i64, StoredSums)>) -> Vec<SequencePoint> {
    let mut by_day = BTreeMap::<i64, Vec<StoredSums>>::new();
    for (day, sums) in rows {
        by_day.entry(day).or_default().push(sums);
    }
    let mut known = BTreeMap::<(u32, u32), StoredSums>::new();
    let mut found = Vec::with_capacity(by_day.len());
    for (day, changed) in by_day {
        known.extend(changed.into_iter().map(|sums| ((sums.variant, sums.moves), sums)));
        let then: Vec<StoredSums> = known.values().cloned().collect();
        let Some(evidence) = build_evidence(view, &then) else { continue };
        let comparisons = compute_results(&view.definition, view.status, &evidence).comparisons;
        found.push(SequencePoint { day: Timestamp::from_micros(day * DAY_MICROS), comparisons });
    }
    found
}
