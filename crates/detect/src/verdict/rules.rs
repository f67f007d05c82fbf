//! Verdict rules in order; the first match decides.

use model::{CorrectionType, Evidence, InteractionKind, VerdictStatus};

use super::quotation::is_quoted;
use super::two_sided::find_two_sided_contrast;
use super::{Exchange, RuleFinding, VerdictRule};
use crate::pair::{PairScores, count_shared};
use crate::phrases::{Cue, CueHit};
use crate::utterance::Utterance;

pub(crate) const MOVED_ON_RULE: &str = "moved_on";
/// Minimum pair score at which "I want", "I need" and "actually" correct the answer.
const MIN_SAME_SUBJECT_SCORE: f64 = 0.5;
const MAX_UNRELATED_SCORE: f64 = 0.30;
const MIN_REQUEST_WORDS: usize = 3;

pub(crate) fn apply_rules(
    rule: &VerdictRule,
    exchange: &Exchange<'_>,
    similarity: PairScores,
) -> RuleFinding {
    let message = exchange.message;
    if let Some(finding) = match_explicit_rejection(message, similarity.learnt) {
        return finding;
    }
    if exchange.gap.is_some_and(|gap| gap > rule.session) {
        return neutral_finding("session_ended");
    }
    match_rephrasing(rule, exchange, similarity.similarity)
        .or_else(|| match_abandonment(message))
        .or_else(|| match_continuation(exchange))
        .or_else(|| match_moving_on(rule, message, similarity.learnt))
        .unwrap_or_else(|| neutral_finding("none"))
}

fn neutral_finding(rule: &'static str) -> RuleFinding {
    RuleFinding::new(VerdictStatus::Neutral, 0.5, rule, Vec::new())
}

/// Rule 1: explicit rejection.
fn match_explicit_rejection(message: &Utterance, similarity: f64) -> Option<RuleFinding> {
    let pleased = message.has_any_cue(&[Cue::Thanks, Cue::Praise, Cue::Harmless]);
    let same_subject =
        || similarity >= MIN_SAME_SUBJECT_SCORE || find_two_sided_contrast(message).is_some();
    let counts = |hit: &&CueHit| {
        (hit.cue.is_rejecting() && !is_covered_by_praise(message, hit))
            || (hit.cue == Cue::Negation && !pleased)
            || (hit.cue == Cue::Want && !pleased && same_subject())
    };
    let hit = message.hits.iter().filter(counts).find(|hit| !is_quoted(message, hit))?;
    let evidence = vec![cue_evidence(message, hit)];
    Some(RuleFinding::rejected(CorrectionType::Explicit, 0.9, rule_name(hit.cue), evidence))
}

/// True when a positive phrase contains the hit: "not bad" contains "bad".
pub(super) fn is_covered_by_praise(message: &Utterance, hit: &CueHit) -> bool {
    message.hits.iter().any(|other| {
        matches!(other.cue, Cue::Harmless | Cue::Praise | Cue::Thanks)
            && other.first <= hit.first
            && other.last >= hit.last
    })
}

fn rule_name(cue: Cue) -> &'static str {
    if cue == Cue::Negation { "negation_start" } else { cue.as_word() }
}

pub(super) fn cue_evidence(message: &Utterance, hit: &CueHit) -> Evidence {
    let (start, end) = message.cue_span(hit);
    Evidence { start, end, rule: rule_name(hit.cue).to_owned() }
}

/// Rule 2: the same question in other words.
fn match_rephrasing(
    rule: &VerdictRule,
    exchange: &Exchange<'_>,
    similarity: f64,
) -> Option<RuleFinding> {
    let known = exchange.intent.zip(exchange.previous_intent);
    let threshold = match known {
        Some((now, before)) if now == before => rule.rephrased_same_intent,
        Some(_) => return None,
        None => rule.rephrased,
    };
    // A new step, or a question about something that the answer introduced, refines.
    if similarity <= threshold || opens_step(exchange) || refers_to_answer(exchange) {
        return None;
    }
    let whole =
        Evidence { start: 0, end: exchange.message.original().len(), rule: "rephrased".to_owned() };
    Some(RuleFinding::rejected(CorrectionType::Rephrased, similarity, "rephrased", vec![whole]))
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
fn match_abandonment(message: &Utterance) -> Option<RuleFinding> {
    let hit = message.hits.iter().find(|hit| hit.cue == Cue::Abandonment)?;
    if message.has_cue(Cue::Thanks) && message.has_cue(Cue::Praise) {
        return None;
    }
    let evidence = vec![cue_evidence(message, hit)];
    Some(RuleFinding::rejected(CorrectionType::Abandonment, 0.85, "abandonment", evidence))
}

/// Rule 4: the message continues from the answer.
fn match_continuation(exchange: &Exchange<'_>) -> Option<RuleFinding> {
    let message = exchange.message;
    let is_pleased = |hit: &&CueHit| matches!(hit.cue, Cue::Thanks | Cue::Praise | Cue::Action);
    if let Some(hit) = message.hits.iter().find(is_pleased) {
        let evidence = vec![cue_evidence(message, hit)];
        return Some(RuleFinding::new(VerdictStatus::Accepted, 0.9, rule_name(hit.cue), evidence));
    }
    let continues = |hit: &&CueHit| {
        matches!(hit.cue, Cue::FollowUp | Cue::DrillDown | Cue::Comparison | Cue::Continuation)
    };
    let hit = message.hits.iter().find(continues);
    if hit.is_none() && !refers_to_answer(exchange) {
        return None;
    }
    let evidence = hit.map(|hit| cue_evidence(message, hit)).into_iter().collect();
    let rule = hit.map_or("refers_to_answer", |hit| rule_name(hit.cue));
    let refines = exchange.intent == Some("refine") || narrows_question(exchange);
    let behaviour =
        Some(if refines { InteractionKind::QueryRefinement } else { InteractionKind::FollowUp });
    let finding = RuleFinding::new(VerdictStatus::Accepted, 0.7, rule, evidence);
    Some(RuleFinding { behaviour, ..finding })
}

/// True when the message repeats the last question with an addition.
fn narrows_question(exchange: &Exchange<'_>) -> bool {
    let Some(question) = exchange.question else { return false };
    let kept = count_shared(&question.content, &exchange.message.content);
    !question.content.is_empty()
        && kept * 3 >= question.content.len() * 2
        && exchange.message.content.len() > kept
}

/// Rule 5: an independent question or request.
fn match_moving_on(
    rule: &VerdictRule,
    message: &Utterance,
    similarity: f64,
) -> Option<RuleFinding> {
    let cues = [Cue::Filler, Cue::Negation, Cue::Decline, Cue::Dislike, Cue::Puzzled];
    let has_reservation = message.has_any_cue(&cues);
    let asks = message.question_word.is_some() || message.ends_with_question();
    let is_request =
        message.word_hashes.len() >= MIN_REQUEST_WORDS || (asks && message.word_hashes.len() >= 2);
    if has_reservation || !is_request {
        return None;
    }
    if !rule.moved_on {
        return Some(neutral_finding(MOVED_ON_RULE));
    }
    let (confidence, behaviour) = if similarity < MAX_UNRELATED_SCORE {
        (0.55, None)
    } else {
        (0.6, Some(InteractionKind::QueryRefinement))
    };
    let finding = RuleFinding::new(VerdictStatus::Accepted, confidence, MOVED_ON_RULE, Vec::new());
    Some(RuleFinding { behaviour, ..finding })
}
