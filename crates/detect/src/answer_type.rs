//! Classifies the answer type that a question expects.
//!
//! "How can I lose weight" and "what is the best way to lose weight" expect the same type; "why"
//! and "how" do not.

use std::sync::LazyLock;

use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error as ValueError, StrDeserializer};

use crate::phrases::PhraseIndex;
use crate::text::FoldedText;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
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
    #[serde(skip)]
    None,
}

/// One answer type per line, as `type: opening | opening`.
const OPENINGS: &str = include_str!("phrases/answer_types.txt");

const MAX_LEADING_WORDS: usize = 3;

pub(crate) fn expected_answer_type(text: &FoldedText) -> AnswerType {
    static LOADED: LazyLock<PhraseIndex<AnswerType>> = LazyLock::new(|| {
        PhraseIndex::parse_files(&[OPENINGS], |name, _| parse_answer_type(name)).longest_first()
    });
    let opening: Vec<u32> = text.word_hashes().take(8).collect();
    for lead in 0..MAX_LEADING_WORDS.min(opening.len()) {
        if let Some((_, answer_type)) = LOADED.match_start(&opening[lead..]).next() {
            // After a leading word, "I am …" and "could you …" are not yes/no questions.
            if lead == 0 || answer_type != AnswerType::YesNo {
                return answer_type;
            }
        }
    }
    AnswerType::None
}

fn parse_answer_type(name: &str) -> Option<AnswerType> {
    let name: StrDeserializer<'_, ValueError> = name.into_deserializer();
    AnswerType::deserialize(name).ok()
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
