//! Extracts references to answers from a remark: "the first diagram was fine".
//!
//! A reference starts with a determiner or an ordinal and ends at the verb that judges it. Only
//! references that the remark judges or thanks for count. "No, the second one" asks for another
//! answer and judges none.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use crate::lexicon::lexicon;
use crate::phrases::{Cue, Hit};
use crate::text::{Kind, Text, stem};
use crate::utterance::Utterance;

const SORTS: &str = include_str!("phrases/references.txt");

/// Maximum words between a determiner and its verb.
const MOST_WORDS: usize = 12;
/// Words after the verb that may hold the judgement.
const JUDGEMENT: usize = 5;
/// Opening words in which a demonstrative counts.
const OPENING: usize = 3;

/// Ordinal position of a referenced answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// 1-based; 1 is the oldest.
    Nth(usize),
    Last,
    /// An answer before the last one.
    Before,
}

/// The kind of thing that a reference names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Noun {
    Answer,
    /// One of several attempts at an answer.
    Attempt,
    /// A list item, or a turn.
    Item,
    /// A part or an aspect of the last answer.
    Part,
    /// A specific subject: "the login diagram".
    Thing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    Order(Order),
    Determiner,
    Noun(Noun),
    Verb,
    Stop,
    Thanked,
    Liked,
    Here,
}

/// A reference to an answer or to part of one.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    pub order: Option<Order>,
    pub noun: Noun,
    /// Stems of the content words that name it.
    pub words: Vec<String>,
    /// Byte range in the message.
    pub bytes: (usize, usize),
    /// `None` without a verb; `Some(None)` when the judgement is unclear; else true when positive.
    pub said: Option<Option<bool>>,
    /// True when the user thanks for it or likes it.
    pub introduced: bool,
}

impl Named {
    /// True when an ordinal selects an answer and the remark judges it.
    pub(crate) fn points_back(&self) -> bool {
        self.order.is_some() && self.noun != Noun::Part && (self.said.is_some() || self.introduced)
    }
}

/// Phrases keyed by their first word, longest first.
type Sorts = FxHashMap<u32, Vec<(Box<[u32]>, Sort)>>;

fn sorts() -> &'static Sorts {
    static READ: OnceLock<Sorts> = OnceLock::new();
    READ.get_or_init(|| {
        let mut sorts = Sorts::default();
        for (sort, phrases) in SORTS
            .lines()
            .filter_map(|l| l.split_once(": "))
            .filter_map(|(n, p)| Some((sort_of(n)?, p)))
        {
            for phrase in phrases.split(" | ") {
                let words: Box<[u32]> = Text::read(phrase).spoken().map(|w| w.hash).collect();
                let Some(first) = words.first() else { continue };
                sorts.entry(*first).or_default().push((words, sort));
            }
        }
        sorts.values_mut().for_each(|all| all.sort_by_key(|(words, _)| usize::MAX - words.len()));
        sorts
    })
}

fn sort_of(name: &str) -> Option<Sort> {
    let sort = match name {
        "last" => Sort::Order(Order::Last),
        "before" => Sort::Order(Order::Before),
        "determiner" => Sort::Determiner,
        "answer" => Sort::Noun(Noun::Answer),
        "attempt" => Sort::Noun(Noun::Attempt),
        "item" => Sort::Noun(Noun::Item),
        "part" => Sort::Noun(Noun::Part),
        "verb" => Sort::Verb,
        "stop" => Sort::Stop,
        "thanked" => Sort::Thanked,
        "liked" => Sort::Liked,
        "here" => Sort::Here,
        _ => Sort::Order(Order::Nth(name.strip_prefix("nth ")?.parse().ok()?)),
    };
    Some(sort)
}

/// Groups of synonyms, as stems.
pub(crate) fn same_things() -> &'static [Vec<String>] {
    static READ: OnceLock<Vec<Vec<String>>> = OnceLock::new();
    READ.get_or_init(|| {
        let lines = SORTS.lines().filter_map(|line| line.strip_prefix("same: "));
        lines.map(|line| line.split(" | ").map(|w| stem(w).to_owned()).collect()).collect()
    })
}

/// The message, and for each word the number of words before it without punctuation.
struct Reader<'a> {
    message: &'a Utterance,
    spoken: Vec<usize>,
}

/// Returns every reference that the message judges or thanks for.
pub(crate) fn named(message: &Utterance) -> Vec<Named> {
    let mut count = 0;
    let spoken = message.text.words.iter().map(|word| {
        let before = count;
        count += usize::from(word.kind != Kind::Mark);
        before
    });
    let reader = Reader { message, spoken: spoken.collect() };
    let mut all = Vec::new();
    let mut at = 0;
    while at < reader.spoken.len() {
        match reader.named_at(at) {
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
pub(crate) fn has_order(message: &Utterance) -> bool {
    let spoken = &message.spoken;
    (0..spoken.len()).any(|at| {
        let all = sorts().get(&spoken[at]).map_or(&[][..], Vec::as_slice);
        all.iter()
            .any(|(words, sort)| matches!(sort, Sort::Order(_)) && spoken[at..].starts_with(words))
    })
}

/// True when the message opens with "this", "that" or "it": it concerns the last answer.
pub(crate) fn opens_here(message: &Utterance) -> bool {
    message.spoken.iter().take(OPENING).any(|word| is(*word, Sort::Here))
}

pub(crate) fn is_verb(word: u32) -> bool {
    is(word, Sort::Verb)
}

fn is(word: u32, wanted: Sort) -> bool {
    let all = sorts().get(&word).map_or(&[][..], Vec::as_slice);
    all.iter().any(|(words, sort)| *sort == wanted && words.len() == 1)
}

impl Reader<'_> {
    /// Matches a phrase whose role `wanted` accepts; returns the value and its length in words.
    fn sort_at<T>(&self, at: usize, wanted: impl Fn(Sort) -> Option<T>) -> Option<(T, usize)> {
        let words = &self.message.text.words;
        let all = sorts().get(&words.get(at)?.hash)?;
        all.iter().find_map(|(phrase, sort)| {
            let here = words.get(at..at + phrase.len())?;
            let fits = here.iter().zip(phrase).all(|(word, hash)| word.hash == *hash);
            let found = wanted(*sort).filter(|_| fits)?;
            Some((found, phrase.len()))
        })
    }

    fn order_at(&self, at: usize) -> Option<(Order, usize)> {
        self.sort_at(at, |sort| if let Sort::Order(order) = sort { Some(order) } else { None })
    }

    fn is_at(&self, at: usize, wanted: Sort) -> Option<usize> {
        self.sort_at(at, |sort| (sort == wanted).then_some(())).map(|((), length)| length)
    }

    fn named_at(&self, at: usize) -> Option<(Named, usize)> {
        let article = self.is_at(at, Sort::Determiner);
        let from = at + article.unwrap_or(0);
        let order = self.order_at(from);
        if article.is_none() && order.is_none() {
            return None;
        }
        let from = from + order.map_or(0, |(_, length)| length);
        let thanks = self.message.has(Cue::Thanks);
        let follows = |sort| at.checked_sub(1).is_some_and(|b| self.is_at(b, sort).is_some());
        let introduced = (thanks && follows(Sort::Thanked)) || follows(Sort::Liked);
        self.read(from, order.map(|(order, _)| order), introduced)
    }

    /// Parses the words of a reference, from behind its determiner and ordinal up to the verb.
    fn read(&self, from: usize, order: Option<Order>, introduced: bool) -> Option<(Named, usize)> {
        let text = &self.message.text;
        let (mut order, mut noun, mut words) = (order, None, Vec::new());
        let (mut at, mut verb, mut end) = (from, None, from);
        while let Some(word) = text.words.get(at).filter(|_| at < from + MOST_WORDS) {
            let mark = text.folded(word);
            let parts = word.kind == Kind::Mark && !"-_`'\"“”«»/".contains(mark);
            if parts || self.is_at(at, Sort::Stop).is_some() {
                break;
            }
            if word.kind != Kind::Mark && self.is_at(at, Sort::Verb).is_some() {
                verb = Some(at);
                break;
            }
            if let Some((late, length)) = self.order_at(at) {
                // In Romance languages, and in "from before", the ordinal follows the noun.
                order = order.or(Some(late));
                at += length;
                continue;
            }
            let sort = |s| if let Sort::Noun(noun) = s { Some(noun) } else { None };
            if let Some((kind, length)) = self.sort_at(at, sort) {
                noun = noun.or(Some(kind));
                (at, end) = (at + length, at + length);
                continue;
            }
            if word.kind != Kind::Mark && !lexicon().is_common(word.hash) {
                words.push(stem(mark).to_owned());
                end = at + 1;
            }
            at += 1;
        }
        if verb.is_none() && !introduced {
            return None;
        }
        let none = if words.is_empty() { Noun::Item } else { Noun::Thing };
        let start = text.words.get(from).map_or(0, |w| w.start);
        let stop = text.words.get(end.saturating_sub(1)).map_or(start, |w| w.end).max(start);
        let said = verb.map(|verb| self.judgement(verb));
        let noun = noun.unwrap_or(none);
        Some((Named { order, noun, words, bytes: (start, stop), said, introduced }, at.max(from)))
    }

    /// Polarity of the clause after the verb; `None` when unclear.
    fn judgement(&self, verb: usize) -> Option<bool> {
        let words = &self.message.text.words;
        let ends = |at: &usize| {
            words[*at].kind == Kind::Mark && ",.;!?".contains(self.message.text.folded(&words[*at]))
        };
        let clause = (verb..words.len()).find(ends).unwrap_or(words.len());
        let first = self.spoken[verb];
        let last = self.spoken.get(clause).copied().unwrap_or(usize::MAX).min(first + JUDGEMENT);
        let near = |hit: &&Hit| (first..last).contains(&hit.first);
        let mut found: Vec<(usize, bool)> = self
            .message
            .hits
            .iter()
            .filter(near)
            .filter_map(|hit| Some((hit.first, good(self.message, hit)?)))
            .collect();
        // A longer phrase that contains a positive word ("is not right") starts before it.
        found.sort_by_key(|(at, good)| (*at, *good));
        found.first().map(|(_, good)| *good)
    }
}

/// Polarity of a cue phrase. A negated positive word is negative.
fn good(message: &Utterance, hit: &Hit) -> Option<bool> {
    if matches!(hit.cue, Cue::Sound | Cue::Praise) {
        return Some(!is_negated(message, hit));
    }
    matches!(hit.cue, Cue::Rejection | Cue::Quality | Cue::Dislike).then_some(false)
}

/// True when a negation precedes the phrase in its clause: "I don't think the first was right". A
/// "no" that opens the message is a reply and does not count.
pub(crate) fn is_negated(message: &Utterance, hit: &Hit) -> bool {
    const CLAUSE: usize = 8;
    let from = hit.first.saturating_sub(CLAUSE);
    let answers = |at: usize| message.hits.iter().any(|h| h.cue == Cue::Negation && h.first == at);
    let parted = |gap: Option<&str>| gap.is_some_and(|gap| gap.contains(CLAUSE_MARKS));
    let spoken: Vec<_> = message.text.spoken().skip(from).take(hit.first - from + 1).collect();
    for (at, pair) in spoken.windows(2).enumerate().rev() {
        if parted(message.original().get(pair[0].end..pair[1].start)) {
            return false;
        }
        if lexicon().negates(pair[0].hash) {
            return !(from + at == 0 && answers(0));
        }
    }
    false
}

const CLAUSE_MARKS: [char; 10] = [',', '.', ';', ':', '!', '?', '，', '、', '。', '\n'];
