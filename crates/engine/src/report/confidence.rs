//! Calibration of decisions: success rate by the agent's stated confidence.

use model::{Body, DecisionOutcome};
use store::StoredDecision;

use crate::report::rate::Rate;

const BINS: usize = 10;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConfidenceBin {
    /// Inclusive lower edge.
    pub from: f64,
    /// Exclusive upper edge, except in the last bin.
    pub to: f64,
    /// Mean confidence of the bin.
    pub confidence: f64,
    /// Successful decisions among those with a known outcome.
    pub success: Rate,
}

/// Groups decisions with a confidence and a known outcome into bins.
#[derive(Clone, Debug, Default)]
pub struct ConfidenceBins([(f64, Rate); BINS]);

impl ConfidenceBins {
    pub fn add(&mut self, decision: &StoredDecision) {
        let Some((confidence, good)) = read_outcome(decision) else { return };
        let place = ((confidence * BINS as f64) as usize).min(BINS - 1);
        let (sum, rate) = &mut self.0[place];
        *sum += confidence;
        rate.denominator += 1;
        rate.numerator += u64::from(good);
    }

    /// The bins in order. Empty ones are omitted.
    pub fn finish(&self) -> Vec<ConfidenceBin> {
        let edge = |place: usize| place as f64 / BINS as f64;
        let filled = self.0.iter().enumerate().filter(|(_, (_, rate))| rate.denominator > 0);
        filled
            .map(|(place, (sum, rate))| ConfidenceBin {
                from: edge(place),
                to: edge(place + 1),
                confidence: sum / rate.denominator as f64,
                success: *rate,
            })
            .collect()
    }
}

fn read_outcome(decision: &StoredDecision) -> Option<(f64, bool)> {
    let Body::Decision(made) = &decision.made.event.body else { return None };
    let settled = decision.settled.as_ref().map(|settled| &settled.event.body);
    let outcome =
        if let Some(Body::Settlement(settled)) = settled { settled.outcome } else { made.outcome };
    let good = match outcome {
        DecisionOutcome::Success | DecisionOutcome::Accepted => true,
        DecisionOutcome::Failure | DecisionOutcome::Correction | DecisionOutcome::Overridden => {
            false
        }
        DecisionOutcome::Unknown => return None,
    };
    Some((made.confidence?.get(), good))
}
