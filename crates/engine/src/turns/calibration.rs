//! Calibration of verdict confidences: one curve per project, fitted from turns with both a verdict
//! and a human label.

use std::collections::HashMap;

use detect::{MIN_LABELS, Mode, Platt, recalibrate};
use ingest::MIN_MACHINE_CONFIDENCE;
use model::{
    Calibration, Mac, Position, Rule, Scope, Tenant, UnitInterval, Verdict, VerdictStatus,
};
use parking_lot::RwLock;
use store::{Label, Store, StoreError};

use crate::detectors::Detectors;
use crate::error::EngineError;
use crate::turns::Turns;

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
        let curve = self.curves.curve_for(scope);
        Ok(CalibrationReport {
            labels: labels.len(),
            labels_needed: MIN_LABELS,
            curve: Some(curve).filter(|curve| *curve != Platt::IDENTITY),
            error: stored.as_ref().map(|stored| stored.calibration.error),
            position: stored.as_ref().map(|stored| stored.position),
            reliability: reliability_bins(&labels, curve),
        })
    }

    /// Fits the curves of projects with new labels. A project that fails is retried in the next
    /// sweep and does not hold up the others. Returns the first error.
    pub(crate) async fn recalibrate_projects(&self) -> Result<(), EngineError> {
        let mut failed = None;
        for scope in self.new_labels.take_all() {
            if let Err(error) = self.recalibrate_project(&scope).await {
                self.new_labels.mark_dirty([scope].into());
                failed.get_or_insert(error);
            }
        }
        failed.map_or(Ok(()), Err)
    }

    async fn recalibrate_project(&self, scope: &Scope) -> Result<(), EngineError> {
        let labels = self.core.store.labels(scope, MAX_LABELS).await?;
        let stored = self.core.store.calibrations().await?;
        let before = stored.iter().find(|stored| stored.scope == *scope);
        let known = before.map(|stored| stored.calibration.labels as f64);
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
        let calibration = Calibration {
            slope: fitted.curve.slope,
            offset: fitted.curve.offset,
            labels: fitted.labels as u64,
            error: fitted.error,
        };
        let rule = Rule::Calibration(calibration);
        let now = self.core.clock.now();
        let event = ingest::rule_event(scope, None, rule, self.core.ids.event_id(now), now);
        self.core.commit_one(self.core.build_write(event, Mac([0; 16]), None)).await?;
        self.curves.set_curve(scope.clone(), to_curve(&calibration));
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

/// A user who only moved on never counts as a clear acceptance, whatever the curve.
const MAX_MOVED_ON_CONFIDENCE: f64 = MIN_MACHINE_CONFIDENCE - 0.01;

/// A project without a curve keeps its raw confidences.
#[derive(Debug, Default)]
pub(crate) struct CalibrationCurves(RwLock<HashMap<Scope, Platt>>);

impl CalibrationCurves {
    pub(crate) async fn load(store: &Store) -> Result<Self, StoreError> {
        let curves = Self::default();
        for stored in store.calibrations().await? {
            curves.set_curve(stored.scope, to_curve(&stored.calibration));
        }
        Ok(curves)
    }

    pub(crate) fn curve_for(&self, scope: &Scope) -> Platt {
        let curves = self.0.read();
        curves.get(scope).copied().unwrap_or(Platt::IDENTITY)
    }

    /// Overwrites entries with newly loaded ones.
    pub(crate) fn update_from(&self, others: Self) {
        let others = others.0.into_inner();
        self.0.write().extend(others);
    }

    pub(crate) fn remove_tenant(&self, tenant: &Tenant) {
        let mut curves = self.0.write();
        curves.retain(|scope, _| scope.tenant != *tenant);
    }

    pub(crate) fn set_curve(&self, scope: Scope, curve: Platt) {
        self.0.write().insert(scope, curve);
    }
}

/// The curve of a stored calibration. An invalid slope gives no curve.
pub(crate) fn to_curve(stored: &Calibration) -> Platt {
    let Calibration { slope, offset, .. } = *stored;
    if slope > 0.0 { Platt { slope, offset } } else { Platt::IDENTITY }
}

/// Applies the project's curve to a verdict. A rejection below the confidence threshold becomes
/// neutral. Only the model's verdicts are calibrated, not those of rules.
pub(crate) fn calibrate_verdict(detectors: &Detectors, curve: Platt, found: Verdict) -> Verdict {
    if detectors.verdict.mode != Mode::Model || curve == Platt::IDENTITY {
        return found;
    }
    let raw = found.confidence.get();
    let curved = curve.adjust_probability(raw);
    let unit = |value: f64| UnitInterval::new(value).unwrap_or(found.confidence);
    match found.status {
        VerdictStatus::Neutral => found,
        VerdictStatus::Accepted if raw < MIN_MACHINE_CONFIDENCE => {
            Verdict { confidence: unit(curved.min(MAX_MOVED_ON_CONFIDENCE)), ..found }
        }
        VerdictStatus::Rejected if curved < detectors.verdict.min_confidence => Verdict {
            status: VerdictStatus::Neutral,
            confidence: unit(0.5),
            correction_type: None,
            user_said: None,
            contrast: None,
            ..found
        },
        VerdictStatus::Accepted | VerdictStatus::Rejected => {
            Verdict { confidence: unit(curved), ..found }
        }
    }
}

#[cfg(test)]
mod tests {
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

    fn verdict(status: VerdictStatus, confidence: f64) -> Verdict {
        Verdict {
            status,
            confidence: UnitInterval::new(confidence).unwrap(),
            correction_type: None,
            user_said: Some("no".into()),
            evidence: Vec::new(),
            contrast: None,
            rule: "model".into(),
            dissatisfied: None,
            behaviour: None,
        }
    }

    #[track_caller]
    fn check(offset: f64, before: (VerdictStatus, f64), after: (VerdictStatus, f64)) {
        let curve = Platt { slope: 1.0, offset };
        let found = calibrate_verdict(&Detectors::default(), curve, verdict(before.0, before.1));
        assert_eq!(found.status, after.0);
        assert!((found.confidence.get() - after.1).abs() < 0.01, "{}", found.confidence.get());
    }

    #[test]
    fn curve_changes_confidences_and_weak_rejections_become_neutral() {
        use VerdictStatus::{Accepted, Neutral, Rejected};
        check(-1.0, (Rejected, 0.9), (Rejected, 0.77));
        check(-1.0, (Rejected, 0.8), (Neutral, 0.5));
        check(2.0, (Accepted, 0.6), (Accepted, 0.69));
        check(1.0, (Accepted, 0.8), (Accepted, 0.916));
        check(-3.0, (Neutral, 0.6), (Neutral, 0.6));
        let rules = Detectors {
            verdict: detect::VerdictRule { mode: Mode::Rules, ..Default::default() },
            ..Detectors::default()
        };
        let curve = Platt { slope: 1.0, offset: -2.0 };
        assert_eq!(
            calibrate_verdict(&rules, curve, verdict(Rejected, 0.9)),
            verdict(Rejected, 0.9)
        );
    }
}
