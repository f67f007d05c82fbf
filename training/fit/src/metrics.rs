//! Metrics of predictions: AUC, precision and recall, calibration, intervals.

/// Area under the ROC curve; ties count half.
pub fn auc(rows: &[(f64, bool)]) -> f64 {
    let mut sorted = rows.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut ranks, mut before) = (0.0, 0usize);
    for tie in sorted.chunk_by(|a, b| a.0 == b.0) {
        let middle = before as f64 + (tie.len() as f64 + 1.0) / 2.0;
        ranks += middle * tie.iter().filter(|r| r.1).count() as f64;
        before += tie.len();
    }
    let positive = rows.iter().filter(|r| r.1).count() as f64;
    let negative = rows.len() as f64 - positive;
    (ranks - positive * (positive + 1.0) / 2.0) / (positive * negative)
}

/// Half-width of the 95% confidence interval of an AUC (Hanley and McNeil).
pub fn auc_half_interval(auc: f64, positive: usize, negative: usize) -> f64 {
    let (p, n) = (positive as f64, negative as f64);
    let (q1, q2) = (auc / (2.0 - auc), 2.0 * auc * auc / (1.0 + auc));
    let spread = auc * (1.0 - auc) + (p - 1.0) * (q1 - auc * auc) + (n - 1.0) * (q2 - auc * auc);
    1.96 * (spread / (p * n)).max(0.0).sqrt()
}

#[derive(Clone, Copy, Debug, Default)]
pub struct BinaryMetrics {
    pub precision: f64,
    pub recall: f64,
    pub f1: f64,
    /// False positive rate.
    pub false_alarms: f64,
}

/// Computes metrics from (predicted, actual) pairs.
pub fn binary_metrics(rows: impl IntoIterator<Item = (bool, bool)>) -> BinaryMetrics {
    let (mut hit, mut alarm, mut missed, mut quiet) = (0.0, 0.0, 0.0, 0.0);
    for (predicted, actual) in rows {
        match (predicted, actual) {
            (true, true) => hit += 1.0,
            (true, false) => alarm += 1.0,
            (false, true) => missed += 1.0,
            (false, false) => quiet += 1.0,
        }
    }
    let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
    let (precision, recall) = (share(hit, hit + alarm), share(hit, hit + missed));
    let f1 = share(2.0 * precision * recall, precision + recall);
    BinaryMetrics { precision, recall, f1, false_alarms: share(alarm, alarm + quiet) }
}

/// Expected calibration error over ten equal-width bins of (probability, label, weight).
pub fn calibration_error(rows: &[(f64, f64, f64)]) -> f64 {
    let mut bins = [(0.0, 0.0); 10];
    for (p, label, weight) in rows {
        let bin = &mut bins[((p * 10.0) as usize).min(9)];
        *bin = (bin.0 + p * weight, bin.1 + label * weight);
    }
    let total: f64 = rows.iter().map(|r| r.2).sum();
    bins.iter().map(|b| (b.0 - b.1).abs()).sum::<f64>() / total
}

pub fn spearman_correlation(rows: &[(f64, f64)]) -> f64 {
    let rank = |of: fn(&(f64, f64)) -> f64| {
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by(|a, b| of(&rows[*a]).total_cmp(&of(&rows[*b])));
        let mut ranks = vec![0.0; rows.len()];
        let mut at = 0;
        for tie in order.chunk_by(|a, b| of(&rows[*a]) == of(&rows[*b])) {
            let middle = at as f64 + (tie.len() as f64 - 1.0) / 2.0;
            tie.iter().for_each(|i| ranks[*i] = middle);
            at += tie.len();
        }
        ranks
    };
    let (x, y) = (rank(|r| r.0), rank(|r| r.1));
    let mean = (rows.len() as f64 - 1.0) / 2.0;
    let sum = |f: &dyn Fn(usize) -> f64| (0..rows.len()).map(f).sum::<f64>();
    let cov = sum(&|i| (x[i] - mean) * (y[i] - mean));
    let (vx, vy) = (sum(&|i| (x[i] - mean).powi(2)), sum(&|i| (y[i] - mean).powi(2)));
    cov / (vx * vy).sqrt()
}
