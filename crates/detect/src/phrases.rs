//! Cue phrases by language, loaded from data files.
//!
//! All languages are matched at once, because many messages are too short for language detection.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use crate::text::Text;

const LISTS: &[&str] = &[
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

/// Maximum number of fillers before a phrase that is anchored at the start.
const MOST_LEADS: usize = 3;

macro_rules! cues {
    ($($(#[$doc:meta])* $name:ident $word:literal),+ $(,)?) => {
        /// The meaning of a cue phrase.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Cue { $($(#[$doc])* $name),+ }

        impl Cue {
            pub(crate) const fn as_word(self) -> &'static str {
                match self { $(Self::$name => $word),+ }
            }

            fn from_word(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$name),)+ _ => None }
            }
        }
    };
}

cues!(
    /// Fillers that may precede an anchored phrase.
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
    /// "My mistake". The models do not use this cue and the next three; the retraction rules do.
    OwnFault "own_fault",
    /// Positive adjective or verb: "right", "works".
    Sound "sound",
    /// Qualifies a statement: "but".
    Yet "yet",
    /// The later answer is worse: "but this one", "was better".
    Worse "worse",
    /// This cue and the following ones occur in answers, not in messages.
    Declines "declines",
    Moralises "moralises",
    Sorry "sorry",
    Identity "identity",
    Turns "turns",
    /// A harmless idiom: "I cannot recommend it enough".
    Idiom "idiom",
);

/// A matched cue phrase. `first` and `last` are word indexes without punctuation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hit {
    pub cue: Cue,
    pub first: usize,
    pub last: usize,
    /// True when only fillers precede the phrase.
    pub opens: bool,
}

struct Phrase {
    cue: Cue,
    words: Box<[u32]>,
    at_start: bool,
    at_end: bool,
}

struct Lists {
    phrases: Vec<Phrase>,
    by_first: FxHashMap<u32, Vec<u32>>,
}

impl Lists {
    fn read(files: &[&str]) -> Self {
        let mut read = Self { phrases: Vec::new(), by_first: FxHashMap::default() };
        for line in files.iter().flat_map(|f| f.lines()).filter(|l| !l.starts_with('#')) {
            let Some((name, phrases)) = line.split_once(": ") else { continue };
            let Some(cue) = Cue::from_word(name) else { continue };
            phrases.split('|').for_each(|phrase| read.add(cue, phrase.trim()));
        }
        read
    }

    fn add(&mut self, cue: Cue, written: &str) {
        let at_start = written.starts_with('^');
        let at_end = written.ends_with('$');
        let words: Box<[u32]> =
            Text::read(written.trim_matches(['^', '$'])).spoken().map(|w| w.hash).collect();
        let Some(&first) = words.first() else { return };
        self.by_first.entry(first).or_default().push(self.phrases.len() as u32);
        self.phrases.push(Phrase { cue, words, at_start, at_end });
    }
}

pub(crate) fn hits(text: &Text) -> Vec<Hit> {
    static READ: OnceLock<Lists> = OnceLock::new();
    hits_of(READ.get_or_init(|| Lists::read(LISTS)), text)
}

pub(crate) fn answer_hits(text: &Text) -> Vec<Hit> {
    static READ: OnceLock<Lists> = OnceLock::new();
    hits_of(READ.get_or_init(|| Lists::read(ANSWER_LISTS)), text)
}

fn hits_of(lists: &Lists, text: &Text) -> Vec<Hit> {
    let words: Vec<u32> = text.spoken().map(|w| w.hash).collect();
    let mut hits = Vec::with_capacity(8);
    // Words at the start that are fillers. A phrase directly after them still counts as the
    // opening.
    let mut leads = 0;
    let mut lead_count = 0;
    for at in 0..words.len() {
        let opens = at <= leads && lead_count <= MOST_LEADS;
        for &index in lists.by_first.get(&words[at]).map_or(&[][..], Vec::as_slice) {
            let phrase = &lists.phrases[index as usize];
            let end = at + phrase.words.len();
            let fits = (!phrase.at_start || opens)
                && (!phrase.at_end || end == words.len())
                && words.get(at..end) == Some(&phrase.words);
            if !fits {
                continue;
            }
            if phrase.cue == Cue::Lead {
                if at == leads {
                    leads = leads.max(end);
                    lead_count += 1;
                }
                continue;
            }
            hits.push(Hit { cue: phrase.cue, first: at, last: end - 1, opens });
        }
    }
    hits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(message: &str) -> Vec<&'static str> {
        let mut cues: Vec<_> =
            hits(&Text::read(message)).iter().map(|hit| hit.cue.as_word()).collect();
        cues.dedup();
        cues
    }

    #[test]
    fn every_line_of_every_list_names_a_cue() {
        for line in LISTS.iter().flat_map(|f| f.lines()).filter(|l| !l.starts_with('#')) {
            let name = line.split_once(": ").map(|(name, _)| name);
            assert!(name.and_then(Cue::from_word).is_some(), "{line}");
        }
    }

    #[test]
    fn phrases_are_found_in_nine_languages() {
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
            assert!(found(message).contains(&cue), "{message}: {:?}", found(message));
        }
    }

    #[test]
    fn an_anchored_phrase_counts_only_at_the_start() {
        assert!(found("ok hmm no that's wrong").contains(&"negation"));
        assert!(!found("There is no bus on Sunday").contains(&"negation"));
        assert!(found("ok").contains(&"filler"));
        assert!(!found("ok then book it").contains(&"filler"));
    }
}
