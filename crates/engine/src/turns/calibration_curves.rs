//! Calibration curves of verdict confidences, one per project.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use detect::{Mode, Platt};
use ingest::MIN_MACHINE_CONFIDENCE;
use model::{Scope, Tenant, UnitInterval, Verdict, VerdictStatus};
use serde_json::{Map, Value};
use store::{Store, StoreError};

use crate::detectors::Detectors;

/// A user who only moved on never counts as a clear acceptance, whatever the curve.
const MAX_MOVED_ON_CONFIDENCE: f64 = MIN_MACHINE_CONFIDENCE - 0.01;

/// A project without a curve keeps its raw confidences.
#[derive(Debug, Default)]
pub(crate) struct CalibrationCurves(RwLock<HashMap<Scope, Platt>>);

impl CalibrationCurves {
    pub(crate) async fn load(store: &Store) -> Result<Self, StoreError> {
        let curves = Self::default();
        for stored in store.calibrations().await? {
            curves.set_curve(stored.scope, parse_curve(&stored.settings));
        }
        Ok(curves)
    }

    pub(crate) fn curve_for(&self, scope: &Scope) -> Platt {
        let curves = self.0.read().unwrap_or_else(PoisonError::into_inner);
        curves.get(scope).copied().unwrap_or(Platt::IDENTITY)
    }

    /// Overwrites entries with newly loaded ones.
    pub(crate) fn update_from(&self, others: Self) {
        let others = others.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.0.write().unwrap_or_else(PoisonError::into_inner).extend(others);
    }

    pub(crate) fn remove_tenant(&self, tenant: &Tenant) {
        let mut curves = self.0.write().unwrap_or_else(PoisonError::into_inner);
        curves.retain(|scope, _| scope.tenant != *tenant);
    }

    pub(crate) fn set_curve(&self, scope: Scope, curve: Platt) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(scope, curve);
    }
}

/// Reads the curve of a stored calibration. Invalid settings give no curve.
pub(crate) fn parse_curve(settings: &Map<String, Value>) -> Platt {
    let number = |name: &str| settings.get(name).and_then(Value::as_f64);
    match (number("slope"), number("offset")) {
        (Some(slope), Some(offset)) if slope > 0.0 => Platt { slope, offset },
        (Some(_) | None, Some(_) | None) => Platt::IDENTITY,
    }
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
