//! Agreement between authors, and the suggestions that follow from it.

use std::collections::{BTreeMap, BTreeSet};

use super::{Suggestion, SuggestionBasis, is_prompt_injection, sanitisation};
use crate::failures::FailurePattern;

/// A suggestion needs two people: repetition by one person is one opinion.
const MIN_AUTHORS: usize = 2;

/// The best known identity of a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Author<'a> {
    User(&'a str),
    /// An unknown person in a conversation.
    Conversation(&'a str),
    /// Only the turn is known.
    Turn(&'a str),
}

/// A turn and an author: two people may comment on one turn.
pub(super) type AuthoredTurn<'a> = (&'a str, Author<'a>);

pub(super) type Support<'a> = BTreeSet<AuthoredTurn<'a>>;

/// True for two users or, where users are unknown, two conversations. An unknown person may be any
/// known user.
pub fn have_two_authors<'a>(authors: impl IntoIterator<Item = Author<'a>>) -> bool {
    let distinct: BTreeSet<Author<'a>> = authors.into_iter().collect();
    let users = distinct.iter().filter(|author| matches!(author, Author::User(_))).count();
    users >= MIN_AUTHORS || distinct.len() - users >= MIN_AUTHORS
}

pub(super) fn has_two_authors(support: &Support<'_>) -> bool {
    have_two_authors(support.iter().map(|(_, author)| *author))
}

pub(super) fn support_from_turns<'a>(
    turns: &'a [String],
    authors: &BTreeMap<&str, Author<'a>>,
) -> Support<'a> {
    let authored = |turn: &'a String| Some((turn.as_str(), *authors.get(turn.as_str())?));
    turns.iter().filter_map(authored).collect()
}

#[derive(Clone, Debug)]
pub(super) struct AgreedInstruction<'a> {
    pub(super) basis: SuggestionBasis,
    /// Follows "When the question is about …,".
    pub(super) instruction: String,
    pub(super) support: Support<'a>,
    pub(super) total: usize,
}

impl<'a> AgreedInstruction<'a> {
    pub(super) fn new(
        basis: SuggestionBasis,
        instruction: String,
        support: Support<'a>,
        total: usize,
    ) -> Option<Self> {
        has_two_authors(&support).then_some(Self { basis, instruction, support, total })
    }
}

struct MergedInstruction<'a> {
    patterns: Vec<&'a FailurePattern>,
    agreed: AgreedInstruction<'a>,
}

/// Merges equal instructions for several patterns, in input order. Support and reach add up.
pub(super) fn merge_instructions<'a>(
    agreed: impl IntoIterator<Item = (&'a FailurePattern, AgreedInstruction<'a>)>,
) -> Vec<Suggestion> {
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut all: Vec<MergedInstruction<'a>> = Vec::new();
    for (pattern, agreed) in agreed {
        let place = *places.entry(agreed.instruction.to_lowercase()).or_insert(all.len());
        let Some(same) = all.get_mut(place) else {
            all.push(MergedInstruction { patterns: vec![pattern], agreed });
            continue;
        };
        same.agreed.total += agreed.total;
        same.agreed.support.extend(agreed.support);
        if same.patterns.iter().all(|known| known.id != pattern.id) {
            same.patterns.push(pattern);
        }
    }
    all.into_iter().filter_map(MergedInstruction::into_suggestion).collect()
}

impl MergedInstruction<'_> {
    fn into_suggestion(self) -> Option<Suggestion> {
        let AgreedInstruction { basis, instruction, support, total } = self.agreed;
        let turns: BTreeSet<&str> = support.iter().map(|(turn, _)| *turn).collect();
        let first = self.patterns.first()?;
        let topics: BTreeSet<&str> = self.patterns.iter().map(|p| p.topic.as_str()).collect();
        // An instruction for several topics names none.
        let topic = if topics.len() == 1 { first.topic.as_str() } else { "" };
        let agree = support.len();
        let total = total.max(agree);
        let why = match basis {
            SuggestionBasis::Corrections => {
                format!("{agree} of {total} corrections change this in the same way")
            }
            SuggestionBasis::Contrast => format!("{agree} of {total} turns asked for this instead"),
            SuggestionBasis::Remarks => format!("{agree} of {total} remarks say this"),
            SuggestionBasis::Errors => format!("{agree} answers failed with this"),
        };
        Some(Suggestion {
            pattern_id: first.id.clone(),
            instruction: to_sentence(&format!("{}{instruction}", format_topic_clause(topic))),
            why,
            basis,
            reach: self.patterns.iter().map(|pattern| pattern.share).sum::<f64>().min(1.0),
            evidence: turns.into_iter().map(str::to_owned).collect(),
            agree: agree as u32,
            total: total as u32,
        })
    }
}

/// Returns "When the question is about orders, ", or nothing without a topic.
fn format_topic_clause(topic: &str) -> String {
    let topic = if is_prompt_injection(topic) {
        String::new()
    } else {
        sanitisation::sanitise_words(topic)
    };
    if topic.is_empty() { String::new() } else { format!("When the question is about {topic}, ") }
}

fn to_sentence(text: &str) -> String {
    let mut letters = text.trim_end_matches('.').chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}.", letters.as_str())
}
