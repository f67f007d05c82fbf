//! What people gave: reactions, comments, corrections.

use engine::{StoredReaction, TurnView};
use model::{Body, Origin, Reaction};

use crate::marked::Said;
use crate::moment::Moment;

/// What somebody gave: a reaction, a comment, a correction.
#[derive(Clone, Debug)]
pub struct Given {
    /// How it is shown.
    pub class: &'static str,
    /// What it is.
    pub what: String,
    /// By whom.
    pub by: String,
    /// When.
    pub when: Moment,
    /// Their words.
    pub said: Option<Said>,
}

pub(super) fn given(view: &TurnView) -> Vec<Given> {
    let mut given: Vec<Given> =
        view.reactions.iter().filter(|given| given.origin == Origin::User).map(reaction).collect();
    given.extend(view.comments.iter().map(|comment| Given {
        class: "none",
        what: match &comment.sentiment {
            Some(found) => format!("comment, sounds {}", found.sentiment.as_word()),
            None => "comment".to_owned(),
        },
        by: name(comment.user.as_ref().map(|user| user.as_str())),
        when: Moment::minute(comment.ts),
        said: Some(Said::plain(&comment.text)),
    }));
    for stored in &view.stored.events {
        if let Ok(Body::Correction(correction)) = Body::read(stored.event.kind, &stored.event.data)
        {
            given.push(Given {
                class: "bad",
                what: "correction".to_owned(),
                by: name(stored.event.user.as_ref().map(|user| user.as_str())),
                when: Moment::minute(stored.event.ts),
                said: Some(Said::plain(&correction.corrected)),
            });
        }
    }
    given
}

fn reaction(given: &StoredReaction) -> Given {
    let (class, what) = match given.reaction {
        Reaction::Ok => ("good", "good"),
        Reaction::NotOk => ("bad", "bad"),
        Reaction::Neutral => ("none", "neutral"),
    };
    Given {
        class,
        what: what.to_owned(),
        by: name(given.user.as_ref().map(|user| user.as_str())),
        when: Moment::minute(given.ts),
        said: given.text.as_deref().filter(|text| !text.is_empty()).map(Said::plain),
    }
}

fn name(user: Option<&str>) -> String {
    user.unwrap_or("somebody").to_owned()
}
