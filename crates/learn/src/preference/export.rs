//! From pairs to rows: what is sure enough, of the wanted part and source, not there yet, and in the
//! shape that was asked for.

use std::collections::{BTreeMap, HashSet};

use model::UnitInterval;

use super::across::{self, AnsweredElsewhere};
use super::pair::{Origin, Pair, PairSource, Single};
use super::rule::{ExportFormat, ExportRule};
use super::shape::{
    DpoRow, KtoRow, Message, OpenAiInput, OpenAiRow, PreferenceRow, Provenance, SftRow,
};
use super::split::Split;
use super::turn::{PreferenceConversation, TurnRating};
use super::votes::Votes;
use super::within;
use crate::fingerprint::Fingerprint;

/// What became of the pairs that were found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExportTally {
    /// Rows that were handed out, by source.
    pub rows: BTreeMap<PairSource, u64>,
    /// Rows that were there already.
    pub repeated: u64,
    /// Pairs that were not sure enough.
    pub unsure: u64,
    /// Rows beyond the cap of their source.
    pub capped: u64,
}

/// Makes rows of conversations and of groups, one at a time. The same input in the same order gives
/// the same rows, so that an export can be taken up again after the last row that arrived.
#[derive(Clone, Debug)]
pub struct Exporter {
    rule: ExportRule,
    seen: HashSet<u64>,
    votes: Votes,
    tally: ExportTally,
}

impl Exporter {
    /// Nothing was handed out yet.
    pub fn new(rule: ExportRule) -> Self {
        Self { rule, seen: HashSet::new(), votes: Votes::default(), tally: ExportTally::default() }
    }

    /// What became of the pairs so far.
    pub fn tally(&self) -> &ExportTally {
        &self.tally
    }

    /// Counts what a conversation says of its answers. To be done with all before rows are made of the
    /// first: then an answer that several rated gets one label, by their mean, and of two answers only
    /// one is the better one.
    pub fn weigh(&mut self, conversation: &PreferenceConversation) {
        let context = self.rule.context_turns;
        if !self.takes_singles() {
            for pair in within::pairs(conversation, context) {
                if self.is_folder_requested(pair.source, pair.confidence) {
                    self.votes.prefer(&pair);
                }
            }
            return;
        }
        for single in within::singles(conversation, context) {
            if let (Some(value), true) =
                (single.rating, self.is_folder_requested(single.source, single.confidence))
            {
                self.votes.rate(&single.prompt, single.answer, value);
            }
        }
    }

    /// Rows from one conversation: corrections, regenerated and rephrased questions; for shapes
    /// without pairs also every rated answer by itself.
    pub fn conversation(&mut self, conversation: &PreferenceConversation) -> Vec<PreferenceRow> {
        let split = self.rule.shares.of(&conversation.id);
        let context = self.rule.context_turns;
        let mut rows = Vec::new();
        for pair in within::pairs(conversation, context) {
            self.add(&mut rows, pair, split);
        }
        if self.takes_singles() {
            for single in within::singles(conversation, context) {
                let mean = self.votes.mean(&single.prompt, single.answer).or(single.rating);
                let Some((good, margin)) = mean.and_then(label) else { continue };
                self.add_single(&mut rows, Single { good, margin, ..single }, split);
            }
        }
        rows
    }

    /// Rows from answers to the same question, in whichever conversations.
    pub fn group(&mut self, answers: &[AnsweredElsewhere<'_>]) -> Vec<PreferenceRow> {
        let mut rows = Vec::new();
        for pair in across::pairs(answers, self.rule.shares, self.rule.context_turns) {
            // Where answers stand by themselves, those that were rated are there already.
            if self.takes_singles() && pair.source == PairSource::Rating {
                continue;
            }
            let split = self.rule.shares.of(pair.better.conversation);
            self.add(&mut rows, pair, split);
        }
        rows
    }

    fn add(&mut self, rows: &mut Vec<PreferenceRow>, pair: Pair<'_>, split: Split) {
        if pair.chosen == pair.rejected || !self.wants(pair.source, pair.confidence) {
            return;
        }
        match self.rule.format {
            ExportFormat::Dpo | ExportFormat::Reward | ExportFormat::OpenAiDpo => {
                let origins = [pair.better, pair.worse];
                let answers = [pair.chosen, pair.rejected];
                if answers.contains(&"") || self.votes.contradict(&pair) {
                    return;
                }
                let told = Told::of(&pair);
                let Some(provenance) = self.enter(&pair.prompt, &answers, told, &origins, split)
                else {
                    return;
                };
                rows.push(self.paired(pair, provenance));
            }
            ExportFormat::Kto | ExportFormat::Sft => {
                for single in pair.singles() {
                    let mean = self.votes.mean(&single.prompt, single.answer);
                    let tried = single.source == PairSource::Experiment;
                    // One of those who rated it must not stand for all.
                    let agrees = |mean| label(mean).is_some_and(|(good, _)| good == single.good);
                    if !tried || mean.is_none_or(agrees) {
                        self.add_single(rows, single, split);
                    }
                }
            }
        }
    }

    fn add_single(&mut self, rows: &mut Vec<PreferenceRow>, single: Single<'_>, split: Split) {
        let sft = self.rule.format == ExportFormat::Sft;
        let unfit = single.answer.is_empty() || (sft && !single.good);
        if unfit || !self.wants(single.source, single.confidence) {
            return;
        }
        let told = Told {
            source: single.source,
            experiment: single.experiment,
            margin: single.margin,
            confidence: single.confidence,
        };
        let answers = [single.answer];
        let Some(provenance) = self.enter(&single.prompt, &answers, told, &[single.given], split)
        else {
            return;
        };
        let completion = Message::assistant(single.answer);
        rows.push(if sft {
            let mut messages = single.prompt;
            messages.push(completion);
            PreferenceRow::Sft(SftRow { messages, provenance })
        } else {
            let (prompt, label) = (single.prompt, single.good);
            PreferenceRow::Kto(KtoRow { prompt, completion: vec![completion], label, provenance })
        });
    }

    /// Whether rows are made of one answer each.
    fn takes_singles(&self) -> bool {
        matches!(self.rule.format, ExportFormat::Kto | ExportFormat::Sft)
    }

    fn wants(&mut self, source: PairSource, confidence: f64) -> bool {
        let wanted = self.is_folder_requested(source, confidence);
        self.tally.unsure += u64::from(!wanted && self.rule.sources.contains(&source));
        wanted
    }

    fn is_folder_requested(&self, source: PairSource, confidence: f64) -> bool {
        confidence >= self.rule.min_confidence.get() && self.rule.sources.contains(&source)
    }

    /// Counts a row in, unless it was there, is of another part, or its source has had its share. A
    /// row that comes up in two parts belongs to the first, also when only the other is wanted:
    /// otherwise the same words would be learnt from and measured with.
    fn enter(
        &mut self,
        prompt: &[Message],
        answers: &[&str],
        told: Told<'_>,
        origins: &[Origin<'_>],
        split: Split,
    ) -> Option<Provenance> {
        // Nothing is known of the question, or nothing any more: nobody can learn from that.
        if prompt.last().is_none_or(|asked| asked.content.trim().is_empty()) {
            return None;
        }
        let id = row_id(prompt, answers);
        if !self.seen.insert(id) {
            self.tally.repeated += 1;
            return None;
        }
        if self.rule.split.is_some_and(|only| only != split) {
            return None;
        }
        let count = self.tally.rows.entry(told.source).or_default();
        if self.rule.caps.get(&told.source).is_some_and(|cap| *count >= *cap) {
            self.tally.capped += 1;
            return None;
        }
        *count += 1;
        Some(Provenance {
            id: format!("{id:016x}"),
            source: told.source.as_word(),
            margin: rounded(told.margin),
            confidence: rounded(told.confidence),
            split: split.as_word(),
            turn_ids: origins.iter().map(|origin| origin.turn.to_string()).collect(),
            conversation_ids: origins.iter().map(|o| o.conversation.to_string()).collect(),
            experiment: told.experiment.to_owned(),
        })
    }

    fn paired(&self, pair: Pair<'_>, provenance: Provenance) -> PreferenceRow {
        let chosen = vec![Message::assistant(pair.chosen)];
        let rejected = vec![Message::assistant(pair.rejected)];
        if self.rule.format == ExportFormat::OpenAiDpo {
            return PreferenceRow::OpenAi(OpenAiRow {
                input: OpenAiInput { messages: pair.prompt },
                preferred_output: chosen,
                non_preferred_output: rejected,
                provenance,
            });
        }
        PreferenceRow::Dpo(DpoRow { prompt: pair.prompt, chosen, rejected, provenance })
    }
}

/// What is said about a row besides its words.
#[derive(Clone, Copy)]
struct Told<'a> {
    source: PairSource,
    experiment: &'a str,
    margin: f64,
    confidence: f64,
}

impl<'a> Told<'a> {
    fn of(pair: &Pair<'a>) -> Self {
        Self {
            source: pair.source,
            experiment: pair.experiment,
            margin: pair.margin,
            confidence: pair.confidence,
        }
    }
}

/// Good or bad, and how clearly; nothing where ratings are in the middle.
fn label(mean: f64) -> Option<(bool, f64)> {
    let mean = UnitInterval::new(mean)?;
    let rating = TurnRating { value: mean, confidence: UnitInterval::ONE };
    (rating.is_up() || rating.is_down()).then(|| (rating.is_up(), (mean.get() - 0.5).abs() * 2.0))
}

fn row_id(prompt: &[Message], answers: &[&str]) -> u64 {
    let said = prompt.iter().fold(Fingerprint::new(), |hash, message| {
        hash.part(message.role.as_word().as_bytes()).part(message.content.as_bytes())
    });
    let all =
        answers.iter().fold(said, |hash, answer| hash.part(b"answer").part(answer.as_bytes()));
    all.finish()
}

/// 0.8, not 0.8000000000000000444.
fn rounded(number: f64) -> f64 {
    (number * 1e6).round() / 1e6
}
