//! A share with how sure it is.

/// The two-sided 95% point of the normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// How many of how many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rate {
    /// Those that count.
    pub numerator: u64,
    /// All.
    pub denominator: u64,
}

impl Rate {
    /// Of sums that are never negative.
    pub fn of(numerator: i64, denominator: i64) -> Self {
        let whole = |sum: i64| u64::try_from(sum).unwrap_or(0);
        Self { numerator: whole(numerator), denominator: whole(denominator) }
    }

    /// The share; none of nothing.
    pub fn value(self) -> Option<f64> {
        (self.denominator > 0).then(|| self.numerator as f64 / self.denominator as f64)
    }

    /// Where it lies with 95% certainty, by Wilson.
    pub fn interval(self) -> Option<(f64, f64)> {
        self.value().map(|share| wilson(share, self.denominator as f64))
    }

    /// How much larger it is than another, and where that lies with 95% certainty, by Newcombe.
    pub fn more_than(self, other: Self) -> Option<(f64, (f64, f64))> {
        let (one, (one_low, one_high)) = (self.value()?, self.interval()?);
        let (two, (two_low, two_high)) = (other.value()?, other.interval()?);
        let below = ((one - one_low).powi(2) + (two_high - two).powi(2)).sqrt();
        let above = ((one_high - one).powi(2) + (two - two_low).powi(2)).sqrt();
        Some((one - two, (one - two - below, one - two + above)))
    }
}

fn wilson(share: f64, n: f64) -> (f64, f64) {
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
    fn the_interval_is_wilsons() {
        check(Rate::of(8, 10), 0.8, (0.4902, 0.9433));
        check(Rate::of(0, 5), 0.0, (0.0, 0.4345));
        check(Rate::of(1, 1), 1.0, (0.2065, 1.0));
    }

    #[test]
    fn nothing_of_nothing_is_no_rate() {
        assert_eq!((Rate::of(0, 0).value(), Rate::of(0, 0).interval()), (None, None));
        assert_eq!(Rate::of(0, 0).more_than(Rate::of(1, 2)), None);
    }

    #[test]
    fn a_difference_is_newcombes() {
        // The example of his paper: 56/70 against 48/80.
        let (difference, (low, high)) = Rate::of(56, 70).more_than(Rate::of(48, 80)).unwrap();
        assert!((difference - 0.2).abs() < 1e-9);
        assert!((low - 0.0524).abs() < 1e-4 && (high - 0.3339).abs() < 1e-4, "{low} {high}");
    }
}
