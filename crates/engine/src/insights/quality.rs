//! How good the answers are, in figures.

use model::{Scope, Timestamp, Window};
use store::{AnsweredBy, QualityBucket, QualityQuery};

use crate::error::FlowError;
use crate::insights::Insights;

/// In microseconds.
const HOUR: i64 = 3_600_000_000;

impl Insights {
    /// Sums by stretches of time, the earliest first; those in which nothing happened are left out.
    pub async fn quality(&self, query: QualityQuery) -> Result<Vec<QualityBucket>, FlowError> {
        Ok(self.core.store.quality(query).await?)
    }

    /// The sums of a window, and of one as long before it.
    pub async fn quality_now_and_before(
        &self,
        query: QualityQuery,
    ) -> Result<[QualityBucket; 2], FlowError> {
        let [now, before] = whole_hours(query.window);
        let earlier = QualityQuery { window: before, ..query.clone() };
        Ok([
            self.sums_of(QualityQuery { window: now, ..query }).await?,
            self.sums_of(earlier).await?,
        ])
    }

    /// The sums of the window before, as long as this one.
    pub async fn quality_before(&self, query: QualityQuery) -> Result<QualityBucket, FlowError> {
        let [_, window] = whole_hours(query.window);
        self.sums_of(QualityQuery { window, ..query }).await
    }

    /// All of a window together. Nobody wants to know how it was spread, so it is read in whole days.
    async fn sums_of(&self, query: QualityQuery) -> Result<QualityBucket, FlowError> {
        let hours = (query.window.end.as_micros() - query.window.start.as_micros()) / HOUR;
        let days = u32::try_from(hours / 24 + 1).unwrap_or(u32::MAX / 24);
        let bucket_hours = days.saturating_mul(24);
        let query = QualityQuery { bucket_hours, bucket_shift: 0, ..query };
        Ok(report::total(&self.core.store.quality(query).await?))
    }
}

/// The hours of a window, as they are counted, and as many before them: every hour is in one of the two at
/// the most, and none between them is left out.
fn whole_hours(window: Window) -> [Window; 2] {
    let start = window.start.as_micros().div_euclid(HOUR);
    let end = (window.end.as_micros() - 1).div_euclid(HOUR).max(start) + 1;
    let hours = |from: i64, to: i64| {
        let at = |hour: i64| Timestamp::from_micros(hour.saturating_mul(HOUR));
        Window { start: at(from), end: at(to) }
    };
    [hours(start, end), hours(start - (end - start), start)]
}

impl Insights {
    /// Every tenant and project that something was stored for.
    pub async fn scopes(&self) -> Result<Vec<Scope>, FlowError> {
        Ok(self.core.store.scopes().await?)
    }

    /// How many answers each model gave: the model, the hour a stretch of time begins, and how many.
    pub async fn answers_over_time(
        &self,
        query: QualityQuery,
    ) -> Result<Vec<(String, i64, u64)>, FlowError> {
        Ok(self.core.store.answers_over_time(query).await?)
    }

    /// Which models answered with which prompts.
    pub async fn answered_by(&self, query: QualityQuery) -> Result<Vec<AnsweredBy>, FlowError> {
        Ok(self.core.store.answered_by(query).await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_windows_are_whole_and_side_by_side() {
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
            assert_eq!(whole_hours(window), expected, "{start} to {end}");
        }
    }
}
