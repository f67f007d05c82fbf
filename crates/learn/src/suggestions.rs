//! Suggests prompt instructions for failure patterns, by templates.
//!
//! Sources are corrections with the same change, contrasts (one thing wanted instead of another),
//! repeated remarks, and error types. At least two people must agree. One idea is one suggestion,
//! whatever its sources and patterns. An instruction names the subject of the questions, where one
//! is proven, or else the table.

mod sanitisation;
mod prompt_injection;
mod sql;
mod consensus;
mod corrections;
mod remarks;

use std::collections::BTreeMap;

use crate::failures::FailurePattern;

pub use consensus::Author;
pub use corrections::{extract_changes, summarise_correction};
pub use prompt_injection::is_prompt_injection;
pub use sanitisation::sanitise_instruction;

#[derive(Clone, Copy, Debug)]
pub struct CorrectedAnswer<'a> {
    pub turn_id: &'a str,
    pub original: &'a str,
    pub corrected: &'a str,
    pub author: Author<'a>,
}

#[derive(Clone, Copy, Debug)]
pub struct Remark<'a> {
    pub turn_id: &'a str,
    pub text: &'a str,
    pub author: Author<'a>,
}

#[derive(Clone, Debug)]
pub struct PatternEvidence<'a> {
    pub pattern: &'a FailurePattern,
    /// Latest correction per author and turn.
    pub corrections: Vec<CorrectedAnswer<'a>>,
    /// Comments, rejecting messages and explanations.
    pub remarks: Vec<Remark<'a>>,
    /// Author of each turn: the user whose next message rejected it, otherwise the user who asked.
    pub authors: BTreeMap<&'a str, Author<'a>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SuggestionBasis {
    Corrections,
    Contrast,
    Remarks,
    Errors,
}

/// A suggested instruction, to be reviewed by a person and tested in an experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Suggestion {
    pub pattern_id: String,
    /// Text for the prompt. User text in it is sanitised, see `sanitisation.rs`.
    pub instruction: String,
    pub why: String,
    pub basis: SuggestionBasis,
    /// Share of the window's failed turns that are its evidence, 0 to 1.
    pub reach: f64,
    /// Lower 95% bound of `agree / total`. Weaker ones than 0.05 are not returned.
    pub strength: f64,
    pub evidence: Vec<String>,
    /// Number of supporting authors, counted once per turn.
    pub agree: u32,
    /// Number of authors who could have supported it.
    pub total: u32,
}

const MAX_SUGGESTIONS_PER_PATTERN: usize = 3;

/// Returns suggestions in the order of the patterns; none where nothing repeats.
pub fn suggest_instructions(evidence: &[PatternEvidence<'_>]) -> Vec<Suggestion> {
    consensus::merge_instructions(evidence.iter().flat_map(|evidence| {
        suggest_for_pattern(evidence).into_iter().map(|agreed| (evidence.pattern, agreed))
    }))
}

fn suggest_for_pattern<'a>(
    evidence: &PatternEvidence<'a>,
) -> Vec<consensus::AgreedInstruction<'a>> {
    let mut found = corrections::suggest_from_corrections(evidence);
    found.extend(evidence.suggest_from_contrasts());
    if found.is_empty() {
        // Remarks are a fallback: corrections and contrasts are more precise.
        found.extend(evidence.suggest_from_remarks());
    }
    found.extend(evidence.suggest_from_errors());
    found.truncate(MAX_SUGGESTIONS_PER_PATTERN);
    found
}

#[cfg(test)]
mod tests;
