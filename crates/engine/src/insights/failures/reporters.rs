//! Feedback on a turn, by user. Two users who correct one turn count as two; one user who corrects
//! many turns counts as one.

use std::collections::BTreeMap;

use learn::{Author, summarise_correction};
use model::{Body, Finding, Origin, Reaction, VerdictStatus};
use store::StoredTurn;

/// One user's feedback on a turn.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reporter {
    /// `None` when the user is unknown.
    pub(crate) user: Option<String>,
    /// Original and corrected answer, by their latest correction.
    pub(crate) correction: Option<(String, String)>,
    /// Their clearest remark on the answer.
    pub(crate) remark: Option<String>,
}

/// One user's feedback events so far.
#[derive(Default)]
struct ReporterEvents {
    correction: Option<(String, String)>,
    explanation: Option<String>,
    comment: Option<String>,
    /// A negative rating, with its comment if there is one.
    disliked: Option<Option<String>>,
    rejected: Option<Option<String>>,
}

/// Everyone who complained about, corrected or commented on a turn. Events without a user count
/// for the user who asked.
pub(super) fn collect_reporters(turn: &StoredTurn) -> Vec<Reporter> {
    let asker = turn.head.user.as_ref().map(ToString::to_string);
    let mut events: BTreeMap<Option<String>, ReporterEvents> = BTreeMap::new();
    let mut response = None;
    for stored in &turn.events {
        let body = &stored.event.body;
        if let Some(done) = body.completion() {
            response = done.response.as_deref();
            continue;
        }
        let user = stored.event.user.as_ref().map(ToString::to_string).or_else(|| asker.clone());
        if matches!(body, Body::Finding(Finding::Review { status }) if *status != VerdictStatus::Rejected)
        {
            // The review overrules every detected rejection.
            events.values_mut().for_each(|person| person.rejected = None);
        }
        events.entry(user).or_default().add_event(body, response);
    }
    events.into_iter().filter_map(|(user, events)| events.into_reporter(user)).collect()
}

impl ReporterEvents {
    fn add_event(&mut self, body: &Body, response: Option<&str>) {
        match body {
            Body::Finding(Finding::Verdict(found)) => {
                let verdict = &found.verdict;
                self.rejected =
                    (verdict.status == VerdictStatus::Rejected).then(|| verdict.user_said.clone());
            }
            Body::Reaction(given) if given.origin == Origin::User => {
                self.disliked =
                    (given.reaction == Some(Reaction::NotOk)).then(|| given.text.clone());
            }
            Body::Rating(sent) => {
                self.disliked =
                    (sent.rating.reaction() == Reaction::NotOk).then(|| sent.remark().cloned());
            }
            Body::Comment(sent) => self.comment = Some(sent.text.clone()),
            Body::Correction(correction) if !correction.corrected.is_empty() => {
                let original = correction.original.as_deref().or(response).unwrap_or_default();
                self.correction = Some((original.to_owned(), correction.corrected.clone()));
                self.explanation = correction.explanation.clone().or(self.explanation.take());
            }
            Body::Turn(_)
            | Body::Finding(_)
            | Body::Reaction(_)
            | Body::Correction(_)
            | Body::Interaction(_)
            | Body::Metric(_)
            | Body::Decision(_)
            | Body::Settlement(_)
            | Body::Spans(_)
            | Body::Rule(_)
            | Body::Other(_)
            | Body::Unreadable(_) => {}
        }
    }

    fn into_reporter(self, user: Option<String>) -> Option<Reporter> {
        let Self { correction, explanation, comment, disliked, rejected } = self;
        let spoke = correction.is_some() || comment.is_some();
        if !spoke && disliked.is_none() && rejected.is_none() {
            return None;
        }
        let said = [explanation, comment, rejected.flatten(), disliked.flatten()]
            .into_iter()
            .flatten()
            .find(|said| !said.trim().is_empty());
        let put_in = correction.as_ref().map(|(before, after)| summarise_correction(before, after));
        let said = said.or(put_in.filter(|text| !text.is_empty()));
        Some(Reporter { user, correction, remark: said })
    }
}

/// A user, otherwise the conversation, otherwise the turn.
pub(super) fn identify_author<'a>(
    user: Option<&'a str>,
    conversation: Option<&'a str>,
    turn: &'a str,
) -> Author<'a> {
    match (user, conversation) {
        (Some(user), _) => Author::User(user),
        (None, Some(conversation)) => Author::Conversation(conversation),
        (None, None) => Author::Turn(turn),
    }
}
