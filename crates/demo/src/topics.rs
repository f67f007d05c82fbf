//! What people talk about: questions, answers that are right, and answers that are not.

mod docs;
mod other_languages;
mod sql;
mod support;

use crate::cast::Language;

/// Which of the application's three assistants is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum App {
    /// Help with an account.
    Support,
    /// Answers out of the product's documentation.
    Docs,
    /// Questions turned into SQL.
    Sql,
}

/// Something that answers get wrong again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trap {
    /// Times are given in UTC, not in the user's zone.
    TimeZone,
    /// An address of the API is named that was switched off.
    OldApi,
    /// A table is read that also holds archived customers.
    WrongTable,
}

/// Something to ask about. Braces stand for what changes from question to question.
#[derive(Debug)]
pub(crate) struct Topic {
    pub(crate) app: App,
    pub(crate) intent: &'static str,
    pub(crate) language: Language,
    /// How it is asked.
    pub(crate) asks: &'static [&'static str],
    /// The same in other words.
    pub(crate) again: &'static [&'static str],
    /// What somebody asks next who is content.
    pub(crate) next: &'static [&'static str],
    /// Right answers.
    pub(crate) good: &'static [&'static str],
    /// Wrong ones.
    pub(crate) bad: &'static [&'static str],
    /// What users say of a wrong one, if it is always wrong in the same way.
    pub(crate) complaints: &'static [&'static str],
    pub(crate) trap: Option<Trap>,
    /// Pages of the documentation that have the answer.
    pub(crate) pages: &'static [&'static str],
    /// How often, compared with others.
    pub(crate) weight: f64,
}

/// What every topic starts from.
const BLANK: Topic = Topic {
    app: App::Support,
    intent: "",
    language: Language::En,
    asks: &[],
    again: &[],
    next: &[],
    good: &[],
    bad: &[],
    complaints: &[],
    trap: None,
    pages: &[],
    weight: 1.0,
};

/// All of them.
pub(crate) fn all() -> impl Iterator<Item = &'static Topic> {
    [support::TOPICS, docs::TOPICS, sql::TOPICS, other_languages::TOPICS].into_iter().flatten()
}

/// A page of the documentation: its id, its title and how it begins.
pub(crate) type Page = (&'static str, &'static str, &'static str);

/// The documentation.
pub(crate) fn pages() -> &'static [Page] {
    docs::PAGES
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn there_are_a_few_hundred_sentences_and_all_are_different() {
        let lists = |topic: &'static Topic| {
            [topic.asks, topic.again, topic.next, topic.good, topic.bad, topic.complaints]
        };
        let sentences: Vec<&str> = all().flat_map(lists).flatten().copied().collect();
        let different: BTreeSet<&str> = sentences.iter().copied().collect();
        assert!(sentences.len() > 250, "{}", sentences.len());
        assert_eq!(sentences.len(), different.len());
    }

    #[test]
    fn every_topic_can_be_asked_asked_again_and_answered_and_names_pages_that_exist() {
        for topic in all() {
            let lists = [topic.asks, topic.again, topic.good, topic.bad];
            assert!(lists.iter().all(|list| !list.is_empty()), "{}", topic.intent);
            assert_eq!(topic.trap.is_some(), !topic.complaints.is_empty(), "{}", topic.intent);
            for page in topic.pages {
                assert!(pages().iter().any(|(id, ..)| id == page), "{page}");
            }
        }
    }
}
