//! Agreement between authors, and the suggestions that follow from it.

use std::collections::{BTreeMap, BTreeSet};

use super::{Suggestion, SuggestionBasis, is_prompt_injection, sanitisation};
use crate::failures::{FailurePattern, wilson_interval};

/// A suggestion needs two people: repetition by one person is one opinion.
const MIN_AUTHORS: usize = 2;
/// Suggestions below this strength are hidden: 2 of 11 who could have agreed are shown, 2 of 12 not.
const MIN_STRENGTH: f64 = 0.05;
/// Topics or tables named in one instruction.
const MAX_SUBJECTS: usize = 3;

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
pub(super) fn has_two_authors(support: &Support<'_>) -> bool {
    let distinct: BTreeSet<Author<'_>> = support.iter().map(|(_, author)| *author).collect();
    let users = distinct.iter().filter(|author| matches!(author, Author::User(_))).count();
    users >= MIN_AUTHORS || distinct.len() - users >= MIN_AUTHORS
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
    /// Stems of what is asked for, each with its direction.
    pub(super) idea: BTreeSet<String>,
    /// Tables that all supporting corrections read, when the instruction names none.
    pub(super) tables: BTreeSet<String>,
    pub(super) support: Support<'a>,
    pub(super) total: usize,
}

impl<'a> AgreedInstruction<'a> {
    pub(super) fn new(
        basis: SuggestionBasis,
        (instruction, idea): (String, BTreeSet<String>),
        support: Support<'a>,
        total: usize,
    ) -> Option<Self> {
        let tables = BTreeSet::new();
        has_two_authors(&support).then_some(Self {
            basis,
            instruction,
            idea,
            tables,
            support,
            total,
        })
    }

    fn turns(&self) -> BTreeSet<&'a str> {
        self.support.iter().map(|(turn, _)| *turn).collect()
    }

    /// True when both ask for the same. Two changes of a statement are two ideas. A wish in words
    /// and a correction are one idea when they share a word and most of their turns.
    fn has_same_idea(&self, other: &Self) -> bool {
        let same_words = self.instruction.to_lowercase() == other.instruction.to_lowercase();
        if self.basis == other.basis {
            let has_words = !self.idea.is_empty() && !other.idea.is_empty();
            let is_part = self.idea.is_subset(&other.idea) || other.idea.is_subset(&self.idea);
            return match self.basis {
                SuggestionBasis::Corrections | SuggestionBasis::Errors => same_words,
                SuggestionBasis::Contrast | SuggestionBasis::Remarks => {
                    same_words || (has_words && is_part)
                }
            };
        }
        let (turns, others) = (self.turns(), other.turns());
        let shared = turns.intersection(&others).count();
        let smaller = turns.len().min(others.len());
        !self.idea.is_disjoint(&other.idea) && 2 * shared >= smaller
    }
}

struct MergedInstruction<'a> {
    patterns: Vec<&'a FailurePattern>,
    agreed: AgreedInstruction<'a>,
}

impl<'a> MergedInstruction<'a> {
    /// Adds the same idea from another place. The more precise basis keeps its words, then the
    /// larger support.
    fn absorb(&mut self, pattern: &'a FailurePattern, agreed: AgreedInstruction<'a>) {
        let same_basis = self.agreed.basis == agreed.basis;
        if !same_basis {
            if agreed.basis < self.agreed.basis {
                *self = Self { patterns: vec![pattern], agreed };
            }
            return;
        }
        if self.patterns.iter().all(|known| known.id != pattern.id) {
            self.patterns.push(pattern);
            self.agreed.total += agreed.total;
        }
        self.agreed.tables = self.agreed.tables.intersection(&agreed.tables).cloned().collect();
        if agreed.support.len() > self.agreed.support.len() {
            (self.agreed.instruction, self.agreed.idea) = (agreed.instruction, agreed.idea);
        }
        self.agreed.support.extend(agreed.support);
    }
}

/// Merges the same idea of several patterns and sources, in input order.
pub(super) fn merge_instructions<'a>(
    agreed: impl IntoIterator<Item = (&'a FailurePattern, AgreedInstruction<'a>)>,
) -> Vec<Suggestion> {
    let mut all: Vec<MergedInstruction<'a>> = Vec::new();
    for (pattern, agreed) in agreed {
        match all.iter_mut().find(|known| known.agreed.has_same_idea(&agreed)) {
            Some(same) => same.absorb(pattern, agreed),
            None => all.push(MergedInstruction { patterns: vec![pattern], agreed }),
        }
    }
    let suggestions = all.into_iter().filter_map(MergedInstruction::into_suggestion);
    suggestions.filter(|suggestion| suggestion.strength >= MIN_STRENGTH).collect()
}

impl MergedInstruction<'_> {
    fn into_suggestion(self) -> Option<Suggestion> {
        let scope = self.format_scope();
        let first = self.patterns.first()?;
        // An error that is not about a subject is no matter of the prompt.
        if self.agreed.basis == SuggestionBasis::Errors && scope.is_empty() {
            return None;
        }
        let turns = self.agreed.turns();
        let AgreedInstruction { basis, instruction, support, total, .. } = &self.agreed;
        let agree = support.len();
        let total = (*total).max(agree);
        let why = match basis {
            SuggestionBasis::Corrections => {
                format!("{agree} of {total} corrections change this in the same way")
            }
            SuggestionBasis::Contrast => format!("{agree} of {total} turns asked for this instead"),
            SuggestionBasis::Remarks => format!("{agree} of {total} remarks say this"),
            SuggestionBasis::Errors => format!("{agree} answers failed with this"),
        };
        let failed = (f64::from(first.count) / first.share).max(turns.len() as f64);
        Some(Suggestion {
            pattern_id: first.id.clone(),
            instruction: to_sentence(&format!("{scope}{instruction}")),
            why,
            basis: *basis,
            reach: turns.len() as f64 / failed,
            strength: wilson_interval(agree as f64, total as f64)[0],
            evidence: turns.into_iter().map(str::to_owned).collect(),
            agree: agree as u32,
            total: total as u32,
        })
    }

    /// The subjects of the patterns, or else the tables; empty when there are neither.
    fn format_scope(&self) -> String {
        let topics: BTreeSet<String> =
            self.patterns.iter().map(|pattern| clean_topic(&pattern.topic)).collect();
        let named = topics.iter().all(|topic| !topic.is_empty()) && topics.len() <= MAX_SUBJECTS;
        if named {
            return format!("When the question is about {}, ", join_or(&topics));
        }
        let tables: BTreeSet<String> = self
            .agreed
            .tables
            .iter()
            .filter_map(|table| sanitisation::sanitise_sql(table))
            .collect();
        if (1..=MAX_SUBJECTS).contains(&tables.len()) {
            return format!("In queries on {}, ", join_or(&tables));
        }
        String::new()
    }
}

/// Joins with commas and a final "or".
fn join_or(names: &BTreeSet<String>) -> String {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    match names.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

/// A topic that may enter a prompt; empty otherwise.
fn clean_topic(topic: &str) -> String {
    if is_prompt_injection(topic) {
        return String::new();
    }
    sanitisation::sanitise_words(topic)
}

fn to_sentence(text: &str) -> String {
    let mut letters = text.trim_end_matches('.').chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}.", letters.as_str())
}
