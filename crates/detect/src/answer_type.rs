//! Classifies the answer type that a question expects.
//!
//! "How can I lose weight" and "what is the best way to lose weight" expect the same type; "why"
//! and "how" do not.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use crate::text::{Text, hash};

/// Expected answer type of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    Way,
    Reason,
    Time,
    Place,
    Person,
    Amount,
    Choice,
    Meaning,
    YesNo,
    Thing,
    /// A request or a statement rather than a question.
    None,
}

/// Question openings and their answer types. The first match wins.
const OPENINGS: &[(&str, Ask)] = &[
    ("how many", Ask::Amount),
    ("how much", Ask::Amount),
    ("how long", Ask::Amount),
    ("how old", Ask::Amount),
    ("how far", Ask::Amount),
    ("how big", Ask::Amount),
    ("how tall", Ask::Amount),
    ("how often", Ask::Amount),
    ("how come", Ask::Reason),
    ("what is the best way", Ask::Way),
    ("what's the best way", Ask::Way),
    ("what are the best ways", Ask::Way),
    ("what is the easiest way", Ask::Way),
    ("what are some ways", Ask::Way),
    ("what should i do", Ask::Way),
    ("what do i need to do", Ask::Way),
    ("what can i do", Ask::Way),
    ("what is a good way", Ask::Way),
    ("is there a way", Ask::Way),
    ("is there any way", Ask::Way),
    ("can you tell me how", Ask::Way),
    ("tell me how", Ask::Way),
    ("show me how", Ask::Way),
    ("ways to", Ask::Way),
    ("steps to", Ask::Way),
    ("how", Ask::Way),
    ("what is the reason", Ask::Reason),
    ("what's the reason", Ask::Reason),
    ("what are the reasons", Ask::Reason),
    ("what causes", Ask::Reason),
    ("what is the cause", Ask::Reason),
    ("why", Ask::Reason),
    ("when", Ask::Time),
    ("what time", Ask::Time),
    ("what date", Ask::Time),
    ("what year", Ask::Time),
    ("what day", Ask::Time),
    ("where", Ask::Place),
    ("which place", Ask::Place),
    ("what is the best place", Ask::Place),
    ("what are the best places", Ask::Place),
    ("who", Ask::Person),
    ("whose", Ask::Person),
    ("which", Ask::Choice),
    ("what is better", Ask::Choice),
    ("what's better", Ask::Choice),
    ("what does it mean", Ask::Meaning),
    ("what is the meaning", Ask::Meaning),
    ("what is meant", Ask::Meaning),
    ("what is the definition", Ask::Meaning),
    ("define", Ask::Meaning),
    ("what is the difference", Ask::Choice),
    ("what's the difference", Ask::Choice),
    ("what are the differences", Ask::Choice),
    ("what is the cost", Ask::Amount),
    ("what is the price", Ask::Amount),
    ("what's the price", Ask::Amount),
    ("what", Ask::Thing),
    ("whats", Ask::Thing),
    ("what's", Ask::Thing),
    ("is", Ask::YesNo),
    ("are", Ask::YesNo),
    ("am", Ask::YesNo),
    ("was", Ask::YesNo),
    ("were", Ask::YesNo),
    ("do", Ask::YesNo),
    ("does", Ask::YesNo),
    ("did", Ask::YesNo),
    ("can", Ask::YesNo),
    ("could", Ask::YesNo),
    ("should", Ask::YesNo),
    ("would", Ask::YesNo),
    ("will", Ask::YesNo),
    ("has", Ask::YesNo),
    ("have", Ask::YesNo),
    ("may", Ask::YesNo),
];

/// Leading words that may precede the question opening.
const MOST_LEADS: usize = 3;

/// Openings keyed by their first word.
type Openings = FxHashMap<u32, Vec<(Box<[u32]>, Ask)>>;

pub(crate) fn ask_of(text: &Text) -> Ask {
    static READ: OnceLock<Openings> = OnceLock::new();
    let openings = READ.get_or_init(|| {
        let mut openings = Openings::default();
        for (phrase, ask) in OPENINGS {
            let words: Box<[u32]> = phrase.split(' ').map(|w| hash(0, w.as_bytes())).collect();
            openings.entry(words[0]).or_default().push((words, *ask));
        }
        openings
    });
    let opening: Vec<u32> = text.spoken().take(8).map(|w| w.hash).collect();
    for lead in 0..MOST_LEADS.min(opening.len()) {
        let rest = &opening[lead..];
        let known = openings.get(&rest[0]).map_or(&[][..], Vec::as_slice);
        if let Some((_, ask)) = known.iter().find(|(words, _)| rest.starts_with(words)) {
            // After a leading word, "I am …" and "could you …" are not yes/no questions.
            if lead == 0 || *ask != Ask::YesNo {
                return *ask;
            }
        }
    }
    Ask::None
}

/// Strips common English suffixes, so that "laptops" matches "laptop" and "learning" "learn".
pub(crate) fn stem(folded: &str) -> &str {
    if !folded.is_ascii() || folded.len() < 4 {
        return folded;
    }
    for ending in [
        "ically", "ations", "ation", "ingly", "ings", "ness", "ment", "ing", "ies", "ied", "ers",
        "est", "ed", "er", "es", "ly", "s", "e", "y",
    ] {
        if let Some(rest) = folded.strip_suffix(ending)
            && rest.len() >= 3
        {
            return rest;
        }
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sort_of_answer_is_seen_through_the_wording() {
        let rows = [
            ("How can I lose weight?", Ask::Way),
            ("What is the best way to lose weight?", Ask::Way),
            ("so, why does bread rise", Ask::Reason),
            ("What causes bread to rise?", Ask::Reason),
            ("how much is a ticket", Ask::Amount),
            ("Is it safe?", Ask::YesNo),
            ("laptops under 1000", Ask::None),
            ("", Ask::None),
        ];
        for (question, ask) in rows {
            assert_eq!(ask_of(&Text::read(question)), ask, "{question}");
        }
    }

    #[test]
    fn endings_go() {
        for (word, expected) in
            [("laptops", "laptop"), ("learning", "learn"), ("is", "is"), ("größe", "größe")]
        {
            assert_eq!(stem(word), expected);
        }
    }
}
