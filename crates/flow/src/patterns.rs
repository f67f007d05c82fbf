//! What goes wrong, as it was found a moment ago.

mod middles;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use event::{Position, Timestamp};
use learn::{CorrectedQuery, FailurePattern, Suggestion, telling_words};
use store::QualityQuery;

pub(crate) use middles::{Meaning, PatternMiddles};

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
    pub(crate) middles: PatternMiddles,
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
    pub fn topic_of(&self, text: &str) -> Option<CommentTopic> {
        let (place, similarity) = self.middles.nearest(text)?;
        let pattern = self.patterns.get(place)?;
        let (model, label) = (embed::built_in(), pattern.label.to_lowercase());
        let is_known = |word: &String| {
            model.whole_token(word).is_some() || label.split([' ', ',']).any(|term| term == word)
        };
        if !telling_words(text).iter().any(is_known) {
            return None;
        }
        Some(CommentTopic { id: pattern.id.clone(), label: pattern.label.clone(), similarity })
    }
}

/// What took no longer than this is found anew whenever something happened.
const QUICK: Duration = Duration::from_millis(150);
/// How long what took longer is good for.
const GOOD_FOR_SECS: i64 = 60;
/// Windows that are kept.
const MOST: usize = 64;

/// One window's.
#[derive(Debug)]
struct Kept {
    query: QualityQuery,
    head: Position,
    at: Timestamp,
    took: Duration,
    report: Arc<FailureReport>,
}

/// Those of the windows that were asked for last.
#[derive(Debug, Default)]
pub(crate) struct KeptPatterns(Mutex<Generation>);

/// What was found since everything was last forgotten.
#[derive(Debug, Default)]
struct Generation {
    number: u64,
    kept: Vec<Kept>,
}

impl KeptPatterns {
    /// What is known of a window, if it is good enough.
    pub(crate) fn fitting(
        &self,
        query: &QualityQuery,
        head: Position,
        now: Timestamp,
    ) -> Option<Arc<FailureReport>> {
        let now_kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = now_kept.kept.iter().find(|kept| is_same(&kept.query, query))?;
        let age = (now.as_micros() - found.at.as_micros()) / 1_000_000;
        let fresh = found.head == head || found.took > QUICK;
        (fresh && age < GOOD_FOR_SECS).then(|| Arc::clone(&found.report))
    }

    /// Forgets everything: somebody was erased, and their words must not be shown again.
    pub(crate) fn clear(&self) {
        let mut now_kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *now_kept = Generation { number: now_kept.number + 1, kept: Vec::new() };
    }

    /// How often everything was forgotten. Ask before looking for something that will be kept.
    pub(crate) fn generation(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).number
    }

    /// Keeps what was found, unless everything was forgotten since the looking began.
    pub(crate) fn keep(
        &self,
        query: QualityQuery,
        head: Position,
        at: Timestamp,
        took: Duration,
        began: u64,
        report: &Arc<FailureReport>,
    ) {
        let mut now_kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if now_kept.number != began {
            return;
        }
        let kept = &mut now_kept.kept;
        kept.retain(|one| !is_same(&one.query, &query));
        kept.truncate(MOST - 1);
        kept.insert(0, Kept { query, head, at, took, report: Arc::clone(report) });
    }
}

/// The same but for the moment: windows that end now move on.
fn is_same(one: &QualityQuery, other: &QualityQuery) -> bool {
    let length =
        |query: &QualityQuery| query.window.end.as_micros() - query.window.start.as_micros();
    let apart = one.window.end.as_micros().abs_diff(other.window.end.as_micros());
    one.tenant == other.tenant
        && one.project == other.project
        && one.model == other.model
        && one.prompt == other.prompt
        && one.users == other.users
        && length(one) == length(other)
        && apart < (GOOD_FOR_SECS as u64) * 1_000_000
}
