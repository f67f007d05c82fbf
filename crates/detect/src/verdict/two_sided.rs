//! Finds messages that name both sides of a contrast: "gaming laptops, not business laptops".
//!
//! The rules of a verdict ask for these narrow forms, and the committed models depend on the rules.
//! [`super::contrast`] extracts the phrases that are shown.

use model::Contrast;

use super::preamble::{has_content_word, is_preamble, strip_preamble};
use crate::text::{FoldedText, WordKind};
use crate::utterance::Utterance;

/// Words after a negation that make it negate a clause or an adjective.
const NEGATED_WORDS: &str =
    "what that sure really yet working right helpful correct very even be been was";
/// Maximum words per side. A longer text is not a contrast.
const MAX_SIDE_WORDS: usize = 12;

/// Separators only after a comma or a conjunction: "la roja, no la azul". Elsewhere they negate a
/// verb: "it has no number pad", "ich kann mich nicht mehr anmelden".
const NEGATIONS_AFTER_COMMA: &[&str] = &["no", "non", "nicht", "pas", "nao", "niet"];
const COMMAS_AND_CONJUNCTIONS: &[&str] = &[",", "and", "und", "et", "y", "e", "en"];
const INSTEAD_OF_PHRASES: &str = "instead of|rather than|en vez de|en lugar de|au lieu de|\
    em vez de|ao inves de|invece di|in plaats van|anstatt|statt";
const NEGATED_VERBS: &[&str] = &[
    "do", "does", "did", "is", "are", "am", "was", "were", "will", "would", "can", "could",
    "should", "shall", "may", "might", "must", "has", "have", "had", "i'm", "it's", "that's",
    "you're", "or", "why", "ist", "sind", "war", "kann", "n'est", "ne", "est", "is",
];

pub(super) fn find_two_sided_contrast(message: &Utterance) -> Option<Contrast> {
    let text = &message.text;
    let original = message.original();
    find_separator(text).and_then(|(at, length, instead)| {
        let joined =
            at > 0 && COMMAS_AND_CONJUNCTIONS.contains(&text.folded_word(&text.words[at - 1]));
        let before = extract_side(text, original, clause_start(text, at), at - usize::from(joined));
        let after = extract_side(text, original, at + length, clause_end(text, at + length));
        let wants = before.map(|s| strip_preamble(&s));
        let contrast = Contrast { wants: wants.filter(|w| has_content_word(w)), instead_of: after };
        // "not X" alone is no contrast; "X instead of Y" and "X, not Y" are.
        let named = contrast.instead_of.is_some() && (contrast.wants.is_some() || instead);
        named.then_some(contrast)
    })
}

/// Position and length of the separator, and true for "instead of". A separator at the start only
/// negates.
fn find_separator(text: &FoldedText) -> Option<(usize, usize, bool)> {
    (1..text.words.len()).find_map(|at| {
        let is_word = |(i, word)| text.words.get(i).is_some_and(|w| text.folded_word(w) == word);
        for phrase in INSTEAD_OF_PHRASES.split('|') {
            if (at..).zip(phrase.split(' ')).all(is_word) {
                return Some((at, phrase.split(' ').count(), true));
            }
        }
        let word = text.folded_word(&text.words[at]);
        let before = text.folded_word(&text.words[at - 1]);
        let behind_comma = COMMAS_AND_CONJUNCTIONS.contains(&before);
        let is_not = word == "not" || (behind_comma && NEGATIONS_AFTER_COMMA.contains(&word));
        let opens = (0..at).all(|before| is_preamble(text, before));
        let what_clause = text.words.get(at + 1).map(|w| text.folded_word(w)).is_some_and(|next| {
            // "a" is an article in Portuguese and a preposition in Spanish, so it counts only after
            // "not".
            let one = next == "a" && word == "not";
            one || NEGATED_WORDS.split(' ').any(|word| word == next)
        });
        // "it does not work" negates a verb.
        let of_a_verb = NEGATED_VERBS.contains(&before);
        // In "That is wrong, no, I meant laptops" nothing is named after "no".
        let names = clause_end(text, at + 1) > at + 1;
        (is_not && names && !opens && !what_clause && !of_a_verb).then_some((at, 1, false))
    })
}

fn is_clause_stop(text: &FoldedText, at: usize) -> bool {
    text.words.get(at).is_some_and(|w| matches!(text.folded_word(w), "." | "!" | "?" | ";" | "("))
}

fn clause_start(text: &FoldedText, at: usize) -> usize {
    (0..at)
        .rev()
        .find(|i| is_clause_stop(text, *i))
        .map_or(0, |i| i + 1)
        .max(at.saturating_sub(MAX_SIDE_WORDS + 6))
}

fn clause_end(text: &FoldedText, at: usize) -> usize {
    let stops = |i: &usize| {
        is_clause_stop(text, *i) || text.words.get(*i).is_some_and(|w| text.folded_word(w) == ",")
    };
    let end = text.words.len().min(at + MAX_SIDE_WORDS);
    (at..end).find(stops).unwrap_or(end)
}

fn extract_side(text: &FoldedText, original: &str, from: usize, to: usize) -> Option<String> {
    let words = text.words.get(from..to)?;
    let first = words.iter().find(|w| w.kind != WordKind::Mark)?;
    let last = words.iter().rfind(|w| w.kind != WordKind::Mark)?;
    original.get(first.start..last.end).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(message: &str, expected: Option<(&str, &str)>) {
        let found = find_two_sided_contrast(&Utterance::read(message));
        let found = found.map(|c| (c.wants.unwrap_or_default(), c.instead_of.unwrap_or_default()));
        let expected = expected.map(|(w, i)| (w.to_owned(), i.to_owned()));
        assert_eq!(found, expected, "{message}");
    }

    #[test]
    fn contrast_names_both_sides() {
        check(
            "No, I meant gaming laptops, not business laptops",
            Some(("gaming laptops", "business laptops")),
        );
        check(
            "No, I meant gaming laptops not business laptops",
            Some(("gaming laptops", "business laptops")),
        );
        check(
            "I want the monthly total instead of the daily one",
            Some(("monthly total", "the daily one")),
        );
        check("Nein, ich meinte Berlin, nicht Bern", Some(("Berlin", "Bern")));
        check("I need net and not gross", Some(("net", "gross")));
        check("Nein, Berlin und nicht Bern", Some(("Berlin", "Bern")));
        check("No, quiero la roja, no la azul", Some(("roja", "la azul")));
        check("Non, je voulais dire le rouge, pas le bleu", Some(("rouge", "le bleu")));
    }

    #[test]
    fn negation_without_a_name_is_no_separator() {
        check("That is wrong, no, I meant laptops, not zeppelins", Some(("laptops", "zeppelins")));
    }

    #[test]
    fn noun_mean_can_be_the_wanted_side() {
        check("No, the mean, not the median", Some(("mean", "the median")));
        check("No, I mean the median, not the mean", Some(("median", "the mean")));
        check("No, I mean, not laptops", None);
    }

    #[test]
    fn foreign_article_a_does_not_end_the_contrast() {
        check("No, me refería a la roja, no a la azul", Some(("roja", "a la azul")));
        check("Não, quero a vermelha, não a azul", Some(("vermelha", "a azul")));
        check("It is slow, not a problem", None);
    }

    #[test]
    fn judgement_of_the_answer_is_not_the_wanted_side() {
        for (message, wants, instead_of) in [
            ("No, that is wrong, I meant laptops, not zeppelins", "laptops", "zeppelins"),
            ("Nein, das ist falsch, ich meinte Laptops, nicht Zeppeline", "Laptops", "Zeppeline"),
            ("Non, c'est faux, je voulais dire le rouge, pas le bleu", "rouge", "le bleu"),
            ("No, eso está mal, quería la roja, no la azul", "roja", "la azul"),
            ("Não, está errado, eu quis dizer Lisboa, não Porto", "Lisboa", "Porto"),
            ("No, è sbagliato, intendevo Roma, non Milano", "Roma", "Milano"),
            ("Nee, dat is fout, ik bedoelde laptops, niet zeppelins", "laptops", "zeppelins"),
        ] {
            check(message, Some((wants, instead_of)));
        }
        check("That is wrong, not laptops", None);
        check("Das ist falsch, nicht Berlin", None);
    }

    #[test]
    fn plain_negation_is_no_contrast() {
        for message in [
            "That's not what I meant",
            "not helpful",
            "No",
            "it is not working",
            "",
            "I am not sure",
            "that is not needed",
            "I do not want tickets",
            "it will not work for me",
            "The Dell has no number pad.",
            "there is no such file in my project",
            "Ich kann mich seit heute früh nicht mehr anmelden",
            "Das Passwort wird nicht angenommen",
            "Le fichier ne s'ouvre pas correctement",
            "De bestelling is nog niet aangekomen",
            "O relatório ainda não chegou",
        ] {
            check(message, None);
        }
    }
}
