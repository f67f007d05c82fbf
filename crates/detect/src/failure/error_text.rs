//! Finds text that a program, gateway or proxy printed in place of an answer.

use std::sync::LazyLock;

use model::Evidence;

use super::{FAILURES, InspectedAnswer};
use crate::lexicon::find_set;
use crate::pattern::PatternSet;
use crate::text::mask_code_and_quotes;

static ABOUT_CODE: LazyLock<PatternSet> =
    LazyLock::new(|| PatternSet::parse(FAILURES, "about_code"));
static ABOUT_ERRORS: LazyLock<PatternSet> =
    LazyLock::new(|| PatternSet::parse(FAILURES, "about_errors"));
static ABOUT_PROGRAMS: LazyLock<PatternSet> =
    LazyLock::new(|| PatternSet::parse(FAILURES, "about_programs"));
static ABOUT_TEMPLATES: LazyLock<PatternSet> =
    LazyLock::new(|| PatternSet::parse(FAILURES, "about_templates"));

/// Bytes of an answer that are read.
const HEAD_BYTES: usize = 400;

pub(super) fn find_error_text(answer: &InspectedAnswer<'_>) -> Option<Evidence> {
    let asked = answer.question.is_some_and(|question| ABOUT_ERRORS.is_in(&question.text));
    let rule = if is_program_value(answer) {
        "program_value"
    } else if is_html_error(answer, asked) {
        "error_page"
    } else if is_json_error(answer.response) && !(asked && asks_for_code(answer)) {
        "error_object"
    } else if is_unfilled_template(answer) {
        "placeholder"
    } else if is_stack_trace(answer.response) {
        "stack_trace"
    } else if !asked && (is_reason(answer.response) || is_error_line(answer.response)) {
        "error_line"
    } else if !asked && is_program_message(answer) {
        "program_message"
    } else {
        return find_opening(answer.response).filter(|_| !asked);
    };
    let trimmed = answer.response.trim_start();
    let start = answer.response.len() - trimmed.len();
    let line = trimmed.lines().next().unwrap_or_default();
    let end = start + line.floor_char_boundary(120);
    Some(Evidence { start, end, rule: rule.to_owned() })
}

fn asks_for_code(answer: &InspectedAnswer<'_>) -> bool {
    answer.question.is_some_and(|question| ABOUT_CODE.is_in(&question.text))
}

fn phrases(name: &'static str) -> impl Iterator<Item = &'static str> {
    find_set(FAILURES, name).split(" | ")
}

/// The value of a program, such as `null`, unless the question asks for one.
fn is_program_value(answer: &InspectedAnswer<'_>) -> bool {
    let trimmed = answer.response.trim();
    if trimmed.len() > 40 {
        return false;
    }
    let folded = trimmed.to_lowercase();
    if !phrases("value").any(|value| value == folded) {
        return false;
    }
    // "None" answers "How many moons has Venus?"
    let counted = folded == "none"
        && answer.question.is_some_and(|question| {
            let start = question.original().trim_start().to_lowercase();
            ["how many", "which of", "are there", "is there", "any ", "do any", "does any"]
                .iter()
                .any(|opening| start.starts_with(opening))
        });
    !counted && !asks_for_value(answer)
}

/// True when `null` or an empty list may be what the question wants.
pub(super) fn asks_for_value(answer: &InspectedAnswer<'_>) -> bool {
    asks_for_code(answer) || answer.question.is_some_and(|one| one.original().contains("NaN"))
}

/// A page of a proxy or server. A page that was asked for usually stands in a code block.
fn is_html_error(answer: &InspectedAnswer<'_>, asked: bool) -> bool {
    let trimmed = answer.response.trim_start();
    let head = trimmed[..trimmed.floor_char_boundary(2_000)].to_lowercase();
    let is_html =
        ["<!doctype html", "<html", "<head", "<title", "<center", "<h1>", "<?xml", "<error>"]
            .iter()
            .any(|opening| head.starts_with(opening));
    if !is_html {
        return false;
    }
    let has_status = head.split(|c: char| !c.is_ascii_digit()).any(is_error_status);
    let signed = phrases("server")
        .chain(["just a moment", "checking your browser"])
        .any(|sign| head.contains(sign));
    (has_status || signed) && !(asked && asks_for_code(answer))
}

fn is_error_status(digits: &str) -> bool {
    digits.len() == 3 && matches!(digits.as_bytes().first(), Some(b'4' | b'5'))
}

/// A JSON object whose first keys say that something failed.
fn is_json_error(response: &str) -> bool {
    let trimmed = response.trim();
    if !trimmed.starts_with(['{', '[']) {
        return false;
    }
    let head = trimmed[..trimmed.floor_char_boundary(HEAD_BYTES)].to_lowercase();
    let inner = head.trim_start_matches(|c: char| matches!(c, '{' | '[') || c.is_whitespace());
    let quote = if inner.starts_with('\'') { '\'' } else { '"' };
    let Some(first_key) = inner.strip_prefix(quote).and_then(|rest| rest.split(quote).next())
    else {
        return false;
    };
    if !phrases("json").any(|key| key == first_key) {
        return false;
    }
    if matches!(first_key, "error" | "errors" | "errormessage" | "error_message" | "fault") {
        return !head.contains("\"error\":null") && !head.contains("\"error\": null");
    }
    let has_status = head.split(|c: char| !c.is_ascii_digit()).any(is_error_status);
    has_status || phrases("server").chain(["not authenticated"]).any(|sign| head.contains(sign))
}

/// Placeholders that a program did not fill: `{{answer}}`, or several `{name}` in a short answer.
fn is_unfilled_template(answer: &InspectedAnswer<'_>) -> bool {
    const MAX_WORDS: usize = 40;
    let prose = &answer.prose;
    let braces = count_placeholders(prose, "{{", "}}");
    let others = count_placeholders(prose, "${", "}")
        + count_placeholders(prose, "{", "}")
        + count_placeholders(prose, "<%=", "%>")
        + count_placeholders(prose, "%(", ")s")
        + count_capital_names(prose, '[', ']')
        + count_capital_names(prose, '%', '%');
    if braces + others == 0 || answer.response.contains('`') || answer.response.contains("\\") {
        return false;
    }
    let short = answer.text.lexical_words().count() <= MAX_WORDS;
    let asked = answer.question.is_some_and(|question| {
        ABOUT_TEMPLATES.is_in(&question.text) || question.original().contains(['{', '$', '%'])
    });
    short && !asked
}

fn count_placeholders(prose: &str, open: &str, close: &str) -> usize {
    let is_name = |inside: &str| {
        let inside = inside.trim();
        (1..=40).contains(&inside.len())
            && inside.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && inside
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ' ' | '-' | '|'))
            && inside.split_whitespace().count() <= 3
    };
    let parts = prose.split(open).skip(1);
    parts.filter(|part| part.split_once(close).is_some_and(|(inside, _)| is_name(inside))).count()
}

/// `[CUSTOMER_NAME]` and `%ANSWER%`: capitals, with an underscore unless it is the whole answer.
fn count_capital_names(prose: &str, open: char, close: char) -> usize {
    let is_name = |inside: &str| {
        let whole = inside.len() + 2 == prose.trim().len();
        inside.len() >= 3
            && inside.chars().all(|c| c.is_ascii_uppercase() || c == '_')
            && (whole || inside.contains('_'))
    };
    if open == close {
        return prose.split(open).skip(1).step_by(2).filter(|inside| is_name(inside)).count();
    }
    let parts = prose.split(open).skip(1);
    parts.filter(|part| part.split_once(close).is_some_and(|(inside, _)| is_name(inside))).count()
}

/// Lines of a stack trace only, after the line with the error.
fn is_stack_trace(response: &str) -> bool {
    let lines: Vec<&str> = response.trim().lines().filter(|line| !line.trim().is_empty()).collect();
    let is_frame = |line: &&&str| {
        let line = line.trim_start();
        line.starts_with("at ") && line.contains(['(', ':', '/'])
            || line.starts_with("File \"")
            || line.starts_with("goroutine ")
            || line.starts_with("... ") && line.ends_with("more")
            || line.starts_with("Caused by:")
            || line.starts_with("#0 ")
            || line.starts_with("#1 ")
            || line.starts_with("from ") && line.contains(":in ")
            || line.starts_with("stack backtrace")
            || line.starts_with("thread '") && line.contains("panicked at")
    };
    let frames = lines.iter().filter(is_frame).count();
    frames > 0 && frames * 3 >= lines.len() && !response.contains("```")
}

/// The reason of an HTTP status or a short message of a program as the whole answer.
fn is_reason(response: &str) -> bool {
    let trimmed = response.trim().trim_matches(|c: char| matches!(c, '.' | '!' | '"' | '\'' | '`'));
    if trimmed.len() > 90 || trimmed.contains('\n') {
        return false;
    }
    let folded = trimmed.to_lowercase();
    let rest = folded.trim_start_matches("http").trim_start_matches("/1.1").trim_start();
    let rest = rest.trim_start_matches("error").trim_start_matches(':').trim_start();
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let number = &rest[..digits];
    let rest = rest[digits..].trim_start_matches([' ', '-', ':', '|', '–']);
    let has_number = is_error_status(number);
    (number.is_empty() || has_number)
        && (phrases("reason").any(|reason| reason == rest)
            || number.is_empty() && phrases("whole").any(|whole| whole == folded)
            || has_number && rest.is_empty() && folded.len() > 3)
}

/// An opening that no explanation has, or the name of an exception with its message.
fn is_error_line(response: &str) -> bool {
    let trimmed = response.trim_start();
    let head = trimmed[..trimmed.floor_char_boundary(HEAD_BYTES)].to_lowercase();
    let explained = head.contains(" means ") || head.contains("`");
    if explained || response.contains("```") {
        return false;
    }
    if phrases("strict").any(|opening| head.starts_with(opening)) {
        return true;
    }
    // "KeyError: 'choices'", "openai.RateLimitError: …", "java.io.IOException: …"
    let name = trimmed.split([':', '(', ' ', '\n']).next().unwrap_or_default();
    let after = trimmed[name.len()..].trim_start();
    let exception = ["Error", "Exception", "Timeout", "Failure"]
        .iter()
        .any(|end| name.len() > end.len() && name.ends_with(end));
    exception
        && (after.starts_with([':', '(']) || after.is_empty())
        && response.lines().count() <= 3
}

/// A short text with what only programs print, or with their words in answer to a question about
/// something else.
fn is_program_message(answer: &InspectedAnswer<'_>) -> bool {
    const MAX_TRACE_WORDS: usize = 40;
    const MAX_SIGNAL_WORDS: usize = 14;
    let words = answer.text.lexical_words().count();
    if words > MAX_TRACE_WORDS || answer.response.contains('`') {
        return false;
    }
    let lower = answer.response.to_lowercase();
    let about_programs = answer.question.is_some_and(|one| ABOUT_PROGRAMS.is_in(&one.text));
    let explains = phrases("explanation").any(|part| starts_a_word(&lower, part));
    if about_programs || explains {
        return false;
    }
    phrases("trace").any(|sign| lower.contains(sign))
        || words <= MAX_SIGNAL_WORDS
            && phrases("signal").any(|sign| starts_a_word(&lower, sign))
            && !addresses_user(answer)
}

/// True when `sign` is in the text at the start of a word.
fn starts_a_word(lower: &str, sign: &str) -> bool {
    lower.match_indices(sign).any(|(at, _)| {
        lower[..at].chars().next_back().is_none_or(|c| !c.is_alphanumeric()) || !sign.is_ascii()
    })
}

/// True for the pronouns of an assistant that talks to a person.
fn addresses_user(answer: &InspectedAnswer<'_>) -> bool {
    const PRONOUNS: [&str; 30] = [
        "i", "i'm", "i've", "you", "your", "you're", "ich", "sie", "du", "ihr", "ihre", "je",
        "vous", "tu", "votre", "yo", "usted", "te", "ti", "lei", "voce", "je", "u", "ik", "pan",
        "pani", "вы", "я", "您", "你",
    ];
    let mut words = answer.text.lexical_words().map(|w| answer.text.folded_word(w));
    words.any(|word| PRONOUNS.contains(&word))
}

fn find_opening(response: &str) -> Option<Evidence> {
    let head = &response[..response.floor_char_boundary(HEAD_BYTES)];
    let prose = mask_code_and_quotes(head);
    let start = prose.len() - prose.trim_start().len();
    let opening = prose.trim_start().to_lowercase();
    let is_error_opening = |phrase: &&str| {
        opening
            .strip_prefix(*phrase)
            .is_some_and(|rest| phrase.ends_with([':', ')', '"']) || ends_like_an_error(rest))
    };
    let found = phrases("opening").find(is_error_opening)?;
    let end = response.floor_char_boundary(start + found.len());
    Some(Evidence { start, end, rule: "error_opening".to_owned() })
}

/// True when the text ends, is punctuated, or continues like an error message. "Connection refused
/// means …" explains and does not match.
fn ends_like_an_error(rest: &str) -> bool {
    let next = rest.trim_start_matches([' ', '\t']);
    next.is_empty()
        || next.starts_with(['.', ',', ':', '!', '(', '-', '\n', ';'])
        || phrases("continuation").any(|word| next.starts_with(word))
}
