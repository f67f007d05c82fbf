//! How good the answers are, in figures.

use event::Window;
use store::{QualityBucket, QualityQuery};

use crate::engine::Engine;
use crate::error::FlowError;

impl Engine {
    /// Sums by stretches of time, the earliest first; those in which nothing happened are left out.
    pub async fn quality(&self, query: QualityQuery) -> Result<Vec<QualityBucket>, FlowError> {
        Ok(self.store.quality(query).await?)
    }

    /// The sums of a window, and of one as long before it.
    pub async fn quality_now_and_before(
        &self,
        query: QualityQuery,
    ) -> Result<[QualityBucket; 2], FlowError> {
        let Window { start, end } = query.window;
        let length = end.as_micros() - start.as_micros();
        let just_before = |at: event::Timestamp, by: i64| {
            event::Timestamp::from_micros(at.as_micros().saturating_sub(by))
        };
        // Sums are by whole hours: the hour of the first moment belongs to the window itself.
        let hour = 3_600_000_000;
        let before = Window {
            start: just_before(start, length),
            end: event::Timestamp::from_micros(start.as_micros().div_euclid(hour) * hour - 1),
        };
        let earlier = QualityQuery { window: before, ..query.clone() };
        let now = self.store.quality(query).await?;
        let before = self.store.quality(earlier).await?;
        Ok([report::total(&now), report::total(&before)])
    }
}
