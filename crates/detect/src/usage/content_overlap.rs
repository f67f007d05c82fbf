//! Measures content overlap of an item and an answer: word runs, identifiers and distinctive words.

use rustc_hash::{FxHashMap, FxHashSet};

use super::identifiers::{identifiers_of, imported};
use super::parsed_answer::{AnswerKind, RareRun, Written};
use super::rule::UsageRule;
use super::runs::{RUN, runs_of};
use super::tokenizer::{Gap, Reading, Sort};
use super::weight::{is_telling, weight_of};

/// Buffers that are reused for the next item.
#[derive(Default)]
pub(super) struct Scratch {
    reading: Reading,
    seen: FxHashSet<u32>,
    /// Cache of distinctive words; the items of a list share many words.
    weighed: FxHashMap<u32, bool>,
    by_sentence: FxHashMap<u32, Copied>,
}

/// Copied part of a sentence of the answer.
#[derive(Clone, Copy, Default)]
struct Copied {
    runs: u32,
    /// The item has a sentence with the same start and end.
    aligned: bool,
}

/// Overlap of an answer with one item.
#[derive(Clone, Debug, Default)]
pub(super) struct Shared {
    /// Runs of the item, capped by `most_runs`.
    all_runs: usize,
    runs: usize,
    all_identifiers: usize,
    identifiers: usize,
    unmistakable: bool,
    /// Highest rarity of a shared run.
    rarest_run: f32,
    all_words: usize,
    words: usize,
    /// Shared words that support a name match.
    pub(super) support: usize,
    /// Token ranges in the answer: the longest stretch of shared runs, the first shared identifier,
    /// and the first shared rare word.
    run_at: Option<(usize, usize)>,
    identifier_at: Option<(usize, usize)>,
    word_at: Option<(usize, usize)>,
}

impl Shared {
    pub(super) fn of(
        rule: &UsageRule,
        answer: &Written<'_>,
        content: &str,
        name_words: &FxHashSet<u32>,
        scratch: &mut Scratch,
    ) -> Self {
        let content = &content[..content.floor_char_boundary(rule.most_content_bytes)];
        scratch.reading.read(content);
        let mut shared = Self::default();
        shared.count_runs(rule, answer, scratch);
        shared.count_identifiers(answer, content, scratch);
        shared.count_words(rule, answer, name_words, scratch);
        shared.support += shared.identifiers;
        shared
    }

    /// Token range and share of the evidence; `None` when the overlap is too small.
    pub(super) fn evidence(
        &self,
        rule: &UsageRule,
        answer: &Written<'_>,
    ) -> Option<(usize, usize, f64)> {
        let share = |some: usize, all: usize| if all == 0 { 0.0 } else { some as f64 / all as f64 };
        let of_runs = share(self.runs, self.all_runs);
        let lone = self.rarest_run >= rule.lone_run_rarity && answer.kind == AnswerKind::Response;
        let least = match answer.kind {
            AnswerKind::Response => rule.least_runs,
            AnswerKind::Code => rule.least_runs_in_code,
        };
        let enough = self.runs >= least || lone;
        if enough && of_runs >= rule.run_share {
            return self.run_at.map(|(first, last)| (first, last, of_runs.min(1.0)));
        }
        let of_identifiers = share(self.identifiers, self.all_identifiers);
        let enough = self.identifiers >= rule.least_identifiers || self.unmistakable;
        if enough && of_identifiers >= rule.identifier_share {
            return self.identifier_at.map(|(first, last)| (first, last, of_identifiers));
        }
        let of_words = share(self.words, self.all_words);
        if of_words >= rule.word_share {
            return self.word_at.map(|(first, last)| (first, last, of_words));
        }
        None
    }

    fn count_runs(&mut self, rule: &UsageRule, answer: &Written<'_>, scratch: &mut Scratch) {
        let (reading, by_sentence) = (&scratch.reading, &mut scratch.by_sentence);
        by_sentence.clear();
        // Ideographs count as half a word.
        let (mut signs, mut words) = (0, 0);
        let mut stretch: Option<(usize, usize)> = None;
        for (from, key) in runs_of(&reading.pieces) {
            self.all_runs += 1;
            if !answer.run_sieve.may_hold(key) {
                continue;
            }
            let Some(run) = answer.runs.get(&key) else { continue };
            let at = run.at as usize;
            self.rarest_run = self.rarest_run.max(run.rarity);
            let copied = by_sentence.entry(run.sentence).or_default();
            copied.runs += 1;
            copied.aligned |= is_aligned(answer, reading, run, from);
            if reading.pieces[from..from + RUN].iter().all(|p| p.sort == Sort::Sign) {
                signs += 1;
            } else {
                words += 1;
            }
            let grown = match stretch {
                Some((first, last)) if last + 1 == at + RUN - 1 => (first, last + 1),
                _ => (at, at + RUN - 1),
            };
            stretch = Some(grown);
            let length = |(first, last): (usize, usize)| last - first;
            if self.run_at.is_none_or(|longest| length(grown) > length(longest)) {
                self.run_at = Some(grown);
            }
        }
        self.runs = words + signs / 2;
        self.all_runs = self.all_runs.min(rule.most_runs);
    }

    /// Counts shared distinctive words in any order. Weighing the content words is the expensive
    /// part, so it stops as soon as the share is out of reach.
    fn count_words(
        &mut self,
        rule: &UsageRule,
        answer: &Written<'_>,
        name_words: &FxHashSet<u32>,
        scratch: &mut Scratch,
    ) {
        let (pieces, seen) = (&scratch.reading.pieces, &mut scratch.seen);
        seen.clear();
        // A fully copied sentence without specifics is an unlisted formula, unless other sentences
        // show that the answer uses the item.
        let is_formula = |sentence: &u32| {
            let all = answer.sentences[*sentence as usize];
            let copied = scratch.by_sentence.get(sentence).copied().unwrap_or_default();
            let whole = copied.runs >= all.runs && copied.aligned;
            all.plain && whole && answer.sentences.len() > 1
        };
        let formulas = scratch.by_sentence.iter().filter(|(sentence, _)| is_formula(sentence));
        let formula_runs: u32 = formulas.map(|(_, copied)| copied.runs).sum();
        let (mut first, mut shared, mut rare, mut elsewhere) = (None, 0, 0, 0);
        for piece in pieces {
            if !answer.word_sieve.may_hold(u64::from(piece.hash)) {
                continue;
            }
            let Some(word) = answer.telling.get(&piece.hash) else { continue };
            if seen.insert(piece.hash) {
                self.support += usize::from(!name_words.contains(&piece.hash));
                shared += 1;
                rare += usize::from(word.is_rare);
                first = first.or(word.is_rare.then_some(word.at as usize));
                elsewhere += usize::from(!word.sentence.as_ref().is_some_and(is_formula));
            }
        }
        if formula_runs > 0 && elsewhere == 0 {
            self.runs = self.runs.saturating_sub(formula_runs as usize);
            self.rarest_run = 0.0;
            return;
        }
        let least_rare = match answer.kind {
            AnswerKind::Response => rule.least_rare_words,
            AnswerKind::Code => rule.least_rare_words * 2,
        };
        if shared < rule.least_words || rare < least_rare {
            return;
        }
        let most = (shared as f64 / rule.word_share) as usize;
        seen.clear();
        let mut all = 0;
        for piece in pieces {
            if !seen.insert(piece.hash) {
                continue;
            }
            let weigh = || is_telling(piece, weight_of(&scratch.reading, piece));
            if *scratch.weighed.entry(piece.hash).or_insert_with(weigh) {
                all += 1;
                if all > most {
                    return;
                }
            }
        }
        (self.words, self.all_words) = (shared, all);
        self.word_at = first.map(|at| (at, at));
    }

    fn count_identifiers(&mut self, answer: &Written<'_>, content: &str, scratch: &mut Scratch) {
        let imported = imported(content);
        let (reading, seen) = (&scratch.reading, &mut scratch.seen);
        seen.clear();
        for found in identifiers_of(content, reading) {
            if imported.contains(&found.key) || !seen.insert(found.key) {
                continue;
            }
            self.all_identifiers += 1;
            if let Some(there) = answer.identifiers.get(&found.key) {
                self.identifiers += 1;
                self.unmistakable |= there.unmistakable;
                self.identifier_at.get_or_insert((there.first as usize, there.last as usize));
            }
        }
    }
}

/// True when the sentence of a shared run starts and ends at the same words in answer and item.
fn is_aligned(answer: &Written<'_>, item: &Reading, run: &RareRun, from: usize) -> bool {
    let sentence = answer.sentences[run.sentence as usize];
    let (before, after) = (run.at - sentence.first, sentence.end - run.at);
    let Some(begin) = from.checked_sub(before as usize) else { return false };
    let breaks = |at: usize| item.pieces.get(at).is_none_or(|piece| piece.gap == Gap::Break);
    breaks(begin) && breaks(from + after as usize)
}
