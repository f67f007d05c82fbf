//! Comments: sentiment is detected when they arrive, the topic when they are read, because
//! patterns change.

use std::sync::Arc;

use detect::Utterance;
use model::{
    Body, Entry, Event, Finding, FoundSentiment, Position, Reaction, Redacted, Scope, Sentiment,
    UnitInterval, Window,
};
use store::{EventPage, QualityQuery, ReactionTime, StoredEvent};

use crate::comment_view::CommentView;
use crate::error::EngineError;
use crate::feedback::Feedback;
use crate::insights::Insights;
use crate::insights::failures::FailureReport;

/// Window of failures that comments are matched with.
const TOPIC_WINDOW_DAYS: i64 = 30;
/// Events read after a comment. Its finding directly follows in the same write.
const MAX_FOLLOWING_EVENTS: usize = 4;
/// Detector name of a sentiment that comes from the writer's own rating.
const RATING_DETECTOR: &str = "rating";

impl Feedback {
    /// The finding with a comment's sentiment. It is not a reaction to the turn.
    pub(crate) fn sentiment_entry(&self, event: &Redacted<Event>) -> Option<Entry> {
        let comment = CommentView::from_event(event)?;
        let (detector, (sentiment, confidence)) = match read_own_rating(event) {
            Some(said) => (RATING_DETECTOR.to_owned(), (said, UnitInterval::ONE)),
            None => (
                self.core.detectors.sentiment_version(),
                self.core.detectors.detect_sentiment(&Utterance::read(&comment.text)),
            ),
        };
        let finding = Finding::Sentiment(FoundSentiment {
            detector,
            comment: Some(comment.event),
            sentiment,
            confidence,
        });
        Some(self.core.finding_entry(event, event.turn.clone(), finding))
    }

    /// The comment of an event with its sentiment; `None` for other events.
    pub async fn comment(&self, stored: &StoredEvent) -> Result<Option<CommentView>, EngineError> {
        let Some(mut view) = CommentView::from_event(&stored.event) else { return Ok(None) };
        for next in self.read_following(&stored.event.scope, stored.position).await? {
            if let Body::Finding(Finding::Sentiment(found)) = &next.event.body {
                view.apply_sentiment(found);
            }
        }
        Ok(Some(view))
    }

    async fn read_following(
        &self,
        scope: &Scope,
        after: Position,
    ) -> Result<Vec<StoredEvent>, EngineError> {
        let page = EventPage {
            scope: scope.clone(),
            after,
            limit: MAX_FOLLOWING_EVENTS,
            any_of: Vec::new(),
        };
        Ok(self.core.store.events(page).await?)
    }
}

impl Insights {
    /// Recent failure patterns of a project, which comments are matched with.
    pub async fn comment_patterns(
        self: &Arc<Self>,
        scope: &Scope,
    ) -> Result<Arc<FailureReport>, EngineError> {
        let end = self.core.clock.now();
        self.failure_report(QualityQuery {
            tenant: scope.tenant.clone(),
            project: Some(scope.project.clone()),
            window: Window { start: end.plus_secs(-TOPIC_WINDOW_DAYS * 86_400), end },
            model: None,
            prompt: None,
            users: None,
            by: ReactionTime::default(),
            bucket_hours: 24,
            bucket_shift: 0,
        })
        .await
    }
}

/// The sentiment of a rating in the same event.
fn read_own_rating(event: &Event) -> Option<Sentiment> {
    let Body::Comment(comment) = &event.body else { return None };
    Some(match comment.rating?.reaction() {
        Reaction::Ok => Sentiment::Positive,
        Reaction::NotOk => Sentiment::Negative,
        Reaction::Neutral => Sentiment::Neutral,
    })
}
