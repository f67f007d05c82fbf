//! Comments: what they sound like, found when they come in, and what they are about, found when they are
//! looked at, because patterns change.

use std::sync::Arc;

use detect::Utterance;
use model::{
    Body, Entry, Event, Finding, FoundSentiment, Kind, Position, Reaction, Scope, Sentiment,
    Source, Type, UnitInterval, Window,
};
use store::{EventPage, QualityQuery, StoredEvent};

use crate::comment_view::CommentView;
use crate::error::FlowError;
use crate::feedback::Feedback;
use crate::insights::Insights;
use crate::insights::patterns::FailureReport;

/// How far back failures are looked at to tell what a comment is about.
const DAYS: i64 = 30;
/// A finding stands right behind its comment, whatever else of the same write does.
const BEHIND: usize = 4;
/// What a comment sounds like when its writer said so by a rating.
const BY_RATING: &str = "rating";

impl Feedback {
    /// The entry that keeps what a comment sounds like. It is no reaction: nothing follows for its turn.
    pub(crate) fn sentiment_entry(&self, event: &Event) -> Option<Entry> {
        let comment = CommentView::of(event)?;
        let (detector, (sentiment, confidence)) = match own_rating(event) {
            Some(said) => (BY_RATING.to_owned(), (said, UnitInterval::ONE)),
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
        Some(self.core.finding_entry(event, event.turn.clone(), &finding))
    }

    /// What is known of an event that is a comment; nothing for others.
    pub async fn comment(&self, stored: &StoredEvent) -> Result<Option<CommentView>, FlowError> {
        let Some(mut view) = CommentView::of(&stored.event) else { return Ok(None) };
        for next in self.right_behind(&stored.event.scope, stored.position).await? {
            if let Ok(Body::Finding(Finding::Sentiment(found))) =
                Body::read(next.event.kind, &next.event.data)
            {
                view.hear(&found);
            }
        }
        Ok(Some(view))
    }

    async fn right_behind(
        &self,
        scope: &Scope,
        after: Position,
    ) -> Result<Vec<StoredEvent>, FlowError> {
        let page = EventPage { scope: scope.clone(), after, limit: BEHIND, any_of: Vec::new() };
        Ok(self.core.store.events(page).await?)
    }
}

impl Insights {
    /// What goes wrong in a project lately: what its comments may be about.
    pub async fn comment_patterns(
        self: &Arc<Self>,
        scope: &Scope,
    ) -> Result<Arc<FailureReport>, FlowError> {
        let end = self.core.clock.now();
        self.failures(QualityQuery {
            tenant: scope.tenant.clone(),
            project: Some(scope.project.clone()),
            window: Window { start: end.plus_secs(-DAYS * 86_400), end },
            model: None,
            prompt: None,
            users: None,
            bucket_hours: 24,
            bucket_shift: 0,
        })
        .await
    }
}

/// What the writer of a comment says by a rating beside it.
fn own_rating(event: &Event) -> Option<Sentiment> {
    let kind = Kind { event_type: Type::Explicit, source: Source::UserRating };
    let Ok(Body::Rating(rating)) = Body::read(kind, &event.data) else { return None };
    Some(match rating.reaction() {
        Reaction::Ok => Sentiment::Positive,
        Reaction::NotOk => Sentiment::Negative,
        Reaction::Neutral => Sentiment::Neutral,
    })
}
