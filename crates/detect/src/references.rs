//! Extracts references to answers from a remark: "the first diagram was fine".
//!
//! A reference starts with a determiner or an ordinal and ends at the verb that judges it. Only
//! references that the remark judges or thanks for count. "No, the second one" asks for another
//! answer and judges none.

use std::sync::LazyLock;

use crate::lexicon::lexicon;
use crate::phrases::{Cue, CueHit, PhraseIndex};
use crate::text::{WordKind, stem_word};
use crate::utterance::Utterance;

const ROLE_PHRASES: &str = include_str!("phrases/references.txt");

const MAX_REFERENCE_WORDS: usize = 12;
const MAX_JUDGEMENT_WORDS: usize = 5;
const MAX_OPENING_WORDS: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ordinal {
    /// 1-based; 1 is the oldest.
    Nth(usize),
    Last,
    /// An answer before the last one.
    Previous,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReferentKind {
    Answer,
    Attempt,
    /// A list item, or a turn.
    Item,
    /// A part or an aspect of the last answer.
    Part,
    /// A specific subject: "the login diagram".
    Subject,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PhraseRole {
    Ordinal(Ordinal),
    Determiner,
    Noun(ReferentKind),
    Verb,
    Stop,
    Thanked,
    Liked,
    Demonstrative,
    Start,
    SecondLast,
    Said,
}

/// A phrase that helps to find the answer which order words name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OrderWord {
    Ordinal(Ordinal),
    /// The answer at the beginning.
    Start,
    SecondLast,
    /// "You said", "suggestion".
    Said,
    Determiner,
    Noun(ReferentKind),
    Verb,
    Stop,
}

#[derive(Clone, Debug)]
pub(crate) struct AnswerReference {
    pub ordinal: Option<Ordinal>,
    pub kind: ReferentKind,
    pub stems: Vec<String>,
    pub span: (usize, usize),
    /// `None` without a verb; `Some(None)` when the judgement is unclear; else true when positive.
    pub judgement: Option<Option<bool>>,
    pub is_thanked_for: bool,
}

impl AnswerReference {
    /// True when an ordinal selects an answer and the remark judges it.
    pub(crate) fn selects_earlier_answer(&self) -> bool {
        self.ordinal.is_some()
            && self.kind != ReferentKind::Part
            && (self.judgement.is_some() || self.is_thanked_for)
    }
}

static ROLES: LazyLock<PhraseIndex<PhraseRole>> = LazyLock::new(|| {
    PhraseIndex::parse_files(&[ROLE_PHRASES], |name, _| parse_role(name)).longest_first()
});

fn parse_role(name: &str) -> Option<PhraseRole> {
    let role = match name {
        "last" => PhraseRole::Ordinal(Ordinal::Last),
        "before" => PhraseRole::Ordinal(Ordinal::Previous),
        "determiner" => PhraseRole::Determiner,
        "answer" => PhraseRole::Noun(ReferentKind::Answer),
        "attempt" => PhraseRole::Noun(ReferentKind::Attempt),
        "item" => PhraseRole::Noun(ReferentKind::Item),
        "part" => PhraseRole::Noun(ReferentKind::Part),
        "verb" => PhraseRole::Verb,
        "stop" => PhraseRole::Stop,
        "thanked" => PhraseRole::Thanked,
        "liked" => PhraseRole::Liked,
        "here" => PhraseRole::Demonstrative,
        "start" => PhraseRole::Start,
        "second last" => PhraseRole::SecondLast,
        "said" => PhraseRole::Said,
        _ => PhraseRole::Ordinal(Ordinal::Nth(name.strip_prefix("nth ")?.parse().ok()?)),
    };
    Some(role)
}

/// Groups of stems that name the same kind of thing.
pub(crate) static SYNONYM_GROUPS: LazyLock<Vec<Vec<&str>>> = LazyLock::new(|| {
    let lines = ROLE_PHRASES.lines().filter_map(|line| line.strip_prefix("same: "));
    lines.map(|line| line.split(" | ").map(stem_word).collect()).collect()
});

struct ReferenceParser<'a> {
    message: &'a Utterance,
    /// Hash of each word, punctuation included.
    hashes: Vec<u32>,
    /// For each word, the number of words before it without punctuation.
    word_counts: Vec<usize>,
}

/// Returns every reference that the message judges or thanks for.
pub(crate) fn extract_references(message: &Utterance) -> Vec<AnswerReference> {
    let mut count = 0;
    let word_counts = message.text.words.iter().map(|word| {
        let before = count;
        count += usize::from(word.kind != WordKind::Mark);
        before
    });
    let word_counts = word_counts.collect();
    let hashes = message.text.words.iter().map(|word| word.hash).collect();
    let parser = ReferenceParser { message, hashes, word_counts };
    let mut all = Vec::new();
    let mut at = 0;
    while at < parser.word_counts.len() {
        match parser.parse_at(at) {
            Some((reference, end)) => {
                all.push(reference);
                at = end;
            }
            None => at += 1,
        }
    }
    all
}

/// True when the message contains an ordinal. Cheap, and false for most messages.
pub(crate) fn has_ordinal(message: &Utterance) -> bool {
    let words = &message.word_hashes;
    let is_ordinal = |(_, role)| matches!(role, PhraseRole::Ordinal(_));
    (0..words.len()).any(|at| ROLES.match_start(&words[at..]).any(is_ordinal))
}

/// True when the message contains an ordinal or another word for the position of an answer.
pub(crate) fn has_order_word(message: &Utterance) -> bool {
    let words = &message.word_hashes;
    let is_order = |(_, role)| {
        matches!(role, PhraseRole::Ordinal(_) | PhraseRole::Start | PhraseRole::SecondLast)
    };
    (0..words.len()).any(|at| ROLES.match_start(&words[at..]).any(is_order))
}

/// True when the message opens with "this", "that" or "it": it concerns the last answer.
pub(crate) fn opens_with_demonstrative(message: &Utterance) -> bool {
    let words = || message.word_hashes.iter().take(MAX_OPENING_WORDS);
    let Some(at) = words().position(|word| has_role(*word, PhraseRole::Demonstrative)) else {
        return false;
    };
    let is_covered = |at: usize| message.hits.iter().any(|h| h.first <= at && at <= h.last);
    words().take(at).enumerate().all(|(at, word)| lexicon().is_stop_word(*word) || is_covered(at))
}

/// True when the message names a choice: "the lentil one".
pub(crate) fn may_choose(message: &Utterance) -> bool {
    message.word_hashes.iter().any(|word| has_role(*word, PhraseRole::Noun(ReferentKind::Item)))
}

/// The order word that `words` start with, and its length. Longer phrases come first.
pub(crate) fn match_order_word(words: &[u32]) -> Option<(OrderWord, usize)> {
    let order_word = |(length, role)| {
        let found = match role {
            PhraseRole::Ordinal(ordinal) => OrderWord::Ordinal(ordinal),
            PhraseRole::Start => OrderWord::Start,
            PhraseRole::SecondLast => OrderWord::SecondLast,
            PhraseRole::Said => OrderWord::Said,
            PhraseRole::Determiner => OrderWord::Determiner,
            PhraseRole::Noun(kind) => OrderWord::Noun(kind),
            PhraseRole::Verb => OrderWord::Verb,
            PhraseRole::Stop => OrderWord::Stop,
            PhraseRole::Thanked | PhraseRole::Liked | PhraseRole::Demonstrative => return None,
        };
        Some((found, length))
    };
    ROLES.match_start(words).find_map(order_word)
}

/// True for an ordinal of one word.
pub(crate) fn is_ordinal(word: u32) -> bool {
    ROLES.match_start(&[word]).any(|(_, role)| matches!(role, PhraseRole::Ordinal(_)))
}

pub(crate) fn is_verb(word: u32) -> bool {
    has_role(word, PhraseRole::Verb)
}

fn has_role(word: u32, wanted: PhraseRole) -> bool {
    ROLES.match_start(&[word]).any(|(_, role)| role == wanted)
}

impl ReferenceParser<'_> {
    /// Matches a phrase whose role `wanted` accepts; returns the value and its length in words.
    fn match_role<T>(
        &self,
        at: usize,
        wanted: impl Fn(PhraseRole) -> Option<T>,
    ) -> Option<(T, usize)> {
        let mut roles = ROLES.match_start(self.hashes.get(at..)?);
        roles.find_map(|(length, role)| Some((wanted(role)?, length)))
    }

    fn match_ordinal(&self, at: usize) -> Option<(Ordinal, usize)> {
        let found = self.match_role(at, |role| {
            if let PhraseRole::Ordinal(ordinal) = role { Some(ordinal) } else { None }
        });
        // "Before the network is up" names no answer.
        found.filter(|(ordinal, length)| {
            let is_preposition = || self.role_length(at + length, PhraseRole::Determiner).is_some();
            *ordinal != Ordinal::Previous || *length > 1 || !is_preposition()
        })
    }

    fn role_length(&self, at: usize, wanted: PhraseRole) -> Option<usize> {
        self.match_role(at, |role| (role == wanted).then_some(())).map(|((), length)| length)
    }

    fn parse_at(&self, at: usize) -> Option<(AnswerReference, usize)> {
        let article = self.role_length(at, PhraseRole::Determiner);
        let from = at + article.unwrap_or(0);
        let ordinal = self.match_ordinal(from);
        if article.is_none() && ordinal.is_none() {
            return None;
        }
        let from = from + ordinal.map_or(0, |(_, length)| length);
        let thanks = self.message.has_cue(Cue::Thanks);
        let follows = |role| at.checked_sub(1).is_some_and(|b| self.role_length(b, role).is_some());
        let is_thanked_for = (thanks && follows(PhraseRole::Thanked)) || follows(PhraseRole::Liked);
        self.parse_reference(from, ordinal.map(|(ordinal, _)| ordinal), is_thanked_for)
    }

    /// Parses the words of a reference, from behind its determiner and ordinal up to the verb.
    fn parse_reference(
        &self,
        from: usize,
        ordinal: Option<Ordinal>,
        is_thanked_for: bool,
    ) -> Option<(AnswerReference, usize)> {
        let text = &self.message.text;
        let (mut ordinal, mut kind, mut stems) = (ordinal, None, Vec::new());
        let (mut at, mut verb, mut end) = (from, None, from);
        while let Some(word) = text.words.get(at).filter(|_| at < from + MAX_REFERENCE_WORDS) {
            let mark = text.folded_word(word);
            let is_break = word.kind == WordKind::Mark && !"-_`'\"“”«»/".contains(mark);
            if is_break || self.role_length(at, PhraseRole::Stop).is_some() {
                break;
            }
            if word.kind != WordKind::Mark && self.role_length(at, PhraseRole::Verb).is_some() {
                verb = Some(at);
                break;
            }
            if let Some((late, length)) = self.match_ordinal(at) {
                // In Romance languages, and in "from before", the ordinal follows the noun.
                ordinal = ordinal.or(Some(late));
                at += length;
                continue;
            }
            let as_noun = |role| if let PhraseRole::Noun(kind) = role { Some(kind) } else { None };
            if let Some((found, length)) = self.match_role(at, as_noun) {
                kind = kind.or(Some(found));
                (at, end) = (at + length, at + length);
                continue;
            }
            if word.kind != WordKind::Mark && !lexicon().is_stop_word(word.hash) {
                stems.push(stem_word(mark).to_owned());
                end = at + 1;
            }
            at += 1;
        }
        if verb.is_none() && !is_thanked_for {
            return None;
        }
        let default_kind =
            if stems.is_empty() { ReferentKind::Item } else { ReferentKind::Subject };
        let start = text.words.get(from).map_or(0, |w| w.start);
        let stop = text.words.get(end.saturating_sub(1)).map_or(start, |w| w.end).max(start);
        let reference = AnswerReference {
            ordinal,
            kind: kind.unwrap_or(default_kind),
            stems,
            span: (start, stop),
            judgement: verb.map(|verb| self.clause_polarity(verb)),
            is_thanked_for,
        };
        Some((reference, at.max(from)))
    }

    /// Polarity of the clause after the verb; `None` when unclear.
    fn clause_polarity(&self, verb: usize) -> Option<bool> {
        let words = &self.message.text.words;
        let ends = |at: &usize| {
            words[*at].kind == WordKind::Mark
                && ",.;!?".contains(self.message.text.folded_word(&words[*at]))
        };
        let clause = (verb..words.len()).find(ends).unwrap_or(words.len());
        let first = self.word_counts[verb];
        let clause_end = self.word_counts.get(clause).copied().unwrap_or(usize::MAX);
        let last = clause_end.min(first + MAX_JUDGEMENT_WORDS);
        let near = |hit: &&CueHit| (first..last).contains(&hit.first);
        let judge = |hit: &CueHit| Some((hit.first, cue_polarity(self.message, hit)?));
        let judgements = self.message.hits.iter().filter(near).filter_map(judge);
        // A longer phrase that contains a positive word ("is not right") starts before it.
        judgements.min().map(|(_, good)| good)
    }
}

/// Polarity of a cue phrase. A negated positive word is negative.
fn cue_polarity(message: &Utterance, hit: &CueHit) -> Option<bool> {
    if matches!(hit.cue, Cue::Sound | Cue::Praise) {
        return Some(!is_negated(message, hit));
    }
    matches!(hit.cue, Cue::Rejection | Cue::Quality | Cue::Dislike).then_some(false)
}

/// True when a negation precedes the phrase in its clause: "I don't think the first was right". A
/// "no" that opens the message is a reply and does not count.
pub(crate) fn is_negated(message: &Utterance, hit: &CueHit) -> bool {
    const MAX_CLAUSE_WORDS: usize = 8;
    let from = hit.first.saturating_sub(MAX_CLAUSE_WORDS);
    let is_reply = |at: usize| message.hits.iter().any(|h| h.cue == Cue::Negation && h.first == at);
    let has_break = |gap: Option<&str>| gap.is_some_and(|gap| gap.contains(CLAUSE_MARKS));
    let clause_words: Vec<_> =
        message.text.lexical_words().skip(from).take(hit.first - from + 1).collect();
    for (at, pair) in clause_words.windows(2).enumerate().rev() {
        if has_break(message.original().get(pair[0].end..pair[1].start)) {
            return false;
        }
        if lexicon().negations.contains(&pair[0].hash) {
            return !(from + at == 0 && is_reply(0));
        }
    }
    false
}

const CLAUSE_MARKS: [char; 10] = [',', '.', ';', ':', '!', '?', '，', '、', '。', '\n'];
