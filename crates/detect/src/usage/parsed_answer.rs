//! An answer, parsed once so that any number of items can be looked up in it.

use embed::built_in;
use model::Vector;
use rustc_hash::FxHashMap;

use super::answer_kind::AnswerKind;
use super::identifiers::{Identifier, extract_identifiers, is_import};
use super::imports::{Import, collect_imports};
use super::rule::UsageRule;
use super::runs::{RUN_WORDS, iter_runs};
use super::sql_names::SqlNames;
use super::suffix_array::SuffixArray;
use super::tokenizer::{Gap, Token, TokenKind, TokenizedText};
use super::weight::{WordWeight, is_distinctive, weigh_code_word, weigh_word};
use super::word_lists::{FORMULA_WORDS, hash_run, word_lists};
use crate::hashed_set::HashedSet;
use crate::language::{MODEL_LANGUAGES, detect_language};
use crate::text::{FoldedText, mask_code_and_quotes};

/// Rejects most absent keys, from a table that fits into the CPU cache.
type KeyFilter = Box<HashedSet<256>>;

fn fold_key(key: u64) -> u32 {
    (key ^ key >> 32) as u32
}

/// A word run that is rare enough to be evidence.
#[derive(Clone, Copy, Debug)]
pub(super) struct RareRun {
    pub(super) at: u32,
    pub(super) rarity: f32,
    pub(super) sentence: u32,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct DistinctiveWord {
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
    pub(super) runs: u32,
    /// True without numbers, names, identifiers and quotations.
    pub(super) is_plain: bool,
}

#[derive(Clone, Debug)]
pub struct ParsedAnswer<'a> {
    pub(super) text: &'a str,
    pub(super) kind: AnswerKind,
    pub(super) tokenized: TokenizedText,
    /// Tokens that are no evidence: in a sentence that repeats the question, or in an import.
    pub(super) ignored: Vec<bool>,
    /// Tokens inside formulas.
    pub(super) formula: Vec<bool>,
    /// The text with code, quotations and quoted lines masked, byte for byte.
    pub(super) prose: String,
    /// Runs that are neither everyday words nor formulas.
    runs: FxHashMap<u64, RareRun>,
    run_filter: KeyFilter,
    pub(super) identifiers: FxHashMap<u32, Identifier>,
    pub(super) sentences: Vec<Sentence>,
    distinctive_words: FxHashMap<u32, DistinctiveWord>,
    word_filter: KeyFilter,
    pub(super) suffixes: SuffixArray,
    /// True when nouns are capitalised, as in German and in titles. Capitals then mark no names.
    pub(super) capitalises_nouns: bool,
    pub(super) language: &'static str,
    pub(super) sql: SqlNames,
    pub(super) imports: Vec<Import>,
    /// Embedding of the question.
    pub(super) question: Option<Vector>,
}

impl<'a> ParsedAnswer<'a> {
    /// Parses an answer up to the byte limit of the rule. Accepts any text.
    pub fn parse(rule: &UsageRule, text: &'a str, kind: AnswerKind) -> Self {
        let text = &text[..text.floor_char_boundary(rule.most_answer_bytes)];
        let tokenized = TokenizedText::new(text);
        let mut known = FxHashMap::default();
        let weight = match kind {
            AnswerKind::Response => weigh_word,
            AnswerKind::Code => weigh_code_word,
        };
        let weigh = |p: &Token| *known.entry(p.hash).or_insert_with(|| weight(&tokenized, p));
        let weights: Vec<WordWeight> = tokenized.tokens.iter().map(weigh).collect();
        let mut ignored = vec![false; tokenized.tokens.len()];
        let hashes: Vec<u32> = tokenized.tokens.iter().map(|token| token.hash).collect();
        ignore_uninformative_sentences(text, &tokenized, &hashes, &mut ignored);
        ignore_boilerplate_lines(text, &tokenized, &mut ignored);
        let formula = mark_formula_tokens(&hashes);
        let excluded: Vec<bool> = ignored.iter().zip(&formula).map(|(a, b)| a | b).collect();
        let language = MODEL_LANGUAGES[detect_language(&FoldedText::new(text))];
        let capitalises_nouns = language == "de" || has_many_capitals(&tokenized, &weights);
        let prose = mask_code_and_quotes(text);
        let sentence_indexes = index_sentences(&tokenized);
        let mut sentences =
            collect_sentences(&tokenized, &sentence_indexes, &prose, capitalises_nouns);
        let runs =
            collect_rare_runs(rule, &tokenized, &weights, &ignored, &formula, &sentence_indexes);
        runs.values().for_each(|run| sentences[run.sentence as usize].runs += 1);
        let mut identifiers = FxHashMap::default();
        for found in extract_identifiers(text, &tokenized) {
            if !ignored[found.first as usize] {
                identifiers.entry(found.key).or_insert(found);
            }
        }
        let distinctive_words =
            collect_distinctive_words(&tokenized, &weights, &excluded, &sentence_indexes);
        let sql = SqlNames::new(text, &prose, kind, &tokenized, &ignored);
        let is_code = |at: usize| {
            kind == AnswerKind::Code || prose.as_bytes().get(at) != text.as_bytes().get(at)
        };
        let imports = collect_imports(text, is_code);
        Self {
            question: None,
            language,
            sql,
            imports,
            run_filter: HashedSet::from_hashes(runs.keys().map(|key| fold_key(*key))).into(),
            word_filter: HashedSet::from_hashes(distinctive_words.keys().copied()).into(),
            runs,
            sentences,
            identifiers,
            distinctive_words,
            suffixes: SuffixArray::new(&tokenized),
            capitalises_nouns,
            prose,
            text,
            kind,
            tokenized,
            ignored,
            formula,
        }
    }

    /// Adds the question, so that a sentence that only restates the question is no evidence.
    #[must_use]
    pub fn with_question(self, question: &str) -> Self {
        let vector = built_in().embed(question);
        Self { question: (!vector.is_zero()).then_some(vector), ..self }
    }

    #[inline]
    pub(super) fn find_run(&self, key: u64) -> Option<&RareRun> {
        self.run_filter.may_contain(fold_key(key)).then(|| self.runs.get(&key)).flatten()
    }

    #[inline]
    pub(super) fn find_distinctive_word(&self, hash: u32) -> Option<&DistinctiveWord> {
        self.word_filter.may_contain(hash).then(|| self.distinctive_words.get(&hash)).flatten()
    }

    /// The tokens as written, from the first to the last.
    pub(super) fn written_text(&self, first: usize, last: usize) -> &'a str {
        let tokens = &self.tokenized.tokens;
        &self.text[tokens[first].start as usize..tokens[last].end as usize]
    }

    /// The text between a token and the one before it.
    pub(super) fn separator_before(&self, at: usize) -> &'a str {
        let tokens = &self.tokenized.tokens;
        &self.text[tokens[at - 1].end as usize..tokens[at].start as usize]
    }

    /// True when a byte is inside code or a quotation.
    pub(super) fn is_masked(&self, at: usize) -> bool {
        self.prose.as_bytes().get(at) != self.text.as_bytes().get(at)
    }
}

/// Ignores sentences that repeat the question or report that nothing was found. They name items
/// without using them.
fn ignore_uninformative_sentences(
    text: &str,
    tokenized: &TokenizedText,
    hashes: &[u32],
    ignored: &mut [bool],
) {
    let tokens = &tokenized.tokens;
    let mut first = 0;
    while first < tokens.len() {
        let rest = &tokens[first + 1..];
        let end =
            rest.iter().position(|p| p.gap == Gap::Break).map_or(tokens.len(), |n| first + 1 + n);
        let after = tokens.get(end).map_or(text.len(), |next| next.start as usize);
        let tail = &text[tokens[end - 1].end as usize..after];
        let opens_asking = first == 0 && tail.trim_start_matches(['"', '`', ')']).starts_with('?');
        if opens_asking || word_lists().is_uninformative(&hashes[first..end]) {
            ignored[first..end].fill(true);
        }
        first = end;
    }
}

fn index_sentences(tokenized: &TokenizedText) -> Vec<u32> {
    let mut place = 0;
    let count = |(at, token): (usize, &Token)| {
        place += u32::from(at > 0 && token.gap == Gap::Break);
        place
    };
    tokenized.tokens.iter().enumerate().map(count).collect()
}

fn collect_sentences(
    tokenized: &TokenizedText,
    sentence_indexes: &[u32],
    prose: &str,
    capitalises_nouns: bool,
) -> Vec<Sentence> {
    let count = sentence_indexes.last().map_or(0, |last| *last as usize + 1);
    let empty = Sentence { first: u32::MAX, end: 0, runs: 0, is_plain: true };
    let mut sentences = vec![empty; count];
    for ((token, place), at) in tokenized.tokens.iter().zip(sentence_indexes).zip(0u32..) {
        let sentence = &mut sentences[*place as usize];
        (sentence.first, sentence.end) = (sentence.first.min(at), at + 1);
        let figure = matches!(token.kind, TokenKind::Number | TokenKind::Mixed);
        let name = token.is_capitalised && token.gap == Gap::Space && !capitalises_nouns;
        let code = matches!(token.gap, Gap::None | Gap::Underscore | Gap::Dot | Gap::Tight);
        let quoted = prose.as_bytes().get(token.start as usize) == Some(&b' ');
        let is_specific = figure || name || quoted || (code && token.kind != TokenKind::Sign);
        sentence.is_plain &= !is_specific;
    }
    sentences
}

/// Ignores import and copyright lines, which unrelated programs share.
fn ignore_boilerplate_lines(text: &str, tokenized: &TokenizedText, ignored: &mut [bool]) {
    let mut line_start = 0;
    let mut token = 0;
    for line in text.split_inclusive('\n') {
        let line_end = line_start + line.len();
        let is_ignored = is_import(line.trim_start()) || is_copyright(line);
        while let Some(found) = tokenized.tokens.get(token) {
            if found.start as usize >= line_end {
                break;
            }
            ignored[token] |= is_ignored;
            token += 1;
        }
        line_start = line_end;
    }
}

fn is_copyright(line: &str) -> bool {
    let opening = line.trim_start().get(..40).unwrap_or(line);
    ["opyright", "SPDX-", "(c) ", "©"].iter().any(|mark| opening.contains(mark))
}

fn collect_rare_runs(
    rule: &UsageRule,
    tokenized: &TokenizedText,
    weights: &[WordWeight],
    ignored: &[bool],
    formula: &[bool],
    sentence_indexes: &[u32],
) -> FxHashMap<u64, RareRun> {
    let mut runs = FxHashMap::default();
    for (at, key) in iter_runs(&tokenized.tokens) {
        let span = at..at + RUN_WORDS;
        if ignored[span.clone()].contains(&true) {
            continue;
        }
        let is_informative = |i: &usize| !formula[*i];
        let rarity: f32 = span.clone().filter(is_informative).map(|i| weights[i].as_f32()).sum();
        let bare = tokenized.tokens[span].iter().all(|p| p.kind == TokenKind::Number);
        if rarity >= rule.run_rarity && !bare {
            let run = RareRun { at: at as u32, rarity, sentence: sentence_indexes[at] };
            runs.entry(key).or_insert(run);
        }
    }
    runs
}

fn mark_formula_tokens(hashes: &[u32]) -> Vec<bool> {
    let mut formula = vec![false; hashes.len()];
    for (at, run) in hashes.windows(FORMULA_WORDS).enumerate() {
        if word_lists().formulas.contains(&hash_run(run)) {
            formula[at..at + FORMULA_WORDS].fill(true);
        }
    }
    formula
}

fn collect_distinctive_words(
    tokenized: &TokenizedText,
    weights: &[WordWeight],
    excluded: &[bool],
    sentence_indexes: &[u32],
) -> FxHashMap<u32, DistinctiveWord> {
    let mut found: FxHashMap<u32, DistinctiveWord> = FxHashMap::default();
    for (at, token) in tokenized.tokens.iter().enumerate() {
        if excluded[at] || !is_distinctive(token, weights[at]) {
            continue;
        }
        let here = Some(sentence_indexes[at]);
        let is_rare = weights[at] == WordWeight::Rare;
        let word = DistinctiveWord { at: at as u32, is_rare, sentence: here };
        let word = found.entry(token.hash).or_insert(word);
        if word.sentence != here {
            word.sentence = None;
        }
    }
    found
}

fn has_many_capitals(tokenized: &TokenizedText, weights: &[WordWeight]) -> bool {
    let is_inner = |(token, weight): &(&Token, &WordWeight)| {
        token.gap == Gap::Space && token.kind == TokenKind::Letters && **weight > WordWeight::Empty
    };
    let inner = || tokenized.tokens.iter().zip(weights).filter(is_inner);
    let (all, capitals) =
        (inner().count(), inner().filter(|(token, _)| token.is_capitalised).count());
    capitals * 3 > all && all > 5
}
