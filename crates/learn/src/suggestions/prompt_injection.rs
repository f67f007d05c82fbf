//! Remarks that speak to the model instead of about its answer.
//!
//! "Ignore previous instructions", "you are now …", "reveal the system prompt": whoever writes that
//! wants it to end up in a prompt. Such a text becomes no part of an instruction, however many say
//! it. A list knows what was thought of and no more: a suggestion is read by a person before it is used.

mod phrases;

use unicode_normalization::UnicodeNormalization;

use phrases::{MARKS, OPENINGS, OVERRIDING, PHRASES, RUN_TOGETHER};

/// An object may come so many words after its verb, or before it.
const REACH: usize = 6;

/// Whether a text speaks to the model. Case, accents, invisible characters, letters that look like
/// others and digits in the place of letters do not hide it.
pub fn is_prompt_injection(text: &str) -> bool {
    let lower = folded(text);
    if MARKS.iter().any(|mark| lower.contains(mark)) {
        return true;
    }
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    if is_ordering(&words) {
        return true;
    }
    let spelt: Vec<String> = words.iter().map(|word| without_digits(word)).collect();
    let spelt: Vec<&str> = spelt.iter().map(String::as_str).collect();
    spelt != words && is_ordering(&spelt)
}

fn is_ordering(words: &[&str]) -> bool {
    let line = format!(" {} ", words.join(" "));
    let together: String = words.concat();
    let spaced = |phrase: &str| format!(" {} ", folded(phrase));
    PHRASES.iter().any(|phrase| line.contains(&spaced(phrase)))
        || OPENINGS.iter().any(|opening| line.starts_with(&spaced(opening)))
        || RUN_TOGETHER.iter().any(|run| together.contains(run))
        || OVERRIDING.iter().any(|(verbs, objects)| reaches(words, verbs, objects))
}

/// The letters that digits stand for inside a word; a number stays a number.
fn without_digits(word: &str) -> String {
    if !word.chars().any(char::is_alphabetic) {
        return word.to_owned();
    }
    let letter = |c| match c {
        '0' => 'o',
        '1' => 'i',
        '3' => 'e',
        '4' => 'a',
        '5' => 's',
        '7' => 't',
        other => other,
    };
    word.chars().map(letter).collect()
}

fn reaches(words: &[&str], verbs: &str, objects: &str) -> bool {
    let (verbs, objects) = (folded(verbs), folded(objects));
    let is_in = |list: &str, word: &str| list.split_whitespace().any(|one| one == word);
    words.iter().enumerate().filter(|(_, word)| is_in(&verbs, word)).any(|(at, _)| {
        let (first, last) = (at.saturating_sub(REACH), words.len().min(at + REACH + 1));
        words[first..last].iter().any(|word| is_in(&objects, word))
    })
}

fn folded(text: &str) -> String {
    // Compatibility forms as what they stand for: bold, wide, in circles.
    let visible: String = text.nfkd().filter(|c| !is_invisible(*c)).collect();
    visible.to_lowercase().chars().map(as_latin).collect()
}

/// What nobody sees and a model may read.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}'
        | '\u{feff}' | '\u{300}'..='\u{36f}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0000}'..='\u{e007f}')
}

/// Small letters of other alphabets as the Latin ones that they look like.
fn as_latin(c: char) -> char {
    match c {
        'а' | 'α' => 'a',
        'е' | 'ε' => 'e',
        'і' | 'ι' | 'ı' => 'i',
        'о' | 'ο' => 'o',
        'с' => 'c',
        'р' | 'ρ' => 'p',
        'у' => 'y',
        'х' => 'x',
        'ѕ' => 's',
        other => other,
    }
}

#[cfg(test)]
mod tests;
