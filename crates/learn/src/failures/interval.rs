//! 95% confidence intervals of shares and of their ratios.

const Z_95: f64 = 1.959_963_984_540_054;

pub(super) fn wilson_interval(part: f64, total: f64) -> [f64; 2] {
    if total <= 0.0 {
        return [0.0, 1.0];
    }
    let (p, z2) = (part / total, Z_95 * Z_95);
    let middle = p + z2 / (2.0 * total);
    let half = Z_95 * (p * (1.0 - p) / total + z2 / (4.0 * total * total)).max(0.0).sqrt();
    let scale = 1.0 + z2 / total;
    [((middle - half) / scale).max(0.0), ((middle + half) / scale).min(1.0)]
}

/// Ratio of two shares with its interval, by MOVER (Donner and Zou). Unlike the log-ratio interval,
/// it has a width when all of a few turns are of one kind.
pub(super) fn ratio_interval(
    part: f64,
    total: f64,
    base_part: f64,
    base_total: f64,
) -> Option<(f64, [f64; 2])> {
    if total <= 0.0 || base_total <= 0.0 || base_part <= 0.0 {
        return None;
    }
    let (p, q) = (part / total, base_part / base_total);
    let ([lo, hi], [base_lo, base_hi]) =
        (wilson_interval(part, total), wilson_interval(base_part, base_total));
    let product = p * q;
    let bound = |side: f64, base: f64, sign: f64| {
        let under = product * product - side * base * (2.0 * p - side) * (2.0 * q - base);
        (product + sign * under.max(0.0).sqrt()) / (base * (2.0 * q - base))
    };
    let low = bound(lo, base_hi, -1.0);
    let high = bound(hi, base_lo, 1.0);
    // Few turns: the base share may be near zero, and the ratio has no bound.
    let bounded = low.is_finite() && high.is_finite() && base_hi < 2.0 * q && base_lo > 0.0;
    bounded.then_some((p / q, [low.max(0.0), high.max(p / q)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratio_interval_contains_the_ratio_and_is_wide_for_few_turns() {
        let (lift, [lo, hi]) = ratio_interval(2.0, 2.0, 500.0, 1000.0).unwrap();
        assert!(lift == 2.0 && lo < 1.0 && hi >= 2.0, "{lo} {hi}");
        let (lift, [lo, hi]) = ratio_interval(40.0, 50.0, 500.0, 1000.0).unwrap();
        assert!((lift - 1.6).abs() < 1e-12 && lo > 1.2 && hi < 1.9, "{lo} {hi}");
        assert_eq!(ratio_interval(1.0, 2.0, 0.0, 10.0), None);
        assert_eq!(ratio_interval(1.0, 0.0, 1.0, 10.0), None);
    }

    #[test]
    fn wilson_interval_matches_published_values() {
        let [lo, hi] = wilson_interval(8.0, 10.0);
        assert!((lo - 0.4902).abs() < 1e-4 && (hi - 0.9433).abs() < 1e-4, "{lo} {hi}");
        assert_eq!(wilson_interval(0.0, 0.0), [0.0, 1.0]);
    }
}
