//! Judges an answer by the next user message: rejected, accepted or neutral.
//!
//! - `rules` matches phrases in the order given in docs/signals/verdicts.md.
//! - `model` starts from the rules and rescores them with the learnt models.
//! - `seed` is a plain keyword baseline, kept for comparison.

mod blend;
mod contrast;
mod two_sided;
mod substitution;
mod features;
mod preamble;
mod quotation;
mod rules;
mod keyword_baseline;
mod opinion;
mod retraction;

use std::sync::LazyLock;
use std::time::Duration;

use model::{CorrectionType, Evidence, InteractionKind, UnitInterval, Verdict, VerdictStatus};

use crate::answer::Answer;
use crate::pair::{PairScores, count_shared};
use crate::phrases::{Cue, CueHit};
use crate::references::extract_references;
use crate::utterance::{Utterance, is_bare_remark};
use crate::wide_deep::{Features, WideDeepModel};

#[cfg(test)]
mod tests;

pub use blend::{ReaderScores, is_settled, is_uncertain, message_language};
pub use contrast::extract_contrast;
pub use features::verdict_features;
pub use opinion::{Opinion, apply_opinion};
use quotation::rejects_in_quotes_only;
pub(crate) use retraction::{EARLIER_BETTER_RULE, RETRACTED_RULE};
pub(crate) use rules::MOVED_ON_RULE;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Seed,
    /// Phrases only. Reproducible by hand.
    Rules,
    Model,
}

impl Mode {
    pub const fn as_word(self) -> &'static str {
        match self {
            Self::Seed => "seed",
            Self::Rules => "rules",
            Self::Model => "model",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VerdictRule {
    pub mode: Mode,
    /// Session length. Later messages count only as explicit rejections.
    pub session: Duration,
    /// Pair score above which a question is a rephrasing, when both intents are known and equal.
    pub rephrased_same_intent: f64,
    /// Pair score above which a question is a rephrasing, when an intent is unknown.
    pub rephrased: f64,
    /// True when an unrelated new question counts as acceptance.
    pub moved_on: bool,
    pub min_confidence: f64,
}

impl Default for VerdictRule {
    fn default() -> Self {
        Self {
            mode: Mode::Model,
            session: Duration::from_secs(30 * 60),
            rephrased_same_intent: 0.80,
            rephrased: 0.85,
            moved_on: true,
            min_confidence: 0.7,
        }
    }
}

/// A message with its context. Unknown parts are `None`.
#[derive(Clone, Copy, Debug)]
pub struct Exchange<'a> {
    pub message: &'a Utterance,
    pub question: Option<&'a Utterance>,
    pub answer: Option<&'a Answer>,
    /// Intent of the message, reported by the application.
    pub intent: Option<&'a str>,
    pub previous_intent: Option<&'a str>,
    pub gap: Option<Duration>,
}

impl<'a> Exchange<'a> {
    pub fn new(message: &'a Utterance) -> Self {
        Self {
            message,
            question: None,
            answer: None,
            intent: None,
            previous_intent: None,
            gap: None,
        }
    }

    pub(crate) fn replies_to_question(&self) -> bool {
        self.answer.is_some_and(|answer| answer.ends_with_question)
    }

    /// Pair scores of question and message; 0 without a question.
    pub(crate) fn question_similarity(&self) -> PairScores {
        self.question.map_or_else(PairScores::default, |q| PairScores::new(self.message, q))
    }
}

#[derive(Clone, Debug)]
pub(crate) struct RuleFinding {
    pub status: VerdictStatus,
    pub confidence: f64,
    pub correction_type: Option<CorrectionType>,
    pub rule: &'static str,
    pub evidence: Vec<Evidence>,
    pub behaviour: Option<InteractionKind>,
}

impl RuleFinding {
    fn new(
        status: VerdictStatus,
        confidence: f64,
        rule: &'static str,
        evidence: Vec<Evidence>,
    ) -> Self {
        Self { status, confidence, rule, evidence, correction_type: None, behaviour: None }
    }

    fn rejected(
        correction_type: CorrectionType,
        confidence: f64,
        rule: &'static str,
        evidence: Vec<Evidence>,
    ) -> Self {
        let finding = Self::new(VerdictStatus::Rejected, confidence, rule, evidence);
        Self { correction_type: Some(correction_type), ..finding }
    }
}

pub(crate) static REJECTION_MODEL: LazyLock<WideDeepModel> =
    LazyLock::new(|| WideDeepModel::load_committed(include_bytes!("../model/rejected.bin")));

pub(crate) static ACCEPTANCE_MODEL: LazyLock<WideDeepModel> =
    LazyLock::new(|| WideDeepModel::load_committed(include_bytes!("../model/accepted.bin")));

/// Judges by the instant models.
pub fn detect_verdict(rule: &VerdictRule, exchange: &Exchange<'_>) -> Verdict {
    detect_verdict_with(rule, exchange, None)
}

/// Judges by the instant models and, if its scores are given, the reader. Modes other than `Model`
/// do not use the scores.
pub fn detect_verdict_with(
    rule: &VerdictRule,
    exchange: &Exchange<'_>,
    scores: Option<&ReaderScores>,
) -> Verdict {
    let similarity = exchange.question_similarity();
    let finding = match rule.mode {
        Mode::Seed => keyword_baseline::judge_by_keywords(exchange),
        Mode::Rules => retraction::detect_retraction(exchange)
            .unwrap_or_else(|| rules::apply_rules(rule, exchange, similarity)),
        Mode::Model => return rescore_with_models(rule, exchange, similarity, scores),
    };
    build_verdict(exchange, finding, None)
}

fn rescore_with_models(
    rule: &VerdictRule,
    exchange: &Exchange<'_>,
    similarity: PairScores,
    scores: Option<&ReaderScores>,
) -> Verdict {
    let found = rules::apply_rules(rule, exchange, similarity);
    let features = verdict_features(exchange, similarity.learnt);
    let mut learnt = f64::from(REJECTION_MODEL.predict_probability(&features));
    if rejects_in_quotes_only(exchange.message) {
        learnt = learnt.min(MAX_QUOTED_REJECTION);
    }
    if similarity.learnt < rule.rephrased_same_intent && narrows_question(exchange, &found) {
        learnt = learnt.min(MAX_REFINEMENT_REJECTION);
    }
    let rejected = if is_resend(exchange, &found) {
        learnt.max(MIN_RESEND_REJECTION)
    } else if is_explicit_abandonment(exchange, &found) {
        learnt.max(MIN_ABANDONMENT_REJECTION)
    } else if is_bare_complaint(exchange, &found) {
        (learnt + 2.0 * found.confidence) / 3.0
    } else if is_short_complaint(exchange, &found) && learnt >= 0.5 {
        learnt.max(f64::midpoint(learnt, found.confidence))
    } else if found.correction_type == Some(CorrectionType::Rephrased) {
        // The pair model compares both questions in more detail than the verdict model.
        f64::midpoint(learnt, found.confidence)
    } else {
        learnt
    };
    let accepted = f64::from(ACCEPTANCE_MODEL.predict_probability(&features));
    let (rejected, accepted) = match scores {
        None => (rejected, accepted),
        Some(scores) => blend::blend(exchange.message, (rejected, accepted), scores),
    };
    let rejected = rejected.max(stated_rejection(exchange, &found));
    let judged = Judged { rejected, accepted, features: &features, scores };
    let finding = retraction::detect_retraction(exchange)
        .unwrap_or_else(|| decide_finding(rule, exchange, found, &judged));
    build_verdict(exchange, finding, UnitInterval::new(rejected))
}

/// Lowest rejection probability of statements that the models take for a next step, or that the
/// reader doubts; 0 for other messages.
fn stated_rejection(exchange: &Exchange<'_>, found: &RuleFinding) -> f64 {
    const MIN_STATED_REJECTION: f64 = 0.75;
    const MAX_STATEMENT_WORDS: usize = 25;
    const MAX_ORDER_WORDS: usize = 8;
    let message = exchange.message;
    let words = message.word_hashes.len();
    let judges_answer = exchange.answer.is_some_and(|answer| !answer.is_empty)
        && !exchange.replies_to_question()
        && !message.ends_with_question()
        && !message.has_any_cue(&[Cue::OwnFault, Cue::Thanks, Cue::Praise])
        && words <= MAX_STATEMENT_WORDS;
    if !judges_answer || rejects_in_quotes_only(message) {
        return 0.0;
    }
    // "Now it throws", "use pytest instead", "the login diagram was wrong".
    let fails = message.has_cue(Cue::NewFailure);
    let orders_other = || {
        words <= MAX_ORDER_WORDS
            && message.has_cue(Cue::Instead)
            && extract_contrast(exchange).is_some_and(|contrast| contrast.wants.is_some())
    };
    let blames_subject = || {
        found.correction_type == Some(CorrectionType::Explicit)
            && extract_references(message)
                .iter()
                .any(|reference| reference.judgement == Some(Some(false)))
    };
    if fails || orders_other() || blames_subject() { MIN_STATED_REJECTION } else { 0.0 }
}

/// Highest rejection probability when every rejecting phrase is quoted.
const MAX_QUOTED_REJECTION: f64 = 0.5;

/// Share of the question's content words in a message that narrows it.
const MIN_KEPT_CONTENT: f64 = 0.8;

/// True for the question again with a further condition.
fn narrows_question(exchange: &Exchange<'_>, found: &RuleFinding) -> bool {
    let keeps = |question: &Utterance| {
        let both = count_shared(&exchange.message.content, &question.content);
        both as f64 >= MIN_KEPT_CONTENT * question.content.len() as f64
    };
    found.behaviour == Some(InteractionKind::QueryRefinement)
        && found.status != VerdictStatus::Rejected
        && exchange.question.is_some_and(keeps)
}

/// Highest rejection probability of a narrower question. The words alone do not show whether the
/// answer failed; the reader may find that it did.
const MAX_REFINEMENT_REJECTION: f64 = 0.6;

const MIN_RESEND_REJECTION: f64 = 0.9;

fn is_resend(exchange: &Exchange<'_>, found: &RuleFinding) -> bool {
    found.correction_type == Some(CorrectionType::Rephrased)
        && exchange.question.is_some_and(|question| exchange.message.is_resend_of(question))
}

/// Lowest rejection probability of an explicit abandonment ("Can I talk to a human").
const MIN_ABANDONMENT_REJECTION: f64 = 0.8;
const MIN_ABANDONMENT_CUE_WORDS: usize = 3;
/// A longer message may use the phrase about something else.
const MAX_ABANDONMENT_WORDS: usize = 12;

fn is_explicit_abandonment(exchange: &Exchange<'_>, found: &RuleFinding) -> bool {
    let is_long = |hit: &CueHit| {
        hit.cue == Cue::Abandonment && hit.last - hit.first + 1 >= MIN_ABANDONMENT_CUE_WORDS
    };
    found.correction_type == Some(CorrectionType::Abandonment)
        && !exchange.replies_to_question()
        && exchange.message.word_hashes.len() <= MAX_ABANDONMENT_WORDS
        && exchange.message.hits.iter().any(is_long)
}

/// Words of a message that an explicit phrase decides together with the model.
const MAX_COMPLAINT_WORDS: usize = 5;

fn is_short_complaint(exchange: &Exchange<'_>, found: &RuleFinding) -> bool {
    found.correction_type == Some(CorrectionType::Explicit)
        && exchange.answer.is_some_and(|answer| !answer.is_empty)
        && !exchange.replies_to_question()
        && exchange.message.word_hashes.len() <= MAX_COMPLAINT_WORDS
}

/// True for a bare complaint ("try again"), where the rule outweighs the model. Excludes replies to
/// a question by the assistant, where "no" is an answer.
fn is_bare_complaint(exchange: &Exchange<'_>, found: &RuleFinding) -> bool {
    let is_complaint = matches!(
        found.correction_type,
        Some(CorrectionType::Explicit | CorrectionType::Abandonment)
    );
    is_complaint && !exchange.replies_to_question() && is_bare_remark(exchange.message)
}

/// Probabilities of the models, with what they come from.
struct Judged<'a> {
    rejected: f64,
    accepted: f64,
    features: &'a Features,
    scores: Option<&'a ReaderScores>,
}

impl Judged<'_> {
    /// Rule name where the models overruled the rules.
    fn rule_name(&self) -> &'static str {
        if self.scores.is_some() { READER_RULE } else { MODEL_RULE }
    }

    fn find_evidence(&self) -> Vec<Evidence> {
        match self.scores.map(|scores| &scores.evidence) {
            None => find_model_evidence(self.features),
            Some(None) => Vec::new(),
            Some(Some(bytes)) => {
                let rule = READER_RULE.to_owned();
                vec![Evidence { start: bytes.start, end: bytes.end, rule }]
            }
        }
    }
}

fn decide_finding(
    rule: &VerdictRule,
    exchange: &Exchange<'_>,
    found: RuleFinding,
    judged: &Judged<'_>,
) -> RuleFinding {
    let Judged { rejected, accepted, .. } = *judged;
    let session_ended = exchange.gap.is_some_and(|gap| gap > rule.session);
    let explicit = found.correction_type == Some(CorrectionType::Explicit);
    let has_words = !exchange.message.word_hashes.is_empty();
    if rejected >= rule.min_confidence && (!session_ended || explicit) && has_words {
        let agrees = found.status == VerdictStatus::Rejected;
        let evidence = if agrees { found.evidence } else { judged.find_evidence() };
        let correction_type =
            found.correction_type.unwrap_or_else(|| infer_correction_type(rule, exchange));
        let rule = if agrees { found.rule } else { judged.rule_name() };
        return RuleFinding::rejected(correction_type, rejected, rule, evidence);
    }
    let moved_on = found.rule == rules::MOVED_ON_RULE;
    let may_accept = !session_ended && (!moved_on || rule.moved_on);
    // Full confidence needs an accepting phrase, a reply to the assistant's question, or the reader.
    let agrees = found.status == VerdictStatus::Accepted && !moved_on;
    let is_understood = judged.scores.is_some() && !moved_on;
    let is_sure = agrees || is_understood || exchange.replies_to_question();
    let max = if is_sure { 1.0 } else { MAX_MOVED_ON_CONFIDENCE };
    let is_filler = exchange.message.has_cue(Cue::Filler) || !has_words;
    let accepted = if agrees && rejected <= MAX_REJECTION_OF_ACCEPTED {
        accepted.max(f64::midpoint(accepted, found.confidence))
    } else {
        accepted
    };
    if may_accept && accepted >= 0.5 && accepted > rejected && !is_filler {
        let evidence = if agrees { found.evidence } else { Vec::new() };
        let rule = if agrees || moved_on { found.rule } else { judged.rule_name() };
        let finding = RuleFinding::new(VerdictStatus::Accepted, accepted.min(max), rule, evidence);
        return RuleFinding { behaviour: found.behaviour, ..finding };
    }
    let neither = (1.0 - rejected - accepted).clamp(0.0, 1.0);
    let rule = if found.status == VerdictStatus::Neutral { found.rule } else { judged.rule_name() };
    let finding = RuleFinding::new(VerdictStatus::Neutral, neither.max(0.5), rule, Vec::new());
    RuleFinding { behaviour: found.behaviour, ..finding }
}

const MODEL_RULE: &str = "model";
const READER_RULE: &str = "reader";

/// Highest rejection probability at which an accepting phrase raises the confidence.
const MAX_REJECTION_OF_ACCEPTED: f64 = 0.25;

/// Moving on says nothing about the answer, so its confidence stays below the reaction threshold of
/// 0.7.
const MAX_MOVED_ON_CONFIDENCE: f64 = 0.69;

/// Correction type of a rejection that only the model found.
fn infer_correction_type(rule: &VerdictRule, exchange: &Exchange<'_>) -> CorrectionType {
    if exchange.message.has_cue(Cue::Abandonment) {
        CorrectionType::Abandonment
    } else if exchange.question_similarity().similarity > rule.rephrased_same_intent {
        CorrectionType::Rephrased
    } else {
        CorrectionType::Explicit
    }
}

const MIN_EVIDENCE_BYTES: u32 = 5;

/// Evidence span of the n-gram with the highest rejection weight.
fn find_model_evidence(features: &Features) -> Vec<Evidence> {
    let long = features.sparse.iter().filter(|f| f.end > f.start + MIN_EVIDENCE_BYTES);
    REJECTION_MODEL.strongest_evidence(long, "model_words").into_iter().collect()
}

fn build_verdict(
    exchange: &Exchange<'_>,
    finding: RuleFinding,
    dissatisfied: Option<UnitInterval>,
) -> Verdict {
    let rejected = finding.status == VerdictStatus::Rejected;
    Verdict {
        status: finding.status,
        confidence: UnitInterval::new(finding.confidence).unwrap_or(UnitInterval::ZERO),
        correction_type: finding.correction_type,
        user_said: rejected.then(|| exchange.message.original().to_owned()),
        evidence: finding.evidence,
        contrast: rejected.then(|| extract_contrast(exchange)).flatten(),
        rule: finding.rule.to_owned(),
        dissatisfied,
        behaviour: finding.behaviour,
    }
}
