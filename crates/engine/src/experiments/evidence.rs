//! Builds an experiment's evidence from the sums that the store maintains per variant.

use learn::experiment::{ExperimentEvidence, TrafficShares, UnitPlacement};
use model::Scope;
use store::{StoreError, StoredSums};

use super::ExperimentView;
use crate::error::EngineError;
use crate::experiments::Experiments;

impl Experiments {
    /// All units as of one moment. The cost does not depend on the number of units.
    pub(super) async fn load_evidence(
        &self,
        scope: &Scope,
        view: &ExperimentView,
    ) -> Result<ExperimentEvidence, EngineError> {
        let rows = self.core.store.experiment_sums(scope, &view.id).await?;
        let unreadable = || StoreError::Corrupt(format!("the sums of the experiment {}", view.id));
        Ok(build_evidence(view, &rows).ok_or_else(unreadable)?)
    }
}

/// `None` when the sums do not match the definition.
pub(super) fn build_evidence(
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
        // Units exposed after a move that is newer than `view` count in the next evaluation.
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
