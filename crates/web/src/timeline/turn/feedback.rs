//! Feedback on a turn: reactions, comments and corrections.

use engine::{StoredReaction, TurnView};
use model::{Body, Origin, Reaction};

use crate::display_time::DisplayTime;
use crate::highlight::HighlightedText;

#[derive(Clone, Debug)]
pub struct FeedbackEntry {
    pub class: &'static str,
    pub label: String,
    pub author: String,
    pub when: DisplayTime,
    pub text: Option<HighlightedText>,
}

pub(super) fn feedback_entries(view: &TurnView) -> Vec<FeedbackEntry> {
    let mut entries: Vec<FeedbackEntry> = view
        .reactions
        .iter()
        .filter(|reaction| reaction.origin == Origin::User)
        .map(reaction_entry)
        .collect();
    entries.extend(view.comments.iter().map(|comment| FeedbackEntry {
        class: "none",
        label: match &comment.sentiment {
            Some(found) => format!("comment ({})", found.sentiment.as_word()),
            None => "comment".to_owned(),
        },
        author: user_label(comment.user.as_ref().map(|user| user.as_str())),
        when: DisplayTime::with_minutes(comment.ts),
        text: Some(HighlightedText::plain(&comment.text)),
    }));
    for stored in &view.stored.events {
        if let Ok(Body::Correction(correction)) = Body::read(stored.event.kind, &stored.event.data)
        {
            entries.push(FeedbackEntry {
                class: "bad",
                label: "correction".to_owned(),
                author: user_label(stored.event.user.as_ref().map(|user| user.as_str())),
                when: DisplayTime::with_minutes(stored.event.ts),
                text: Some(HighlightedText::plain(&correction.corrected)),
            });
        }
    }
    entries
}

fn reaction_entry(reaction: &StoredReaction) -> FeedbackEntry {
    let (class, label) = match reaction.reaction {
        Reaction::Ok => ("good", "thumbs up"),
        Reaction::NotOk => ("bad", "thumbs down"),
        Reaction::Neutral => ("none", "neutral"),
    };
    FeedbackEntry {
        class,
        label: label.to_owned(),
        author: user_label(reaction.user.as_ref().map(|user| user.as_str())),
        when: DisplayTime::with_minutes(reaction.ts),
        text: reaction.text.as_deref().filter(|text| !text.is_empty()).map(HighlightedText::plain),
    }
}

fn user_label(user: Option<&str>) -> String {
    user.unwrap_or("unknown user").to_owned()
}
