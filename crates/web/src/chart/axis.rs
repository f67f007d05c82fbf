//! Value range of a chart axis, with round limits.

use super::HEIGHT;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AxisRange {
    pub low: f64,
    pub high: f64,
}

impl AxisRange {
    /// A range in steps of 0.1 that contains all values, for shares between 0 and 1.
    pub fn from_shares(values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = finite_bounds(values);
        if low > high {
            return Self { low: 0.0, high: 1.0 };
        }
        let (low, high) = ((low * 10.0).floor() / 10.0, (high * 10.0).ceil() / 10.0);
        let high = if high - low < 0.1 { low + 0.1 } else { high };
        Self { low: low.clamp(0.0, 0.9), high: high.clamp(0.1, 1.0) }
    }

    /// From zero to a round number above all values.
    pub fn from_zero(values: impl Iterator<Item = f64>) -> Self {
        let (_, high) = finite_bounds(values);
        Self { low: 0.0, high: if high > 0.0 { round_up_axis(high) } else { 1.0 } }
    }

    /// Values of evenly spaced grid lines, from the top.
    pub fn levels(self, lines: u32) -> Vec<f64> {
        let step = (self.high - self.low) / f64::from(lines.max(2) - 1);
        (0..lines.max(2)).map(|line| self.high - f64::from(line) * step).collect()
    }

    pub(super) fn y_position(self, value: f64) -> f64 {
        let share = (value - self.low) / (self.high - self.low);
        (1.0 - share.clamp(0.0, 1.0)) * HEIGHT
    }
}

pub(super) fn finite_bounds(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let wide = |(low, high): (f64, f64), value: f64| (low.min(value), high.max(value));
    values.filter(|value| value.is_finite()).fold((f64::INFINITY, f64::NEG_INFINITY), wide)
}

/// The next round number for the end of an axis.
fn round_up_axis(number: f64) -> f64 {
    let size = 10_f64.powf(number.log10().floor());
    let steps = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0];
    steps.into_iter().map(|step| step * size).find(|end| *end >= number).unwrap_or(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axis_limits_are_round_numbers() {
        assert_eq!(AxisRange::from_zero([3.0, 42.0].into_iter()).high, 50.0);
        assert_eq!(AxisRange::from_zero([].into_iter()).high, 1.0);
        let shares = AxisRange::from_shares([0.63, 0.85].into_iter());
        assert!((shares.low - 0.6).abs() < 1e-9 && (shares.high - 0.9).abs() < 1e-9);
        assert_eq!(shares.levels(4).len(), 4);
    }
}
