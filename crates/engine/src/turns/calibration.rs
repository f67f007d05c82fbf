//! Fits a project's calibration curve from turns with both a verdict and a human label.

use detect::{MIN_LABELS, Platt, recalibrate};
use model::{Mac, Position, Rule, Scope};
use store::Label;

use crate::error::EngineError;
use crate::turns::Turns;
use crate::turns::calibration_curves::parse_curve;

/// Newest labels that are used for a fit.
const MAX_LABELS: usize = 20_000;
const RELIABILITY_BINS: u32 = 10;
/// A curve is fitted again when the labels grew by this factor.
const MIN_LABEL_GROWTH: f64 = 1.1;

/// Calibration of a project's verdicts.
#[derive(Clone, Debug)]
pub struct CalibrationReport {
    pub labels: usize,
    /// Labels needed to fit a curve.
    pub labels_needed: usize,
    /// `None` leaves confidences unchanged.
    pub curve: Option<Platt>,
    /// Mean squared error on held-out labels: without and with the curve.
    pub error: Option<(f64, f64)>,
    /// Position of the calibration in the log.
    pub position: Option<Position>,
    pub reliability: Vec<ReliabilityBin>,
}

/// Verdicts with a confidence between two bounds.
#[derive(Clone, Copy, Debug)]
pub struct ReliabilityBin {
    /// Inclusive lower bound.
    pub from: f64,
    /// Upper bound, exclusive except in the last bin.
    pub to: f64,
    /// Mean raw confidence.
    pub confidence: f64,
    /// Mean calibrated confidence.
    pub calibrated: f64,
    /// Fraction of correct verdicts, 0 to 1.
    pub right: f64,
    /// Number of labels in the bin.
    pub labels: usize,
}

impl Turns {
    /// Calibration of a project's verdicts.
    pub async fn calibration_report(
        &self,
        scope: &Scope,
    ) -> Result<CalibrationReport, EngineError> {
        let labels = self.core.store.labels(scope, MAX_LABELS).await?;
        let stored = self.core.store.calibrations().await?;
        let stored = stored.into_iter().find(|stored| stored.scope == *scope);
        let pair = |name: &str| {
            let both = stored.as_ref()?.settings.get(name)?.as_array()?;
            Some((both.first()?.as_f64()?, both.get(1)?.as_f64()?))
        };
        let curve = self.curves.curve_for(scope);
        Ok(CalibrationReport {
            labels: labels.len(),
            labels_needed: MIN_LABELS,
            curve: Some(curve).filter(|curve| *curve != Platt::IDENTITY),
            error: pair("error"),
            position: stored.as_ref().map(|stored| stored.position),
            reliability: reliability_bins(&labels, curve),
        })
    }

    /// Fits the curves of projects with new labels.
    pub(crate) async fn recalibrate_projects(&self) -> Result<(), EngineError> {
        for scope in self.new_labels.take_all() {
            if let Err(error) = self.recalibrate_project(&scope).await {
                // Retried in the next sweep.
                self.new_labels.mark_dirty([scope].into());
                return Err(error);
            }
        }
        Ok(())
    }

    async fn recalibrate_project(&self, scope: &Scope) -> Result<(), EngineError> {
        let labels = self.core.store.labels(scope, MAX_LABELS).await?;
        let stored = self.core.store.calibrations().await?;
        let before = stored.iter().find(|stored| stored.scope == *scope);
        let known = before.and_then(|stored| stored.settings.get("labels")?.as_f64());
        // At the label limit, the growth of the log stands in for the growth of the labels.
        let (now, then) = match labels.len() {
            MAX_LABELS => {
                (self.core.head().0 as f64, before.map(|stored| stored.position.0 as f64))
            }
            count => (count as f64, known),
        };
        if then.is_some_and(|then| now < then * MIN_LABEL_GROWTH) {
            return Ok(());
        }
        let points: Vec<(f64, bool)> =
            labels.iter().map(|label| (label.confidence.get(), label.right)).collect();
        let Some(fitted) = recalibrate(&points) else { return Ok(()) };
        let rule = Rule::Calibration {
            slope: fitted.curve.slope,
            offset: fitted.curve.offset,
            labels: fitted.labels as u64,
            error: fitted.error,
        };
        let now = self.core.clock.now();
        let event = ingest::rule_event(scope, None, &rule, self.core.ids.event_id(now), now);
        let curve = parse_curve(&event.data);
        self.core.commit_one(self.core.build_write(event, Mac([0; 16]), None)).await?;
        self.curves.set_curve(scope.clone(), curve);
        tracing::info!(labels = fitted.labels, "verdict confidences recalibrated");
        Ok(())
    }
}

fn reliability_bins(labels: &[Label], curve: Platt) -> Vec<ReliabilityBin> {
    let bounds = |bin: u32| {
        (
            f64::from(bin) / f64::from(RELIABILITY_BINS),
            f64::from(bin + 1) / f64::from(RELIABILITY_BINS),
        )
    };
    let bin_of = |label: &&Label| (label.confidence.get() * f64::from(RELIABILITY_BINS)) as u32;
    (0..RELIABILITY_BINS)
        .filter_map(|bin| {
            let inside: Vec<&Label> = labels
                .iter()
                .filter(|label| bin_of(label).min(RELIABILITY_BINS - 1) == bin)
                .collect();
            let count = inside.len() as f64;
            let mean = |value: &dyn Fn(&Label) -> f64| {
                inside.iter().map(|label| value(label)).sum::<f64>() / count
            };
            let (from, to) = bounds(bin);
            (!inside.is_empty()).then(|| ReliabilityBin {
                from,
                to,
                confidence: mean(&|label| label.confidence.get()),
                calibrated: mean(&|label| curve.adjust_probability(label.confidence.get())),
                right: mean(&|label| f64::from(u8::from(label.right))),
                labels: inside.len(),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use model::UnitInterval;

    use super::*;

    #[test]
    fn every_label_falls_into_one_bin() {
        let label =
            |confidence, right| Label { confidence: UnitInterval::new(confidence).unwrap(), right };
        let labels = [label(0.71, true), label(0.79, false), label(1.0, true), label(0.0, false)];
        let bins = reliability_bins(&labels, Platt::IDENTITY);
        let counts: Vec<(f64, usize)> = bins.iter().map(|bin| (bin.from, bin.labels)).collect();
        assert_eq!(counts, [(0.0, 1), (0.7, 2), (0.9, 1)]);
        assert_eq!(bins[1].right, 0.5);
        assert!((bins[1].confidence - 0.75).abs() < 1e-9);
    }
}
