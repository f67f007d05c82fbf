//! Measures content overlap of an item and an answer: word runs, identifiers and distinctive words.

use rustc_hash::{FxHashMap, FxHashSet};

use super::answer_kind::AnswerKind;
use super::identifiers::{extract_identifiers, imported_identifiers};
use super::parsed_answer::{ParsedAnswer, RareRun};
use super::rule::UsageRule;
use super::runs::{RUN_WORDS, iter_runs};
use super::tokenizer::{Gap, TokenKind, TokenizedText};
use super::weight::{is_distinctive, weigh_word};

#[derive(Default)]
pub(super) struct OverlapBuffers {
    /// Tokens of the content that is measured.
    pub(super) tokenized: TokenizedText,
    seen_words: FxHashSet<u32>,
    /// Cache of distinctive words; the items of a list share many words.
    distinctive_cache: FxHashMap<u32, bool>,
    by_sentence: FxHashMap<u32, CopiedSentence>,
}

#[derive(Clone, Copy, Default)]
struct CopiedSentence {
    runs: u32,
    /// The item has a sentence with the same start and end.
    aligned: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct ContentOverlap {
    /// Runs of the item, capped by `most_runs`.
    total_runs: usize,
    runs: usize,
    total_identifiers: usize,
    identifiers: usize,
    has_long_identifier: bool,
    rarest_run: f32,
    total_words: usize,
    words: usize,
    /// Shared words that support a name match.
    pub(super) support: usize,
    /// Token ranges in the answer: the longest stretch of shared runs, the first shared identifier,
    /// and the first shared rare word.
    run_span: Option<(usize, usize)>,
    identifier_span: Option<(usize, usize)>,
    word_span: Option<(usize, usize)>,
}

impl ContentOverlap {
    /// Measures the content that the buffers hold tokenized.
    pub(super) fn measure(
        rule: &UsageRule,
        answer: &ParsedAnswer<'_>,
        content: &str,
        name_words: &FxHashSet<u32>,
        buffers: &mut OverlapBuffers,
    ) -> Self {
        let mut overlap = Self::default();
        overlap.count_runs(rule, answer, buffers);
        overlap.count_identifiers(answer, content, buffers);
        overlap.count_words(rule, answer, name_words, buffers);
        overlap.support += overlap.identifiers;
        overlap
    }

    /// Keeps only runs as evidence, for an item whose words belong to something else.
    pub(super) fn discard_words(&mut self) {
        (self.identifiers, self.has_long_identifier, self.words, self.support) = (0, false, 0, 0);
    }

    /// Token range and share of the evidence; `None` when the overlap is too small.
    pub(super) fn find_evidence(
        &self,
        rule: &UsageRule,
        answer: &ParsedAnswer<'_>,
    ) -> Option<(usize, usize, f64)> {
        let share = |some: usize, all: usize| if all == 0 { 0.0 } else { some as f64 / all as f64 };
        let run_share = share(self.runs, self.total_runs);
        let has_lone_run =
            self.rarest_run >= rule.lone_run_rarity && answer.kind == AnswerKind::Response;
        let least = match answer.kind {
            AnswerKind::Response => rule.least_runs,
            AnswerKind::Code => rule.least_runs_in_code,
        };
        let enough = self.runs >= least || has_lone_run;
        if enough && run_share >= rule.run_share {
            return self.run_span.map(|(first, last)| (first, last, run_share.min(1.0)));
        }
        let identifier_share = share(self.identifiers, self.total_identifiers);
        let enough = self.identifiers >= rule.least_identifiers || self.has_long_identifier;
        if enough && identifier_share >= rule.identifier_share {
            return self.identifier_span.map(|(first, last)| (first, last, identifier_share));
        }
        let word_share = share(self.words, self.total_words);
        if word_share >= rule.word_share {
            return self.word_span.map(|(first, last)| (first, last, word_share));
        }
        None
    }

    fn count_runs(
        &mut self,
        rule: &UsageRule,
        answer: &ParsedAnswer<'_>,
        buffers: &mut OverlapBuffers,
    ) {
        let (tokenized, by_sentence) = (&buffers.tokenized, &mut buffers.by_sentence);
        by_sentence.clear();
        // Ideographs count as half a word.
        let (mut ideographs, mut words) = (0, 0);
        let mut stretch: Option<(usize, usize)> = None;
        for (from, key) in iter_runs(&tokenized.tokens) {
            self.total_runs += 1;
            let Some(run) = answer.find_run(key) else { continue };
            let at = run.at as usize;
            self.rarest_run = self.rarest_run.max(run.rarity);
            let copied = by_sentence.entry(run.sentence).or_default();
            copied.runs += 1;
            copied.aligned |= is_sentence_aligned(answer, tokenized, run, from);
            if tokenized.tokens[from..from + RUN_WORDS].iter().all(|p| p.kind == TokenKind::Sign) {
                ideographs += 1;
            } else {
                words += 1;
            }
            let extended = match stretch {
                Some((first, last)) if last + 1 == at + RUN_WORDS - 1 => (first, last + 1),
                _ => (at, at + RUN_WORDS - 1),
            };
            stretch = Some(extended);
            let length = |(first, last): (usize, usize)| last - first;
            if self.run_span.is_none_or(|longest| length(extended) > length(longest)) {
                self.run_span = Some(extended);
            }
        }
        self.runs = words + ideographs / 2;
        self.total_runs = self.total_runs.min(rule.most_runs);
    }

    /// Counts shared distinctive words in any order. Weighing the content words is the expensive
    /// part, so it stops as soon as the share is out of reach.
    fn count_words(
        &mut self,
        rule: &UsageRule,
        answer: &ParsedAnswer<'_>,
        name_words: &FxHashSet<u32>,
        buffers: &mut OverlapBuffers,
    ) {
        let (tokens, seen) = (&buffers.tokenized.tokens, &mut buffers.seen_words);
        seen.clear();
        // A fully copied sentence without specifics is an unlisted formula, unless other sentences
        // show that the answer uses the item.
        let is_formula = |sentence: &u32| {
            let all = answer.sentences[*sentence as usize];
            let copied = buffers.by_sentence.get(sentence).copied().unwrap_or_default();
            let whole = copied.runs >= all.runs && copied.aligned;
            all.is_plain && whole && answer.sentences.len() > 1
        };
        let formulas = buffers.by_sentence.iter().filter(|(sentence, _)| is_formula(sentence));
        let formula_runs: u32 = formulas.map(|(_, copied)| copied.runs).sum();
        let (mut first, mut shared, mut rare, mut elsewhere) = (None, 0, 0, 0);
        for token in tokens {
            let Some(word) = answer.find_distinctive_word(token.hash) else { continue };
            if seen.insert(token.hash) {
                self.support += usize::from(!name_words.contains(&token.hash));
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
        for token in tokens {
            if !seen.insert(token.hash) {
                continue;
            }
            let weigh = || is_distinctive(token, weigh_word(&buffers.tokenized, token));
            if *buffers.distinctive_cache.entry(token.hash).or_insert_with(weigh) {
                all += 1;
                if all > most {
                    return;
                }
            }
        }
        (self.words, self.total_words) = (shared, all);
        self.word_span = first.map(|at| (at, at));
    }

    fn count_identifiers(
        &mut self,
        answer: &ParsedAnswer<'_>,
        content: &str,
        buffers: &mut OverlapBuffers,
    ) {
        let imported = imported_identifiers(content);
        let (tokenized, seen) = (&buffers.tokenized, &mut buffers.seen_words);
        seen.clear();
        for found in extract_identifiers(content, tokenized) {
            if imported.contains(&found.key) || !seen.insert(found.key) {
                continue;
            }
            self.total_identifiers += 1;
            if let Some(there) = answer.identifiers.get(&found.key) {
                self.identifiers += 1;
                self.has_long_identifier |= there.is_long;
                self.identifier_span.get_or_insert((there.first as usize, there.last as usize));
            }
        }
    }
}

/// True when the sentence of a shared run starts and ends at the same words in answer and item.
fn is_sentence_aligned(
    answer: &ParsedAnswer<'_>,
    item: &TokenizedText,
    run: &RareRun,
    from: usize,
) -> bool {
    let sentence = answer.sentences[run.sentence as usize];
    let (before, after) = (run.at - sentence.first, sentence.end - run.at);
    let Some(begin) = from.checked_sub(before as usize) else { return false };
    let breaks = |at: usize| item.tokens.get(at).is_none_or(|token| token.gap == Gap::Break);
    breaks(begin) && breaks(from + after as usize)
}
