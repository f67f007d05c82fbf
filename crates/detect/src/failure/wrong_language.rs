//! Finds answers in another language than the question, where none was asked for.

use std::sync::LazyLock;

use model::Evidence;

use super::{FAILURES, InspectedAnswer};
use crate::language::{LanguageProfile, has_chinese_words, profile_language, score_of_language};
use crate::pattern::PatternSet;
use crate::text::mask_code_and_quotes;

static ABOUT_LANGUAGES: LazyLock<PatternSet> =
    LazyLock::new(|| PatternSet::parse(FAILURES, "about_languages"));

static REQUEST: LazyLock<PatternSet> = LazyLock::new(|| PatternSet::parse(FAILURES, "request"));

const MIN_ANSWER_SCORE: f32 = 2.0;
const MIN_QUESTION_SCORE: f32 = 1.25;
const MIN_ANSWER_WORDS: usize = 6;
const MIN_DISTINCT_WORDS: usize = 3;
/// Evidence for the other side's language, as a share of that for the own.
const MAX_OTHER_SHARE: f32 = 0.4;

pub(super) fn find_wrong_language(answer: &InspectedAnswer<'_>) -> Option<Evidence> {
    let question = answer.question?;
    let asked_in = question.original();
    if has_code(asked_in) || ABOUT_LANGUAGES.is_in(&question.text) {
        return None;
    }
    let prose = drop_code_lines(&answer.prose);
    let found = profile_language(&prose)?;
    let asked = profile_language(&mask_code_and_quotes(asked_in))?;
    if found.language == asked.language || are_alike(&found, &asked) {
        return None;
    }
    // A message in English may be a pasted error, in a conversation in another language.
    let is_request = asked.language != "en" || REQUEST.is_in(&question.text);
    // Neither side uses the other's language: no quotation, no loan, no lesson.
    let foreign = score_of_language(asked_in, found.language) / asked.score;
    let own = score_of_language(&prose, asked.language) / found.score;
    let mixed = foreign > MAX_OTHER_SHARE || own > MAX_OTHER_SHARE;
    // Ideographs alone do not tell Japanese from Chinese.
    let told_apart = match (asked.language, found.language) {
        ("zh", "ja") => has_chinese_words(asked_in),
        ("ja", "zh") => has_chinese_words(&prose),
        _ => true,
    };
    let clear = is_request
        && told_apart
        && is_clear_question(&asked, asked_in, foreign)
        && is_clear_answer(&found);
    if !clear || mixed {
        return None;
    }
    let start = answer.prose.len() - answer.prose.trim_start().len();
    let end = answer.response.trim_end().len().max(start);
    let end = answer.response.floor_char_boundary(end.min(start + 80));
    Some(Evidence { start, end, rule: format!("{}_not_{}", found.language, asked.language) })
}

/// True for code and statements, whose words are English.
fn has_code(question: &str) -> bool {
    let lower = question.to_lowercase();
    question.contains("```") || lower.contains("select ") && lower.contains(" from ")
}

fn is_clear_answer(answer: &LanguageProfile) -> bool {
    answer.score >= MIN_ANSWER_SCORE
        && answer.words >= MIN_ANSWER_WORDS
        && answer.distinct >= MIN_DISTINCT_WORDS
        && answer.score >= 1.05 * answer.second
        && answer.score >= 0.12 * answer.words as f32
}

/// A short question is clear when it has no word of the answer's language.
fn is_clear_question(question: &LanguageProfile, original: &str, foreign: f32) -> bool {
    // Few words of these languages are known; each is also a word or a name elsewhere.
    let known = !["sv", "da", "cs", "ro", "hu", "fi", "id"].contains(&question.language);
    let short = known
        && original.trim_end().ends_with(['?', '？'])
        && question.words >= 3
        && foreign < MAX_OTHER_SHARE / 2.0;
    let (score, distinct) = if short { (0.6, 1) } else { (MIN_QUESTION_SCORE, 2) };
    question.score >= score
        && question.distinct >= distinct
        && question.score >= 0.12 * question.words as f32
}

/// Languages that short texts cannot tell apart.
fn are_alike(one: &LanguageProfile, other: &LanguageProfile) -> bool {
    const ALIKE: [[&str; 2]; 2] = [["sv", "da"], ["ru", "uk"]];
    ALIKE.iter().any(|pair| pair.contains(&one.language) && pair.contains(&other.language))
}

/// Lines without fences that are code rather than prose, and tables.
fn drop_code_lines(prose: &str) -> String {
    let is_code = |line: &str| {
        let line = line.trim();
        line.ends_with(['{', '}', ';'])
            || line.starts_with('|')
            || ["=>", "==", "()", "</", "/>", "::", "$", "->", "--"]
                .iter()
                .any(|sign| line.contains(sign))
    };
    prose.lines().filter(|line| !is_code(line)).collect::<Vec<_>>().join("\n")
}
