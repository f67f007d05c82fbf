//! Filters contrasts: both sides must be noun phrases, not parts of a sentence.
//!
//! "Talks about changing the address, not the name" has the form of "gaming laptops, not business
//! laptops" but the opposite meaning. "Too vague, no numbers" is a complaint. Such contrasts would
//! mislead a planner, so they are dropped. The user's message is quoted in any case.

use model::Contrast;

use super::words::{
    CLAUSE_WORDS, NEGATIVE_OPENINGS, WISH_WORDS, Word, contains_word, find_phrase, split_words,
};
use crate::text::{list_contains, to_bare_text, to_single_line};

const MAX_PHRASE_WORDS: usize = 8;

/// Keeps the sides that are noun phrases. Returns `None` when the wanted side is none, or when
/// neither message nor question shows which of two sides is wanted.
pub(super) fn filter_contrast(
    contrast: &Contrast,
    message: &str,
    question: &str,
) -> Option<Contrast> {
    let cleaned =
        |side: &Option<String>| side.as_deref().map(to_single_line).filter(|s| !s.is_empty());
    let wants = cleaned(&contrast.wants);
    if wants.as_deref().is_some_and(|wants| !is_noun_phrase(wants)) {
        return None;
    }
    let instead_of = cleaned(&contrast.instead_of);
    let sides = [&wants, &instead_of].map(|side| split_words(side.as_deref().unwrap_or_default()));
    let shares_content =
        |words: &[Word<'_>]| sides[0].iter().any(|w| w.is_content() && contains_word(words, w));
    let is_wanted = instead_of.is_none()
        || shares_content(&sides[1])
        || shares_content(&split_words(question))
        || is_wish(message);
    if !is_wanted || refuses_both_sides(message, &sides) {
        return None;
    }
    let instead_of = instead_of.filter(|side| is_noun_phrase(side));
    let named = wants.is_some() || instead_of.is_some();
    let side = |side: Option<String>| side.map(|side| to_bare_text(&side));
    named.then(|| Contrast { wants: side(wants), instead_of: side(instead_of) })
}

fn is_wish(message: &str) -> bool {
    let message = split_words(message);
    let opens = message.first().is_some_and(|first| list_contains(NEGATIVE_OPENINGS, first.key()));
    opens || message.iter().any(|word| list_contains(WISH_WORDS, word.key()))
}

/// "No subscription, no drama" refuses both sides.
fn refuses_both_sides(message: &str, sides: &[Vec<Word<'_>>; 2]) -> bool {
    let message = split_words(message);
    let refused = |side: &Vec<Word<'_>>| {
        let before = find_phrase(&message, side, 0).and_then(|at| message.get(at.checked_sub(1)?));
        before.is_some_and(|word| word.key() == "no")
    };
    sides.iter().all(refused)
}

fn is_noun_phrase(side: &str) -> bool {
    let found = split_words(side);
    let one_clause = !side.contains([',', ';', ':', '!', '?', '[', ']', '(', ')', '{', '}']);
    let is_clause =
        found.iter().any(|word| list_contains(CLAUSE_WORDS, &word.text().to_lowercase()));
    let is_named = found.iter().any(|word| !word.is_function_word());
    one_clause && is_named && !is_clause && found.len() <= MAX_PHRASE_WORDS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noun_phrases_are_told_from_sentences() {
        let rows = [
            ("gaming laptops", true),
            ("the daily one", true),
            ("laptops with a good keyboard", true),
            ("Bram's account", true),
            ("游戏笔记本", true),
            ("Talks about changing the address", false),
            ("Wait, I said two seats", false),
            ("This is about car insurance", false),
            ("mentions flying but", false),
            ("ah non non non faut", false),
            ("the one", false),
            ("", false),
            ("one two three four five six seven eight nine", false),
        ];
        for (side, expected) in rows {
            assert_eq!(is_noun_phrase(side), expected, "{side}");
        }
    }

    #[test]
    fn contrast_drops_sides_that_are_not_noun_phrases() {
        let side = |text: &str| Some(text.to_owned());
        let contrast = |wants, instead_of| Contrast { wants, instead_of };
        let rows = [
            (contrast(side("a  b"), side("c")), Some(contrast(side("a b"), side("c")))),
            (contrast(side("that's b"), side("c")), None),
            (contrast(side("b"), side("what you said")), Some(contrast(side("b"), None))),
            (contrast(None, side("c")), Some(contrast(None, side("c")))),
            (contrast(side(" \n"), None), None),
            (contrast(None, None), None),
            (contrast(side("b"), None), Some(contrast(side("b"), None))),
        ];
        for (given, expected) in rows {
            assert_eq!(filter_contrast(&given, "I meant that", ""), expected, "{given:?}");
        }
    }

    #[test]
    fn wanted_side_alone_needs_no_wish_in_the_message() {
        let contrast = Contrast { wants: Some("road shoes".to_owned()), instead_of: None };
        let found = filter_contrast(&contrast, "road shoes, I run on asphalt", "shoes size 42");
        assert_eq!(found, Some(contrast));
    }

    #[test]
    fn contrast_needs_evidence_of_a_wish() {
        let rows = [
            ("No, gaming, not business", "laptops", "gaming", "business", true),
            (
                "gaming laptops, not business laptops",
                "",
                "gaming laptops",
                "business laptops",
                true,
            ),
            ("Boston, not Austin", "fly from Boston to Miami", "Boston", "Austin", true),
            ("ich wollte Berlin, nicht Bern", "Hotels in Bern", "Berlin", "Bern", true),
            ("Too vague, no numbers", "How hot is Venus?", "Too vague", "numbers", false),
            ("No subscription, no drama", "", "subscription", "drama", false),
            ("useless answer, no kilos", "baggage allowance", "useless answer", "kilos", false),
        ];
        for (said, question, wants, instead_of, expected) in rows {
            let side = |text: &str| Some(text.to_owned());
            let contrast = Contrast { wants: side(wants), instead_of: side(instead_of) };
            assert_eq!(filter_contrast(&contrast, said, question).is_some(), expected, "{said}");
        }
    }
}
