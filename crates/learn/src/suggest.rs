//! Suggests instructions for a prompt out of failure patterns, by templates.
//!
//! Three sources: what corrections of a pattern changed in the same way, what was wanted instead of
//! what, and what was said again and again; for errors, their type. Two must agree, or nothing is
//! suggested.

mod safe;
mod sql;
mod phrase;
mod asked;
mod changes;
mod remarks;

use crate::failures::FailurePattern;

pub use asked::asked_for;

/// A correction of a turn's answer.
#[derive(Clone, Copy, Debug)]
pub struct CorrectedAnswer<'a> {
    /// The turn.
    pub turn_id: &'a str,
    /// What was answered.
    pub original: &'a str,
    /// What should have been.
    pub corrected: &'a str,
}

/// What was said of a turn's answer.
#[derive(Clone, Copy, Debug)]
pub struct Remark<'a> {
    /// The turn.
    pub turn_id: &'a str,
    /// In the user's words.
    pub said: &'a str,
}

/// A pattern with what its turns were answered with and what was said of it.
#[derive(Clone, Debug)]
pub struct PatternEvidence<'a> {
    /// The pattern.
    pub pattern: &'a FailurePattern,
    /// Corrections of its turns, the latest of each turn.
    pub corrections: Vec<CorrectedAnswer<'a>>,
    /// Comments, rejecting messages and explanations of its turns.
    pub remarks: Vec<Remark<'a>>,
}

/// What a suggestion was made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SuggestionBasis {
    /// Corrections that change the same.
    Corrections,
    /// The same wanted instead of the same.
    Contrast,
    /// The same said several times.
    Remarks,
    /// The same error.
    Errors,
}

/// An instruction that might help, for a person to judge and an experiment to try.
#[derive(Clone, Debug, PartialEq)]
pub struct Suggestion {
    /// The pattern it is for.
    pub pattern_id: String,
    /// What to put into the prompt. Text of users in it is data: one line, of limited length,
    /// without quotation marks, markup and invisible characters.
    pub instruction: String,
    /// What it was concluded from.
    pub why: String,
    /// What it was made of.
    pub basis: SuggestionBasis,
    /// The share of failed turns that the pattern has.
    pub reach: f64,
    /// The turns that agree.
    pub evidence: Vec<String>,
    /// How many turns agree.
    pub agree: u32,
    /// Of how many that could have.
    pub of: u32,
}

/// Turns that must agree.
const LEAST: usize = 2;
/// Suggestions for a pattern.
const MOST: usize = 3;

/// Suggestions for patterns, in the order of the patterns; none where nothing repeats.
pub fn suggestions(evidence: &[PatternEvidence<'_>]) -> Vec<Suggestion> {
    evidence.iter().flat_map(of_pattern).collect()
}

fn of_pattern(evidence: &PatternEvidence<'_>) -> Vec<Suggestion> {
    let mut found = changes::from_corrections(evidence);
    found.extend(remarks::from_contrasts(evidence));
    if found.is_empty() {
        // A remark says in words what corrections and contrasts say precisely.
        found.extend(remarks::from_remarks(evidence));
    }
    found.extend(remarks::from_errors(evidence));
    found.truncate(MOST);
    found
}

/// Turns that agree on what to do.
struct Agreed<'a> {
    basis: SuggestionBasis,
    instruction: String,
    why: String,
    turns: Vec<&'a str>,
    of: usize,
}

impl Agreed<'_> {
    fn suggested(self, pattern: &FailurePattern) -> Suggestion {
        Suggestion {
            pattern_id: pattern.id.clone(),
            instruction: self.instruction,
            why: self.why,
            basis: self.basis,
            reach: pattern.share,
            agree: self.turns.len() as u32,
            evidence: self.turns.into_iter().map(str::to_owned).collect(),
            of: self.of as u32,
        }
    }
}

/// "When the question is about orders, "; nothing when it is not known what it is about.
fn when(pattern: &FailurePattern) -> String {
    let topic = safe::words(&pattern.topic);
    let topic = if topic.is_empty() { safe::words(&pattern.label) } else { topic };
    if topic.is_empty() { String::new() } else { format!("When the question is about {topic}, ") }
}

/// A sentence: a capital first, a full stop last.
fn sentence(text: &str) -> String {
    let mut letters = text.trim_end_matches('.').chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}.", letters.as_str())
}

#[cfg(test)]
mod tests;
