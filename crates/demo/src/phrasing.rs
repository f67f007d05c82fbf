//! Sentence templates and the values for their placeholders.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::data::parse_embedded;
use crate::people::{DemoUser, Language};
use crate::rng::DemoRng;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PhraseBook {
    reports: Vec<String>,
    periods: Vec<String>,
    formats: Vec<String>,
    regions: Vec<String>,
    /// Notes for a thumbs up.
    pub(crate) happy_notes: Vec<String>,
    /// Notes for a thumbs down.
    pub(crate) unhappy_notes: Vec<String>,
    en: Phrases,
    de: Phrases,
    es: Phrases,
}

/// The phrases of one language that fit every topic.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Phrases {
    months: Vec<String>,
    /// Messages of a satisfied user.
    pub(crate) thanks: Vec<String>,
    /// Complaints about an answer without a specific error.
    pub(crate) complaints: Vec<String>,
    /// Ambiguous messages that neither accept nor reject an answer.
    pub(crate) doubts: Vec<String>,
    /// Replies to thanks.
    pub(crate) farewells: Vec<String>,
    /// Openings of a reply to a complaint.
    pub(crate) apologies: Vec<String>,
}

pub(crate) static PHRASE_BOOK: LazyLock<PhraseBook> =
    LazyLock::new(|| parse_embedded(include_str!("phrases.json")));

impl PhraseBook {
    pub(crate) fn phrases(&self, language: Language) -> &Phrases {
        match language {
            Language::En => &self.en,
            Language::De => &self.de,
            Language::Es => &self.es,
        }
    }
}

/// Placeholder values, shared by all sentences about one question.
#[derive(Clone, Debug)]
pub(crate) struct Placeholders(Vec<(&'static str, String)>);

impl Placeholders {
    pub(crate) fn new(person: &DemoUser, rng: &mut DemoRng) -> Self {
        let book = &*PHRASE_BOOK;
        let hour = 7 + rng.next_index(11);
        Self(vec![
            ("{report}", rng.pick_one(&book.reports).clone()),
            ("{period}", rng.pick_one(&book.periods).clone()),
            ("{format}", rng.pick_one(&book.formats).clone()),
            ("{region}", rng.pick_one(&book.regions).clone()),
            ("{month}", rng.pick_one(&book.phrases(person.language).months).clone()),
            ("{hour}", hour.to_string()),
            ("{n}", (2 + rng.next_index(8)).to_string()),
            ("{city}", person.city.to_owned()),
        ])
    }

    /// Picks a sentence and fills its placeholders.
    pub(crate) fn pick_sentence(&self, sentences: &[String], rng: &mut DemoRng) -> String {
        let sentence = rng.pick_one(sentences);
        self.fill_sentence(sentence)
    }

    pub(crate) fn fill_sentence(&self, sentence: &str) -> String {
        self.0.iter().fold(sentence.to_owned(), |filled, (gap, word)| filled.replace(gap, word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::people::generate_people;
    use crate::topics::TOPICS;

    #[test]
    fn every_placeholder_is_filled() {
        let mut rng = DemoRng::new(9);
        let person = generate_people(&mut rng).remove(0);
        let placeholders = Placeholders::new(&person, &mut rng);
        for topic in TOPICS.iter() {
            let lists =
                [&topic.questions, &topic.rephrasings, &topic.follow_ups, &topic.good, &topic.bad];
            for sentence in lists.into_iter().flatten().chain(&topic.complaints) {
                let filled = placeholders.fill_sentence(sentence);
                for gap in placeholders.0.iter().map(|(gap, _)| gap) {
                    assert!(!filled.contains(gap), "{filled}");
                }
                let left = filled.matches(['{', '}']).count();
                assert!(left == 0 || filled.contains("{\"view\""), "{filled}");
            }
        }
    }
}
