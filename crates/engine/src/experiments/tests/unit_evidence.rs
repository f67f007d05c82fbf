//! Reference evidence from each unit's row, for comparison with the sums.

use learn::experiment::{ExperimentEvidence, TrafficShares, UnitPlacement, UnitTotals};
use model::{Moments, Scope};
use store::StoredUnit;

use super::super::ExperimentView;
use crate::Engine;

/// Small, so that pages end in the middle of a unit.
const PAGE_ROWS: usize = 7;

pub(super) async fn evidence_from_units(
    engine: &Engine,
    scope: &Scope,
    view: &ExperimentView,
) -> ExperimentEvidence {
    let mut gathering = UnitEvidence::new(view);
    let mut after = None;
    loop {
        let rows =
            engine.core.store.experiment_units(scope, &view.id, after, PAGE_ROWS).await.unwrap();
        rows.iter().for_each(|row| gathering.add_row(row));
        after = rows.last().map(|row| row.mark);
        if rows.len() < PAGE_ROWS {
            return gathering.evidence;
        }
    }
}

struct UnitEvidence<'a> {
    view: &'a ExperimentView,
    /// Index: the number of moves.
    shares: Vec<TrafficShares>,
    evidence: ExperimentEvidence,
    /// The time before of the unit that comes next.
    before: Option<StoredUnit>,
}

impl<'a> UnitEvidence<'a> {
    fn new(view: &'a ExperimentView) -> Self {
        let mut evidence = ExperimentEvidence::new(&view.definition);
        view.moves.iter().for_each(|_| evidence.open_stratum());
        let shares = (0..=view.moves.len()).map(|moves| view.shares_after(moves)).collect();
        Self { view, shares, evidence, before: None }
    }

    fn add_row(&mut self, row: &StoredUnit) {
        let Some(variant) = row.variant else {
            self.before = Some(*row);
            return;
        };
        let variant = variant as usize;
        if row.first {
            self.add_comparison(row, UnitPlacement { variant, stratum: row.moves as usize });
        }
        for (index, guardrail) in self.view.definition.guardrails.iter().enumerate() {
            let (value, count) = row.sums.measured(guardrail.metric);
            let totals = UnitTotals { value, count, before: None };
            self.evidence.add_guardrail_moments(index, variant, &Moments::from_totals(totals));
        }
    }

    fn add_comparison(&mut self, row: &StoredUnit, place: UnitPlacement) {
        let Some(shares) = self.shares.get(place.stratum) else { return };
        self.evidence.record_exposures(place, shares, 1);
        let metric = self.view.definition.metric;
        let before = self.before.filter(|before| before.mark.unit == row.mark.unit);
        let (value, count) = row.sums.measured(metric);
        let before = before.and_then(|before| before.sums.mean(metric));
        let totals = UnitTotals { value, count, before };
        self.evidence
            .add_moments(place, &Moments::from_totals(totals.weighted_by(self.view.definition.by)));
    }
}
