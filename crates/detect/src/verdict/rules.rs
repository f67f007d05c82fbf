//! Verdict rules in order; the first match decides.

use model::{CorrectionType, Evidence, InteractionKind, VerdictStatus};

use super::quotation::is_quoted;
use super::{Exchange, Finding, VerdictRule, contrast};
use crate::pair::shared;
use crate::phrases::{Cue, Hit};
use crate::utterance::Utterance;

pub(crate) const MOVED_ON: &str = "moved_on";
/// Minimum pair score at which "I want", "I need" and "actually" correct the answer.
const SAME_THING: f64 = 0.5;
/// Pair score below which two messages are unrelated.
const UNRELATED: f64 = 0.30;
/// Minimum words of an independent request.
const OWN_REQUEST: usize = 3;

pub(crate) fn judge(rule: &VerdictRule, exchange: &Exchange<'_>, likeness: f64) -> Finding {
    let message = exchange.message;
    if let Some(finding) = explicit(message, likeness) {
        return finding;
    }
    let late = exchange.gap.is_some_and(|gap| gap > rule.session);
    if late {
        return neutral("session_ended");
    }
    rephrased(rule, exchange, likeness)
        .or_else(|| abandoned(message))
        .or_else(|| continued(exchange))
        .or_else(|| moved_on(rule, message, likeness))
        .unwrap_or_else(|| neutral("none"))
}

pub(super) fn finding(
    status: VerdictStatus,
    confidence: f64,
    rule: &'static str,
    evidence: Vec<Evidence>,
) -> Finding {
    Finding { status, confidence, rule, evidence, correction_type: None, behaviour: None }
}

fn neutral(rule: &'static str) -> Finding {
    finding(VerdictStatus::Neutral, 0.5, rule, Vec::new())
}

/// Rule 1: explicit rejection.
fn explicit(message: &Utterance, likeness: f64) -> Option<Finding> {
    let pleased =
        message.has(Cue::Thanks) || message.has(Cue::Praise) || message.has(Cue::Harmless);
    let counts = |hit: &&Hit| match hit.cue {
        Cue::Correction | Cue::Rejection | Cue::Retry | Cue::Quality => {
            !covered_by_praise(message, hit)
        }
        Cue::Negation => !pleased,
        Cue::Want => !pleased && (likeness >= SAME_THING || contrast::contrast(message).is_some()),
        Cue::Lead
        | Cue::Abandonment
        | Cue::Thanks
        | Cue::Praise
        | Cue::Harmless
        | Cue::Decline
        | Cue::Dislike
        | Cue::Action
        | Cue::FollowUp
        | Cue::DrillDown
        | Cue::Comparison
        | Cue::Continuation
        | Cue::Step
        | Cue::Filler
        | Cue::Puzzled
        | Cue::OwnFault
        | Cue::Sound
        | Cue::Yet
        | Cue::Worse
        | Cue::Declines
        | Cue::Moralises
        | Cue::Sorry
        | Cue::Identity
        | Cue::Turns
        | Cue::Idiom => false,
    };
    let hit = message.hits.iter().filter(counts).find(|hit| !is_quoted(message, hit))?;
    let evidence = vec![evidence(message, hit)];
    let mut found = finding(VerdictStatus::Rejected, 0.9, name_of(hit.cue), evidence);
    found.correction_type = Some(CorrectionType::Explicit);
    Some(found)
}

/// True when a positive phrase contains the hit: "not bad" contains "bad".
pub(super) fn covered_by_praise(message: &Utterance, hit: &Hit) -> bool {
    message.hits.iter().any(|other| {
        matches!(other.cue, Cue::Harmless | Cue::Praise | Cue::Thanks)
            && other.first <= hit.first
            && other.last >= hit.last
    })
}

fn name_of(cue: Cue) -> &'static str {
    if cue == Cue::Negation { "negation_start" } else { cue.as_word() }
}

pub(super) fn evidence(message: &Utterance, hit: &Hit) -> Evidence {
    let (start, end) = message.bytes_of(hit);
    Evidence { start, end, rule: name_of(hit.cue).to_owned() }
}

/// Rule 2: the same question in other words.
fn rephrased(rule: &VerdictRule, exchange: &Exchange<'_>, likeness: f64) -> Option<Finding> {
    let known = exchange.intent.zip(exchange.previous_intent);
    let threshold = match known {
        Some((now, before)) if now == before => rule.rephrased_same_intent,
        Some(_) => return None,
        None => rule.rephrased,
    };
    if likeness <= threshold || is_refinement(exchange) {
        return None;
    }
    let whole =
        Evidence { start: 0, end: exchange.message.original().len(), rule: "rephrased".to_owned() };
    let mut found = finding(VerdictStatus::Rejected, likeness, "rephrased", vec![whole]);
    found.correction_type = Some(CorrectionType::Rephrased);
    Some(found)
}

/// True when the message starts a new step or uses something that the answer introduced.
fn is_refinement(exchange: &Exchange<'_>) -> bool {
    opens_step(exchange) || refers_to_answer(exchange)
}

/// True when the message continues ("now …", "and …") or the intent is `refine`.
pub(crate) fn opens_step(exchange: &Exchange<'_>) -> bool {
    let message = exchange.message;
    exchange.intent == Some("refine")
        || message.opens_with(Cue::Step)
        || (message.opens_with(Cue::Continuation) && !message.opens_with(Cue::Negation))
}

/// True for a name, number or longer word that first appeared in the answer.
pub(crate) fn refers_to_answer(exchange: &Exchange<'_>) -> bool {
    let Some(answer) = exchange.answer else { return false };
    let was_asked =
        |word: &u32| exchange.question.is_some_and(|q| q.content.binary_search(word).is_ok());
    let mut words = exchange.message.content.iter();
    words.any(|word| answer.terms.binary_search(word).is_ok() && !was_asked(word))
}

/// Rule 3: abandonment.
fn abandoned(message: &Utterance) -> Option<Finding> {
    let hit = message.hits.iter().find(|hit| hit.cue == Cue::Abandonment)?;
    if message.has(Cue::Thanks) && message.has(Cue::Praise) {
        return None;
    }
    let evidence = vec![evidence(message, hit)];
    let mut found = finding(VerdictStatus::Rejected, 0.85, "abandonment", evidence);
    found.correction_type = Some(CorrectionType::Abandonment);
    Some(found)
}

/// Rule 4: the message continues from the answer.
fn continued(exchange: &Exchange<'_>) -> Option<Finding> {
    let message = exchange.message;
    let glad = |hit: &&Hit| matches!(hit.cue, Cue::Thanks | Cue::Praise | Cue::Action);
    if let Some(hit) = message.hits.iter().find(glad) {
        let evidence = vec![evidence(message, hit)];
        return Some(finding(VerdictStatus::Accepted, 0.9, name_of(hit.cue), evidence));
    }
    let goes_on = |hit: &&Hit| {
        matches!(hit.cue, Cue::FollowUp | Cue::DrillDown | Cue::Comparison | Cue::Continuation)
    };
    let hit = message.hits.iter().find(goes_on);
    if hit.is_none() && !refers_to_answer(exchange) {
        return None;
    }
    let evidence = hit.map(|hit| evidence(message, hit)).into_iter().collect();
    let rule = hit.map_or("refers_to_answer", |hit| name_of(hit.cue));
    let mut found = finding(VerdictStatus::Accepted, 0.7, rule, evidence);
    let refines = exchange.intent == Some("refine") || narrows(exchange);
    let behaviour =
        if refines { InteractionKind::QueryRefinement } else { InteractionKind::FollowUp };
    found.behaviour = Some(behaviour);
    Some(found)
}

/// True when the message repeats the last question with an addition.
fn narrows(exchange: &Exchange<'_>) -> bool {
    let Some(question) = exchange.question else { return false };
    let kept = shared(&question.content, &exchange.message.content);
    !question.content.is_empty()
        && kept * 3 >= question.content.len() * 2
        && exchange.message.content.len() > kept
}

/// Rule 5: an independent question or request.
fn moved_on(rule: &VerdictRule, message: &Utterance, likeness: f64) -> Option<Finding> {
    let cues = [Cue::Filler, Cue::Negation, Cue::Decline, Cue::Dislike, Cue::Puzzled];
    let holds_back = cues.iter().any(|cue| message.has(*cue));
    let asks = message.asks.is_some() || message.original().trim_end().ends_with(['?', '？']);
    let own = message.spoken.len() >= OWN_REQUEST || (asks && message.spoken.len() >= 2);
    if holds_back || !own {
        return None;
    }
    if !rule.moved_on {
        return Some(neutral(MOVED_ON));
    }
    let confidence = if likeness < UNRELATED { 0.55 } else { 0.6 };
    let mut found = finding(VerdictStatus::Accepted, confidence, MOVED_ON, Vec::new());
    if likeness >= UNRELATED {
        found.behaviour = Some(InteractionKind::QueryRefinement);
    }
    Some(found)
}
