//! What an experiment's units add up to, put together from the sums that are kept with them.

use learn::experiment::{ExperimentEvidence, TrafficShares, UnitPlacement};
use model::Scope;
use store::{StoreError, StoredSums};

use super::ExperimentView;
use crate::error::EngineError;
use crate::experiments::Experiments;

impl Experiments {
    /// All units as of one moment. As much work with ten units as with ten million.
    pub(super) async fn evidence_of(
        &self,
        scope: &Scope,
        view: &ExperimentView,
    ) -> Result<ExperimentEvidence, EngineError> {
        let rows = self.core.store.experiment_sums(scope, &view.id).await?;
        let unreadable = || StoreError::Corrupt(format!("the sums of the experiment {}", view.id));
        Ok(put_together(view, &rows).ok_or_else(unreadable)?)
    }
}

/// `None` when the sums are not those that the definition asks for.
pub(super) fn put_together(
    view: &ExperimentView,
    rows: &[StoredSums],
) -> Option<ExperimentEvidence> {
    let mut evidence = ExperimentEvidence::new(&view.definition);
    view.moves.iter().for_each(|_| evidence.open_stratum());
    let shares: Vec<TrafficShares> =
        (0..=view.moves.len()).map(|moves| view.shares_after(moves)).collect();
    for row in rows {
        let (own, guardrails) = row.moments.split_first()?;
        if guardrails.len() != view.definition.guardrails.len() {
            return None;
        }
        let place = UnitPlacement { variant: row.variant as usize, stratum: row.moves as usize };
        // Those exposed after a move that was made since the experiment was read count next time.
        if let Some(shares) = shares.get(place.stratum) {
            evidence.record_exposures(place, shares, row.exposed);
            evidence.add_moments(place, own);
        }
        for (index, moments) in guardrails.iter().enumerate() {
            evidence.add_guardrail_moments(index, place.variant, moments);
        }
    }
    Some(evidence)
}
