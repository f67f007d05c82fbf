//! Extracts references to answers from a remark: "the first diagram was fine".
//!
//! A reference starts with a determiner or an ordinal and ends at the verb that judges it. Only
//! references that the remark judges or thanks for count. "No, the second one" asks for another
//! answer and judges none.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use crate::lexicon::lexicon;
use crate::phrases::{Cue, CueHit};
use crate::text::{FoldedText, WordKind, stem_word};
use crate::utterance::Utterance;

const ROLE_PHRASES: &str = include_str!("phrases/references.txt");

/// Maximum words between a determiner and its verb.
const MAX_REFERENCE_WORDS: usize = 12;
/// Words after the verb that may hold the judgement.
const MAX_JUDGEMENT_WORDS: usize = 5;
/// Opening words in which a demonstrative counts.
const MAX_OPENING_WORDS: usize = 3;

/// Ordinal position of a referenced answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ordinal {
    /// 1-based; 1 is the oldest.
    Nth(usize),
    Last,
    /// An answer before the last one.
    Previous,
}

/// The kind of thing that a reference names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReferentKind {
    Answer,
    /// One of several attempts at an answer.
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
    Order(Ordinal),
    Determiner,
    Noun(ReferentKind),
    Verb,
    Stop,
    Thanked,
    Liked,
    Demonstrative,
}

/// A reference to an answer or to part of one.
#[derive(Clone, Debug)]
pub(crate) struct AnswerReference {
    pub ordinal: Option<Ordinal>,
    pub kind: ReferentKind,
    /// Stems of the content words that name it.
    pub stems: Vec<String>,
    /// Byte range in the message.
    pub span: (usize, usize),
    /// `None` without a verb; `Some(None)` when the judgement is unclear; else true when positive.
    pub judgement: Option<Option<bool>>,
    /// True when the user thanks for it or likes it.
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

/// Phrases keyed by their first word, longest first.
type RoleLexicon = FxHashMap<u32, Vec<(Box<[u32]>, PhraseRole)>>;

fn role_lexicon() -> &'static RoleLexicon {
    static READ: OnceLock<RoleLexicon> = OnceLock::new();
    READ.get_or_init(|| {
        let mut sorts = RoleLexicon::default();
        for (sort, phrases) in ROLE_PHRASES
            .lines()
            .filter_map(|l| l.split_once(": "))
            .filter_map(|(n, p)| Some((parse_role(n)?, p)))
        {
            for phrase in phrases.split(" | ") {
                let words: Box<[u32]> =
                    FoldedText::new(phrase).lexical_words().map(|w| w.hash).collect();
                let Some(first) = words.first() else { continue };
                sorts.entry(*first).or_default().push((words, sort));
            }
        }
        sorts.values_mut().for_each(|all| all.sort_by_key(|(words, _)| usize::MAX - words.len()));
        sorts
    })
}

fn parse_role(name: &str) -> Option<PhraseRole> {
    let sort = match name {
        "last" => PhraseRole::Order(Ordinal::Last),
        "before" => PhraseRole::Order(Ordinal::Previous),
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
        _ => PhraseRole::Order(Ordinal::Nth(name.strip_prefix("nth ")?.parse().ok()?)),
    };
    Some(sort)
}

/// Groups of synonyms, as stems.
pub(crate) fn synonym_groups() -> &'static [Vec<String>] {
    static READ: OnceLock<Vec<Vec<String>>> = OnceLock::new();
    READ.get_or_init(|| {
        let lines = ROLE_PHRASES.lines().filter_map(|line| line.strip_prefix("same: "));
        lines.map(|line| line.split(" | ").map(|w| stem_word(w).to_owned()).collect()).collect()
    })
}

/// The message, and for each word the number of words before it without punctuation.
struct ReferenceParser<'a> {
    message: &'a Utterance,
    word_counts: Vec<usize>,
}

/// Returns every reference that the message judges or thanks for.
pub(crate) fn extract_references(message: &Utterance) -> Vec<AnswerReference> {
    let mut count = 0;
    let spoken = message.text.words.iter().map(|word| {
        let before = count;
        count += usize::from(word.kind != WordKind::Mark);
        before
    });
    let reader = ReferenceParser { message, word_counts: spoken.collect() };
    let mut all = Vec::new();
    let mut at = 0;
    while at < reader.word_counts.len() {
        match reader.parse_at(at) {
            Some((named, end)) => {
                all.push(named);
                at = end;
            }
            None => at += 1,
        }
    }
    all
}

/// True when the message contains an ordinal. Cheap, and false for most messages.
pub(crate) fn has_ordinal(message: &Utterance) -> bool {
    let spoken = &message.word_hashes;
    (0..spoken.len()).any(|at| {
        let all = role_lexicon().get(&spoken[at]).map_or(&[][..], Vec::as_slice);
        all.iter().any(|(words, sort)| {
            matches!(sort, PhraseRole::Order(_)) && spoken[at..].starts_with(words)
        })
    })
}

/// True when the message opens with "this", "that" or "it": it concerns the last answer.
pub(crate) fn opens_with_demonstrative(message: &Utterance) -> bool {
    message
        .word_hashes
        .iter()
        .take(MAX_OPENING_WORDS)
        .any(|word| has_role(*word, PhraseRole::Demonstrative))
}

pub(crate) fn is_verb(word: u32) -> bool {
    has_role(word, PhraseRole::Verb)
}

fn has_role(word: u32, wanted: PhraseRole) -> bool {
    let all = role_lexicon().get(&word).map_or(&[][..], Vec::as_slice);
    all.iter().any(|(words, sort)| *sort == wanted && words.len() == 1)
}

impl ReferenceParser<'_> {
    /// Matches a phrase whose role `wanted` accepts; returns the value and its length in words.
    fn match_role<T>(
        &self,
        at: usize,
        wanted: impl Fn(PhraseRole) -> Option<T>,
    ) -> Option<(T, usize)> {
        let words = &self.message.text.words;
        let all = role_lexicon().get(&words.get(at)?.hash)?;
        all.iter().find_map(|(phrase, sort)| {
            let here = words.get(at..at + phrase.len())?;
            let fits = here.iter().zip(phrase).all(|(word, hash)| word.hash == *hash);
            let found = wanted(*sort).filter(|_| fits)?;
            Some((found, phrase.len()))
        })
    }

    fn match_ordinal(&self, at: usize) -> Option<(Ordinal, usize)> {
        self.match_role(
            at,
            |sort| if let PhraseRole::Order(order) = sort { Some(order) } else { None },
        )
    }

    fn role_length(&self, at: usize, wanted: PhraseRole) -> Option<usize> {
        self.match_role(at, |sort| (sort == wanted).then_some(())).map(|((), length)| length)
    }

    fn parse_at(&self, at: usize) -> Option<(AnswerReference, usize)> {
        let article = self.role_length(at, PhraseRole::Determiner);
        let from = at + article.unwrap_or(0);
        let order = self.match_ordinal(from);
        if article.is_none() && order.is_none() {
            return None;
        }
        let from = from + order.map_or(0, |(_, length)| length);
        let thanks = self.message.has_cue(Cue::Thanks);
        let follows = |sort| at.checked_sub(1).is_some_and(|b| self.role_length(b, sort).is_some());
        let introduced = (thanks && follows(PhraseRole::Thanked)) || follows(PhraseRole::Liked);
        self.parse_reference(from, order.map(|(order, _)| order), introduced)
    }

    /// Parses the words of a reference, from behind its determiner and ordinal up to the verb.
    fn parse_reference(
        &self,
        from: usize,
        order: Option<Ordinal>,
        introduced: bool,
    ) -> Option<(AnswerReference, usize)> {
        let text = &self.message.text;
        let (mut order, mut noun, mut words) = (order, None, Vec::new());
        let (mut at, mut verb, mut end) = (from, None, from);
        while let Some(word) = text.words.get(at).filter(|_| at < from + MAX_REFERENCE_WORDS) {
            let mark = text.folded_word(word);
            let parts = word.kind == WordKind::Mark && !"-_`'\"“”«»/".contains(mark);
            if parts || self.role_length(at, PhraseRole::Stop).is_some() {
                break;
            }
            if word.kind != WordKind::Mark && self.role_length(at, PhraseRole::Verb).is_some() {
                verb = Some(at);
                break;
            }
            if let Some((late, length)) = self.match_ordinal(at) {
                // In Romance languages, and in "from before", the ordinal follows the noun.
                order = order.or(Some(late));
                at += length;
                continue;
            }
            let sort = |s| if let PhraseRole::Noun(noun) = s { Some(noun) } else { None };
            if let Some((kind, length)) = self.match_role(at, sort) {
                noun = noun.or(Some(kind));
                (at, end) = (at + length, at + length);
                continue;
            }
            if word.kind != WordKind::Mark && !lexicon().is_stop_word(word.hash) {
                words.push(stem_word(mark).to_owned());
                end = at + 1;
            }
            at += 1;
        }
        if verb.is_none() && !introduced {
            return None;
        }
        let none = if words.is_empty() { ReferentKind::Item } else { ReferentKind::Subject };
        let start = text.words.get(from).map_or(0, |w| w.start);
        let stop = text.words.get(end.saturating_sub(1)).map_or(start, |w| w.end).max(start);
        let said = verb.map(|verb| self.clause_polarity(verb));
        let noun = noun.unwrap_or(none);
        Some((
            AnswerReference {
                ordinal: order,
                kind: noun,
                stems: words,
                span: (start, stop),
                judgement: said,
                is_thanked_for: introduced,
            },
            at.max(from),
        ))
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
        let last = self
            .word_counts
            .get(clause)
            .copied()
            .unwrap_or(usize::MAX)
            .min(first + MAX_JUDGEMENT_WORDS);
        let near = |hit: &&CueHit| (first..last).contains(&hit.first);
        let mut found: Vec<(usize, bool)> = self
            .message
            .hits
            .iter()
            .filter(near)
            .filter_map(|hit| Some((hit.first, cue_polarity(self.message, hit)?)))
            .collect();
        // A longer phrase that contains a positive word ("is not right") starts before it.
        found.sort_by_key(|(at, good)| (*at, *good));
        found.first().map(|(_, good)| *good)
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
    let answers = |at: usize| message.hits.iter().any(|h| h.cue == Cue::Negation && h.first == at);
    let parted = |gap: Option<&str>| gap.is_some_and(|gap| gap.contains(CLAUSE_MARKS));
    let spoken: Vec<_> =
        message.text.lexical_words().skip(from).take(hit.first - from + 1).collect();
    for (at, pair) in spoken.windows(2).enumerate().rev() {
        if parted(message.original().get(pair[0].end..pair[1].start)) {
            return false;
        }
        if lexicon().is_negation(pair[0].hash) {
            return !(from + at == 0 && answers(0));
        }
    }
    false
}

const CLAUSE_MARKS: [char; 10] = [',', '.', ';', ':', '!', '?', '，', '、', '。', '\n'];
