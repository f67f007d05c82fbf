//! What an experiment's units add up to, put together from their rows.

use event::Scope;
use learn::experiment::{Evidence, Metric, Place, Shares, UnitTotals};
use store::{StoredUnit, UnitSums};

use super::ExperimentView;
use crate::engine::Engine;
use crate::error::FlowError;

/// Rows that are read at once.
const PAGE: usize = 20_000;

impl Engine {
    /// Reads every unit once. Others may write meanwhile: each unit is as it was at some moment of the
    /// reading.
    pub(super) async fn evidence_of(
        &self,
        scope: &Scope,
        view: &ExperimentView,
    ) -> Result<Evidence, FlowError> {
        let mut gathering = Gathering::new(view);
        let mut after = None;
        loop {
            let rows = self.store.experiment_units(scope, &view.id, after, PAGE).await?;
            rows.iter().for_each(|row| gathering.add(row));
            after = rows.last().map(|row| row.mark);
            if rows.len() < PAGE {
                return Ok(gathering.evidence);
            }
        }
    }
}

/// Evidence so far.
struct Gathering<'a> {
    view: &'a ExperimentView,
    /// After no move, after one, and so on.
    shares: Vec<Shares>,
    evidence: Evidence,
    /// The time before of the unit that comes next.
    before: Option<StoredUnit>,
}

impl<'a> Gathering<'a> {
    fn new(view: &'a ExperimentView) -> Self {
        let mut evidence = Evidence::new(&view.definition);
        view.moves.iter().for_each(|_| evidence.open_stratum());
        let shares = (0..=view.moves.len()).map(|moves| view.shares_after(moves)).collect();
        Self { view, shares, evidence, before: None }
    }

    fn add(&mut self, row: &StoredUnit) {
        let Some(variant) = row.variant else {
            self.before = Some(*row);
            return;
        };
        let variant = variant as usize;
        if row.first {
            self.compare(row, Place { variant, stratum: row.moves as usize });
        }
        for (index, guardrail) in self.view.definition.guardrails.iter().enumerate() {
            let (value, count) = measured(guardrail.metric, &row.sums);
            let totals = UnitTotals { value, count, before: None };
            self.evidence.observe_guardrail(index, variant, None, Some(totals));
        }
    }

    /// What the unit says under the variant that it was served first.
    fn compare(&mut self, row: &StoredUnit, place: Place) {
        // Exposed after a move that was made since the experiment was read: it counts next time.
        let Some(shares) = self.shares.get(place.stratum) else { return };
        self.evidence.expose_many(place, shares, 1);
        let metric = self.view.definition.metric;
        let before = self.before.filter(|before| before.mark.unit == row.mark.unit);
        let (value, count) = measured(metric, &row.sums);
        let mean = |before: StoredUnit| {
            let (value, count) = measured(metric, &before.sums);
            (count > 0.0).then(|| value / count)
        };
        let totals = UnitTotals { value, count, before: before.and_then(mean) };
        self.evidence.observe(place, None, Some(self.view.definition.counted(totals)));
    }
}

/// The sum of a metric and how many turns it is over. Shares are those of the quality figures.
fn measured(metric: Metric, sums: &UnitSums) -> (f64, f64) {
    let of = |value: i64, count: i64| (value as f64, count as f64);
    match metric {
        Metric::Satisfaction => of(sums.ok, sums.ok + sums.not_ok + sums.neutral),
        Metric::ErrorRate => of(sums.failed, sums.answered),
        Metric::RejectionRate => of(sums.rejected, sums.answered),
        Metric::CorrectionRate => of(sums.corrected, sums.answered),
        Metric::RetryRate => of(sums.retried, sums.turns),
        Metric::Latency => (sums.millis as f64 / 1e3, sums.timed as f64),
        Metric::Cost => (sums.cost as f64 / 1e9, sums.answered as f64),
        Metric::QualityScore => (sums.score as f64 / 1e9, sums.scored as f64),
        // Refused when an experiment is defined.
        Metric::Reward => (0.0, 0.0),
    }
}
