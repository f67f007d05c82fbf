//! Counts of a scan, and its worst conversations.

use std::collections::BTreeMap;

use learn::{AnsweredTotals, LiftDimension};
use model::{
    Contrast, CorrectionType, ErrorType, Evidence, Rating, Reaction, RetryIntent, Tolerance,
    VerdictStatus,
};

use crate::report::Satisfaction;

use super::negative_turns::{NegativeTurns, ScanPatterns, cut_excerpt};
use super::{ScannedConversation, ScannedTurn};

/// Excerpts per conversation.
const MAX_EXCERPTS: usize = 3;

/// Counts over all conversations. Adding parts in file order also keeps the latest negative turns.
#[derive(Clone, Debug, Default)]
pub struct ScanReport {
    pub conversations: u64,
    pub turns: u64,
    /// Lines that are not a conversation.
    pub unreadable: u64,
    pub verdicts: VerdictCounts,
    /// Failed answers by type, in the order of `ErrorType::WORDS`.
    pub failures: [u64; ErrorType::WORDS.len()],
    /// Retries by intent: dissatisfied, exploratory.
    pub retries: [u64; 2],
    /// Answers by latency tolerance, where the log has times: high, medium, low.
    pub paces: [u64; 3],
    /// Per model: turns, judged, rejected.
    pub models: BTreeMap<String, [u64; 3]>,
    /// Rejections by rule or feature.
    pub rules: BTreeMap<String, u64>,
    /// Wanted and received, as users put it.
    pub contrasts: Vec<Contrast>,
    pub worst: Vec<WorstConversation>,
    pub(super) negatives: NegativeTurns,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct VerdictCounts {
    /// Answers by verdict: rejected, accepted, neutral.
    pub status: [u64; 3],
    /// Answers accepted with confidence 0.7 or more.
    pub liked: u64,
    /// Answers with a clear reaction, and those that were liked. A rating overrides the verdict.
    pub clear: [u64; 2],
    /// Rejections by type: explicit, rephrased, abandonment.
    pub corrections: [u64; 3],
}

/// Placeholder for a model that the log does not name.
const NO_MODEL: &str = "(not given)";

#[derive(Clone, Debug)]
pub struct WorstConversation {
    pub conversation: String,
    /// Sum of the confidences of its rejections and failures.
    pub score: f64,
    pub turns: usize,
    /// Turns that were rejected or failed.
    pub bad: usize,
    pub excerpts: Vec<WorstTurn>,
}

/// A negative turn with truncated texts.
#[derive(Clone, Debug)]
pub struct WorstTurn {
    pub question: String,
    pub answer: String,
    /// The user's next message.
    pub next: String,
    /// Spans in `next` or, for a failure, in `answer`.
    pub evidence: Vec<Evidence>,
    /// The correction or error type.
    pub what: String,
    pub confidence: f64,
}

/// Minimum confidence of a clear acceptance.
const MIN_ACCEPT_CONFIDENCE: f64 = 0.7;

/// True when the answer was liked, by its rating or else by the verdict. `None` if neither is
/// clear.
fn read_reaction(turn: &ScannedTurn) -> Option<bool> {
    if let Some(rating) = turn.feedback.rating {
        // A neutral rating counts as not liked, as in all metrics.
        return Some(Rating::Score(rating.value).reaction() == Reaction::Ok);
    }
    let verdict = turn.verdict.as_ref()?;
    match verdict.status {
        VerdictStatus::Rejected => Some(false),
        VerdictStatus::Accepted => {
            (verdict.confidence.get() >= MIN_ACCEPT_CONFIDENCE).then_some(true)
        }
        VerdictStatus::Neutral => None,
    }
}

impl ScanReport {
    /// Answers with a verdict.
    pub fn judged(&self) -> u64 {
        self.verdicts.status.iter().sum()
    }

    /// The share of liked answers among those with a clear reaction.
    pub fn satisfaction(&self) -> Satisfaction {
        let [clear, liked] = self.verdicts.clear;
        Satisfaction::from_share(liked, clear)
    }

    /// Finds failure patterns. Takes seconds for many turns.
    pub fn patterns(&mut self) -> ScanPatterns {
        let named = self.models.iter().filter(|(model, _)| *model != NO_MODEL);
        let by = named
            .map(|(model, [turns, ..])| (LiftDimension::Model, model.clone(), *turns))
            .collect();
        let now = self.turns;
        let totals = AnsweredTotals { now, by_dimension: by, ..AnsweredTotals::default() };
        self.negatives.patterns(&totals)
    }

    /// Adds another file's report and keeps the `worst` worst conversations.
    pub fn merge(&mut self, other: Self, worst: usize) {
        self.add(other, worst);
    }

    pub(super) fn count(&mut self, scanned: &ScannedConversation, worst: usize) {
        if scanned.turns.is_empty() {
            return;
        }
        self.conversations += 1;
        for turn in &scanned.turns {
            self.count_turn(turn, turn.model.as_deref());
            self.negatives.add_turn(turn);
        }
        if let Some(bad) = summarise_worst(scanned) {
            self.worst.push(bad);
            self.keep_worst(worst);
        }
    }

    fn count_turn(&mut self, turn: &ScannedTurn, model: Option<&str>) {
        self.turns += 1;
        if let Some(error) = turn.failure.error_type {
            self.failures[error_index(error)] += 1;
        }
        if let Some(retry) = &turn.retry {
            self.retries[usize::from(retry.intent == RetryIntent::Exploratory)] += 1;
        }
        if let Some(pace) = turn.pace {
            self.paces[match pace.tolerance {
                Tolerance::High => 0,
                Tolerance::Medium => 1,
                Tolerance::Low => 2,
            }] += 1;
        }
        if let Some(liked) = read_reaction(turn) {
            self.verdicts.clear[0] += 1;
            self.verdicts.clear[1] += u64::from(liked);
        }
        let by_model = self.models.entry(model.unwrap_or(NO_MODEL).to_owned()).or_default();
        by_model[0] += 1;
        let Some(verdict) = &turn.verdict else { return };
        by_model[1] += 1;
        match verdict.status {
            VerdictStatus::Rejected => {
                by_model[2] += 1;
                self.verdicts.status[0] += 1;
                *self.rules.entry(verdict.rule.clone()).or_default() += 1;
                self.contrasts.extend(verdict.contrast.clone());
                self.contrasts.truncate(MAX_CONTRASTS);
            }
            VerdictStatus::Accepted => {
                self.verdicts.status[1] += 1;
                self.verdicts.liked += u64::from(verdict.confidence.get() >= MIN_ACCEPT_CONFIDENCE);
            }
            VerdictStatus::Neutral => self.verdicts.status[2] += 1,
        }
        match verdict.correction_type {
            Some(CorrectionType::Explicit) => self.verdicts.corrections[0] += 1,
            Some(CorrectionType::Rephrased) => self.verdicts.corrections[1] += 1,
            Some(CorrectionType::Abandonment) => self.verdicts.corrections[2] += 1,
            None => {}
        }
    }

    pub(super) fn add(&mut self, other: Self, worst: usize) {
        self.conversations += other.conversations;
        self.turns += other.turns;
        self.unreadable += other.unreadable;
        self.verdicts.liked += other.verdicts.liked;
        let sum = |mine: &mut [u64], theirs: &[u64]| {
            mine.iter_mut().zip(theirs).for_each(|(m, t)| *m += t)
        };
        sum(&mut self.verdicts.clear, &other.verdicts.clear);
        sum(&mut self.verdicts.status, &other.verdicts.status);
        sum(&mut self.verdicts.corrections, &other.verdicts.corrections);
        sum(&mut self.failures, &other.failures);
        sum(&mut self.retries, &other.retries);
        sum(&mut self.paces, &other.paces);
        for (model, counts) in other.models {
            sum(self.models.entry(model).or_default(), &counts);
        }
        for (rule, count) in other.rules {
            *self.rules.entry(rule).or_default() += count;
        }
        self.contrasts.extend(other.contrasts);
        self.contrasts.truncate(MAX_CONTRASTS);
        self.worst.extend(other.worst);
        self.keep_worst(worst);
        self.negatives.append(other.negatives);
    }

    fn keep_worst(&mut self, most: usize) {
        self.worst.sort_by(|a, b| {
            b.score.total_cmp(&a.score).then_with(|| a.conversation.cmp(&b.conversation))
        });
        self.worst.truncate(most);
    }
}

const MAX_CONTRASTS: usize = 20;

fn error_index(error: ErrorType) -> usize {
    match error {
        ErrorType::ExecutionError => 0,
        ErrorType::EmptyResponse => 1,
        ErrorType::ModelRefusal => 2,
        ErrorType::ErrorText => 3,
        ErrorType::Truncated => 4,
        ErrorType::WrongLanguage => 5,
        ErrorType::Repetition => 6,
    }
}

fn summarise_worst(scanned: &ScannedConversation) -> Option<WorstConversation> {
    let mut excerpts: Vec<WorstTurn> = scanned.turns.iter().filter_map(excerpt_bad_turn).collect();
    if excerpts.is_empty() {
        return None;
    }
    let (bad, score) = (excerpts.len(), excerpts.iter().map(|e| e.confidence).sum());
    excerpts.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
    excerpts.truncate(MAX_EXCERPTS);
    let unnamed = || format!("(line {})", scanned.line);
    let conversation = scanned.conversation.clone().unwrap_or_else(unnamed);
    Some(WorstConversation { conversation, score, turns: scanned.turns.len(), bad, excerpts })
}

fn excerpt_bad_turn(turn: &ScannedTurn) -> Option<WorstTurn> {
    let excerpt = |evidence: Vec<Evidence>, what: &str, confidence: f64| WorstTurn {
        question: cut_excerpt(&turn.question),
        answer: cut_excerpt(&turn.answer),
        next: cut_excerpt(turn.next.as_deref().unwrap_or_default()),
        evidence,
        what: what.to_owned(),
        confidence,
    };
    let verdict = turn.verdict.as_ref().filter(|v| v.status == VerdictStatus::Rejected);
    if let Some(verdict) = verdict {
        let what = verdict.correction_type.map_or("rejected", CorrectionType::as_word);
        let evidence = verdict.evidence.clone();
        return Some(excerpt(evidence, what, verdict.confidence.get()));
    }
    let error = turn.failure.error_type?;
    Some(excerpt(turn.failure.evidence.clone(), error.as_word(), turn.failure.confidence.get()))
}
