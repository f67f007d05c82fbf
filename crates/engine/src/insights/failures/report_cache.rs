//! Failure reports and their stale-while-revalidate cache.

use std::sync::Arc;
use std::time::Duration;

use learn::{CorrectedQuery, FailurePattern, Suggestion, extract_keywords};
use model::{Position, Timestamp};
use parking_lot::{Mutex, MutexGuard};
use store::QualityQuery;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::centroids::PatternCentroids;

/// Failure patterns of a window.
#[derive(Debug)]
pub struct FailureReport {
    /// When the report was computed.
    pub at: Timestamp,
    /// Number of negative turns in the window.
    pub negatives: usize,
    /// True when there were more negative turns than the limit.
    pub truncated: bool,
    /// Largest pattern first.
    pub patterns: Vec<FailurePattern>,
    /// Template suggestions for the patterns.
    pub suggestions: Vec<Suggestion>,
    /// Questions whose answers were corrected most often.
    pub most_corrected: Vec<CorrectedQuery>,
    pub(crate) centroids: PatternCentroids,
}

/// The pattern that a comment matches.
#[derive(Clone, Debug, PartialEq)]
pub struct CommentTopic {
    pub id: String,
    pub label: String,
    /// Cosine similarity of the comment to the pattern's turns.
    pub similarity: f32,
}

impl FailureReport {
    /// The pattern nearest in meaning to a text, if any is near enough. The text needs a keyword
    /// that the embedding model knows or that is part of the pattern's label.
    pub fn match_topic(&self, text: &str) -> Option<CommentTopic> {
        let (place, similarity) = self.centroids.find_nearest(text)?;
        let pattern = self.patterns.get(place)?;
        let (model, label) = (embed::built_in(), pattern.label.to_lowercase());
        let is_known = |word: &String| {
            model.whole_token(word).is_some() || label.split([' ', ',']).any(|term| term == word)
        };
        if !extract_keywords(text).iter().any(is_known) {
            return None;
        }
        Some(CommentTopic { id: pattern.id.clone(), label: pattern.label.clone(), similarity })
    }
}

/// Reports computed faster than this are recomputed for new events.
const MAX_UNCACHED_DURATION: Duration = Duration::from_millis(150);
/// Age up to which a slower report counts as fresh.
const FRESH_SECS: i64 = 60;
/// Age up to which a stale report is returned during a refresh.
const MAX_STALE_SECS: i64 = 3600;
const MAX_CACHED_WINDOWS: usize = 64;

#[derive(Debug)]
struct CachedWindow {
    query: QualityQuery,
    head: Position,
    at: Timestamp,
    took: Duration,
    report: Arc<FailureReport>,
}

/// Reports of the most recently requested windows.
#[derive(Debug)]
pub(crate) struct PatternCache {
    generation: Mutex<Generation>,
    /// Held by the one background refresh.
    refresh_permit: Arc<Semaphore>,
}

impl Default for PatternCache {
    fn default() -> Self {
        Self { generation: Mutex::default(), refresh_permit: Arc::new(Semaphore::new(1)) }
    }
}

/// Reports since the cache was last cleared.
#[derive(Debug, Default)]
struct Generation {
    number: u64,
    windows: Vec<CachedWindow>,
}

impl PatternCache {
    fn lock(&self) -> MutexGuard<'_, Generation> {
        self.generation.lock()
    }

    /// A report of this window that is fresh.
    pub(crate) fn find_fresh(
        &self,
        query: &QualityQuery,
        head: Position,
        now: Timestamp,
    ) -> Option<Arc<FailureReport>> {
        let generation = self.lock();
        let found =
            generation.windows.iter().find(|window| is_same_window(&window.query, query))?;
        let age = (now.as_micros() - found.at.as_micros()) / 1_000_000;
        let fresh = found.head == head || found.took > MAX_UNCACHED_DURATION;
        (fresh && age < FRESH_SECS).then(|| Arc::clone(&found.report))
    }

    /// The last report of a window of the same length that ended at its time of computation, if
    /// not older than `MAX_STALE_SECS`.
    pub(crate) fn find_stale(
        &self,
        query: &QualityQuery,
        now: Timestamp,
    ) -> Option<Arc<FailureReport>> {
        let generation = self.lock();
        let found = generation.windows.iter().find(|window| window.is_predecessor_of(query))?;
        let age = (now.as_micros() - found.at.as_micros()) / 1_000_000;
        (age < MAX_STALE_SECS).then(|| Arc::clone(&found.report))
    }

    /// Permit for a background refresh, if none is running.
    pub(crate) fn try_acquire_refresh(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.refresh_permit).try_acquire_owned().ok()
    }

    /// Clears the cache, because reports may quote an erased user.
    pub(crate) fn clear(&self) {
        let mut generation = self.lock();
        *generation = Generation { number: generation.number + 1, windows: Vec::new() };
    }

    /// Number of times the cache was cleared. Read it before computing a report to insert.
    pub(crate) fn generation(&self) -> u64 {
        self.lock().number
    }

    /// Caches a report, unless the cache was cleared since generation `began`.
    pub(crate) fn insert(
        &self,
        query: QualityQuery,
        head: Position,
        at: Timestamp,
        took: Duration,
        began: u64,
        report: &Arc<FailureReport>,
    ) {
        let mut generation = self.lock();
        if generation.number != began {
            return;
        }
        let windows = &mut generation.windows;
        windows.retain(|one| !is_same_window(&one.query, &query) && !one.is_predecessor_of(&query));
        windows.truncate(MAX_CACHED_WINDOWS - 1);
        windows.insert(0, CachedWindow { query, head, at, took, report: Arc::clone(report) });
    }
}

impl CachedWindow {
    /// True when this report's window ended at its computation and the query's window ends later.
    fn is_predecessor_of(&self, query: &QualityQuery) -> bool {
        let secs = |micros: i64| micros.abs() / 1_000_000;
        let ended = self.query.window.end.as_micros();
        secs(self.at.as_micros() - ended) < FRESH_SECS
            && ended <= query.window.end.as_micros()
            && has_same_filters(&self.query, query)
    }
}

/// Same filters and nearly the same end, because the end of a current window keeps moving.
fn is_same_window(one: &QualityQuery, other: &QualityQuery) -> bool {
    let apart = one.window.end.as_micros().abs_diff(other.window.end.as_micros());
    has_same_filters(one, other) && apart < (FRESH_SECS as u64) * 1_000_000
}

/// Equal except for the end of the window.
fn has_same_filters(one: &QualityQuery, other: &QualityQuery) -> bool {
    let length =
        |query: &QualityQuery| query.window.end.as_micros() - query.window.start.as_micros();
    one.tenant == other.tenant
        && one.project == other.project
        && one.model == other.model
        && one.prompt == other.prompt
        && one.users == other.users
        && length(one) == length(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Tenant, Window};
    use store::ReactionTime;

    const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

    /// A week that ends `end` seconds from now.
    fn week(end: i64) -> QualityQuery {
        let end = NOW.plus_secs(end);
        QualityQuery {
            tenant: Tenant::new("default").unwrap(),
            project: None,
            window: Window { start: end.plus_secs(-7 * 86_400), end },
            model: None,
            prompt: None,
            users: None,
            by: ReactionTime::default(),
            bucket_hours: 24,
            bucket_shift: 0,
        }
    }

    fn keep(patterns: &PatternCache, query: QualityQuery, at: i64) {
        let at = NOW.plus_secs(at);
        let report = Arc::new(FailureReport {
            at,
            negatives: 0,
            truncated: false,
            patterns: Vec::new(),
            suggestions: Vec::new(),
            most_corrected: Vec::new(),
            centroids: PatternCentroids::default(),
        });
        let began = patterns.generation();
        patterns.insert(query, Position(1), at, Duration::from_secs(5), began, &report);
    }

    #[test]
    fn stale_report_is_returned_for_an_hour_and_only_for_its_window() {
        let patterns = PatternCache::default();
        keep(&patterns, week(0), 0);
        let shown = |query: &QualityQuery, now: i64| {
            patterns.find_stale(query, NOW.plus_secs(now)).map(|report| report.at)
        };
        assert!(patterns.find_fresh(&week(300), Position(2), NOW.plus_secs(300)).is_none());
        assert_eq!(shown(&week(300), 300), Some(NOW));
        assert_eq!(shown(&week(MAX_STALE_SECS), MAX_STALE_SECS), None, "too long ago");
        let other = QualityQuery { model: Some("m".into()), ..week(300) };
        assert_eq!(shown(&other, 300), None);
        assert_eq!(shown(&week(-300), 0), None, "it ended later");
        // The newest report replaces its predecessor; a week in the past is a different window.
        keep(&patterns, week(600), 600);
        keep(&patterns, week(-9000), 700);
        assert_eq!(shown(&week(900), 900), Some(NOW.plus_secs(600)));
        assert_eq!(patterns.lock().windows.len(), 2);
        patterns.clear();
        assert_eq!(shown(&week(900), 900), None);
    }

    #[test]
    fn only_one_refresh_runs_at_a_time() {
        let patterns = PatternCache::default();
        let place = patterns.try_acquire_refresh();
        assert!(place.is_some() && patterns.try_acquire_refresh().is_none());
        drop(place);
        assert!(patterns.try_acquire_refresh().is_some());
    }
}
