//! Quality figures by time window.

use model::{Scope, Timestamp, Window};
use store::{AnsweredBy, QualityBucket, QualityQuery};

use crate::error::EngineError;
use crate::insights::Insights;

const HOUR_MICROS: i64 = 3_600_000_000;

impl Insights {
    /// Every tenant and project with stored data.
    pub async fn scopes(&self) -> Result<Vec<Scope>, EngineError> {
        Ok(self.core.store.scopes().await?)
    }

    /// Answers per model: the model, the first hour of the bucket, and the count.
    pub async fn answers_over_time(
        &self,
        query: QualityQuery,
    ) -> Result<Vec<(String, i64, u64)>, EngineError> {
        Ok(self.core.store.answers_over_time(query).await?)
    }

    /// Answer counts per model and prompt.
    pub async fn answered_by(&self, query: QualityQuery) -> Result<Vec<AnsweredBy>, EngineError> {
        Ok(self.core.store.answered_by(query).await?)
    }

    /// Sums by bucket, earliest first, without empty buckets.
    pub async fn quality(&self, query: QualityQuery) -> Result<Vec<QualityBucket>, EngineError> {
        Ok(self.core.store.quality(query).await?)
    }

    /// Sums of a window and of the window of equal length before it.
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

    /// Sums of the window before this one, of equal length.
    pub async fn quality_before(&self, query: QualityQuery) -> Result<QualityBucket, EngineError> {
        let [_, window] = align_to_hours(query.window);
        self.sum_window(QualityQuery { window, ..query }).await
    }

    /// Sums of a whole window, read in daily buckets for speed.
    async fn sum_window(&self, query: QualityQuery) -> Result<QualityBucket, EngineError> {
        let hours = (query.window.end.as_micros() - query.window.start.as_micros()) / HOUR_MICROS;
        let days = u32::try_from(hours / 24 + 1).unwrap_or(u32::MAX / 24);
        let bucket_hours = days.saturating_mul(24);
        let query = QualityQuery { bucket_hours, bucket_shift: 0, ..query };
        Ok(crate::report::sum_buckets(&self.core.store.quality(query).await?))
    }
}

/// Aligns a window to whole hours and adds as many hours before it. The two windows are adjacent
/// and do not overlap.
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
