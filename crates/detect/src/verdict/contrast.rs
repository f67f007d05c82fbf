//! Extracts what the user wants and what they got: "gaming laptops, not business laptops".

use model::Contrast;

use super::preamble::{is_opening, names_something, strip_opening};
use crate::text::{Kind, Text};
use crate::utterance::Utterance;

/// Maximum words per side. A longer text is not a contrast.
const MOST_WORDS: usize = 12;

/// Separators between the wanted and the unwanted side.
const NOT: &[&str] = &["not"];
/// Separators only after a comma or a conjunction: "la roja, no la azul". Elsewhere they negate a
/// verb: "it has no number pad", "ich kann mich nicht mehr anmelden".
const NOT_BEHIND_COMMA: &[&str] = &["no", "non", "nicht", "pas", "nao", "niet"];
const COMMAS: &[&str] = &[",", "and", "und", "et", "y", "e", "en"];
const INSTEAD_OF: &[&[&str]] = &[
    &["instead", "of"],
    &["rather", "than"],
    &["en", "vez", "de"],
    &["en", "lugar", "de"],
    &["au", "lieu", "de"],
    &["em", "vez", "de"],
    &["ao", "inves", "de"],
    &["invece", "di"],
    &["in", "plaats", "van"],
    &["anstatt"],
    &["statt"],
];
/// Words before "not" that make it negate a verb.
const VERBS: &[&str] = &[
    "do", "does", "did", "is", "are", "am", "was", "were", "will", "would", "can", "could",
    "should", "shall", "may", "might", "must", "has", "have", "had", "i'm", "it's", "that's",
    "you're", "or", "why", "ist", "sind", "war", "kann", "n'est", "ne", "est", "is",
];

/// Returns both sides when the message names them.
pub(crate) fn contrast(message: &Utterance) -> Option<Contrast> {
    let text = &message.text;
    let original = message.original();
    separator(text).and_then(|(at, length, instead)| {
        let joined = at > 0 && COMMAS.contains(&text.folded(&text.words[at - 1]));
        let before = side(text, original, clause_start(text, at), at - usize::from(joined));
        let after = side(text, original, at + length, clause_end(text, at + length));
        let wants = before.map(|s| strip_opening(&s));
        let contrast = Contrast { wants: wants.filter(|w| names_something(w)), instead_of: after };
        // "not X" alone is no contrast; "X instead of Y" and "X, not Y" are.
        let named = contrast.instead_of.is_some() && (contrast.wants.is_some() || instead);
        named.then_some(contrast)
    })
}

/// Position and length of the separator, and true for "instead of". A separator at the start only
/// negates.
fn separator(text: &Text) -> Option<(usize, usize, bool)> {
    (1..text.words.len()).find_map(|at| {
        for phrase in INSTEAD_OF {
            let fits = phrase
                .iter()
                .enumerate()
                .all(|(i, word)| text.words.get(at + i).is_some_and(|w| text.folded(w) == *word));
            if fits {
                return Some((at, phrase.len(), true));
            }
        }
        let word = text.folded(&text.words[at]);
        let before = text.folded(&text.words[at - 1]);
        let behind_comma = COMMAS.contains(&before);
        let is_not = NOT.contains(&word) || (behind_comma && NOT_BEHIND_COMMA.contains(&word));
        let opens = (0..at).all(|before| is_opening(text, before));
        let what_clause = text.words.get(at + 1).map(|w| text.folded(w)).is_some_and(|next| {
            // "a" is an article in Portuguese and a preposition in Spanish, so it counts only after
            // "not".
            let one = next == "a" && NOT.contains(&word);
            let goes_on = matches!(
                next,
                "what"
                    | "that"
                    | "sure"
                    | "really"
                    | "yet"
                    | "working"
                    | "right"
                    | "helpful"
                    | "correct"
                    | "very"
                    | "even"
                    | "be"
                    | "been"
                    | "was"
            );
            one || goes_on
        });
        // "it does not work" negates a verb.
        let of_a_verb = VERBS.contains(&before);
        // In "That is wrong, no, I meant laptops" nothing is named after "no".
        let names = clause_end(text, at + 1) > at + 1;
        (is_not && names && !opens && !what_clause && !of_a_verb).then_some((at, 1, false))
    })
}

fn is_stop(text: &Text, at: usize) -> bool {
    text.words.get(at).is_some_and(|w| matches!(text.folded(w), "." | "!" | "?" | ";" | "("))
}

fn clause_start(text: &Text, at: usize) -> usize {
    (0..at)
        .rev()
        .find(|i| is_stop(text, *i))
        .map_or(0, |i| i + 1)
        .max(at.saturating_sub(MOST_WORDS + 6))
}

fn clause_end(text: &Text, at: usize) -> usize {
    let stops =
        |i: &usize| is_stop(text, *i) || text.words.get(*i).is_some_and(|w| text.folded(w) == ",");
    let end = text.words.len().min(at + MOST_WORDS);
    (at..end).find(stops).unwrap_or(end)
}

/// The original words of a range, without punctuation at its ends.
fn side(text: &Text, original: &str, from: usize, to: usize) -> Option<String> {
    let words = text.words.get(from..to)?;
    let first = words.iter().find(|w| w.kind != Kind::Mark)?;
    let last = words.iter().rfind(|w| w.kind != Kind::Mark)?;
    original.get(first.start..last.end).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(message: &str, expected: Option<(&str, &str)>) {
        let found = contrast(&Utterance::read(message));
        let found = found.map(|c| (c.wants.unwrap_or_default(), c.instead_of.unwrap_or_default()));
        let expected = expected.map(|(w, i)| (w.to_owned(), i.to_owned()));
        assert_eq!(found, expected, "{message}");
    }

    #[test]
    fn both_sides_are_named() {
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
    fn a_no_that_names_nothing_separates_nothing() {
        check("That is wrong, no, I meant laptops, not zeppelins", Some(("laptops", "zeppelins")));
    }

    #[test]
    fn a_mean_is_something_that_can_be_wanted() {
        check("No, the mean, not the median", Some(("mean", "the median")));
        check("No, I mean the median, not the mean", Some(("median", "the mean")));
        check("No, I mean, not laptops", None);
    }

    #[test]
    fn an_a_of_other_languages_is_no_english_one() {
        check("No, me refería a la roja, no a la azul", Some(("roja", "a la azul")));
        check("Não, quero a vermelha, não a azul", Some(("vermelha", "a azul")));
        check("It is slow, not a problem", None);
    }

    #[test]
    fn a_remark_on_the_answer_is_not_what_is_wanted() {
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
    fn a_negation_alone_is_no_contrast() {
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
