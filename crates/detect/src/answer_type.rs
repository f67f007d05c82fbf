//! Classifies the answer type that a question expects.
//!
//! "How can I lose weight" and "what is the best way to lose weight" expect the same type; "why"
//! and "how" do not.

use std::cmp::Reverse;
use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use crate::text::{FoldedText, hash};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnswerType {
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

const MAX_LEADING_WORDS: usize = 3;

type OpeningsByFirstWord = FxHashMap<u32, Vec<(Box<[u32]>, AnswerType)>>;

pub(crate) fn expected_answer_type(text: &FoldedText) -> AnswerType {
    let openings = load_openings();
    let opening: Vec<u32> = text.word_hashes().take(8).collect();
    for lead in 0..MAX_LEADING_WORDS.min(opening.len()) {
        let rest = &opening[lead..];
        let known = openings.get(&rest[0]).map_or(&[][..], Vec::as_slice);
        if let Some((_, answer_type)) = known.iter().find(|(words, _)| rest.starts_with(words)) {
            // After a leading word, "I am …" and "could you …" are not yes/no questions.
            if lead == 0 || *answer_type != AnswerType::YesNo {
                return *answer_type;
            }
        }
    }
    AnswerType::None
}

fn load_openings() -> &'static OpeningsByFirstWord {
    static LOADED: OnceLock<OpeningsByFirstWord> = OnceLock::new();
    LOADED.get_or_init(|| {
        let mut openings = OpeningsByFirstWord::default();
        for (answer_type, phrases) in OPENINGS.lines().filter_map(|line| line.split_once(": ")) {
            let Some(answer_type) = parse_answer_type(answer_type) else { continue };
            for phrase in phrases.split(" | ") {
                let words: Box<[u32]> = phrase.split(' ').map(|w| hash(0, w.as_bytes())).collect();
                openings.entry(words[0]).or_default().push((words, answer_type));
            }
        }
        openings.values_mut().for_each(|all| all.sort_by_key(|(words, _)| Reverse(words.len())));
        openings
    })
}

fn parse_answer_type(name: &str) -> Option<AnswerType> {
    Some(match name {
        "quantity" => AnswerType::Quantity,
        "reason" => AnswerType::Reason,
        "method" => AnswerType::Method,
        "time" => AnswerType::Time,
        "place" => AnswerType::Place,
        "person" => AnswerType::Person,
        "choice" => AnswerType::Choice,
        "definition" => AnswerType::Definition,
        "entity" => AnswerType::Entity,
        "yes_no" => AnswerType::YesNo,
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
            assert!(name.and_then(parse_answer_type).is_some(), "{line}");
        }
    }

    #[test]
    fn different_wordings_give_the_same_answer_type() {
        let rows = [
            ("How can I lose weight?", AnswerType::Method),
            ("What is the best way to lose weight?", AnswerType::Method),
            ("so, why does bread rise", AnswerType::Reason),
            ("What causes bread to rise?", AnswerType::Reason),
            ("how much is a ticket", AnswerType::Quantity),
            ("Is it safe?", AnswerType::YesNo),
            ("laptops under 1000", AnswerType::None),
            ("", AnswerType::None),
        ];
        for (question, answer_type) in rows {
            assert_eq!(expected_answer_type(&FoldedText::new(question)), answer_type, "{question}");
        }
    }
}
