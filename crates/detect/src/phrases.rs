//! Cue phrases by language, loaded from data files.
//!
//! All languages are matched at once, because many messages are too short for language detection.

use std::cmp::Reverse;
use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::text::FoldedText;

const MESSAGE_LISTS: &[&str] = &[
    include_str!("phrases/en.txt"),
    include_str!("phrases/de.txt"),
    include_str!("phrases/es.txt"),
    include_str!("phrases/fr.txt"),
    include_str!("phrases/pt.txt"),
    include_str!("phrases/it.txt"),
    include_str!("phrases/nl.txt"),
    include_str!("phrases/ja.txt"),
    include_str!("phrases/zh.txt"),
];

const ANSWER_LISTS: &[&str] = &[include_str!("phrases/refusal.txt")];

const MAX_LEADING_FILLERS: usize = 3;

macro_rules! cues {
    ($($(#[$doc:meta])* $name:ident $word:literal),+ $(,)?) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Cue { $($(#[$doc])* $name),+ }

        impl Cue {
            pub(crate) const ALL_CUES: &[Self] = &[$(Self::$name),+];

            pub(crate) const fn as_word(self) -> &'static str {
                match self { $(Self::$name => $word),+ }
            }

            fn from_word(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$name),)+ _ => None }
            }
        }
    };
}

// The verdict models use the cues from `Negation` to `Puzzled`, in this order.
cues!(
    Lead "lead",
    Negation "negation",
    Correction "correction",
    Rejection "rejection",
    Retry "retry",
    Quality "quality",
    /// Rejects only with a contrast, or when the message is similar to the question.
    Want "want",
    Abandonment "abandonment",
    Thanks "thanks",
    Praise "praise",
    /// Looks like a negation but is harmless: "no problem".
    Harmless "harmless",
    Decline "decline",
    Dislike "dislike",
    Action "action",
    FollowUp "followup",
    DrillDown "drilldown",
    Comparison "comparison",
    Continuation "continuation",
    /// Starts a new step of the same kind: "now", "same for".
    Step "step",
    Filler "filler",
    Puzzled "puzzled",
    /// "My mistake". The retraction rules use this cue and the next three.
    OwnFault "own_fault",
    /// Positive adjective or verb: "right", "works".
    Sound "sound",
    /// Qualifies a statement: "but".
    Yet "yet",
    /// The later answer is worse: "but this one", "was better".
    Worse "worse",
    /// A failure that came with the answer: "now it throws".
    NewFailure "new_failure",
    /// Asks for another thing in the place of the answer's: "use pytest instead".
    Instead "instead",
    /// This cue and the following ones occur in answers, not in messages.
    Declines "declines",
    Moralises "moralises",
    Sorry "sorry",
    Identity "identity",
    Turns "turns",
    /// A harmless idiom: "I cannot recommend it enough".
    Idiom "idiom",
);

impl Cue {
    /// True for cues that express dissatisfaction with the answer.
    pub(crate) fn is_rejecting(self) -> bool {
        matches!(self, Self::Correction | Self::Rejection | Self::Retry | Self::Quality)
    }
}

/// A matched cue phrase. `first` and `last` are word indexes without punctuation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CueHit {
    pub cue: Cue,
    pub first: usize,
    pub last: usize,
    pub is_opening: bool,
}

impl CueHit {
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        self.first <= other.last && other.first <= self.last
    }
}

#[derive(Clone, Copy)]
struct CuePhrase {
    cue: Cue,
    at_start: bool,
    at_end: bool,
}

/// The word hashes of a phrase and its value.
type ValuedPhrase<T> = (Box<[u32]>, T);

/// Phrases with a value each, found by their first word.
pub(crate) struct PhraseIndex<T>(FxHashMap<u32, Vec<ValuedPhrase<T>>>);

impl<T: Copy> PhraseIndex<T> {
    pub(crate) fn new(phrases: impl IntoIterator<Item = ValuedPhrase<T>>) -> Self {
        let mut by_first_word: FxHashMap<u32, Vec<ValuedPhrase<T>>> = FxHashMap::default();
        for (words, value) in phrases {
            let Some(&first) = words.first() else { continue };
            by_first_word.entry(first).or_default().push((words, value));
        }
        Self(by_first_word)
    }

    /// Reads files with lines of the form `name: phrase | phrase`. `parse` returns the value of a
    /// phrase, given the name of its line; phrases without one are skipped.
    pub(crate) fn parse_files(files: &[&str], parse: impl Fn(&str, &str) -> Option<T>) -> Self {
        let lines = files.iter().flat_map(|f| f.lines()).filter(|l| !l.starts_with('#'));
        let mut phrases = Vec::new();
        for (name, list) in lines.filter_map(|line| line.split_once(": ")) {
            for phrase in list.split('|') {
                let words = FoldedText::new(phrase).word_hashes().collect();
                phrases.extend(parse(name, phrase.trim()).map(|value| (words, value)));
            }
        }
        Self::new(phrases)
    }

    /// Makes longer phrases match before shorter ones. Otherwise they match in the given order.
    pub(crate) fn longest_first(mut self) -> Self {
        self.0.values_mut().for_each(|all| all.sort_by_key(|(words, _)| Reverse(words.len())));
        self
    }

    /// Length and value of each phrase that `words` starts with.
    pub(crate) fn match_start(&self, words: &[u32]) -> impl Iterator<Item = (usize, T)> {
        let known = words.first().and_then(|first| self.0.get(first)).into_iter().flatten();
        let matching = known.filter(move |(phrase, _)| words.starts_with(phrase));
        matching.map(|(phrase, value)| (phrase.len(), *value))
    }
}

fn parse_cue_phrase(name: &str, phrase: &str) -> Option<CuePhrase> {
    let (at_start, at_end) = (phrase.starts_with('^'), phrase.ends_with('$'));
    Some(CuePhrase { cue: Cue::from_word(name)?, at_start, at_end })
}

pub(crate) fn find_message_cues(text: &FoldedText) -> Vec<CueHit> {
    static LOADED: LazyLock<PhraseIndex<CuePhrase>> =
        LazyLock::new(|| PhraseIndex::parse_files(MESSAGE_LISTS, parse_cue_phrase));
    find_cues(&LOADED, text)
}

pub(crate) fn find_answer_cues(text: &FoldedText) -> Vec<CueHit> {
    static LOADED: LazyLock<PhraseIndex<CuePhrase>> =
        LazyLock::new(|| PhraseIndex::parse_files(ANSWER_LISTS, parse_cue_phrase));
    find_cues(&LOADED, text)
}

fn find_cues(phrases: &PhraseIndex<CuePhrase>, text: &FoldedText) -> Vec<CueHit> {
    let words: Vec<u32> = text.word_hashes().collect();
    let mut hits = Vec::with_capacity(8);
    // Words at the start that are fillers. A phrase directly after them still counts as the
    // opening.
    let mut leads = 0;
    let mut lead_count = 0;
    for at in 0..words.len() {
        let is_opening = at <= leads && lead_count <= MAX_LEADING_FILLERS;
        for (length, phrase) in phrases.match_start(&words[at..]) {
            let end = at + length;
            if (phrase.at_start && !is_opening) || (phrase.at_end && end != words.len()) {
                continue;
            }
            if phrase.cue == Cue::Lead {
                if at == leads {
                    leads = leads.max(end);
                    lead_count += 1;
                }
                continue;
            }
            hits.push(CueHit { cue: phrase.cue, first: at, last: end - 1, is_opening });
        }
    }
    hits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cue_names(message: &str) -> Vec<&'static str> {
        let mut cues: Vec<_> = find_message_cues(&FoldedText::new(message))
            .iter()
            .map(|hit| hit.cue.as_word())
            .collect();
        cues.dedup();
        cues
    }

    #[test]
    fn every_phrase_list_line_names_a_known_cue() {
        for line in MESSAGE_LISTS.iter().flat_map(|f| f.lines()).filter(|l| !l.starts_with('#')) {
            let name = line.split_once(": ").map(|(name, _)| name);
            assert!(name.and_then(Cue::from_word).is_some(), "{line}");
        }
    }

    #[test]
    fn cue_phrases_match_in_nine_languages() {
        let rows = [
            ("No, I meant the red one", "correction"),
            ("Nein, ich meinte die rote", "correction"),
            ("No, me refería a la roja", "correction"),
            ("Non, je voulais dire la rouge", "correction"),
            ("Não foi isso que eu perguntei", "correction"),
            ("no, intendevo quella rossa", "correction"),
            ("Nee, ik bedoelde de rode", "correction"),
            ("違います、もう一度", "retry"),
            ("算了，转人工", "abandonment"),
        ];
        for (message, cue) in rows {
            assert!(cue_names(message).contains(&cue), "{message}: {:?}", cue_names(message));
        }
    }

    #[test]
    fn anchored_phrase_matches_only_at_its_anchor() {
        assert!(cue_names("ok hmm no that's wrong").contains(&"negation"));
        assert!(!cue_names("There is no bus on Sunday").contains(&"negation"));
        assert!(cue_names("ok").contains(&"filler"));
        assert!(!cue_names("ok then book it").contains(&"filler"));
    }
}
