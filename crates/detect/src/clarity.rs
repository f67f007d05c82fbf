//! Finds messages that cannot be answered without a question back.

use crate::phrases::Cue;
use crate::utterance::{Utterance, is_bare_remark};

/// The missing part of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unclear {
    /// No words at all.
    Empty,
    /// A single word without a question or an instruction.
    SingleWord,
    /// A reference without anything that it could refer to.
    Reference,
}

/// Words that refer to an earlier message.
const REFERENCE_WORDS: &[&str] = &[
    "it", "that", "this", "these", "those", "them", "they", "same", "he", "she", "him", "former",
    "latter", "previous", "above",
];
/// Last words of a reference such as "the second one".
const CLOSING_REFERENCES: &[&str] = &["one", "ones"];
/// "What time is it?" and "Is it raining?" refer to nothing.
const IMPERSONAL_WORDS: &[&str] = &[
    "time", "day", "date", "month", "year", "raining", "rain", "snowing", "snow", "cold", "hot",
    "warm", "dark", "late", "early", "possible",
];
const GREETINGS: &[&str] = &[
    "hi",
    "hello",
    "hey",
    "hallo",
    "hola",
    "bonjour",
    "salut",
    "ciao",
    "ola",
    "moin",
    "greetings",
];
/// Cues that continue an earlier exchange.
const CONTINUING_CUES: [Cue; 4] = [Cue::FollowUp, Cue::DrillDown, Cue::Continuation, Cue::Step];

/// Finds the missing part of a message. An earlier turn resolves single words and references, so
/// they count only at the start of a conversation.
pub fn detect_unclear(message: &Utterance, starts_conversation: bool) -> Option<Unclear> {
    let words: Vec<&str> =
        message.text.lexical_words().map(|word| message.text.folded_word(word)).collect();
    if words.is_empty() {
        return Some(Unclear::Empty);
    }
    if !starts_conversation {
        return None;
    }
    if is_unresolved_reference(message, &words) {
        return Some(Unclear::Reference);
    }
    let is_clear = !message.hits.is_empty() || words.iter().any(|word| GREETINGS.contains(word));
    (words.len() == 1 && !is_clear).then_some(Unclear::SingleWord)
}

fn is_unresolved_reference(message: &Utterance, words: &[&str]) -> bool {
    let any = |list: &[&str]| words.iter().any(|word| list.contains(word));
    let closes = words.last().is_some_and(|last| CLOSING_REFERENCES.contains(last));
    let refers = any(REFERENCE_WORDS) || (closes && words.len() > 1);
    let continues = CONTINUING_CUES.iter().any(|cue| message.opens_with(*cue));
    // "Explain photosynthesis" opens like a follow-up but names its subject.
    let is_bare = is_bare_remark(message);
    let names_subject = has_subject(message);
    is_bare && !any(IMPERSONAL_WORDS) && (refers || (continues && !names_subject))
}

/// True when a content word is outside of the cues.
fn has_subject(message: &Utterance) -> bool {
    let covered = |at: usize| message.hits.iter().any(|hit| (hit.first..=hit.last).contains(&at));
    let lexicon = crate::lexicon::lexicon();
    let mut words = message.word_hashes.iter().enumerate();
    words.any(|(at, word)| !covered(at) && !lexicon.is_stop_word(*word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use Unclear::{Empty, Reference, SingleWord};

    #[test]
    fn unclear_messages_are_told_from_short_ones() {
        let rows = [
            ("", Some(Empty)),
            (" \n", Some(Empty)),
            ("?!", Some(Empty)),
            ("jaguar", Some(SingleWord)),
            ("orders", Some(SingleWord)),
            ("what about that one?", Some(Reference)),
            ("fix it", Some(Reference)),
            ("What is this?", Some(Reference)),
            ("and the second one?", Some(Reference)),
            ("tell me more", Some(Reference)),
            ("do the same", Some(Reference)),
            ("hello", None),
            ("thanks", None),
            ("jaguar speed", None),
            ("What time is it?", None),
            ("Is it raining?", None),
            ("explain photosynthesis", None),
            ("How do I reset my router password?", None),
            ("Is this table sorted by price?", None),
            ("Find me laptops under $1000", None),
            ("你好吗", None),
        ];
        for (text, expected) in rows {
            let message = Utterance::read(text);
            assert_eq!(detect_unclear(&message, true), expected, "{text}");
            let later = expected.filter(|unclear| *unclear == Empty);
            assert_eq!(detect_unclear(&message, false), later, "{text}");
        }
    }
}
