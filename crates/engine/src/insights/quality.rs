//! How good the answers are, in figures.

use model::{Timestamp, Window};
use store::{QualityBucket, QualityQuery};

use crate::error::EngineError;
use crate::insights::Insights;

/// In microseconds.
const HOUR_MICROS: i64 = 3_600_000_000;

impl Insights {
    /// Sums by stretches of time, the earliest first; those in which nothing happened are left out.
    pub async fn quality(&self, query: QualityQuery) -> Result<Vec<QualityBucket>, EngineError> {
        Ok(self.core.store.quality(query).await?)
    }

    /// The sums of a window, and of one as long before it.
    pub async fn quality_now_and_before(
        &self,
        query: QualityQuery,
    ) -> Result<[QualityBucket; 2], EngineError> {
        let [now, before] = align_to_hours(query.window);
        let earlier = QualityQuery { window: before, ..query.clone() };
        Ok([
            self.sum_window(QualityQuery { window: now, ..query }).await?,
            self.sum_window(earlier).await?,
        ])
    }

    /// The sums of the window before, as long as this one.
    pub async fn quality_before(&self, query: QualityQuery) -> Result<QualityBucket, EngineError> {
        let [_, window] = align_to_hours(query.window);
        self.sum_window(QualityQuery { window, ..query }).await
    }

    /// All of a window together. Nobody wants to know how it was spread, so it is read in whole days.
    async fn sum_window(&self, query: QualityQuery) -> Result<QualityBucket, EngineError> {
        let hours = (query.window.end.as_micros() - query.window.start.as_micros()) / HOUR_MICROS;
        let days = u32::try_from(hours / 24 + 1).unwrap_or(u32::MAX / 24);
        let bucket_hours = days.saturating_mul(24);
        let query = QualityQuery { bucket_hours, bucket_shift: 0, ..query };
        Ok(report::total(&self.core.store.quality(query).await?))
    }
}

/// The hours of a window, as they are counted, and as many before them: every hour is in one of the two at
/// the most, and none between them is left out.
fn align_to_hours(window: Window) -> [Window; 2] {
    let start = window.start.as_micros().div_euclid(HOUR_MICROS);
    let end = (window.end.as_micros() - 1).div_euclid(HOUR_MICROS).max(start) + 1;
    let hours = |from: i64, to: i64| {
        let at = |hour: i64| Timestamp::from_micros(hour.saturating_mul(HOUR_MICROS));
        Window { start: at(from), end: at(to) }
    };
    [hours(start, end), hours(start - (end - start), start)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_aligned_to_hours_and_adjacent() {
        let minutes = |minutes: i64| Timestamp::from_micros(minutes * 60_000_000);
        for (start, end, hours) in [
            (600, 720, [8, 10, 12]),
            (630, 750, [7, 10, 13]),
            (659, 660, [9, 10, 11]),
            (600, 600, [9, 10, 11]),
        ] {
            let window = Window { start: minutes(start), end: minutes(end) };
            let [from, middle, to] = hours.map(|hour| minutes(hour * 60));
            let expected = [Window { start: middle, end: to }, Window { start: from, end: middle }];
            assert_eq!(align_to_hours(window), expected, "{start} to {end}");
        }
    }
}
