//! Classifies the answer type that a question expects.
//!
//! "How can I lose weight" and "what is the best way to lose weight" expect the same type; "why"
//! and "how" do not.

use std::cmp::Reverse;
use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use crate::text::{Text, hash};

/// Expected answer type of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    Method,
    Reason,
    Time,
    Place,
    Person,
    Quantity,
    Choice,
    Definition,
    YesNo,
    Entity,
    /// A request or a statement rather than a question.
    None,
}

/// One answer type per line, as `type: opening | opening`.
const OPENINGS: &str = include_str!("phrases/answer_types.txt");

/// Leading words that may precede the question opening.
const MOST_LEADS: usize = 3;

/// Openings keyed by their first word.
type Openings = FxHashMap<u32, Vec<(Box<[u32]>, Ask)>>;

pub(crate) fn ask_of(text: &Text) -> Ask {
    let openings = load_openings();
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

fn load_openings() -> &'static Openings {
    static READ: OnceLock<Openings> = OnceLock::new();
    READ.get_or_init(|| {
        let mut openings = Openings::default();
        for (ask, phrases) in OPENINGS.lines().filter_map(|line| line.split_once(": ")) {
            let Some(ask) = parse_ask(ask) else { continue };
            for phrase in phrases.split(" | ") {
                let words: Box<[u32]> = phrase.split(' ').map(|w| hash(0, w.as_bytes())).collect();
                openings.entry(words[0]).or_default().push((words, ask));
            }
        }
        openings.values_mut().for_each(|all| all.sort_by_key(|(words, _)| Reverse(words.len())));
        openings
    })
}

fn parse_ask(name: &str) -> Option<Ask> {
    Some(match name {
        "quantity" => Ask::Quantity,
        "reason" => Ask::Reason,
        "method" => Ask::Method,
        "time" => Ask::Time,
        "place" => Ask::Place,
        "person" => Ask::Person,
        "choice" => Ask::Choice,
        "definition" => Ask::Definition,
        "entity" => Ask::Entity,
        "yes_no" => Ask::YesNo,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_openings_names_an_answer_type() {
        for line in OPENINGS.lines().filter(|line| !line.starts_with('#')) {
            let name = line.split_once(": ").map(|(name, _)| name);
            assert!(name.and_then(parse_ask).is_some(), "{line}");
        }
    }

    #[test]
    fn the_sort_of_answer_is_seen_through_the_wording() {
        let rows = [
            ("How can I lose weight?", Ask::Method),
            ("What is the best way to lose weight?", Ask::Method),
            ("so, why does bread rise", Ask::Reason),
            ("What causes bread to rise?", Ask::Reason),
            ("how much is a ticket", Ask::Quantity),
            ("Is it safe?", Ask::YesNo),
            ("laptops under 1000", Ask::None),
            ("", Ask::None),
        ];
        for (question, ask) in rows {
            assert_eq!(ask_of(&Text::read(question)), ask, "{question}");
        }
    }
}
