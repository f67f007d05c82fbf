//! What goes wrong, as it was found a moment ago.

mod centroids;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use learn::{CorrectedQuery, FailurePattern, Suggestion, extract_keywords};
use model::{Position, Timestamp};
use store::QualityQuery;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

pub(crate) use centroids::{TurnVectors, PatternCentroids};

/// What goes wrong in a window.
#[derive(Debug)]
pub struct FailureReport {
    /// When it was found out.
    pub at: Timestamp,
    /// Turns of which something went wrong.
    pub negatives: usize,
    /// There were more than were looked at.
    pub truncated: bool,
    /// Largest first.
    pub patterns: Vec<FailurePattern>,
    /// What would have helped, by templates.
    pub suggestions: Vec<Suggestion>,
    /// Whose answers were corrected most often.
    pub most_corrected: Vec<CorrectedQuery>,
    /// Patterns that at least two people complain of.
    pub(crate) shared: BTreeSet<String>,
    pub(crate) centroids: PatternCentroids,
}

/// What a comment is about.
#[derive(Clone, Debug, PartialEq)]
pub struct CommentTopic {
    /// The pattern's id.
    pub id: String,
    /// What people call it.
    pub label: String,
    /// How near the comment is to the pattern's turns.
    pub similarity: f32,
}

impl FailureReport {
    /// The pattern whose turns mean most nearly what a text says, if any does. The text must have a word
    /// that says something, to the model of meaning or because the pattern is called so.
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

/// What took no longer than this is found anew whenever something happened.
const MAX_UNCACHED_DURATION: Duration = Duration::from_millis(150);
/// How long what took longer is good for.
const FRESH_SECS: i64 = 60;
/// How long it may be shown while newer ones are looked for.
const MAX_STALE_SECS: i64 = 3600;
/// Windows that are kept.
const MAX_CACHED_WINDOWS: usize = 64;

/// One window's.
#[derive(Debug)]
struct CachedWindow {
    query: QualityQuery,
    head: Position,
    at: Timestamp,
    took: Duration,
    report: Arc<FailureReport>,
}

/// Those of the windows that were asked for last.
#[derive(Debug)]
pub(crate) struct PatternCache {
    generation: Mutex<Generation>,
    /// Whoever has it looks for patterns while nobody waits for them: one at a time.
    refresh_permit: Arc<Semaphore>,
}

impl Default for PatternCache {
    fn default() -> Self {
        Self { generation: Mutex::default(), refresh_permit: Arc::new(Semaphore::new(1)) }
    }
}

/// What was found since everything was last forgotten.
#[derive(Debug, Default)]
struct Generation {
    number: u64,
    windows: Vec<CachedWindow>,
}

impl PatternCache {
    fn lock(&self) -> MutexGuard<'_, Generation> {
        self.generation.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known of a window, if it is good enough.
    pub(crate) fn find_fresh(
        &self,
        query: &QualityQuery,
        head: Position,
        now: Timestamp,
    ) -> Option<Arc<FailureReport>> {
        let generation = self.lock();
        let found = generation.windows.iter().find(|kept| is_same_window(&kept.query, query))?;
        let age = (now.as_micros() - found.at.as_micros()) / 1_000_000;
        let fresh = found.head == head || found.took > MAX_UNCACHED_DURATION;
        (fresh && age < FRESH_SECS).then(|| Arc::clone(&found.report))
    }

    /// What was last found of a window that ends now and was as long, if that is not long ago.
    pub(crate) fn find_stale(
        &self,
        query: &QualityQuery,
        now: Timestamp,
    ) -> Option<Arc<FailureReport>> {
        let generation = self.lock();
        let found = generation.windows.iter().find(|kept| kept.is_predecessor_of(query))?;
        let age = (now.as_micros() - found.at.as_micros()) / 1_000_000;
        (age < MAX_STALE_SECS).then(|| Arc::clone(&found.report))
    }

    /// The place of whoever looks while nobody waits, if it is free.
    pub(crate) fn try_acquire_refresh(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.refresh_permit).try_acquire_owned().ok()
    }

    /// Forgets everything: somebody was erased, and their words must not be shown again.
    pub(crate) fn clear(&self) {
        let mut generation = self.lock();
        *generation = Generation { number: generation.number + 1, windows: Vec::new() };
    }

    /// How often everything was forgotten. Ask before refresh_permit for something that will be kept.
    pub(crate) fn generation(&self) -> u64 {
        self.lock().number
    }

    /// Keeps what was found, unless everything was forgotten since the refresh_permit began.
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
        let kept = &mut generation.windows;
        kept.retain(|one| !is_same_window(&one.query, &query) && !one.is_predecessor_of(&query));
        kept.truncate(MAX_CACHED_WINDOWS - 1);
        kept.insert(0, CachedWindow { query, head, at, took, report: Arc::clone(report) });
    }
}

impl CachedWindow {
    /// Whether it is of a window that ended when it was looked for, and that is now this one.
    fn is_predecessor_of(&self, query: &QualityQuery) -> bool {
        let secs = |micros: i64| micros.abs() / 1_000_000;
        let ended = self.query.window.end.as_micros();
        secs(self.at.as_micros() - ended) < FRESH_SECS
            && ended <= query.window.end.as_micros()
            && has_same_filters(&self.query, query)
    }
}

/// The same but for the moment: windows that end now move on.
fn is_same_window(one: &QualityQuery, other: &QualityQuery) -> bool {
    let apart = one.window.end.as_micros().abs_diff(other.window.end.as_micros());
    has_same_filters(one, other) && apart < (FRESH_SECS as u64) * 1_000_000
}

/// The same but for when.
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

    const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

    /// A week that ends so many seconds from now.
    fn week(end: i64) -> QualityQuery {
        let end = NOW.plus_secs(end);
        QualityQuery {
            tenant: Tenant::new("default").unwrap(),
            project: None,
            window: Window { start: end.plus_secs(-7 * 86_400), end },
            model: None,
            prompt: None,
            users: None,
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
            shared: BTreeSet::new(),
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
        // The newest takes the place of what was before; a week that was past already is another.
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
