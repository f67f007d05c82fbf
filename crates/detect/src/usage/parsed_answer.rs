//! An answer, parsed once so that any number of items can be looked up in it.

use rustc_hash::FxHashMap;

use super::bloom_filter::Sieve;
use super::identifiers::{Identifier, identifiers_of, is_import};
use super::rule::UsageRule;
use super::runs::{RUN, runs_of};
use super::suffix_array::Places;
use super::tokenizer::{Gap, Piece, Reading, Sort};
use super::weight::{Weight, is_telling, weight_in_code, weight_of};
use super::word_lists::{FORMULA_RUN, lists, run_key};
use crate::language::{LANGUAGES, language_of};
use crate::text::{Text, speech_only};

/// Kind of text that was produced from the retrieved items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AnswerKind {
    /// Prose for a reader, possibly with code.
    Response,
    /// Code that was written to a file.
    Code,
}

/// A word run that is rare enough to be evidence.
#[derive(Clone, Copy, Debug)]
pub(super) struct RareRun {
    /// Index of its first token.
    pub(super) at: u32,
    pub(super) rarity: f32,
    pub(super) sentence: u32,
}

/// A distinctive word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Telling {
    /// Index of its first token.
    pub(super) at: u32,
    pub(super) is_rare: bool,
    /// The sentence, when only one contains the word.
    pub(super) sentence: Option<u32>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sentence {
    /// Token range, end exclusive.
    pub(super) first: u32,
    pub(super) end: u32,
    /// Number of rare runs.
    pub(super) runs: u32,
    /// True without numbers, names, identifiers and quotations.
    pub(super) plain: bool,
}

/// A parsed answer.
#[derive(Clone, Debug)]
pub struct Written<'a> {
    pub(super) text: &'a str,
    pub(super) kind: AnswerKind,
    pub(super) reading: Reading,
    /// Tokens that are no evidence: in a sentence that repeats the question, or in an import.
    pub(super) silent: Vec<bool>,
    /// The text with code, quotations and quoted lines masked, byte for byte.
    pub(super) speech: String,
    /// Runs that are neither everyday words nor formulas.
    pub(super) runs: FxHashMap<u64, RareRun>,
    /// Prefilter of `runs`.
    pub(super) run_sieve: Sieve,
    pub(super) identifiers: FxHashMap<u32, Identifier>,
    pub(super) sentences: Vec<Sentence>,
    pub(super) telling: FxHashMap<u32, Telling>,
    pub(super) word_sieve: Sieve,
    pub(super) places: Places,
    /// True when nouns are capitalised, as in German and in titles. Capitals then mark no names.
    pub(super) many_capitals: bool,
}

impl<'a> Written<'a> {
    /// Parses an answer up to the byte limit of the rule. Accepts any text.
    pub fn read(rule: &UsageRule, text: &'a str, kind: AnswerKind) -> Self {
        let text = &text[..text.floor_char_boundary(rule.most_answer_bytes)];
        let reading = Reading::of(text);
        let mut known = FxHashMap::default();
        let weight = match kind {
            AnswerKind::Response => weight_of,
            AnswerKind::Code => weight_in_code,
        };
        let weigh = |p: &Piece| *known.entry(p.hash).or_insert_with(|| weight(&reading, p));
        let weights: Vec<Weight> = reading.pieces.iter().map(weigh).collect();
        let mut silent = vec![false; reading.pieces.len()];
        silence_sentences(text, &reading, &mut silent);
        silence_lines(text, &reading, &mut silent);
        let formula = formula_pieces(&reading);
        let quiet: Vec<bool> = silent.iter().zip(&formula).map(|(a, b)| a | b).collect();
        let german = LANGUAGES[language_of(&Text::read(text))] == "de";
        let many_capitals = german || has_many_capitals(&reading, &weights);
        let speech = speech_only(text);
        let places = sentence_places(&reading);
        let mut sentences = plain_sentences(&reading, &places, &speech, many_capitals);
        let runs = rare_runs(rule, &reading, &weights, &silent, &formula, &places);
        runs.values().for_each(|run| sentences[run.sentence as usize].runs += 1);
        let mut identifiers = FxHashMap::default();
        for found in identifiers_of(text, &reading) {
            if !silent[found.first as usize] {
                identifiers.entry(found.key).or_insert(found);
            }
        }
        let telling = telling_words(&reading, &weights, &quiet, &places);
        Self {
            run_sieve: Sieve::of(runs.keys().copied()),
            word_sieve: Sieve::of(telling.keys().map(|word| u64::from(*word))),
            runs,
            sentences,
            identifiers,
            telling,
            places: Places::of(&reading),
            many_capitals,
            speech,
            text,
            kind,
            reading,
            silent,
        }
    }

    /// True when a byte is inside code or a quotation.
    pub(super) fn is_blanked(&self, at: usize) -> bool {
        self.speech.as_bytes().get(at) != self.text.as_bytes().get(at)
    }
}

/// Silences sentences that repeat the question or report that nothing was found. They name items
/// without using them.
fn silence_sentences(text: &str, reading: &Reading, silent: &mut [bool]) {
    let pieces = &reading.pieces;
    let mut first = 0;
    while first < pieces.len() {
        let rest = &pieces[first + 1..];
        let end =
            rest.iter().position(|p| p.gap == Gap::Break).map_or(pieces.len(), |n| first + 1 + n);
        let after = pieces.get(end).map_or(text.len(), |next| next.start as usize);
        let tail = &text[pieces[end - 1].end as usize..after];
        let opens_asking = first == 0 && tail.trim_start_matches(['"', '`', ')']).starts_with('?');
        if opens_asking || lists().says_nothing(&pieces[first..end]) {
            silent[first..end].fill(true);
        }
        first = end;
    }
}

/// Sentence index of each token.
fn sentence_places(reading: &Reading) -> Vec<u32> {
    let mut place = 0;
    let count = |(at, piece): (usize, &Piece)| {
        place += u32::from(at > 0 && piece.gap == Gap::Break);
        place
    };
    reading.pieces.iter().enumerate().map(count).collect()
}

fn plain_sentences(
    reading: &Reading,
    places: &[u32],
    speech: &str,
    many_capitals: bool,
) -> Vec<Sentence> {
    let count = places.last().map_or(0, |last| *last as usize + 1);
    let empty = Sentence { first: u32::MAX, end: 0, runs: 0, plain: true };
    let mut sentences = vec![empty; count];
    for ((piece, place), at) in reading.pieces.iter().zip(places).zip(0u32..) {
        let sentence = &mut sentences[*place as usize];
        (sentence.first, sentence.end) = (sentence.first.min(at), at + 1);
        let figure = matches!(piece.sort, Sort::Number | Sort::Mixed);
        let name = piece.capital && piece.gap == Gap::Space && !many_capitals;
        let code = matches!(piece.gap, Gap::None | Gap::Underscore | Gap::Dot | Gap::Tight);
        let quoted = speech.as_bytes().get(piece.start as usize) == Some(&b' ');
        let says_something = figure || name || quoted || (code && piece.sort != Sort::Sign);
        sentence.plain &= !says_something;
    }
    sentences
}

/// Silences import and copyright lines, which unrelated programs share.
fn silence_lines(text: &str, reading: &Reading, silent: &mut [bool]) {
    let mut line_start = 0;
    let mut piece = 0;
    for line in text.split_inclusive('\n') {
        let line_end = line_start + line.len();
        let is_silent = is_import(line.trim_start()) || is_copyright(line);
        while let Some(found) = reading.pieces.get(piece) {
            if found.start as usize >= line_end {
                break;
            }
            silent[piece] |= is_silent;
            piece += 1;
        }
        line_start = line_end;
    }
}

fn is_copyright(line: &str) -> bool {
    let opening = line.trim_start().get(..40).unwrap_or(line);
    ["opyright", "SPDX-", "(c) ", "©"].iter().any(|mark| opening.contains(mark))
}

fn rare_runs(
    rule: &UsageRule,
    reading: &Reading,
    weights: &[Weight],
    silent: &[bool],
    formula: &[bool],
    places: &[u32],
) -> FxHashMap<u64, RareRun> {
    let mut runs = FxHashMap::default();
    for (at, key) in runs_of(&reading.pieces) {
        let span = at..at + RUN;
        if silent[span.clone()].contains(&true) {
            continue;
        }
        let told = |i: &usize| !formula[*i];
        let rarity: f32 = span.clone().filter(told).map(|i| weights[i].number()).sum();
        let bare = reading.pieces[span].iter().all(|p| p.sort == Sort::Number);
        if rarity >= rule.run_rarity && !bare {
            runs.entry(key).or_insert(RareRun { at: at as u32, rarity, sentence: places[at] });
        }
    }
    runs
}

/// Marks the tokens that are part of a formula.
fn formula_pieces(reading: &Reading) -> Vec<bool> {
    let mut formula = vec![false; reading.pieces.len()];
    let hashes: Vec<u32> = reading.pieces.iter().map(|p| p.hash).collect();
    for (at, run) in hashes.windows(FORMULA_RUN).enumerate() {
        if lists().formulas.contains(&run_key(run)) {
            formula[at..at + FORMULA_RUN].fill(true);
        }
    }
    formula
}

fn telling_words(
    reading: &Reading,
    weights: &[Weight],
    quiet: &[bool],
    places: &[u32],
) -> FxHashMap<u32, Telling> {
    let mut found: FxHashMap<u32, Telling> = FxHashMap::default();
    for (at, piece) in reading.pieces.iter().enumerate() {
        if quiet[at] || !is_telling(piece, weights[at]) {
            continue;
        }
        let here = Some(places[at]);
        let is_rare = weights[at] == Weight::Rare;
        let word =
            found.entry(piece.hash).or_insert(Telling { at: at as u32, is_rare, sentence: here });
        if word.sentence != here {
            word.sentence = None;
        }
    }
    found
}

fn has_many_capitals(reading: &Reading, weights: &[Weight]) -> bool {
    let inner = reading.pieces.iter().zip(weights).filter(|(piece, weight)| {
        piece.gap == Gap::Space && piece.sort == Sort::Letters && **weight > Weight::Empty
    });
    let (mut all, mut capitals) = (0, 0);
    for (piece, _) in inner {
        all += 1;
        capitals += usize::from(piece.capital);
    }
    capitals * 3 > all && all > 5
}
