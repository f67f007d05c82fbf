//! Topics of conversations: questions, correct answers and wrong answers.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::data::parse_embedded;
use crate::people::Language;

/// The three assistants of the demo application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Assistant {
    /// Answers questions about an account.
    Support,
    /// Answers questions from the documentation.
    Docs,
    /// Turns questions into SQL.
    Sql,
}

/// A systematic error that models repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum KnownError {
    /// Gives a time in UTC instead of the user's time zone.
    TimeZone,
    /// Names an API endpoint that was switched off.
    OldApi,
    /// Reads a table that includes archived customers.
    WrongTable,
}

/// A topic; braces in its sentences are placeholders.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ConversationTopic {
    pub(crate) app: Assistant,
    pub(crate) language: Language,
    pub(crate) intent: String,
    /// Relative frequency of the topic.
    pub(crate) weight: f64,
    pub(crate) known_error: Option<KnownError>,
    pub(crate) questions: Vec<String>,
    pub(crate) rephrasings: Vec<String>,
    pub(crate) follow_ups: Vec<String>,
    /// Answers without a mistake.
    pub(crate) good: Vec<String>,
    /// Answers with the mistake.
    pub(crate) bad: Vec<String>,
    /// Complaints about the topic's known error; empty without one.
    #[serde(default)]
    pub(crate) complaints: Vec<String>,
    /// Documentation pages that contain the answer.
    #[serde(default)]
    pub(crate) pages: Vec<String>,
}

/// A documentation page with its first sentences.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DocPage {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) content: String,
}

/// All topics. Their order determines the random choices.
pub(crate) static TOPICS: LazyLock<Vec<ConversationTopic>> = LazyLock::new(|| {
    let files = [
        include_str!("topics/support.json"),
        include_str!("topics/docs.json"),
        include_str!("topics/sql.json"),
        include_str!("topics/other_languages.json"),
    ];
    files.into_iter().flat_map(parse_embedded::<Vec<ConversationTopic>>).collect()
});

pub(crate) static DOC_PAGES: LazyLock<Vec<DocPage>> =
    LazyLock::new(|| parse_embedded(include_str!("topics/doc_pages.json")));

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn sentences_are_many_and_distinct() {
        let lists = |topic: &'static ConversationTopic| {
            [
                &topic.questions,
                &topic.rephrasings,
                &topic.follow_ups,
                &topic.good,
                &topic.bad,
                &topic.complaints,
            ]
        };
        let sentences: Vec<&String> = TOPICS.iter().flat_map(lists).flatten().collect();
        let different: BTreeSet<&String> = sentences.iter().copied().collect();
        assert!(sentences.len() > 250, "{}", sentences.len());
        assert_eq!(sentences.len(), different.len());
    }

    #[test]
    fn every_topic_is_complete_and_names_existing_pages() {
        for topic in TOPICS.iter() {
            let lists =
                [&topic.questions, &topic.rephrasings, &topic.follow_ups, &topic.good, &topic.bad];
            assert!(lists.iter().all(|list| !list.is_empty()), "{}", topic.intent);
            assert_eq!(
                topic.known_error.is_some(),
                !topic.complaints.is_empty(),
                "{}",
                topic.intent
            );
            for page in &topic.pages {
                assert!(DOC_PAGES.iter().any(|known| known.id == *page), "{page}");
            }
        }
    }
}
