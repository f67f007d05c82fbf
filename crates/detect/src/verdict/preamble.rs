//! Strips the preamble before the wanted thing: "No, that is wrong, I meant".

use crate::lexicon::lexicon;
use crate::text::{Kind, Text};

/// Punctuation and words after which a clause begins.
const BREAKS: &[&str] = &[",", ":", "–", "—", "but", "aber", "mais", "pero", "maar"];

/// "No, that is wrong, I meant gaming laptops" → "gaming laptops".
pub(super) fn strip_opening(side: &str) -> String {
    let text = Text::read(side);
    let meant = meant_at(&text).map(|at| wanted(&text, side, at));
    // In "The laptops, I mean" the wanted thing comes first.
    meant
        .filter(|meant| names_something(meant))
        .unwrap_or_else(|| wanted(&text, side, behind_judgement(&text)))
}

pub(super) fn is_opening(text: &Text, at: usize) -> bool {
    let word = &text.words[at];
    word.kind == Kind::Mark || (lexicon().preamble.contains(&word.hash) && !is_the_mean(text, at))
}

fn is_the_mean(text: &Text, at: usize) -> bool {
    let is_marker = |before: usize| lexicon().noun_markers.contains(&text.words[before].hash);
    text.folded(&text.words[at]) == "mean" && at.checked_sub(1).is_some_and(is_marker)
}

pub(super) fn names_something(side: &str) -> bool {
    Text::read(side).spoken().any(|word| !lexicon().is_common(word.hash))
}

/// The wanted thing, starting at the first word after `from` that is not preamble.
fn wanted(text: &Text, side: &str, from: usize) -> String {
    let start = (from..text.words.len())
        .find(|at| !is_opening(text, *at))
        .map_or(side.len(), |at| text.words[at].start);
    let kept = side.get(start..).unwrap_or_default();
    kept.trim_end_matches(|c: char| c.is_whitespace() || ",;-–—".contains(c)).to_owned()
}

/// Position of the verb that introduces the correction: "you gave me airships, I meant laptops",
/// but not "the laptops I meant".
fn meant_at(text: &Text) -> Option<usize> {
    let introduces =
        |at: usize| is_aside(text, at) && !lexicon().reminder.contains(&text.words[at].hash);
    (0..text.words.len()).find(|at| {
        lexicon().correction_verbs.contains(&text.words[*at].hash)
            && !is_the_mean(text, *at)
            && (part_of(text, *at)..*at).all(introduces)
    })
}

/// Start of the first clause that does more than judge the answer.
fn behind_judgement(text: &Text) -> usize {
    let said = (0..text.words.len()).find(|at| !is_aside(text, *at));
    said.map_or(text.words.len(), |at| part_of(text, at))
}

fn is_aside(text: &Text, at: usize) -> bool {
    is_opening(text, at) || lexicon().judgement.contains(&text.words[at].hash)
}

/// Start of the clause that contains a word.
fn part_of(text: &Text, at: usize) -> usize {
    let breaks = |i: &usize| {
        let word = &text.words[*i];
        // A hyphen is part of a word; a dash stands alone.
        let dash = || text.folded(word) == "-" && *i > 0 && text.words[*i - 1].end < word.start;
        BREAKS.contains(&text.folded(word)) || dash()
    };
    (0..at).rev().find(breaks).map_or(0, |i| i + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(side: &str, expected: &str) {
        assert_eq!(strip_opening(side), expected, "{side}");
    }

    #[test]
    fn a_remark_on_the_answer_is_cut() {
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
    fn what_was_meant_begins_where_it_is_said() {
        check("You gave me airships, I meant laptops", "laptops");
        check("You gave me airships but I asked for laptops", "laptops");
        check(
            "I meant laptops with a fan, I want them cheap",
            "laptops with a fan, I want them cheap",
        );
    }

    #[test]
    fn where_it_was_said_before_is_not_what_is_wanted() {
        check(
            "The laptops, like I said in my first message",
            "laptops, like I said in my first message",
        );
        check("The laptops, as I said yesterday", "laptops, as I said yesterday");
        check("No, like I said, laptops", "laptops");
        check("Like I said laptops", "laptops");
    }

    #[test]
    fn a_mean_is_wanted_and_to_mean_is_not() {
        check("No, the mean", "mean");
        check("I meant the mean", "mean");
        check("I want the mean of the column", "mean of the column");
        check("No, I mean laptops", "laptops");
        check("I actually mean the mean", "mean");
        check("You mean laptops", "laptops");
    }

    #[test]
    fn a_word_that_judges_may_be_part_of_what_is_wanted() {
        check("that model with e-mail", "that model with e-mail");
        check("No, that is wrong, e-mail", "e-mail");
        check("the laptops I meant yesterday", "laptops I meant yesterday");
        check("The laptops, I mean", "laptops, I mean");
        check("That is wrong", "");
    }
}
