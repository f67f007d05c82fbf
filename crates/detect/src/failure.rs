//! Detects answers that failed: an error status, an empty answer, error text, a loop, a refusal, the
//! wrong language, or an answer that breaks off.

mod decline;
mod error_text;
mod repetition;
mod truncation;
mod wrong_language;
#[cfg(test)]
mod tests;

use model::{ErrorType, Evidence, Failure, TurnStatus, UnitInterval};

use decline::{
    asks_for_copy, asks_for_decline, find_decline, has_decline_cue, helps_anyway, is_letter,
};
use error_text::{asks_for_value, find_error_text};
use repetition::find_repetition;
use truncation::find_truncation;
use wrong_language::find_wrong_language;

use crate::answer::{Answer, REFUSAL_MODEL};
use crate::language::{LanguageProfile, profile_language};
use crate::lexicon::find_set;
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

const FAILURES: &str = include_str!("phrases/failures.txt");

/// A question and an answer, prepared once for all rules.
struct InspectedAnswer<'a> {
    question: Option<&'a Utterance>,
    response: &'a str,
    /// The answer without code and quotations, at equal length.
    prose: String,
    /// Words of `prose`.
    text: FoldedText,
    profile: Option<LanguageProfile>,
}

impl InspectedAnswer<'_> {
    /// The most likely language: of the answer, else of the question, else English.
    fn language(&self) -> &'static str {
        let asked = || profile_language(self.question?.original());
        self.profile.or_else(asked).map_or("en", |profile| profile.language)
    }
}

/// Returns the failure of an answer, with `error_type` `None` when it did not fail.
pub fn detect_failure(rule: &FailureRule, completed: &CompletedAnswer<'_>) -> Failure {
    let error_given = completed.error.is_some_and(|error| !error.trim().is_empty());
    if completed.status == TurnStatus::Error || error_given {
        return new_failure(ErrorType::ExecutionError, 1.0, Vec::new());
    }
    if completed.response.trim().is_empty() {
        return new_failure(ErrorType::EmptyResponse, 1.0, Vec::new());
    }
    let prose = mask_code_and_quotes(completed.response);
    let answer = InspectedAnswer {
        question: completed.question,
        response: completed.response,
        text: FoldedText::new(&prose),
        profile: profile_language(&prose),
        prose,
    };
    inspect_text(rule, completed, &answer).unwrap_or(Failure {
        error_type: None,
        confidence: UnitInterval::ZERO,
        evidence: Vec::new(),
    })
}

/// The first failure that the words of the answer show.
fn inspect_text(
    rule: &FailureRule,
    completed: &CompletedAnswer<'_>,
    answer: &InspectedAnswer<'_>,
) -> Option<Failure> {
    if let Some(evidence) = find_error_text(answer) {
        return Some(new_failure(ErrorType::ErrorText, 0.9, vec![evidence]));
    }
    if let Some(evidence) = find_repetition(answer) {
        return Some(new_failure(ErrorType::Repetition, 0.95, vec![evidence]));
    }
    if let Some(failure) = find_refusal(rule, completed, answer) {
        return Some(failure);
    }
    if let Some(evidence) = find_wrong_language(answer) {
        return Some(new_failure(ErrorType::WrongLanguage, 0.9, vec![evidence]));
    }
    if let Some(confidence) = find_empty(rule, answer) {
        return Some(new_failure(ErrorType::EmptyResponse, confidence, Vec::new()));
    }
    let cut = find_truncation(answer)?;
    Some(new_failure(ErrorType::Truncated, cut.confidence, vec![cut.evidence]))
}

fn new_failure(error_type: ErrorType, confidence: f64, evidence: Vec<Evidence>) -> Failure {
    let confidence = UnitInterval::new(confidence).unwrap_or(UnitInterval::ONE);
    Failure { error_type: Some(error_type), confidence, evidence }
}

/// A refusal by the model's probability or by a phrase, unless the question asks for such words.
fn find_refusal(
    rule: &FailureRule,
    completed: &CompletedAnswer<'_>,
    answer: &InspectedAnswer<'_>,
) -> Option<Failure> {
    const PHRASE_CONFIDENCE: f64 = 0.9;
    let refuses = f64::from(completed.answer.refusal_probability);
    let words = answer.text.lexical_words().count();
    let phrase = find_decline(answer).filter(|found| found.is_main_content(words));
    let (least, needs_phrase) = refusal_thresholds(rule, answer, words);
    // Cells with "no" look like refusals to the model.
    let table = answer.prose.lines().any(|line| line.trim_start().starts_with("|-"));
    let cued = phrase.is_some() || answer.language() == "en" && has_decline_cue(answer);
    let by_model =
        refuses >= if cued { rule.min_refusal_probability } else { least } && (cued || !table);
    let by_phrase =
        phrase.is_some() && refuses >= needs_phrase && !helps_anyway(answer) && !is_letter(answer);
    let wanted = answer.question.is_some_and(|question| {
        asks_for_decline(question)
            || is_letter(answer)
            || phrase.is_none() && asks_for_copy(question)
    });
    if !by_model && !by_phrase || wanted {
        return None;
    }
    let (confidence, evidence) = match phrase {
        Some(found) if !by_model => (PHRASE_CONFIDENCE, vec![found.evidence]),
        Some(_) | None => (refuses, refusal_evidence(completed)),
    };
    Some(new_failure(ErrorType::ModelRefusal, confidence, evidence))
}

/// The least probabilities of the model for an answer without a phrase that declines, and with one.
/// The model knows English; it takes short notes and other languages for refusals too easily.
fn refusal_thresholds(
    rule: &FailureRule,
    answer: &InspectedAnswer<'_>,
    words: usize,
) -> (f64, f64) {
    const MIN_WITHOUT_PHRASE: f64 = 0.85;
    const MIN_ENGLISH_WITH_PHRASE: f64 = 0.2;
    const MAX_NOTE_WORDS: usize = 30;
    let english = answer.language() == "en";
    let strict = MIN_WITHOUT_PHRASE.max(rule.min_refusal_probability);
    let least =
        if english && words > MAX_NOTE_WORDS { rule.min_refusal_probability } else { strict };
    (least, if english { MIN_ENGLISH_WITH_PHRASE } else { 0.0 })
}

/// The confidence that an answer has no content.
fn find_empty(rule: &FailureRule, answer: &InspectedAnswer<'_>) -> Option<f64> {
    let trimmed = answer.response.trim();
    let is_sign = |c: char| ".…—–-_~*?!。·•,".contains(c);
    let is_invisible =
        |c: char| c.is_whitespace() || matches!(c, '\u{200b}'..='\u{200f}' | '\u{feff}');
    if trimmed.chars().all(|c| is_sign(c) || is_invisible(c)) {
        return Some(if trimmed.chars().all(is_invisible) { 1.0 } else { 0.8 });
    }
    if is_in_list(answer, "waiting") {
        return Some(0.8);
    }
    let short = trimmed.chars().count() < rule.min_response_chars || is_in_list(answer, "filler");
    let direct = answers_directly(answer.question, trimmed) || asks_for_value(answer);
    (short && !direct).then_some(0.6)
}

/// True when the whole answer is a phrase of the list.
fn is_in_list(answer: &InspectedAnswer<'_>, name: &'static str) -> bool {
    const MAX_SIGNS: usize = 12;
    let words: Vec<&str> =
        answer.text.lexical_words().map(|w| answer.text.folded_word(w)).collect();
    if words.len() > MAX_SIGNS {
        return false;
    }
    let spaces = if words.iter().any(|word| word.is_ascii()) { " " } else { "" };
    let (joined, spaced) = (words.join(spaces), words.join(" "));
    let mut phrases = find_set(FAILURES, name).split(" | ");
    phrases.any(|phrase| phrase == joined || phrase == spaced)
}

/// True for a word in reply to a short question, and for values, names of code and signs.
fn answers_directly(question: Option<&Utterance>, trimmed: &str) -> bool {
    const MAX_SHORT_QUESTION_WORDS: usize = 15;
    let is_value = |c: char| !c.is_ascii() || c.is_ascii_digit() || c == '`';
    let has_content = trimmed.chars().any(|c| c.is_alphanumeric() || !c.is_ascii());
    let is_short = |q: &Utterance| (1..=MAX_SHORT_QUESTION_WORDS).contains(&q.word_hashes.len());
    let value = question.is_some() && trimmed.contains(is_value);
    has_content && (value || question.is_some_and(is_short))
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
