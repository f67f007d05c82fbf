//! Detects remarks that address the model instead of describing its answer.
//!
//! Examples: "ignore previous instructions", "you are now …", "reveal the system prompt". Such a
//! text never becomes part of an instruction, whatever its support. The phrase lists are incomplete
//! by nature, so a person reviews every suggestion before use.

mod phrases;

use unicode_normalization::UnicodeNormalization;

use crate::text::list_contains;
use phrases::{
    COMMAND_OPENINGS, INJECTION_PHRASES, OVERRIDE_VERBS_AND_OBJECTS, PROMPT_MARKERS,
    UNSPACED_PHRASES,
};

/// Maximum distance in words between a verb and its object, in either order.
const MAX_VERB_OBJECT_DISTANCE: usize = 6;

/// True when a text addresses the model. Case, accents, invisible characters, look-alike letters
/// and digits used as letters are folded first.
pub fn is_prompt_injection(text: &str) -> bool {
    let lower = fold_text(text);
    if PROMPT_MARKERS.iter().any(|mark| lower.contains(mark)) {
        return true;
    }
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    if matches_injection(&words) {
        return true;
    }
    let folded: Vec<String> = words.iter().map(|word| replace_digits(word)).collect();
    let folded: Vec<&str> = folded.iter().map(String::as_str).collect();
    folded != words && matches_injection(&folded)
}

fn matches_injection(words: &[&str]) -> bool {
    let line = format!(" {} ", words.join(" "));
    let together: String = words.concat();
    let spaced = |phrase: &str| format!(" {} ", fold_text(phrase));
    INJECTION_PHRASES.iter().any(|phrase| line.contains(&spaced(phrase)))
        || COMMAND_OPENINGS.iter().any(|opening| line.starts_with(&spaced(opening)))
        || UNSPACED_PHRASES.iter().any(|run| together.contains(run))
        || OVERRIDE_VERBS_AND_OBJECTS
            .iter()
            .any(|(verbs, objects)| has_verb_near_object(words, verbs, objects))
}

/// Replaces digits by the letters they resemble, except in pure numbers.
fn replace_digits(word: &str) -> String {
    if !word.chars().any(char::is_alphabetic) {
        return word.to_owned();
    }
    let letter = |c| "013457".find(c).map_or(c, |at| char::from(b"oieast"[at]));
    word.chars().map(letter).collect()
}

fn has_verb_near_object(words: &[&str], verbs: &str, objects: &str) -> bool {
    let (verbs, objects) = (fold_text(verbs), fold_text(objects));
    words.iter().enumerate().filter(|(_, word)| list_contains(&verbs, word)).any(|(at, _)| {
        let (first, last) = (
            at.saturating_sub(MAX_VERB_OBJECT_DISTANCE),
            words.len().min(at + MAX_VERB_OBJECT_DISTANCE + 1),
        );
        words[first..last].iter().any(|word| list_contains(&objects, word))
    })
}

fn fold_text(text: &str) -> String {
    // NFKD maps bold, wide and circled letters to plain ones.
    let visible: String = text.nfkd().filter(|c| !is_invisible(*c)).collect();
    visible.to_lowercase().chars().map(fold_lookalike).collect()
}

/// Characters that are invisible to people but read by models.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}'
        | '\u{feff}' | '\u{300}'..='\u{36f}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0000}'..='\u{e007f}')
}

/// Maps letters of other alphabets to the Latin letters they resemble.
fn fold_lookalike(c: char) -> char {
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
