//! Judges an answer by the next user message: rejected, accepted or neutral.
//!
//! - `rules` matches phrases in the order given in docs/signals.md.
//! - `model` starts from the rules and rescores them with the learnt models.
//! - `seed` is a plain keyword baseline, kept for comparison.

mod contrast;
mod substitution;
mod features;
mod preamble;
mod quotation;
mod rules;
mod keyword_baseline;
mod retraction;

use std::sync::OnceLock;
use std::time::Duration;

use model::{CorrectionType, Evidence, InteractionKind, UnitInterval, Verdict, VerdictStatus};

use crate::answer::Answer;
use crate::pair::pair_score;
use crate::phrases::{Cue, Hit};
use crate::utterance::{Utterance, is_bare};
use crate::wide_deep::{Features, Model};

#[cfg(test)]
mod tests;

pub use features::verdict_features;
use quotation::rejects_in_quotes_only;
pub(crate) use retraction::EARLIER_BETTER;
pub(crate) use rules::MOVED_ON;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Keyword baseline.
    Seed,
    /// Phrases only. Reproducible by hand.
    Rules,
    /// Rules, rescored by the learnt models.
    Model,
}

impl Mode {
    /// Name in configuration and findings.
    pub const fn as_word(self) -> &'static str {
        match self {
            Self::Seed => "seed",
            Self::Rules => "rules",
            Self::Model => "model",
        }
    }
}

/// Thresholds of verdict detection.
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
    /// Minimum confidence of a rejection.
    pub least_confidence: f64,
}

impl Default for VerdictRule {
    fn default() -> Self {
        Self {
            mode: Mode::Model,
            session: Duration::from_secs(30 * 60),
            rephrased_same_intent: 0.80,
            rephrased: 0.85,
            moved_on: true,
            least_confidence: 0.7,
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
    /// A message without context.
    pub fn of(message: &'a Utterance) -> Self {
        Self {
            message,
            question: None,
            answer: None,
            intent: None,
            previous_intent: None,
            gap: None,
        }
    }

    /// Pair score of question and message; 0 without a question.
    pub(crate) fn likeness(&self) -> f64 {
        self.question.map_or(0.0, |question| pair_score(self.message, question).get())
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Finding {
    pub status: VerdictStatus,
    pub confidence: f64,
    pub correction_type: Option<CorrectionType>,
    pub rule: &'static str,
    pub evidence: Vec<Evidence>,
    pub behaviour: Option<InteractionKind>,
}

pub fn rejection_model() -> &'static Model {
    static READ: OnceLock<Model> = OnceLock::new();
    READ.get_or_init(|| Model::committed(include_bytes!("../model/rejected.bin")))
}

pub fn acceptance_model() -> &'static Model {
    static READ: OnceLock<Model> = OnceLock::new();
    READ.get_or_init(|| Model::committed(include_bytes!("../model/accepted.bin")))
}

/// Judges the answer by the next message.
pub fn detect_verdict(rule: &VerdictRule, exchange: &Exchange<'_>) -> Verdict {
    let likeness = exchange.likeness();
    let finding = match rule.mode {
        Mode::Seed => keyword_baseline::judge(exchange),
        Mode::Rules => {
            retraction::judge(exchange).unwrap_or_else(|| rules::judge(rule, exchange, likeness))
        }
        Mode::Model => return judged_again(rule, exchange, likeness),
    };
    told(exchange, finding, None)
}

/// Rescores the rules' finding with the learnt models.
fn judged_again(rule: &VerdictRule, exchange: &Exchange<'_>, likeness: f64) -> Verdict {
    let found = rules::judge(rule, exchange, likeness);
    let features = verdict_features(exchange, likeness);
    let learnt = f64::from(rejection_model().probability(&features));
    let learnt = if rejects_in_quotes_only(exchange.message) { learnt.min(QUOTED) } else { learnt };
    let rejected = if is_resend(exchange, &found) {
        learnt.max(RESENT)
    } else if gives_up(exchange, &found) {
        learnt.max(GIVEN_UP)
    } else if is_plain(exchange, &found) {
        (learnt + 2.0 * found.confidence) / 3.0
    } else if found.correction_type == Some(CorrectionType::Rephrased) {
        // The pair model compares both questions in more detail than the verdict model.
        f64::midpoint(learnt, found.confidence)
    } else {
        learnt
    };
    let accepted = f64::from(acceptance_model().probability(&features));
    let finding = retraction::judge(exchange)
        .unwrap_or_else(|| decide(rule, exchange, found, &features, (rejected, accepted)));
    told(exchange, finding, UnitInterval::new(rejected))
}

/// Highest rejection probability when every rejecting phrase is quoted.
const QUOTED: f64 = 0.5;

/// Lowest rejection probability of an exact resend.
const RESENT: f64 = 0.9;

fn is_resend(exchange: &Exchange<'_>, found: &Finding) -> bool {
    found.correction_type == Some(CorrectionType::Rephrased)
        && exchange.question.is_some_and(|question| exchange.message.is_resend_of(question))
}

/// Lowest rejection probability of an explicit abandonment ("Can I talk to a human").
const GIVEN_UP: f64 = 0.8;
const NO_CHANCE: usize = 3;
/// A longer message may use the phrase about something else.
const SHORT: usize = 12;

fn gives_up(exchange: &Exchange<'_>, found: &Finding) -> bool {
    let answers = exchange.answer.is_some_and(|answer| answer.ends_asking);
    let is_long = |hit: &Hit| hit.cue == Cue::Abandonment && hit.last - hit.first + 1 >= NO_CHANCE;
    found.correction_type == Some(CorrectionType::Abandonment)
        && !answers
        && exchange.message.spoken.len() <= SHORT
        && exchange.message.hits.iter().any(is_long)
}

/// True for a bare complaint ("try again"), where the rule outweighs the model. Excludes replies to
/// a question by the assistant, where "no" is an answer.
fn is_plain(exchange: &Exchange<'_>, found: &Finding) -> bool {
    let answers = exchange.answer.is_some_and(|answer| answer.ends_asking);
    let says_so = matches!(
        found.correction_type,
        Some(CorrectionType::Explicit | CorrectionType::Abandonment)
    );
    says_so && !answers && is_bare(exchange.message)
}

fn decide(
    rule: &VerdictRule,
    exchange: &Exchange<'_>,
    found: Finding,
    features: &Features,
    (rejected, accepted): (f64, f64),
) -> Finding {
    let late = exchange.gap.is_some_and(|gap| gap > rule.session);
    let explicit = found.correction_type == Some(CorrectionType::Explicit);
    let speaks = !exchange.message.spoken.is_empty();
    if rejected >= rule.least_confidence && (!late || explicit) && speaks {
        let agrees = found.status == VerdictStatus::Rejected;
        let evidence = if agrees { found.evidence } else { telling_words(features) };
        let correction_type = found.correction_type.or_else(|| Some(type_of(rule, exchange)));
        return Finding {
            status: VerdictStatus::Rejected,
            confidence: rejected,
            correction_type,
            evidence,
            behaviour: None,
            rule: if agrees { found.rule } else { MODEL },
        };
    }
    let moved_on = found.rule == rules::MOVED_ON;
    let may_accept = !late && (!moved_on || rule.moved_on);
    // Full confidence needs an accepting phrase, or a reply to the assistant's question.
    let agrees = found.status == VerdictStatus::Accepted && !moved_on;
    let replies = exchange.answer.is_some_and(|answer| answer.ends_asking);
    let capped = if agrees || replies { accepted } else { accepted.min(MOVED_ON_MOST) };
    let says_nothing = exchange.message.has(Cue::Filler) || !speaks;
    if may_accept && accepted >= 0.5 && accepted > rejected && !says_nothing {
        return Finding {
            status: VerdictStatus::Accepted,
            confidence: capped,
            correction_type: None,
            evidence: if agrees { found.evidence } else { Vec::new() },
            rule: if agrees || moved_on { found.rule } else { MODEL },
            behaviour: found.behaviour,
        };
    }
    let neither = (1.0 - rejected - accepted).clamp(0.0, 1.0);
    let agrees = found.status == VerdictStatus::Neutral;
    Finding {
        status: VerdictStatus::Neutral,
        confidence: neither.max(0.5),
        correction_type: None,
        evidence: Vec::new(),
        rule: if agrees { found.rule } else { MODEL },
        behaviour: found.behaviour,
    }
}

/// Rule name where the model overruled the rules.
const MODEL: &str = "model";

/// Moving on says nothing about the answer, so its confidence stays below the reaction threshold of
/// 0.7.
const MOVED_ON_MOST: f64 = 0.69;

/// Correction type of a rejection that only the model found.
fn type_of(rule: &VerdictRule, exchange: &Exchange<'_>) -> CorrectionType {
    if exchange.message.has(Cue::Abandonment) {
        CorrectionType::Abandonment
    } else if exchange.likeness() > rule.rephrased_same_intent {
        CorrectionType::Rephrased
    } else {
        CorrectionType::Explicit
    }
}

/// Minimum length of an evidence span in bytes.
const TELLING: u32 = 5;

/// Evidence span of the n-gram with the highest rejection weight.
fn telling_words(features: &Features) -> Vec<Evidence> {
    let model = rejection_model();
    let best = features
        .sparse
        .iter()
        .filter(|f| f.end > f.start + TELLING)
        .max_by(|a, b| model.weight(a.hash).total_cmp(&model.weight(b.hash)));
    let telling = best.filter(|f| model.weight(f.hash) > 0.0);
    telling
        .map(|f| Evidence {
            start: f.start as usize,
            end: f.end as usize,
            rule: "model_words".to_owned(),
        })
        .into_iter()
        .collect()
}

fn told(exchange: &Exchange<'_>, finding: Finding, dissatisfied: Option<UnitInterval>) -> Verdict {
    let rejected = finding.status == VerdictStatus::Rejected;
    Verdict {
        status: finding.status,
        confidence: UnitInterval::new(finding.confidence).unwrap_or(UnitInterval::ZERO),
        correction_type: finding.correction_type,
        user_said: rejected.then(|| exchange.message.original().to_owned()),
        evidence: finding.evidence,
        contrast: rejected.then(|| contrast::contrast(exchange.message)).flatten(),
        rule: finding.rule.to_owned(),
        dissatisfied,
        behaviour: finding.behaviour,
    }
}
