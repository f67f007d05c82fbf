//! A comment with the sentiment that was detected in it.

use model::{Body, Event, EventId, FoundSentiment, Timestamp, UserId};

/// A comment with what was found about it.
#[derive(Clone, Debug)]
pub struct CommentView {
    /// Its event.
    pub event: EventId,
    /// When it was written.
    pub ts: Timestamp,
    /// By whom.
    pub user: Option<UserId>,
    /// What it says.
    pub text: String,
    /// What it sounds like; nothing for comments that came in before that was looked at.
    pub sentiment: Option<FoundSentiment>,
}

impl CommentView {
    /// The comment in an event, before anything is known of it; none where its words are erased.
    pub(crate) fn of(event: &Event) -> Option<Self> {
        let Ok(Body::Comment(text)) = Body::read(event.kind, &event.data) else { return None };
        if text.is_empty() {
            return None;
        }
        let (id, user) = (event.id.clone(), event.user.clone());
        Some(Self { event: id, ts: event.ts, user, text, sentiment: None })
    }

    /// Takes in what was found, if it is about this comment.
    pub(crate) fn hear(&mut self, found: &FoundSentiment) {
        if found.comment.as_ref() == Some(&self.event) {
            self.sentiment = Some(found.clone());
        }
    }
}
