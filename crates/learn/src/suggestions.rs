//! Suggests instructions for a prompt out of failure patterns, by templates.
//!
//! Three sources: what corrections of a pattern changed in the same way, what was wanted instead of
//! what, and what was said again and again; for errors, their type. Two people must agree, or nothing
//! is suggested; the same for several patterns is one suggestion.

mod sanitisation;
mod prompt_injection;
mod sql;
mod instruction_text;
mod correction_summary;
mod consensus;
mod corrections;
mod remarks;

use std::collections::BTreeMap;

use crate::failures::FailurePattern;

pub use consensus::{Voice, are_several};
pub use correction_summary::{asked_for, changes_of};
pub use prompt_injection::is_prompt_injection;
pub use sanitisation::fit_to_instruct;

/// A correction of a turn's answer.
#[derive(Clone, Copy, Debug)]
pub struct CorrectedAnswer<'a> {
    /// The turn.
    pub turn_id: &'a str,
    /// What was answered.
    pub original: &'a str,
    /// What should have been.
    pub corrected: &'a str,
    /// Who says so.
    pub by: Voice<'a>,
}

/// What was said of a turn's answer.
#[derive(Clone, Copy, Debug)]
pub struct Remark<'a> {
    /// The turn.
    pub turn_id: &'a str,
    /// In the user's words.
    pub said: &'a str,
    /// Who said it.
    pub by: Voice<'a>,
}

/// A pattern with what its turns were answered with and what was said of it.
#[derive(Clone, Debug)]
pub struct PatternEvidence<'a> {
    /// The pattern.
    pub pattern: &'a FailurePattern,
    /// Corrections of its turns, the latest of each person.
    pub corrections: Vec<CorrectedAnswer<'a>>,
    /// Comments, rejecting messages and explanations of its turns.
    pub remarks: Vec<Remark<'a>>,
    /// Who rejected each turn in their next message or, where nobody did, who asked.
    pub voices: BTreeMap<&'a str, Voice<'a>>,
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
    /// The share of failed turns that its patterns have.
    pub reach: f64,
    /// The turns that agree.
    pub evidence: Vec<String>,
    /// How many agree: people, once for each turn.
    pub agree: u32,
    /// Of how many that could have.
    pub of: u32,
}

/// Suggestions for a pattern.
const MOST: usize = 3;

/// Suggestions for patterns, in the order of the patterns; none where nothing repeats.
pub fn suggestions(evidence: &[PatternEvidence<'_>]) -> Vec<Suggestion> {
    consensus::merged(evidence.iter().flat_map(|evidence| {
        of_pattern(evidence).into_iter().map(|agreed| (evidence.pattern, agreed))
    }))
}

fn of_pattern<'a>(evidence: &PatternEvidence<'a>) -> Vec<consensus::Agreed<'a>> {
    let mut found = corrections::from_corrections(evidence);
    found.extend(remarks::from_contrasts(evidence));
    if found.is_empty() {
        // A remark says in words what corrections and contrasts say precisely.
        found.extend(remarks::from_remarks(evidence));
    }
    found.extend(remarks::from_errors(evidence));
    found.truncate(MOST);
    found
}

#[cfg(test)]
mod tests;
