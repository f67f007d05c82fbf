//! Finds answers that break off: an open code block, bracket or quotation, a list item without
//! text, or a sentence after whose last word more must follow.

use std::sync::LazyLock;

use model::Evidence;
use rustc_hash::FxHashMap;

use super::{FAILURES, InspectedAnswer};
use crate::language::is_frequent_word;
use crate::lexicon::find_set;
use crate::text::{FoldedText, is_ideograph};

/// An end that a finished answer does not have, and how sure that is.
pub(super) struct Truncation {
    pub evidence: Evidence,
    pub confidence: f64,
}

pub(super) fn find_truncation(answer: &InspectedAnswer<'_>) -> Option<Truncation> {
    let text = answer.response.trim_end();
    let found = open_code_block(text)
        .or_else(|| open_structure(text))
        .or_else(|| open_list_item(text))
        .or_else(|| open_table_row(text))
        .or_else(|| open_pair(text))
        .or_else(|| open_sentence(answer, text));
    found.map(|(start, rule, confidence)| {
        let start = text.floor_char_boundary(start.min(text.len()));
        let evidence = Evidence { start, end: text.len(), rule: rule.to_owned() };
        Truncation { evidence, confidence }
    })
}

type OpenEnd = (usize, &'static str, f64);

fn open_code_block(text: &str) -> Option<OpenEnd> {
    let fences = text.matches("```").count();
    let open = fences % 2 == 1 && !text.contains("````");
    open.then(|| (text.rfind("```").unwrap_or(0), "open_code_block", 0.95))
}

/// JSON as the whole answer that is not closed.
fn open_structure(text: &str) -> Option<OpenEnd> {
    let head = text.trim_start();
    let mut inner = head.chars().skip(1).skip_while(|c| c.is_whitespace());
    let is_json = head.starts_with('{') && matches!(inner.next(), Some('"' | '\'') | None)
        || head.starts_with('[') && matches!(inner.next(), Some('"' | '{' | '[') | None);
    if !is_json {
        return None;
    }
    let (mut depth, mut quoted, mut escaped) = (0i32, false, false);
    for c in head.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => quoted = !quoted,
            '{' | '[' if !quoted => depth += 1,
            '}' | ']' if !quoted => depth -= 1,
            _ => {}
        }
    }
    (depth > 0 || quoted).then_some((0, "open_json", 0.95))
}

fn last_line(text: &str) -> (usize, &str) {
    let start = text.rfind('\n').map_or(0, |at| at + 1);
    (start, text[start..].trim())
}

/// A list marker or a heading as the last line, or a colon at the end.
fn open_list_item(text: &str) -> Option<OpenEnd> {
    let (start, line) = last_line(text);
    let before = text[..start].trim_end();
    let bare = line.trim_matches('*').trim();
    let number = bare.trim_end_matches(['.', ')']);
    let is_number = number.len() < bare.len() && number.parse::<u16>().is_ok();
    if before.is_empty() {
        return None;
    }
    let previous_items = |digits: &str| {
        let previous = digits.parse::<u16>().ok().and_then(|n| n.checked_sub(1));
        previous.is_some_and(|previous| {
            let marks = [format!("{previous}."), format!("{previous})")];
            previous == 0 && before.ends_with([':', '：'])
                || before.lines().any(|one| {
                    marks.iter().any(|mark| {
                        one.trim_start().trim_start_matches('*').starts_with(mark.as_str())
                    })
                })
        })
    };
    if is_number && previous_items(number) {
        return Some((start, "empty_list_item", 0.95));
    }
    if matches!(line, "-" | "*" | "•" | "–" | "+") {
        return Some((start, "empty_list_item", 0.95));
    }
    let heading = line.starts_with('#') && line.trim_start_matches('#').starts_with(' ');
    heading.then_some((start, "heading_at_end", 0.8))
}

/// A row of a table with fewer cells than its header.
fn open_table_row(text: &str) -> Option<OpenEnd> {
    let (start, line) = last_line(text);
    if !line.starts_with('|') {
        return None;
    }
    let rows: Vec<&str> =
        text.lines().map(str::trim).rev().take_while(|line| line.starts_with('|')).collect();
    let header = rows.last().filter(|_| rows.len() >= 3)?;
    let cells = |row: &str| row.matches('|').count();
    (cells(line) < cells(header)).then_some((start, "open_table_row", 0.9))
}

/// A bracket, quotation, emphasis or inline code that is not closed in the last paragraph.
fn open_pair(text: &str) -> Option<OpenEnd> {
    if text.ends_with("```") {
        return None;
    }
    let paragraph = text.rfind("\n\n").map_or(0, |at| at + 2);
    let paragraph = paragraph.max(text.rfind("```").map_or(0, |at| at + 3));
    let paragraph = text.ceil_char_boundary(paragraph.max(text.len().saturating_sub(TAIL_BYTES)));
    let tail = &text[paragraph..];
    let (line_start, line) = last_line(text);
    if tail.matches('`').count() % 2 == 1 {
        return Some((line_start, "open_inline_code", 0.85));
    }
    if has_open_emphasis(line) {
        return Some((line_start, "open_emphasis", 0.85));
    }
    if let Some(at) = open_quotation(tail) {
        return Some((paragraph + at, "open_quotation", 0.85));
    }
    let at = open_bracket(tail)?;
    // Writers forget a bracket; a sentence that ends behind it is complete.
    let ended = tail[at..].ends_with(is_terminal);
    (!ended).then_some((paragraph + at, "open_bracket", 0.9))
}

/// True for `**` before a word without the closing one. Code may use it as an operator.
fn has_open_emphasis(line: &str) -> bool {
    let Some(at) = line.rfind("**").filter(|_| line.matches("**").count() % 2 == 1) else {
        return false;
    };
    let before = line[..at].chars().next_back().is_none_or(char::is_whitespace);
    let word = line[at + 2..].chars().next().is_some_and(char::is_alphanumeric);
    before && word && !line.contains('`')
}

fn open_bracket(tail: &str) -> Option<usize> {
    let mut open: Vec<usize> = Vec::new();
    let mut previous = ' ';
    let mut chars = tail.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        match c {
            '(' | '[' | '{' | '（' | '「' | '『' | '【' | '［' => {
                // ":(" and "(:" are faces.
                let face = matches!(previous, ':' | ';' | '-' | '=') || next == Some(':');
                if !face {
                    open.push(at);
                }
            }
            ')' | ']' | '}' | '）' | '」' | '』' | '】' | '］' => {
                open.pop();
            }
            _ => {}
        }
        previous = c;
    }
    open.last().copied()
}

fn open_quotation(tail: &str) -> Option<usize> {
    for (open, closing) in [('“', "”“"), ('„', "“”"), ('«', "»")] {
        if let Some(at) = tail.rfind(open) {
            let rest = &tail[at + open.len_utf8()..];
            let is_closing = open == '“' && tail[..at].contains('„');
            if !is_closing && !rest.contains(|c| closing.contains(c)) {
                return Some(at);
            }
        }
    }
    // A mark behind a digit, outside of a quotation, means inches.
    let mut open: Option<usize> = None;
    let mut previous = ' ';
    for (at, c) in tail.char_indices() {
        if c == '"' {
            let opens = previous.is_whitespace() || matches!(previous, '(' | '[' | '*' | ':' | ',');
            open = if open.is_some() { None } else { opens.then_some(at) };
        }
        previous = c;
    }
    let goes_on = |at: &usize| tail[*at..].chars().nth(1).is_some_and(char::is_alphanumeric);
    open.filter(goes_on)
}

fn is_terminal(c: char) -> bool {
    matches!(
        c,
        '.' | '!' | '?' | '…' | '。' | '！' | '？' | '”' | '"' | '»' | '」' | '』' | ')' | '）'
    )
}

/// Bytes at the end of the answer that are read for its last sentence.
const TAIL_BYTES: usize = 2_000;

/// The words after the last sentence that ended.
struct Fragment<'a> {
    text: &'a str,
    start: usize,
    /// Sentences of the answer that ended with punctuation.
    ended: usize,
    /// Lines of the same sort that did not.
    unended_lines: usize,
    /// It is a line of its own.
    is_line: bool,
}

fn open_sentence(answer: &InspectedAnswer<'_>, text: &str) -> Option<OpenEnd> {
    let last = text.chars().next_back()?;
    let fragment = read_fragment(text);
    let start = fragment.start;
    let (_, line) = last_line(text);
    let words = fragment.text.split_whitespace().count();
    let lines = text.lines().filter(|line| !line.trim().is_empty()).count();
    if matches!(last, ':' | '：')
        && (words >= 3 || words >= 2 && (fragment.ended > 0 || lines >= 3))
    {
        return Some((start, "colon_at_end", 0.85));
    }
    if matches!(last, ',' | '、' | '，' | '(' | '（' | '[' | '&' | '·') {
        return (!is_letter_end(text, line)).then_some((start, "comma_at_end", 0.9));
    }
    let before = text.strip_suffix(['-', '–', '—']);
    if let Some(before) = before.filter(|_| words >= 3) {
        let word = before.split_whitespace().next_back().unwrap_or_default();
        let spaced = before.ends_with(' ');
        let cut = spaced && !before.trim_end().ends_with([':', '|', '：'])
            || !spaced && word.chars().filter(|c| c.is_lowercase()).count() >= 3;
        return cut.then_some((start, "dash_at_end", 0.8));
    }
    if is_ideograph(last) {
        return open_cjk_sentence(&fragment, text);
    }
    if !last.is_alphabetic() {
        return None;
    }
    open_word_sentence(answer, &fragment)
}

fn read_fragment(text: &str) -> Fragment<'_> {
    let cut = text.ceil_char_boundary(text.len().saturating_sub(TAIL_BYTES));
    let (line_start, _) = last_line(text);
    let line_start = line_start.max(cut);
    let line = &text[line_start..];
    let ends = |line: &str| {
        let mut ends = Vec::new();
        let mut chars = line.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let next = chars.peek().map(|(_, next)| *next);
            let ended = matches!(c, '。' | '！' | '？')
                || matches!(c, '.' | '!' | '?' | '…') && next.is_none_or(char::is_whitespace);
            if !ended {
                continue;
            }
            // "1. " is an item, "z. B. " and "e.g. " are abbreviations.
            let word = line[..at].rsplit([' ', '.', '\t']).next().unwrap_or_default();
            let counts = c != '.' || word.chars().count() > 2;
            let number = !word.is_empty() && word.chars().all(|c| c.is_ascii_digit());
            if counts && !(number && line[..at].trim() == word) {
                ends.push(at + c.len_utf8());
            }
        }
        ends
    };
    let in_line = ends(line);
    let earlier = &text[cut..line_start];
    let prose_lines = earlier.lines().map(str::trim).filter(|line| !line.is_empty());
    let is_long = |line: &&str| {
        let words = line.split_whitespace().count();
        let signs = line.chars().filter(|c| is_ideograph(*c)).count();
        (words >= 4 || signs >= 4) && !line.ends_with([':', '|', '：'])
    };
    let unended_lines = prose_lines.filter(is_long).filter(|line| !line.ends_with(is_terminal));
    let offset = in_line.last().copied().unwrap_or(0);
    let rest = &line[offset..];
    let fragment = rest.trim_start();
    Fragment {
        text: fragment,
        start: line_start + offset + (rest.len() - fragment.len()),
        ended: in_line.len() + earlier.lines().map(|line| ends(line).len()).sum::<usize>(),
        unended_lines: unended_lines.count(),
        is_line: in_line.is_empty(),
    }
}

/// True for "Kind regards," as the last line, and for a line of values with commas.
fn is_letter_end(text: &str, line: &str) -> bool {
    let lines = text.lines().filter(|line| !line.trim().is_empty()).count();
    let words = line.split_whitespace().count();
    is_sign_off(line) || lines >= 4 && words <= 2 || words == 1 && line.matches(',').count() >= 2
}

fn is_sign_off(line: &str) -> bool {
    let folded = FoldedText::new(line);
    let words: Vec<&str> = folded.lexical_words().map(|w| folded.folded_word(w)).collect();
    let joined = words.join(" ");
    let closings = find_set(FAILURES, "closing").split(" | ");
    words.len() <= 4
        && closings.map(|one| one.trim_end_matches('*')).any(|one| joined.starts_with(one))
}

fn open_cjk_sentence(fragment: &Fragment<'_>, text: &str) -> Option<OpenEnd> {
    const MIN_CHARS: usize = 6;
    const JAPANESE_ENDS: [&str; 22] = [
        "です",
        "ます",
        "ました",
        "ません",
        "ください",
        "下さい",
        "でした",
        "だ",
        "た",
        "ない",
        "る",
        "う",
        "ね",
        "よ",
        "い",
        "か",
        "く",
        "む",
        "す",
        "ぶ",
        "つ",
        "こと",
    ];
    let chars = fragment.text.chars().count();
    let japanese = fragment.text.chars().any(|c| matches!(u32::from(c), 0x3040..=0x30FF));
    let name = if japanese { "dangling ja" } else { "dangling zh" };
    if fragment.text.starts_with(['—', '–', '-', '―']) {
        return None;
    }
    let own_style = fragment.unended_lines >= 2 && chars <= 12;
    let noun =
        ["こと", "もと", "ひと", "あと", "もの", "おと"].iter().any(|end| text.ends_with(end));
    let dangling =
        !own_style && !noun && find_set(FAILURES, name).split(" | ").any(|end| text.ends_with(end));
    if dangling && (chars >= MIN_CHARS || fragment.ended > 0) {
        return Some((fragment.start, "open_sentence", 0.85));
    }
    let complete = JAPANESE_ENDS.iter().any(|end| fragment.text.ends_with(end));
    let same_line = !fragment.is_line && fragment.ended >= 1;
    let style = (same_line || fragment.ended >= 2) && fragment.unended_lines == 0;
    let cut = style && chars >= MIN_CHARS && !(japanese && complete);
    cut.then_some((fragment.start, "open_sentence", 0.7))
}

struct OpenWords {
    dangling: FxHashMap<&'static str, Vec<&'static str>>,
    weak: FxHashMap<&'static str, Vec<&'static str>>,
}

static OPEN_WORDS: LazyLock<OpenWords> = LazyLock::new(|| {
    let read = |name: &str| {
        let lines = FAILURES.lines().filter_map(|line| line.strip_prefix(name)?.split_once(": "));
        lines.map(|(language, words)| (language, words.split(' ').collect())).collect()
    };
    OpenWords { dangling: read("dangling "), weak: read("weak ") }
});

fn open_word_sentence(answer: &InspectedAnswer<'_>, fragment: &Fragment<'_>) -> Option<OpenEnd> {
    const MIN_ENDED: usize = 2;
    let words: Vec<&str> = fragment.text.split_whitespace().collect();
    let token = words.last()?;
    let is_word = token.chars().all(|c| c.is_alphabetic() || matches!(c, '\'' | '’' | '-'));
    let capital = token.chars().next().is_some_and(char::is_uppercase);
    if !is_word {
        return None;
    }
    let folded = FoldedText::new(token);
    let last = folded.words.last().map(|w| folded.folded_word(w).to_owned())?;
    let language = answer.language();
    let listed = |lists: &FxHashMap<&'static str, Vec<&'static str>>| {
        lists.get(language).is_some_and(|all| all.contains(&last.as_str()))
    };
    let letters = words.iter().filter(|word| word.chars().nth(1).is_some()).count();
    let long = letters >= 4 || fragment.ended > 0 && words.len() >= 2;
    if long && !capital && listed(&OPEN_WORDS.dangling) {
        return Some((fragment.start, "open_sentence", 0.9));
    }
    let turkish = language == "tr" && !capital && is_turkish_case(&last);
    let signs_off = is_sign_off_start(&words);
    if fragment.ended > 0
        && words.len() >= 3
        && !signs_off
        && (turkish || !capital && listed(&OPEN_WORDS.weak))
    {
        return Some((fragment.start, "open_sentence", 0.8));
    }
    let in_prose = fragment.ended > 0 && words.len() >= 3 && !fragment.text.contains(')');
    let cut = is_start_of_word(answer, &last, language) && (in_prose || words.len() >= 5)
        || is_no_word(&last, language) && in_prose && !is_repeated(answer, &last);
    if cut && !capital {
        return Some((fragment.start, "open_word", 0.8));
    }
    let long_fragment = fragment.ended == 1 && words.len() >= 9 && !fragment.is_line;
    let style = (fragment.ended >= MIN_ENDED || long_fragment) && fragment.unended_lines == 0;
    let prose = words.len() >= 4 && !signs_off && (!capital || language == "de");
    let own_line = fragment.is_line && words.len() < 6;
    (style && prose && !own_line).then_some((fragment.start, "open_sentence", 0.7))
}

fn is_turkish_case(word: &str) -> bool {
    let ends = find_set(FAILURES, "cases tr").split(' ');
    word.chars().count() >= 5 && ends.into_iter().any(|end| word.ends_with(end))
}

/// True for the start of a longer word of question or answer.
fn is_start_of_word(answer: &InspectedAnswer<'_>, word: &str, language: &str) -> bool {
    const LENGTHS: std::ops::RangeInclusive<usize> = 2..=6;
    const MIN_MISSING: usize = 3;
    let count = word.chars().count();
    let own = answer.text.lexical_words().map(|w| answer.text.folded_word(w));
    let asked = answer
        .question
        .into_iter()
        .flat_map(|question| question.text.lexical_words().map(|w| question.text.folded_word(w)));
    let longer = |one: &str| one.starts_with(word) && one.chars().count() >= count + MIN_MISSING;
    LENGTHS.contains(&count)
        && own.chain(asked).any(longer)
        && !is_repeated(answer, word)
        && !is_frequent_word(word, language)
}

fn is_repeated(answer: &InspectedAnswer<'_>, word: &str) -> bool {
    let words = answer.text.lexical_words().map(|w| answer.text.folded_word(w));
    words.filter(|one| *one == word).count() > 1
}

/// True for two letters that are no frequent word and no unit, and for impossible word ends.
fn is_no_word(word: &str, language: &str) -> bool {
    const UNITS: [&str; 16] = [
        "kg", "cm", "mm", "km", "ml", "cl", "dl", "px", "am", "pm", "ok", "tv", "pc", "db", "hz",
        "ai",
    ];
    let short = word.chars().count() == 2 && !UNITS.contains(&word);
    !is_frequent_word(word, language) && (short || has_cut_end(word, language))
}

/// True for word ends that a language does not have, and for English words that are not in the
/// vocabulary of the embeddings.
fn has_cut_end(word: &str, language: &str) -> bool {
    const MIN_CHARS: usize = 3;
    let Some(last) = word.chars().next_back() else { return false };
    if word.chars().count() < MIN_CHARS {
        return false;
    }
    match language {
        "it" => !"aeiouàèéìòù".contains(last),
        "es" => !"aeiounsrldzyx".contains(last),
        "pt" => !"aeiousmrlzn".contains(last),
        "en" => word.is_ascii() && embed::built_in().tokenize(word).len() > 1,
        _ => false,
    }
}

fn is_sign_off_start(words: &[&str]) -> bool {
    is_sign_off(&words[..words.len().min(3)].join(" "))
}
