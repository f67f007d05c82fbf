//! A proportion with its confidence interval.

/// The two-sided 95% quantile of the normal distribution.
const Z: f64 = 1.959_963_984_540_054;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rate {
    pub numerator: u64,
    pub denominator: u64,
}

impl Rate {
    /// Negative counts become 0.
    pub fn from_counts(numerator: i64, denominator: i64) -> Self {
        let whole = |sum: i64| u64::try_from(sum).unwrap_or(0);
        Self { numerator: whole(numerator), denominator: whole(denominator) }
    }

    /// `None` when the denominator is 0.
    pub fn value(self) -> Option<f64> {
        (self.denominator > 0).then(|| self.numerator as f64 / self.denominator as f64)
    }

    /// The 95% Wilson interval.
    pub fn interval(self) -> Option<(f64, f64)> {
        self.value().map(|share| wilson_interval(share, self.denominator as f64))
    }

    /// The difference to another rate with its 95% Newcombe interval.
    pub fn difference_to(self, other: Self) -> Option<(f64, (f64, f64))> {
        let (one, (one_low, one_high)) = (self.value()?, self.interval()?);
        let (two, (two_low, two_high)) = (other.value()?, other.interval()?);
        let below = ((one - one_low).powi(2) + (two_high - two).powi(2)).sqrt();
        let above = ((one_high - one).powi(2) + (two - two_low).powi(2)).sqrt();
        Some((one - two, (one - two - below, one - two + above)))
    }
}

fn wilson_interval(share: f64, n: f64) -> (f64, f64) {
    let z2 = Z * Z;
    let middle = share + z2 / (2.0 * n);
    let half = Z * (share * (1.0 - share) / n + z2 / (4.0 * n * n)).sqrt();
    let scale = 1.0 + z2 / n;
    (((middle - half) / scale).max(0.0), ((middle + half) / scale).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(rate: Rate, value: f64, interval: (f64, f64)) {
        assert_eq!(rate.value(), Some(value));
        let (low, high) = rate.interval().unwrap();
        assert!(
            (low - interval.0).abs() < 1e-4 && (high - interval.1).abs() < 1e-4,
            "{low} {high}"
        );
    }

    #[test]
    fn interval_is_wilsons() {
        check(Rate::from_counts(8, 10), 0.8, (0.4902, 0.9433));
        check(Rate::from_counts(0, 5), 0.0, (0.0, 0.4345));
        check(Rate::from_counts(1, 1), 1.0, (0.2065, 1.0));
    }

    #[test]
    fn empty_rate_has_no_value() {
        assert_eq!(
            (Rate::from_counts(0, 0).value(), Rate::from_counts(0, 0).interval()),
            (None, None)
        );
        assert_eq!(Rate::from_counts(0, 0).difference_to(Rate::from_counts(1, 2)), None);
    }

    #[test]
    fn difference_interval_is_newcombes() {
        // The example of Newcombe's paper: 56/70 against 48/80.
        let (difference, (low, high)) =
            Rate::from_counts(56, 70).difference_to(Rate::from_counts(48, 80)).unwrap();
        assert!((difference - 0.2).abs() < 1e-9);
        assert!((low - 0.0524).abs() < 1e-4 && (high - 0.3339).abs() < 1e-4, "{low} {high}");
    }
}
