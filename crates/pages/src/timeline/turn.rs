//! One turn of the timeline.

use askama::Template;
use event::{
    Body, CorrectionType, ErrorType, Origin, Reaction, Scope, Tolerance, TurnStatus, VerdictStatus,
};
use flow::{StoredReaction, TurnView};

use super::Heard;
use crate::conversations::status;
use crate::filter::{Filter, encoded};
use crate::marked::{Said, words};
use crate::moment::Moment;
use crate::number;

/// Something that is known of an answer: a class, and words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// How it is shown.
    pub class: &'static str,
    /// What it says.
    pub text: String,
    /// More of it.
    pub title: String,
}

/// What the machine thinks of the answer, and why.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Its verdict: a class and words.
    pub status: (&'static str, &'static str),
    /// How sure, as a percentage.
    pub sure: String,
    /// The same as a whole number from 0 to 100, for the meter.
    pub percent: u8,
    /// In a sentence.
    pub why: String,
    /// The words that decided, marked.
    pub said: Option<Said>,
    /// Where they stand, if that turn is on the page.
    pub where_said: Option<String>,
    /// What was wanted, and instead of what.
    pub contrast: Option<(Option<String>, Option<String>)>,
    /// Which detector.
    pub detector: String,
}

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

/// The turn.
#[derive(Clone, Debug, Template)]
#[template(path = "turn.html")]
pub struct Shown {
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

impl Shown {
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

fn machine(view: &TurnView, turns: &[TurnView]) -> Option<Machine> {
    let (found, _) = view.verdict.as_ref()?;
    let verdict = &found.verdict;
    let said_in = turns.iter().find(|other| other.exchange.turn == found.detected_in);
    let message = said_in.map(|other| other.exchange.opening.text.as_str());
    let message = message.or(verdict.user_said.as_deref()).filter(|text| !text.is_empty());
    let sure = verdict.confidence.get();
    Some(Machine {
        status: status(verdict.status),
        sure: format!("{:.0}%", sure * 100.0),
        percent: (sure * 100.0).round() as u8,
        why: why(verdict.status, verdict.correction_type, &verdict.rule, found.moved_on),
        said: message.map(|message| Said::marked(message, &verdict.evidence)),
        where_said: said_in.map(|other| encoded(other.exchange.turn.as_str())),
        contrast: verdict
            .contrast
            .as_ref()
            .map(|contrast| (contrast.wants.clone(), contrast.instead_of.clone())),
        detector: found.detector.clone(),
    })
}

fn why(status: VerdictStatus, how: Option<CorrectionType>, rule: &str, moved_on: bool) -> String {
    let base = match (status, how) {
        (VerdictStatus::Rejected, Some(CorrectionType::Explicit)) => "The next message rejects it",
        (VerdictStatus::Rejected, Some(CorrectionType::Rephrased)) => {
            "The next message asks the same in other words"
        }
        (VerdictStatus::Rejected, Some(CorrectionType::Abandonment)) => {
            "The next message gives up on it"
        }
        (VerdictStatus::Rejected, None) => "The next message sounds dissatisfied",
        (VerdictStatus::Accepted, _) if moved_on => "The user went on to something else",
        (VerdictStatus::Accepted, _) => "The next message builds on it or accepts it",
        (VerdictStatus::Neutral, _) => "The next message does not tell",
    };
    match rule {
        "" => base.to_owned(),
        "model" => format!("{base} (by the learnt model)"),
        rule => format!("{base} (rule: {})", words(rule)),
    }
}

fn signals(view: &TurnView) -> Vec<Fact> {
    let mut facts = Vec::new();
    if let Some(signals) = &view.signals {
        if let Some(kind) = signals.failure.error_type {
            let sure = format!("{:.0}% sure", signals.failure.confidence.get() * 100.0);
            facts.push(Fact { class: "bad", text: failure(kind).to_owned(), title: sure });
        }
        if let Some(pace) = &signals.pace {
            let slow = match pace.tolerance {
                Tolerance::High => None,
                Tolerance::Medium => Some(("unsure", "slow")),
                Tolerance::Low => Some(("bad", "very slow")),
            };
            let title = number::seconds(pace.seconds);
            if let Some((class, text)) = slow {
                facts.push(Fact { class, text: text.to_owned(), title: title.clone() });
            }
            if !pace.accepted {
                let text = "the client gave up waiting".to_owned();
                facts.push(Fact { class: "bad", text, title });
            }
        }
    }
    if view.retries > 0 {
        let times = if view.retries == 1 { String::new() } else { format!(" ×{}", view.retries) };
        let title = "The same question came again soon after".to_owned();
        facts.push(Fact { class: "unsure", text: format!("asked again{times}"), title });
    }
    if view.exchange.standing.silent {
        let title = "Nothing came after it".to_owned();
        facts.push(Fact { class: "none", text: "session ended here".to_owned(), title });
    }
    facts
}

fn failure(kind: ErrorType) -> &'static str {
    match kind {
        ErrorType::ExecutionError => "execution error",
        ErrorType::EmptyResponse => "empty answer",
        ErrorType::ModelRefusal => "refusal",
        ErrorType::ErrorText => "error text",
    }
}

fn made(view: &TurnView) -> Vec<Fact> {
    let Some(completion) = &view.exchange.completion else { return Vec::new() };
    let fact = |text: String, title: &str| Fact { class: "none", text, title: title.to_owned() };
    let mut facts = Vec::new();
    if completion.status == TurnStatus::Error {
        facts.push(Fact {
            class: "bad",
            text: "error".to_owned(),
            title: "The application says so".to_owned(),
        });
    }
    facts.extend(completion.model.clone().map(|model| fact(model, "Model")));
    if let Some(prompt) = &completion.prompt {
        let version =
            prompt.version.as_ref().map_or_else(String::new, |version| format!("@{version}"));
        facts.push(fact(format!("{}{version}", prompt.id), "Prompt"));
    }
    facts.extend(
        completion.strategy.as_ref().map(|strategy| fact(strategy.name.clone(), "Strategy")),
    );
    let pace = view.signals.as_ref().and_then(|signals| signals.pace);
    facts.extend(pace.map(|pace| fact(number::seconds(pace.seconds), "Latency")));
    let tokens = completion.tokens_in.zip(completion.tokens_out);
    facts.extend(tokens.map(|(put, got)| {
        fact(format!("{} + {} tokens", number::count(put), number::count(got)), "Tokens in and out")
    }));
    facts.extend(completion.cost.map(|cost| fact(format!("cost {}", number::plain(cost)), "Cost")));
    facts
}

fn given(view: &TurnView) -> Vec<Given> {
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
