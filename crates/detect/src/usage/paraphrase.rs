//! Finds passages that an answer restates in other words, by sentence embeddings.
//!
//! A sentence of the answer restates the item whose sentence is nearest, if that sentence is near
//! enough and clearly nearer than the sentences of all other items and the question. The items of
//! one retrieval have one subject, so nearness alone shows nothing.

use std::sync::Arc;

use embed::built_in;
use model::Vector;
use rustc_hash::{FxHashMap, FxHashSet};

use super::answer_kind::AnswerKind;
use super::parsed_answer::ParsedAnswer;
use super::passages::{PassageContent, TokenRange, content_key, for_each_sentence, hash_sentences};
use super::rule::UsageRule;
use super::runs::iter_runs;
use super::tokenizer::{Gap, Token, TokenKind, TokenizedText};
use super::weight::{WordWeight, weigh_word};
use super::word_lists::word_lists;
use crate::hashed_set::HashedSet;
use crate::lexicon::lexicon;

const MAX_ANSWER_SENTENCES: usize = 24;
/// Passages of all items that are embedded, those with the most words of the answer.
const MAX_PASSAGES: usize = 24;
/// Minimum words and numbers in a sentence of an answer and of an item. Shorter ones are formulas,
/// such as "Best regards".
const MIN_ANSWER_WORDS: usize = 4;
const MIN_ITEM_WORDS: usize = 3;
/// Weight of a common number; a rare word weighs 1.
const NUMBER_WEIGHT: f32 = 0.7;

/// A sentence of the answer, or two neighbouring ones.
struct AnswerPassage {
    range: TokenRange,
    vector: Vector,
}

/// A passage of an item that shares words with the answer.
struct ItemPassage<'i> {
    item: usize,
    text: &'i str,
    /// Total weight of the words that it shares with the answer.
    weight: f32,
}

/// Finds the items that an answer restates.
pub(super) struct ParaphraseSearch<'a, 'i> {
    answer: &'a ParsedAnswer<'a>,
    /// Sentences of prose in the answer.
    answer_sentences: Vec<TokenRange>,
    /// Weight of each word and number of the answer by its key.
    weights: FxHashMap<u32, f32>,
    /// The same by the hash of the word as written.
    word_weights: FxHashMap<u32, f32>,
    word_filter: Box<HashedSet<64>>,
    candidates: Vec<ItemPassage<'i>>,
    /// Items with content.
    items: usize,
    sentences: Vec<SharedSentence>,
}

#[derive(Clone)]
struct SharedSentence {
    range: TokenRange,
    weight: f32,
}

/// The item that a passage of the answer restates.
#[derive(Clone, Copy)]
pub(super) struct Paraphrase {
    pub(super) item: usize,
    /// Inclusive token range in the answer.
    pub(super) first: usize,
    pub(super) last: usize,
    pub(super) cosine: f32,
}

impl<'a, 'i> ParaphraseSearch<'a, 'i> {
    pub(super) fn new(answer: &'a ParsedAnswer<'a>) -> Self {
        let answer_sentences = read_answer_sentences(answer);
        let (mut weights, mut word_weights) = (FxHashMap::default(), FxHashMap::default());
        let tokens = answer_sentences.iter().flat_map(|p| &answer.tokenized.tokens[p.clone()]);
        for token in tokens {
            if let Some(key) = content_key(&answer.tokenized, token) {
                let weight = match token.kind {
                    TokenKind::Letters => weigh_word(&answer.tokenized, token).as_f32(),
                    TokenKind::Number | TokenKind::Mixed | TokenKind::Sign => NUMBER_WEIGHT,
                };
                let known = weights.entry(key).or_insert(weight);
                *known = weight.max(*known);
                let digits = word_lists().number_words.get(&token.hash).copied();
                for hash in std::iter::once(token.hash).chain(digits) {
                    word_weights.insert(hash, weight);
                }
            }
        }
        let word_filter = HashedSet::from_hashes(word_weights.keys().copied()).into();
        Self {
            answer,
            answer_sentences,
            weights,
            word_weights,
            word_filter,
            candidates: Vec::new(),
            items: 0,
            sentences: Vec::new(),
        }
    }

    /// True when the answer has no sentence to compare.
    pub(super) fn is_empty(&self) -> bool {
        self.answer_sentences.is_empty()
    }

    /// Adds the passages of an item that share most with the answer: two sentences, and the better
    /// one with a neighbour.
    pub(super) fn add_item(&mut self, item: usize, content: &'i str, tokenized: &TokenizedText) {
        if self.is_empty() {
            return;
        }
        self.items += 1;
        let mut sentences = std::mem::take(&mut self.sentences);
        sentences.clear();
        for_each_sentence(content, tokenized, 0..tokenized.tokens.len(), |range| {
            let weight = self.weigh_shared(&tokenized.tokens[range.clone()]);
            sentences.push(SharedSentence { range, weight });
        });
        let best = |skip: Option<usize>| {
            let places = (0..sentences.len()).filter(|at| Some(*at) != skip);
            let found = places.max_by(|a, b| sentences[*a].weight.total_cmp(&sentences[*b].weight));
            found.filter(|at| sentences[*at].weight > 0.0)
        };
        if let Some(first) = best(None) {
            let alone = sentences[first].clone();
            let before = first.checked_sub(1).map(|at| &sentences[at]);
            let near = before.into_iter().chain(sentences.get(first + 1));
            let near = near.max_by(|a, b| a.weight.total_cmp(&b.weight));
            let pair = near.map(|near| SharedSentence {
                range: near.range.start.min(alone.range.start)..near.range.end.max(alone.range.end),
                weight: near.weight + alone.weight,
            });
            let second = best(Some(first)).map(|at| sentences[at].clone());
            for SharedSentence { range, weight } in std::iter::once(alone).chain(pair).chain(second)
            {
                let text = text_of(content, tokenized, &range);
                self.candidates.push(ItemPassage { item, text, weight });
            }
        }
        self.sentences = sentences;
    }

    /// Total weight of the words that the answer has in the same form.
    fn weigh_shared(&self, tokens: &[Token]) -> f32 {
        let shared = tokens.iter().filter(|token| self.word_filter.may_contain(token.hash));
        shared.filter_map(|token| self.word_weights.get(&token.hash)).sum()
    }

    /// The best paraphrase of each item, for the items that `wanted` accepts.
    pub(super) fn find_paraphrases(
        mut self,
        rule: &UsageRule,
        wanted: impl Fn(usize) -> bool,
    ) -> Vec<Paraphrase> {
        if self.is_empty() || !self.candidates.iter().any(|passage| wanted(passage.item)) {
            return Vec::new();
        }
        self.candidates.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        self.candidates.truncate(MAX_PASSAGES);
        let vectors: Vec<Vector> =
            self.candidates.iter().map(|passage| built_in().embed(passage.text)).collect();
        let mut found: FxHashMap<usize, Paraphrase> = FxHashMap::default();
        for passage in embed_passages(self.answer, &self.answer_sentences) {
            let Some(paraphrase) = self.find_restated(rule, &passage, &vectors) else { continue };
            let known = found.entry(paraphrase.item).or_insert(paraphrase);
            if paraphrase.cosine > known.cosine {
                *known = paraphrase;
            }
        }
        found.into_values().filter(|paraphrase| wanted(paraphrase.item)).collect()
    }

    /// The item that one passage of the answer restates.
    fn find_restated(
        &self,
        rule: &UsageRule,
        passage: &AnswerPassage,
        vectors: &[Vector],
    ) -> Option<Paraphrase> {
        let cosines: Vec<f32> =
            vectors.iter().map(|vector| passage.vector.cosine(vector).unwrap_or(0.0)).collect();
        let nearest = (0..cosines.len()).max_by(|a, b| cosines[*a].total_cmp(&cosines[*b]))?;
        let item = self.candidates[nearest].item;
        let own = |at: &usize| self.candidates[*at].item == item;
        let others = (0..cosines.len()).filter(|at| !own(at)).map(|at| cosines[at]);
        let question = self.answer.question.as_ref();
        let question = question.and_then(|question| passage.vector.cosine(question));
        // An item without a word of the answer is a rival too, at a cosine of 0.
        let unlike = (self.items > 1).then_some(0.0);
        let rival = others.chain(question).chain(unlike).reduce(f32::max);
        let least = match rival {
            Some(rival) => (rival + rule.paraphrase_margin).max(self.least_cosine(rule)),
            None => rule.lone_paraphrase_cosine,
        };
        let is_paraphrase = |at: &usize| {
            cosines[*at] >= least && self.agrees(rule, passage, self.candidates[*at].text)
        };
        let found = (0..cosines.len()).filter(own).filter(is_paraphrase);
        let cosine = found.map(|at| cosines[at]).reduce(f32::max)?;
        let (first, last) = (passage.range.start, passage.range.end - 1);
        Some(Paraphrase { item, first, last, cosine })
    }

    fn least_cosine(&self, rule: &UsageRule) -> f32 {
        match self.answer.language {
            "en" => rule.paraphrase_cosine,
            _ => rule.foreign_paraphrase_cosine,
        }
    }

    /// True when two passages share enough words, and no number, name or word contradicts. Copied
    /// text is left to the rules for runs, which know formulas.
    fn agrees(&self, rule: &UsageRule, passage: &AnswerPassage, text: &str) -> bool {
        let tokenized = TokenizedText::new(text);
        let own_tokens = &self.answer.tokenized.tokens[passage.range.clone()];
        let own = hash_sentences(self.answer.text, &self.answer.tokenized, passage.range.clone());
        let theirs = hash_sentences(text, &tokenized, 0..tokenized.tokens.len());
        let is_copied = !own.is_disjoint(&theirs) || has_common_run(&tokenized.tokens, own_tokens);
        if is_copied || is_code(&tokenized.tokens) {
            return false;
        }
        let is_name = |token: &Token| is_rare_name(self.answer, &tokenized, token);
        let content = PassageContent::new(&tokenized, 0..tokenized.tokens.len(), is_name);
        let own_content = read_content(self.answer, passage.range.clone());
        let shared = content.keys.intersection(&own_content.keys);
        let weight: f32 = shared.clone().filter_map(|key| self.weights.get(key)).sum();
        let all = content.keys.union(&own_content.keys).count();
        let shared = shared.count();
        let is_copy =
            shared as f32 > rule.copied_word_share * all as f32 || shared == own_content.keys.len();
        content.keys.len() >= MIN_ITEM_WORDS
            && !is_copy
            && weight >= rule.paraphrase_shared_weight
            && !content.contradicts(&own_content)
    }
}

/// Sentences of prose in the answer that are neither formulas nor without information.
fn read_answer_sentences(answer: &ParsedAnswer<'_>) -> Vec<TokenRange> {
    let mut sentences: Vec<TokenRange> = Vec::new();
    if answer.kind == AnswerKind::Code {
        return sentences;
    }
    let (text, tokenized) = (answer.text, &answer.tokenized);
    for_each_sentence(text, tokenized, 0..tokenized.tokens.len(), |range| {
        let tokens = &tokenized.tokens[range.clone()];
        let masked = tokens.iter().filter(|p| answer.is_masked(p.start as usize)).count();
        let is_prose = masked * 2 < tokens.len() && !is_code(tokens);
        let formula = answer.formula[range.clone()].iter().filter(|is_formula| **is_formula);
        let is_formula = formula.count() * 2 > tokens.len();
        let counts = is_prose && !is_formula && !answer.ignored[range.start];
        if counts && sentences.len() < MAX_ANSWER_SENTENCES {
            sentences.push(range);
        }
    });
    sentences
}

/// Embeds each sentence and each pair of neighbours that is long enough to compare.
fn embed_passages(answer: &ParsedAnswer<'_>, sentences: &[TokenRange]) -> Vec<AnswerPassage> {
    let tokenized = &answer.tokenized;
    let embed = |range: &TokenRange| built_in().embed(text_of(answer.text, tokenized, range));
    let vectors: Vec<Vector> = sentences.iter().map(embed).collect();
    let alone = sentences.iter().cloned().zip(vectors.iter().cloned());
    let pairs = sentences.windows(2).zip(vectors.windows(2)).filter_map(|(pair, vectors)| {
        let range = pair[0].start..pair[1].end;
        let is_gapless = pair[0].end == pair[1].start;
        is_gapless.then(|| (range, join_vectors(vectors, pair)))
    });
    let counts = |(range, _): &(TokenRange, Vector)| {
        let tokens = &tokenized.tokens[range.clone()];
        let words = tokens.iter().filter(|token| content_key(tokenized, token).is_some()).count();
        words >= MIN_ANSWER_WORDS && has_known_language(tokens)
    };
    let passages = alone.chain(pairs).filter(counts);
    passages.map(|(range, vector)| AnswerPassage { range, vector }).collect()
}

/// The mean of the vectors of sentences, by their lengths. Nearly the vector of the joined text,
/// without reading it a second time.
fn join_vectors(vectors: &[Vector], ranges: &[TokenRange]) -> Vector {
    let mut sum = vec![0.0; vectors[0].values().len()];
    for (vector, range) in vectors.iter().zip(ranges) {
        let length = range.len() as f32;
        for (total, value) in sum.iter_mut().zip(vector.values()) {
            *total += value * length;
        }
    }
    Vector::new(Arc::clone(vectors[0].model()), sum)
}

fn read_content(answer: &ParsedAnswer<'_>, range: TokenRange) -> PassageContent {
    let is_name = |token: &Token| is_rare_name(answer, &answer.tokenized, token);
    PassageContent::new(&answer.tokenized, range, is_name)
}

fn text_of<'t>(text: &'t str, tokenized: &TokenizedText, range: &TokenRange) -> &'t str {
    let (first, last) = (&tokenized.tokens[range.start], &tokenized.tokens[range.end - 1]);
    &text[first.start as usize..last.end as usize]
}

/// True when many tokens are joined as in code: `a.b(c_d)`.
fn is_code(tokens: &[Token]) -> bool {
    let is_joined = |token: &&Token| match token.gap {
        Gap::Underscore | Gap::Dot | Gap::Tight => true,
        Gap::None => token.kind != TokenKind::Sign,
        Gap::Hyphen | Gap::Apostrophe | Gap::Space | Gap::Break => false,
    };
    tokens.iter().skip(1).filter(is_joined).count() * 4 > tokens.len()
}

fn has_common_run(one: &[Token], other: &[Token]) -> bool {
    let keys: FxHashSet<u64> = iter_runs(one).map(|(_, key)| key).collect();
    iter_runs(other).any(|(_, key)| keys.contains(&key))
}

/// True when a quarter of the words are stop words. In languages without a list of stop words,
/// unrelated sentences share too many words.
fn has_known_language(tokens: &[Token]) -> bool {
    tokens.iter().filter(|token| lexicon().is_stop_word(token.hash)).count() * 4 >= tokens.len()
}

/// True for a rare word with a capital inside a sentence.
fn is_rare_name(answer: &ParsedAnswer<'_>, tokenized: &TokenizedText, token: &Token) -> bool {
    token.is_capitalised
        && token.gap == Gap::Space
        && !answer.capitalises_nouns
        && weigh_word(tokenized, token) == WordWeight::Rare
}
