//! Turns pairs into rows: filters by confidence, split and source, and removes duplicates.

use std::collections::{BTreeMap, HashMap, HashSet};

use model::UnitInterval;

use super::conversation_pairs::ConversationReader;
use super::export_rule::{ExportFormat, ExportRule, Split};
use super::group_pairs::{self, GroupedAnswer};
use super::pair::{AnswerOrigin, PairEvidence, PairSource, PreferencePair, RatedAnswer};
use super::rows::{Message, OpenAiInput, PreferenceRow, Provenance, RowContent};
use super::turn::{PreferenceConversation, TurnRating};
use crate::question::Fingerprint;
use crate::question::normalise_question;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExportTally {
    pub rows: BTreeMap<PairSource, u64>,
    /// Duplicates of exported rows.
    pub repeated: u64,
    /// Pairs below the minimum confidence.
    pub unsure: u64,
    pub capped: u64,
}

/// Exports conversations and groups, one at a time. The same input in the same order gives the same
/// rows, so that an export can be resumed.
#[derive(Clone, Debug)]
pub struct Exporter {
    rule: ExportRule,
    seen: HashSet<u64>,
    votes: Votes,
    tally: ExportTally,
}

impl Exporter {
    pub fn new(rule: ExportRule) -> Self {
        Self { rule, seen: HashSet::new(), votes: Votes::default(), tally: ExportTally::default() }
    }

    pub fn tally(&self) -> &ExportTally {
        &self.tally
    }

    /// Counts the votes of a conversation. Call this for all conversations before the first export,
    /// so that each answer gets one label and each pair one direction.
    pub fn count_votes(&mut self, conversation: &PreferenceConversation) {
        let reader = self.read_conversation(conversation);
        if !self.is_unpaired() {
            for pair in reader.extract_pairs() {
                if self.is_wanted(pair.evidence) {
                    self.votes.add_preference(&pair);
                }
            }
            return;
        }
        for rated in reader.extract_rated_answers() {
            if let (Some(value), true) = (rated.rating, self.is_wanted(rated.evidence)) {
                self.votes.add_rating(&rated.prompt, rated.answer, value);
            }
        }
    }

    fn read_conversation<'a>(&self, from: &'a PreferenceConversation) -> ConversationReader<'a> {
        ConversationReader { conversation: from, max_turns: self.rule.context_turns }
    }

    /// Unpaired formats also get every rated answer.
    pub fn export_conversation(
        &mut self,
        conversation: &PreferenceConversation,
    ) -> Vec<PreferenceRow> {
        let split = self.rule.shares.assign_split(&conversation.id);
        let reader = self.read_conversation(conversation);
        let mut rows = Vec::new();
        for pair in reader.extract_pairs() {
            self.add_pair(&mut rows, pair, split);
        }
        if self.is_unpaired() {
            for rated in reader.extract_rated_answers() {
                let mean = self.votes.mean_rating(&rated.prompt, rated.answer).or(rated.rating);
                let Some((good, margin)) = mean.and_then(label_mean) else { continue };
                let evidence = PairEvidence { margin, ..rated.evidence };
                self.add_rated_answer(&mut rows, RatedAnswer { good, evidence, ..rated }, split);
            }
        }
        rows
    }

    /// Exports pairs of answers to the same question from any conversations.
    pub fn export_group(&mut self, answers: &[GroupedAnswer<'_>]) -> Vec<PreferenceRow> {
        let mut rows = Vec::new();
        for pair in group_pairs::extract_pairs(answers, self.rule.shares, self.rule.context_turns) {
            // Unpaired formats already contain the rated answers.
            if self.is_unpaired() && pair.evidence.source == PairSource::Rating {
                continue;
            }
            let split = self.rule.shares.assign_split(pair.better.conversation);
            self.add_pair(&mut rows, pair, split);
        }
        rows
    }

    fn add_pair(&mut self, rows: &mut Vec<PreferenceRow>, pair: PreferencePair<'_>, split: Split) {
        if pair.chosen == pair.rejected || !self.check_wanted(pair.evidence) {
            return;
        }
        match self.rule.format {
            ExportFormat::Dpo | ExportFormat::Reward | ExportFormat::OpenAiDpo => {
                let origins = [pair.better, pair.worse];
                let answers = [pair.chosen, pair.rejected];
                if answers.contains(&"") || self.votes.is_contradicted(&pair) {
                    return;
                }
                let admitted =
                    self.admit_row(&pair.prompt, &answers, pair.evidence, &origins, split);
                rows.extend(admitted.map(|provenance| PreferenceRow {
                    content: self.build_paired_content(pair),
                    provenance,
                }));
            }
            ExportFormat::Kto | ExportFormat::Sft => {
                for rated in pair.into_rated_answers() {
                    let mean = self.votes.mean_rating(&rated.prompt, rated.answer);
                    let is_experiment = rated.evidence.source == PairSource::Experiment;
                    // A single rating must not override the mean of all.
                    let agrees =
                        |mean| label_mean(mean).is_some_and(|(good, _)| good == rated.good);
                    if !is_experiment || mean.is_none_or(agrees) {
                        self.add_rated_answer(rows, rated, split);
                    }
                }
            }
        }
    }

    fn add_rated_answer(
        &mut self,
        rows: &mut Vec<PreferenceRow>,
        rated: RatedAnswer<'_>,
        split: Split,
    ) {
        let sft = self.rule.format == ExportFormat::Sft;
        let unfit = rated.answer.is_empty() || (sft && !rated.good);
        if unfit || !self.check_wanted(rated.evidence) {
            return;
        }
        let (answers, origins) = ([rated.answer], [rated.origin]);
        let Some(provenance) =
            self.admit_row(&rated.prompt, &answers, rated.evidence, &origins, split)
        else {
            return;
        };
        let (mut prompt, completion) = (rated.prompt, Message::assistant(rated.answer));
        let content = if sft {
            prompt.push(completion);
            RowContent::Sft { messages: prompt }
        } else {
            RowContent::Kto { prompt, completion: vec![completion], label: rated.good }
        };
        rows.push(PreferenceRow { content, provenance });
    }

    /// True for formats with one answer per row.
    fn is_unpaired(&self) -> bool {
        matches!(self.rule.format, ExportFormat::Kto | ExportFormat::Sft)
    }

    fn check_wanted(&mut self, evidence: PairEvidence<'_>) -> bool {
        let wanted = self.is_wanted(evidence);
        self.tally.unsure += u64::from(!wanted && self.rule.sources.contains(&evidence.source));
        wanted
    }

    fn is_wanted(&self, evidence: PairEvidence<'_>) -> bool {
        evidence.confidence >= self.rule.min_confidence.get()
            && self.rule.sources.contains(&evidence.source)
    }

    /// Counts a row, unless it is a duplicate, belongs to another split, or exceeds its cap. A row
    /// found in two splits belongs to the first, so that training and test data never overlap.
    fn admit_row(
        &mut self,
        prompt: &[Message],
        answers: &[&str],
        evidence: PairEvidence<'_>,
        origins: &[AnswerOrigin<'_>],
        split: Split,
    ) -> Option<Provenance> {
        // A blank or erased question is useless for training.
        if prompt.last().is_none_or(|question| question.content.trim().is_empty()) {
            return None;
        }
        let id = hash_answers(prompt, answers, str::to_owned);
        if !self.seen.insert(id) {
            self.tally.repeated += 1;
            return None;
        }
        if self.rule.split.is_some_and(|only| only != split) {
            return None;
        }
        let count = self.tally.rows.entry(evidence.source).or_default();
        if self.rule.caps.get(&evidence.source).is_some_and(|cap| *count >= *cap) {
            self.tally.capped += 1;
            return None;
        }
        *count += 1;
        Some(Provenance {
            id: format!("{id:016x}"),
            source: evidence.source.as_word(),
            margin: round_to_millionths(evidence.margin),
            confidence: round_to_millionths(evidence.confidence),
            split: split.as_word(),
            turn_ids: origins.iter().map(|origin| origin.turn.to_string()).collect(),
            conversation_ids: origins.iter().map(|o| o.conversation.to_string()).collect(),
            experiment: evidence.experiment.to_owned(),
            rewards: origins.iter().map(|o| round_to_millionths(o.reward.value)).collect(),
            reward_weights: origins.iter().map(|o| round_to_millionths(o.reward.weight)).collect(),
        })
    }

    fn build_paired_content(&self, pair: PreferencePair<'_>) -> RowContent {
        let chosen = vec![Message::assistant(pair.chosen)];
        let rejected = vec![Message::assistant(pair.rejected)];
        if self.rule.format != ExportFormat::OpenAiDpo {
            return RowContent::Dpo { prompt: pair.prompt, chosen, rejected };
        }
        RowContent::OpenAi {
            input: OpenAiInput { messages: pair.prompt },
            preferred_output: chosen,
            non_preferred_output: rejected,
        }
    }
}

/// Good or bad, with a margin from 0 to 1; `None` for ratings in the middle.
fn label_mean(mean: f64) -> Option<(bool, f64)> {
    let mean = UnitInterval::new(mean)?;
    let rating = TurnRating { value: mean, confidence: UnitInterval::ONE };
    (rating.is_up() || rating.is_down()).then(|| (rating.is_up(), (mean.get() - 0.5).abs() * 2.0))
}

/// Hashes the prompt, in the given form, and the answers.
fn hash_answers(prompt: &[Message], answers: &[&str], form: fn(&str) -> String) -> u64 {
    let prompt_hash = prompt.iter().fold(Fingerprint::default(), |hash, message| {
        let content = form(&message.content);
        hash.add_part(message.role.as_word().as_bytes()).add_part(content.as_bytes())
    });
    let all = answers
        .iter()
        .fold(prompt_hash, |hash, answer| hash.add_part(b"answer").add_part(answer.as_bytes()));
    all.finish()
}

/// Writes 0.8, not 0.8000000000000000444.
fn round_to_millionths(number: f64) -> f64 {
    (number * 1e6).round() / 1e6
}

/// Votes on answers and pairs, counted before any row is exported. Counting first makes the result
/// independent of order. Sums are in whole millionths for the same reason.
#[derive(Clone, Debug, Default)]
struct Votes {
    ratings: HashMap<u64, RatingSum>,
    /// Total margin for the alphabetically first answer; negative when the second is preferred.
    pairs: HashMap<u64, i64>,
}

#[derive(Clone, Copy, Debug, Default)]
struct RatingSum {
    millionths: i64,
    count: u32,
}

impl Votes {
    fn add_rating(&mut self, prompt: &[Message], answer: &str, value: f64) {
        let key = hash_answers(prompt, &[answer], normalise_question);
        let sum = self.ratings.entry(key).or_default();
        sum.millionths += to_millionths(value);
        sum.count += 1;
    }

    fn mean_rating(&self, prompt: &[Message], answer: &str) -> Option<f64> {
        let sum = self.ratings.get(&hash_answers(prompt, &[answer], normalise_question))?;
        Some(sum.millionths as f64 / f64::from(sum.count) / 1e6)
    }

    fn add_preference(&mut self, pair: &PreferencePair<'_>) {
        let (key, sign) = order_answers(pair);
        *self.pairs.entry(key).or_default() += sign * to_millionths(pair.evidence.margin);
    }

    /// True when the votes for the other answer are at least as strong.
    fn is_contradicted(&self, pair: &PreferencePair<'_>) -> bool {
        let (key, sign) = order_answers(pair);
        self.pairs.get(&key).is_some_and(|sum| sum * sign <= 0)
    }
}

fn to_millionths(number: f64) -> i64 {
    (number * 1e6).round() as i64
}

/// Hash of the pair independent of its direction, and the direction as a sign.
fn order_answers(pair: &PreferencePair<'_>) -> (u64, i64) {
    let (first, second) = (pair.chosen.min(pair.rejected), pair.chosen.max(pair.rejected));
    let key = hash_answers(&pair.prompt, &[first, second], normalise_question);
    (key, if first == pair.chosen { 1 } else { -1 })
}
