//! One turn of the timeline.

mod facts;
mod given;
mod machine;

use askama::Template;
use engine::TurnView;
use model::{Origin, Scope, VerdictStatus};

use super::Heard;
use crate::conversations::status;
use crate::filter::{Filter, encoded};
use crate::marked::Said;
use crate::moment::Moment;
use facts::{Fact, made, signals};
use given::{Given, given};
use machine::{Machine, machine};

/// The turn.
#[derive(Clone, Debug, Template)]
#[template(path = "turn.html")]
pub struct ShownTurn {
    /// Its id.
    pub id: String,
    /// The same as a part of an address.
    pub encoded_id: String,
    /// When it was asked.
    pub when: Moment,
    /// What was asked, with what decided about an earlier answer marked.
    pub question: Said,
    /// Which earlier answer that was.
    pub about: Option<String>,
    /// What was answered, with what failed in it marked.
    pub answer: Option<Said>,
    /// The application's own error.
    pub error: Option<String>,
    /// How it was made: model, latency, tokens, cost.
    pub made: Vec<Fact>,
    /// How it was taken, whoever's word counts: a class and words.
    pub status: (&'static str, &'static str),
    /// Whose word that is.
    pub by: String,
    /// What is known of the answer itself.
    pub signals: Vec<Fact>,
    /// What the machine thinks.
    pub machine: Option<Machine>,
    /// What people gave.
    pub given: Vec<Given>,
    /// What confirming says: the status, and words for the button.
    pub confirm: (&'static str, String),
    /// What flipping says.
    pub flip: (&'static str, String),
    /// Whether a person has reviewed it.
    pub is_reviewed: bool,
    /// The tenant's and project's part of the address of forms.
    pub place: String,
    /// The conversation.
    pub conversation: String,
    /// Where the turn is in it.
    pub link: String,
}

impl ShownTurn {
    pub(super) fn of(
        view: &TurnView,
        turns: &[TurnView],
        heard: &Heard<'_>,
        filter: &Filter,
        scope: &Scope,
    ) -> Self {
        let exchange = &view.exchange;
        let about = heard.get(&exchange.turn);
        let evidence = about.map(|(_, evidence)| *evidence).unwrap_or_default();
        let completion = exchange.completion.as_ref();
        let failure = view.signals.as_ref().map(|signals| &signals.failure);
        let in_answer = failure.map(|failure| failure.evidence.as_slice()).unwrap_or_default();
        let answer = completion.and_then(|completion| completion.response.as_deref());
        let (confirm, flip) = reviews(view);
        Self {
            id: exchange.turn.to_string(),
            encoded_id: encoded(exchange.turn.as_str()),
            when: Moment::minute(exchange.ts),
            question: Said::marked(&exchange.opening.text, evidence),
            about: about.map(|(turn, _)| encoded(turn.as_str())),
            answer: answer.map(|answer| Said::marked(answer, in_answer)),
            error: completion.and_then(|completion| completion.error.clone()),
            made: made(view),
            status: status(exchange.standing.status),
            by: by(view),
            signals: signals(view),
            machine: machine(view, turns),
            given: given(view),
            confirm,
            flip,
            is_reviewed: exchange.standing.review.is_some(),
            link: crate::failures::turn_link(
                filter,
                scope.project.as_str(),
                exchange.turn.as_str(),
            ),
            place: filter.place_link("", scope.project.as_str(), &[]),
            conversation: exchange
                .conversation
                .as_ref()
                .map(ToString::to_string)
                .unwrap_or_default(),
        }
    }

    /// A turn without the others around it.
    pub fn alone(view: &TurnView, filter: &Filter, scope: &Scope) -> Self {
        Self::of(view, std::slice::from_ref(view), &Heard::new(), filter, scope)
    }

    /// Whether it waits for its answer.
    pub fn is_waiting(&self) -> bool {
        self.answer.is_none() && self.error.is_none()
    }
}

/// What a person may say of the machine's verdict.
fn reviews(view: &TurnView) -> ((&'static str, String), (&'static str, String)) {
    let found = view.verdict.as_ref().map(|(found, _)| found.verdict.status);
    let word = |status: VerdictStatus| status.as_word();
    let (rejected, accepted) = (VerdictStatus::Rejected, VerdictStatus::Accepted);
    match found {
        Some(VerdictStatus::Rejected) => (
            (word(rejected), "Confirm: rejected".to_owned()),
            (word(accepted), "Flip to accepted".to_owned()),
        ),
        Some(VerdictStatus::Accepted) => (
            (word(accepted), "Confirm: accepted".to_owned()),
            (word(rejected), "Flip to rejected".to_owned()),
        ),
        Some(VerdictStatus::Neutral) | None => (
            (word(accepted), "It was accepted".to_owned()),
            (word(rejected), "It was rejected".to_owned()),
        ),
    }
}

/// Whose word it is that counts.
fn by(view: &TurnView) -> String {
    let standing = &view.exchange.standing;
    if let Some(at) = view.reviewed_at.filter(|_| standing.review.is_some()) {
        return format!("reviewed by a person, {}", Moment::minute(at).text);
    }
    let by_user = view.reactions.iter().any(|given| given.origin == Origin::User);
    let sure = format!("{:.0}% sure", standing.confidence.get() * 100.0);
    match (by_user, &view.verdict) {
        (true, _) => "said by the user".to_owned(),
        (false, Some(_)) => format!("concluded by the machine, {sure}"),
        (false, None) => "nobody said anything yet".to_owned(),
    }
}
