//! Topics of conversations: questions, correct answers and wrong answers.

mod docs;
mod other_languages;
mod sql;
mod support;

use crate::people::Language;

/// The three assistants of the demo application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Assistant {
    /// Answers questions about an account.
    Support,
    /// Answers questions from the documentation.
    Docs,
    /// Turns questions into SQL.
    Sql,
}

/// A systematic error that models repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KnownError {
    /// Gives a time in UTC instead of the user's time zone.
    TimeZone,
    /// Names an API endpoint that was switched off.
    OldApi,
    /// Reads a table that includes archived customers.
    WrongTable,
}

/// A topic; braces in its sentences are placeholders.
#[derive(Debug)]
pub(crate) struct ConversationTopic {
    pub(crate) app: Assistant,
    pub(crate) intent: &'static str,
    pub(crate) language: Language,
    /// Ways to ask the question.
    pub(crate) questions: &'static [&'static str],
    /// The question in other words.
    pub(crate) rephrasings: &'static [&'static str],
    /// Follow-up questions of a satisfied user.
    pub(crate) follow_ups: &'static [&'static str],
    /// Answers without a mistake.
    pub(crate) good: &'static [&'static str],
    /// Answers with the mistake.
    pub(crate) bad: &'static [&'static str],
    /// Complaints about the topic's known error; empty without one.
    pub(crate) complaints: &'static [&'static str],
    pub(crate) known_error: Option<KnownError>,
    /// Documentation pages that contain the answer.
    pub(crate) pages: &'static [&'static str],
    /// Relative frequency of the topic.
    pub(crate) weight: f64,
}

/// Defaults of every topic.
const BLANK_TOPIC: ConversationTopic = ConversationTopic {
    app: Assistant::Support,
    intent: "",
    language: Language::En,
    questions: &[],
    rephrasings: &[],
    follow_ups: &[],
    good: &[],
    bad: &[],
    complaints: &[],
    known_error: None,
    pages: &[],
    weight: 1.0,
};

pub(crate) fn all_topics() -> impl Iterator<Item = &'static ConversationTopic> {
    [support::TOPICS, docs::TOPICS, sql::TOPICS, other_languages::TOPICS].into_iter().flatten()
}

/// Id, title and first sentences of a documentation page.
pub(crate) type DocPage = (&'static str, &'static str, &'static str);

pub(crate) fn doc_pages() -> &'static [DocPage] {
    docs::PAGES
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn sentences_are_many_and_distinct() {
        let lists = |topic: &'static ConversationTopic| {
            [
                topic.questions,
                topic.rephrasings,
                topic.follow_ups,
                topic.good,
                topic.bad,
                topic.complaints,
            ]
        };
        let sentences: Vec<&str> = all_topics().flat_map(lists).flatten().copied().collect();
        let different: BTreeSet<&str> = sentences.iter().copied().collect();
        assert!(sentences.len() > 250, "{}", sentences.len());
        assert_eq!(sentences.len(), different.len());
    }

    #[test]
    fn every_topic_is_complete_and_names_existing_pages() {
        for topic in all_topics() {
            let lists = [topic.questions, topic.rephrasings, topic.good, topic.bad];
            assert!(lists.iter().all(|list| !list.is_empty()), "{}", topic.intent);
            assert_eq!(
                topic.known_error.is_some(),
                !topic.complaints.is_empty(),
                "{}",
                topic.intent
            );
            for page in topic.pages {
                assert!(doc_pages().iter().any(|(id, ..)| id == page), "{page}");
            }
        }
    }
}
