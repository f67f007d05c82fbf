//! Strips the preamble before the wanted thing: "No, that is wrong, I meant".

use crate::lexicon::lexicon;
use crate::text::{FoldedText, WordKind};

const CLAUSE_BREAKS: &[&str] = &[",", ":", "–", "—", "but", "aber", "mais", "pero", "maar"];

/// "No, that is wrong, I meant gaming laptops" → "gaming laptops".
pub(super) fn strip_preamble(side: &str) -> String {
    let text = FoldedText::new(side);
    let correction = find_correction_verb(&text).map(|at| cut_preamble(&text, side, at));
    // In "The laptops, I mean" the wanted thing comes first.
    correction
        .filter(|correction| has_content_word(correction))
        .unwrap_or_else(|| cut_preamble(&text, side, skip_judgement_clauses(&text)))
}

pub(super) fn is_preamble(text: &FoldedText, at: usize) -> bool {
    let word = &text.words[at];
    word.kind == WordKind::Mark
        || (lexicon().preamble.contains(&word.hash) && !is_noun_mean(text, at))
}

fn is_noun_mean(text: &FoldedText, at: usize) -> bool {
    let is_marker = |before: usize| lexicon().noun_markers.contains(&text.words[before].hash);
    text.folded_word(&text.words[at]) == "mean" && at.checked_sub(1).is_some_and(is_marker)
}

pub(super) fn has_content_word(side: &str) -> bool {
    FoldedText::new(side).lexical_words().any(|word| !lexicon().is_stop_word(word.hash))
}

/// The wanted thing, starting at the first word after `from` that is not preamble.
fn cut_preamble(text: &FoldedText, side: &str, from: usize) -> String {
    let start = (from..text.words.len())
        .find(|at| !is_preamble(text, *at))
        .map_or(side.len(), |at| text.words[at].start);
    let kept = side.get(start..).unwrap_or_default();
    kept.trim_end_matches(|c: char| c.is_whitespace() || ",;-–—".contains(c)).to_owned()
}

/// Position of the verb that introduces the correction: "you gave me airships, I meant laptops",
/// but not "the laptops I meant".
fn find_correction_verb(text: &FoldedText) -> Option<usize> {
    let introduces = |at: usize| {
        is_preamble_or_judgement(text, at) && !lexicon().reminder.contains(&text.words[at].hash)
    };
    (0..text.words.len()).find(|at| {
        lexicon().correction_verbs.contains(&text.words[*at].hash)
            && !is_noun_mean(text, *at)
            && (find_clause_start(text, *at)..*at).all(introduces)
    })
}

/// Start of the first clause that does more than judge the answer.
fn skip_judgement_clauses(text: &FoldedText) -> usize {
    let first_content = (0..text.words.len()).find(|at| !is_preamble_or_judgement(text, *at));
    first_content.map_or(text.words.len(), |at| find_clause_start(text, at))
}

fn is_preamble_or_judgement(text: &FoldedText, at: usize) -> bool {
    is_preamble(text, at) || lexicon().judgement.contains(&text.words[at].hash)
}

fn find_clause_start(text: &FoldedText, at: usize) -> usize {
    let breaks = |i: &usize| {
        let word = &text.words[*i];
        // A hyphen is part of a word; a dash stands alone.
        let dash =
            || text.folded_word(word) == "-" && *i > 0 && text.words[*i - 1].end < word.start;
        CLAUSE_BREAKS.contains(&text.folded_word(word)) || dash()
    };
    (0..at).rev().find(breaks).map_or(0, |i| i + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(side: &str, expected: &str) {
        assert_eq!(strip_preamble(side), expected, "{side}");
    }

    #[test]
    fn judgement_of_the_answer_is_stripped() {
        check("No, that is wrong, I meant laptops", "laptops");
        check("No that is wrong I meant laptops", "laptops");
        check("No, that's wrong, gaming laptops", "gaming laptops");
        check("No - this is incorrect - I want laptops", "laptops");
        check("This is not what I asked for, laptops", "laptops");
        check("Nein, das ist falsch, ich meinte Laptops", "Laptops");
        check("Das stimmt so nicht, Berlin", "Berlin");
        check("Non, c'est faux, je voulais dire le rouge", "rouge");
        check("No, eso está mal, me refería a los portátiles", "portátiles");
        check("No, eso no es, quise decir portátiles", "portátiles");
        check("Não, isso está errado, eu quis dizer laptops", "laptops");
        check("No, è sbagliato, intendevo i portatili", "portatili");
        check("Nee, dat is fout, ik bedoelde laptops", "laptops");
    }

    #[test]
    fn wanted_thing_starts_after_the_correction_verb() {
        check("You gave me airships, I meant laptops", "laptops");
        check("You gave me airships but I asked for laptops", "laptops");
        check(
            "I meant laptops with a fan, I want them cheap",
            "laptops with a fan, I want them cheap",
        );
    }

    #[test]
    fn reminder_verbs_do_not_start_the_wanted_thing() {
        check(
            "The laptops, like I said in my first message",
            "laptops, like I said in my first message",
        );
        check("The laptops, as I said yesterday", "laptops, as I said yesterday");
        check("No, like I said, laptops", "laptops");
        check("Like I said laptops", "laptops");
    }

    #[test]
    fn noun_mean_is_kept_and_verb_mean_is_stripped() {
        check("No, the mean", "mean");
        check("I meant the mean", "mean");
        check("I want the mean of the column", "mean of the column");
        check("No, I mean laptops", "laptops");
        check("I actually mean the mean", "mean");
        check("You mean laptops", "laptops");
    }

    #[test]
    fn judgement_words_inside_the_wanted_thing_are_kept() {
        check("that model with e-mail", "that model with e-mail");
        check("No, that is wrong, e-mail", "e-mail");
        check("the laptops I meant yesterday", "laptops I meant yesterday");
        check("The laptops, I mean", "laptops, I mean");
        check("That is wrong", "");
    }
}
