//! A comment with the sentiment that was detected in it.

use model::{Body, Event, EventId, FoundSentiment, Timestamp, UserId};

#[derive(Clone, Debug)]
pub struct CommentView {
    pub event: EventId,
    pub ts: Timestamp,
    pub user: Option<UserId>,
    pub text: String,
    /// `None` for comments without a sentiment finding, such as imported ones.
    pub sentiment: Option<FoundSentiment>,
}

impl CommentView {
    /// Reads the comment of an event. `None` if its text was erased.
    pub(crate) fn from_event(event: &Event) -> Option<Self> {
        let Body::Comment(comment) = &event.body else { return None };
        if comment.text.is_empty() {
            return None;
        }
        let (id, user, text) = (event.id.clone(), event.user.clone(), comment.text.clone());
        Some(Self { event: id, ts: event.ts, user, text, sentiment: None })
    }

    /// Sets the sentiment if the finding is about this comment.
    pub(crate) fn apply_sentiment(&mut self, found: &FoundSentiment) {
        if found.comment.as_ref() == Some(&self.event) {
            self.sentiment = Some(found.clone());
        }
    }
}
