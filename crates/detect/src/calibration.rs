//! Platt scaling: fits a curve from raw scores to observed frequencies.
//!
//! Pure: labels in, a curve out. A project's own ratings and reviews serve as labels.

/// Platt curve: 1 / (1 + e^-(slope·sum + offset)).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Platt {
    pub slope: f64,
    pub offset: f64,
}

impl Platt {
    pub const IDENTITY: Self = Self { slope: 1.0, offset: 0.0 };

    /// Fits sums (log-odds) to labels in 0..=1, each with a weight, by Newton's method. L2
    /// regularisation towards the identity matters only for few rows.
    pub fn fit(rows: &[(f64, f64, f64)]) -> Self {
        let rows: Vec<(f64, f64, f64)> =
            rows.iter().copied().filter(|row| row.0.is_finite()).collect();
        let mut fitted = Self::IDENTITY;
        let mut loss = fitted.log_loss(&rows);
        for _ in 0..50 {
            let Some(step) = fitted.newton_step(&rows) else { break };
            // A full Newton step can overshoot, so the step is halved until the loss drops.
            let halves = (0..30).map(|halvings| 0.5f64.powi(halvings));
            let better = halves
                .map(|share| Self {
                    slope: fitted.slope - share * step.0,
                    offset: fitted.offset - share * step.1,
                })
                .find(|candidate| candidate.log_loss(&rows) < loss);
            let Some(candidate) = better else { break };
            fitted = candidate;
            let before = std::mem::replace(&mut loss, fitted.log_loss(&rows));
            if before - loss < 1e-10 * before.abs() {
                break;
            }
        }
        fitted
    }

    fn log_loss(self, rows: &[(f64, f64, f64)]) -> f64 {
        let penalty = ((self.slope - 1.0).powi(2) + self.offset.powi(2)) / 2.0;
        let row_loss = |(x, label, weight): &(f64, f64, f64)| {
            let p = self.probability_from_sum(*x).clamp(1e-12, 1.0 - 1e-12);
            -weight * (label * p.ln() + (1.0 - label) * (1.0 - p).ln())
        };
        penalty + rows.iter().map(row_loss).sum::<f64>()
    }

    fn newton_step(self, rows: &[(f64, f64, f64)]) -> Option<(f64, f64)> {
        let (mut g0, mut g1) = (self.slope - 1.0, self.offset);
        let (mut h00, mut h01, mut h11) = (1.0, 0.0, 1.0);
        for (x, label, weight) in rows {
            let p = self.probability_from_sum(*x);
            let w = p * (1.0 - p) * weight;
            g0 += (p - label) * x * weight;
            g1 += (p - label) * weight;
            h00 += w * x * x;
            h01 += w * x;
            h11 += w;
        }
        let det = h00 * h11 - h01 * h01;
        (det.abs() > 1e-12).then(|| ((h11 * g0 - h01 * g1) / det, (h00 * g1 - h01 * g0) / det))
    }

    pub fn probability_from_sum(self, sum: f64) -> f64 {
        1.0 / (1.0 + (-(self.slope * sum + self.offset)).exp())
    }

    pub fn adjust_probability(self, p: f64) -> f64 {
        self.probability_from_sum(log_odds(p))
    }
}

fn log_odds(p: f64) -> f64 {
    let p = p.clamp(1e-6, 1.0 - 1e-6);
    (p / (1.0 - p)).ln()
}

pub const MIN_LABELS: usize = 200;

/// A project's own calibration curve with its held-out error.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// The identity when the labels do not justify another curve.
    pub curve: Platt,
    /// Mean squared error on held-out labels: without the curve, and with it.
    pub error: (f64, f64),
    pub labels: usize,
}

/// Fits a project's curve from (confidence, outcome) pairs. Returns `None` below the minimum number
/// of labels.
///
/// Every fifth label is held out. A curve that does not reduce the held-out error is not used.
pub fn recalibrate(labels: &[(f64, bool)]) -> Option<Calibration> {
    let in_range = labels.iter().filter(|(p, _)| (0.0..=1.0).contains(p));
    let rows: Vec<(f64, f64, f64)> =
        in_range.map(|(p, is)| (log_odds(*p), f64::from(u8::from(*is)), 1.0)).collect();
    if rows.len() < MIN_LABELS {
        return None;
    }
    let training: Vec<(f64, f64, f64)> =
        rows.iter().enumerate().filter(|(at, _)| at % 5 != 0).map(|(_, row)| *row).collect();
    let candidate = Platt::fit(&training);
    let error = |curve: Platt| {
        let held_out = rows.iter().step_by(5);
        let count = held_out.len() as f64;
        held_out.map(|(x, is, _)| (curve.probability_from_sum(*x) - is).powi(2)).sum::<f64>()
            / count
    };
    let error = (error(Platt::IDENTITY), error(candidate));
    // A falling curve would turn complaints into praise, so it is never used.
    let improves = error.1 < error.0 && candidate.slope > 0.0;
    let curve = if improves { Platt::fit(&rows) } else { Platt::IDENTITY };
    Some(Calibration { curve, error, labels: rows.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Deterministic labels that are true with frequency `truth(p)` at confidence `p`.
    fn synthetic_labels(count: usize, truth: impl Fn(f64) -> f64) -> Vec<(f64, bool)> {
        (0..count)
            .map(|i| {
                let p = 0.05 + 0.9 * ((i * 37) % 100) as f64 / 100.0;
                (p, ((i * 61) % 97) as f64 / 97.0 < truth(p))
            })
            .collect()
    }

    #[test]
    fn too_few_labels_give_no_calibration() {
        assert_eq!(recalibrate(&synthetic_labels(199, |p| p)), None);
    }

    #[test]
    fn overconfident_scores_are_lowered() {
        let found = recalibrate(&synthetic_labels(1_000, |p| p * 0.5)).unwrap();
        let adjusted = found.curve.adjust_probability(0.9);
        assert!((0.3..0.6).contains(&adjusted), "{adjusted}");
        assert!(found.error.1 < found.error.0);
    }

    #[test]
    fn constant_confidence_is_mapped_to_the_observed_rate() {
        let alike: Vec<(f64, bool)> = (0..210).map(|i| (0.93, i % 2 == 0)).collect();
        let found = recalibrate(&alike).unwrap();
        let adjusted = found.curve.adjust_probability(0.93);
        assert!((0.45..0.6).contains(&adjusted), "{adjusted} {found:?}");
    }

    #[test]
    fn calibrated_scores_stay_nearly_unchanged() {
        let found = recalibrate(&synthetic_labels(2_000, |p| p)).unwrap();
        for p in [0.2, 0.5, 0.8] {
            assert!((found.curve.adjust_probability(p) - p).abs() < 0.07, "{p}");
        }
    }

    #[test]
    fn falling_curve_is_never_used() {
        let found = recalibrate(&synthetic_labels(1_000, |p| 1.0 - p)).unwrap();
        assert_eq!(found.curve, Platt::IDENTITY);
    }

    #[test]
    fn labels_out_of_range_are_ignored() {
        let mut bad = synthetic_labels(199, |p| p);
        bad.extend([(f64::NAN, true), (-1.0, false), (2.0, true)]);
        assert_eq!(recalibrate(&bad), None);
    }
}
