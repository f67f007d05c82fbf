//! Detects answers that failed: an error status, an empty answer, a refusal, or error text.

use model::{ErrorType, Evidence, Failure, TurnStatus, UnitInterval};

use crate::answer::{Answer, REFUSAL_MODEL};
use crate::text::{FoldedText, mask_code_and_quotes};
use crate::utterance::Utterance;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FailureRule {
    /// Shorter answers count as empty, unless they answer a short question directly ("42").
    pub min_response_chars: usize,
    pub min_refusal_probability: f64,
}

impl Default for FailureRule {
    fn default() -> Self {
        Self { min_response_chars: 10, min_refusal_probability: 0.6 }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct CompletedAnswer<'a> {
    pub status: TurnStatus,
    /// Error message reported by the application.
    pub error: Option<&'a str>,
    pub question: Option<&'a Utterance>,
    pub response: &'a str,
    pub answer: &'a Answer,
}

/// Openings of error text that a program printed in place of an answer. An opening without a colon
/// counts only when no explaining sentence follows.
const ERROR_OPENINGS: &str = "error:|exception:|traceback (most recent call last)|internal server error|\
    unhandled exception|{\"error\"|500 internal|502 bad gateway|503 service|504 gateway|\
    rate limit exceeded|request timed out|connection refused|connection error|\
    an error occurred|an unexpected error|something went wrong|service unavailable|\
    openai error|api error|timeout error|http error";
const ERROR_CONTINUATIONS: &str = "while|processing|please|try|occurred|for|on our|server|and we";

/// Returns the failure of an answer, with `error_type` `None` when it did not fail.
pub fn detect_failure(rule: &FailureRule, completed: &CompletedAnswer<'_>) -> Failure {
    let error_given = completed.error.is_some_and(|error| !error.trim().is_empty());
    if completed.status == TurnStatus::Error || error_given {
        return new_failure(ErrorType::ExecutionError, 1.0, Vec::new());
    }
    let trimmed = completed.response.trim();
    if trimmed.is_empty() {
        return new_failure(ErrorType::EmptyResponse, 1.0, Vec::new());
    }
    if let Some(evidence) = find_error_text(completed.response) {
        return new_failure(ErrorType::ErrorText, 0.9, vec![evidence]);
    }
    let refuses = f64::from(completed.answer.refusal_probability);
    if refuses >= rule.min_refusal_probability {
        return new_failure(ErrorType::ModelRefusal, refuses, refusal_evidence(completed));
    }
    let short = trimmed.chars().count() < rule.min_response_chars;
    if short && !answers_directly(completed.question, trimmed) {
        return new_failure(ErrorType::EmptyResponse, 0.6, Vec::new());
    }
    Failure { error_type: None, confidence: UnitInterval::ZERO, evidence: Vec::new() }
}

fn new_failure(error_type: ErrorType, confidence: f64, evidence: Vec<Evidence>) -> Failure {
    let confidence = UnitInterval::new(confidence).unwrap_or(UnitInterval::ONE);
    Failure { error_type: Some(error_type), confidence, evidence }
}

fn find_error_text(response: &str) -> Option<Evidence> {
    let head = &response[..response.floor_char_boundary(400)];
    let prose = mask_code_and_quotes(head);
    let start = prose.len() - prose.trim_start().len();
    let opening = prose.trim_start().to_lowercase();
    let raw = head.trim_start().to_lowercase();
    let is_error_opening = |phrase: &&str| {
        let text = if phrase.starts_with('{') { &raw } else { &opening };
        text.strip_prefix(*phrase)
            .is_some_and(|rest| phrase.ends_with([':', ')', '"']) || ends_like_an_error(rest))
    };
    let found = ERROR_OPENINGS.split('|').find(is_error_opening)?;
    let end = response.floor_char_boundary(start + found.len());
    Some(Evidence { start, end, rule: "error_opening".to_owned() })
}

/// True when the text ends, is punctuated, or continues like an error message. "Connection refused
/// means …" explains and does not match.
fn ends_like_an_error(rest: &str) -> bool {
    let next = rest.trim_start_matches([' ', '\t']);
    next.is_empty()
        || next.starts_with(['.', ',', ':', '!', '(', '-', '\n', ';'])
        || ERROR_CONTINUATIONS.split('|').any(|word| next.starts_with(word))
}

fn answers_directly(question: Option<&Utterance>, trimmed: &str) -> bool {
    const MAX_SHORT_QUESTION_WORDS: usize = 15;
    let has_content = trimmed.chars().any(char::is_alphanumeric);
    let is_short = |q: &Utterance| (1..=MAX_SHORT_QUESTION_WORDS).contains(&q.word_hashes.len());
    has_content && question.is_some_and(is_short)
}

/// Evidence span of the n-gram with the highest refusal weight, else of the first word.
fn refusal_evidence(completed: &CompletedAnswer<'_>) -> Vec<Evidence> {
    const RULE: &str = "refusal_words";
    let features = completed.answer.refusal_features.sparse.iter();
    let first_word = || {
        let text = FoldedText::new(completed.response);
        text.words.first().map(|w| Evidence { start: w.start, end: w.end, rule: RULE.to_owned() })
    };
    REFUSAL_MODEL.strongest_evidence(features, RULE).or_else(first_word).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(question: &str, response: &str, expected: Option<ErrorType>) {
        let question = Utterance::read(question);
        let answer = Answer::read(Some(&question), response);
        let completed = CompletedAnswer {
            status: TurnStatus::Success,
            error: None,
            question: Some(&question),
            response,
            answer: &answer,
        };
        let found = detect_failure(&FailureRule::default(), &completed);
        assert_eq!(found.error_type, expected, "{response} ({})", answer.refusal_probability);
        assert_eq!(found.confidence.get() > 0.0, expected.is_some());
        for evidence in found.evidence {
            assert!(response.get(evidence.start..evidence.end).is_some());
        }
    }

    #[test]
    fn refusals_are_detected_in_several_phrasings() {
        for refusal in [
            "I can't assist with that.",
            "I'm sorry, but I cannot help with that request.",
            "I cannot fulfill your request. I'm just an AI, it's not within my programming to provide this.",
            "Ich kann Ihnen dabei leider nicht helfen.",
            "As an AI language model, I am not able to provide personal information about private individuals.",
        ] {
            check(
                "How do I get my neighbour's phone number?",
                refusal,
                Some(ErrorType::ModelRefusal),
            );
        }
    }

    #[test]
    fn harmless_answers_are_not_failures() {
        for answer in [
            "I cannot recommend this highly enough: the museum is wonderful, and entry is free on Sundays.",
            "I cannot stress enough how important it is to back up first. Then run the migration with `migrate up`.",
            "I apologize for the confusion! The corrected query is:\n```sql\nSELECT 1\n```",
            "Wrap it in a try block:\n```python\ntry:\n    run()\nexcept Exception as e:\n    print(f\"Error: {e}\")\n```",
            "He replied \"I'm sorry, but I can't\" and left the room, which is why the scene works so well.",
            "Error handling in Rust is done with Result: return Err early and use the question mark.",
            "I cannot stress enough how important it is to use a password manager.",
            "I can’t overstate how useful indexes are; add one on user_id.",
            "Connection refused means nothing listens on that port. Start the server first.",
            "An error occurred in your calculation on line 3: the sum is 12.",
            "Rate limit exceeded errors come from too many calls; wait and try again.",
        ] {
            check("Tell me about it in some detail please", answer, None);
        }
    }

    #[test]
    fn short_answers_fail_unless_they_answer_directly() {
        check("What is 6 times 7?", "42", None);
        check("Is Paris the capital of France?", "Yes.", None);
        check("What is 6 times 7?", "...", Some(ErrorType::EmptyResponse));
        check(&"explain in depth ".repeat(20), "ok", Some(ErrorType::EmptyResponse));
        check("What is 6 times 7?", "  \n ", Some(ErrorType::EmptyResponse));
    }

    #[test]
    fn printed_errors_are_detected_as_error_text() {
        for text in [
            "Error: connection refused",
            "Traceback (most recent call last):\n  File \"a.py\"",
            "{\"error\": {\"code\": 500}}",
            "An error occurred while processing your request.",
        ] {
            check("show my orders", text, Some(ErrorType::ErrorText));
        }
    }

    #[test]
    fn reported_error_overrides_the_response_text() {
        let answer = Answer::read(None, "Here you go: all fine.");
        let completed = |status, error| CompletedAnswer {
            status,
            error,
            question: None,
            response: "Here you go: all fine.",
            answer: &answer,
        };
        let kind = |completed: &CompletedAnswer<'_>| {
            detect_failure(&FailureRule::default(), completed).error_type
        };
        assert_eq!(kind(&completed(TurnStatus::Error, None)), Some(ErrorType::ExecutionError));
        assert_eq!(
            kind(&completed(TurnStatus::Success, Some("timeout"))),
            Some(ErrorType::ExecutionError)
        );
        assert_eq!(kind(&completed(TurnStatus::Success, Some("  "))), None);
    }
}
