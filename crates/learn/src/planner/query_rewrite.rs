//! Rewrites a query to what the user wants: "laptops" with "gaming laptops, not business laptops"
//! becomes "gaming laptops".
//!
//! The rules use words only, no grammar. They return nothing when unsure: no query is better for a
//! planner than a wrong one.

mod text_edit;
mod overlay;

use model::Contrast;

use super::quoting::MAX_QUOTED_CHARS;
use super::words::{Word, contains_word, find_phrase, phrase_text, split_words};
use crate::text::to_single_line;
use overlay::{ContrastSides, insert_beside_shared, overlay_wanted};
use text_edit::{TextEdit, apply_edits, replace_phrase};

/// Adjective and noun of a period: "monthly revenue" is "revenue by month".
const PERIODS: &[(&str, &str)] = &[
    ("hourly", "hour"),
    ("daily", "day"),
    ("weekly", "week"),
    ("monthly", "month"),
    ("quarterly", "quarter"),
    ("yearly", "year"),
];

/// Returns the rewritten query, or `None`.
///
/// `None` means that the query already fits, is code, is too long, or that no rule applies.
pub(super) fn rewrite_query(query: &str, contrast: &Contrast) -> Option<String> {
    let query = to_single_line(query);
    let wants = to_single_line(contrast.wants.as_deref()?);
    let instead_of = to_single_line(contrast.instead_of.as_deref().unwrap_or_default());
    // A longer text would be truncated in the planner's line, and half a query is wrong.
    let fits = |text: &str| text.chars().count() <= MAX_QUOTED_CHARS;
    if is_code(&query) || !fits(&query) || !fits(&wants) || !fits(&instead_of) {
        return None;
    }
    let (wants, instead_of) = (split_words(&wants), split_words(&instead_of));
    let sides = ContrastSides::new(&wants, &instead_of);
    let once = rewrite_once(&query, &sides)?;
    // A rewrite that can be rewritten once more misplaced the wanted phrase.
    let settled = rewrite_once(&once, &sides).is_none();
    (settled && fits(&once)).then_some(once)
}

/// SQL, JSON and URLs cannot take an extra word.
pub(super) fn is_code(text: &str) -> bool {
    let marked = text.contains(['{', '}', ';', '=']) || text.contains("()") || text.contains("://");
    let lower = text.trim_start().to_lowercase();
    let statement = ["select ", "with ", "match ", "insert ", "update "];
    let clause = [" from ", " as ", " return ", " into ", " set "];
    marked
        || (statement.iter().any(|s| lower.starts_with(s))
            && clause.iter().any(|c| lower.contains(c))
            && lower.contains(['*', '(', '`']))
}

fn rewrite_once(query: &str, sides: &ContrastSides<'_>) -> Option<String> {
    let query_words = split_words(query);
    if sides.wanted.is_empty() || already_satisfied(&query_words, sides) {
        return None;
    }
    let result = replace_middle(query, &query_words, sides)
        .or_else(|| replace_whole(query, &query_words, sides))
        .or_else(|| replace_period(query, &query_words, sides))
        .or_else(|| insert_beside_shared(query, &query_words, sides))
        .or_else(|| overlay_wanted(query, &query_words, sides.wanted))?;
    let result_words = split_words(&result);
    let unwanted_stays = sides.only_unwanted().any(|word| contains_word(&result_words, word));
    (!unwanted_stays && result != query).then_some(result)
}

/// True when the query has all distinguishing words of the wanted side, or the whole phrase.
fn already_satisfied(query_words: &[Word<'_>], sides: &ContrastSides<'_>) -> bool {
    let mut new = sides.only_wanted().peekable();
    let has_new = new.peek().is_some() && new.all(|word| contains_word(query_words, word));
    let contains = |side| find_phrase(query_words, side, 0).is_some();
    has_new || (contains(sides.wanted) && !contains(sides.unwanted))
}

/// "business laptop": replaces the part of "business laptops" that the sides do not share.
fn replace_middle(
    query: &str,
    query_words: &[Word<'_>],
    sides: &ContrastSides<'_>,
) -> Option<String> {
    let (wanted, unwanted) = sides.differing_parts();
    let named = !wanted.is_empty() && unwanted.iter().any(Word::is_content);
    let edits = replace_phrase(query_words, unwanted, wanted).filter(|_| named)?;
    let repeats = wanted
        .iter()
        .filter(|w| w.is_content())
        .any(|word| text_edit::occurs_outside(&edits, query_words, word));
    if repeats { None } else { apply_edits(query, edits) }
}

/// "price with tax": replaces the whole unwanted phrase by the wanted one.
fn replace_whole(
    query: &str,
    query_words: &[Word<'_>],
    sides: &ContrastSides<'_>,
) -> Option<String> {
    let edits = replace_phrase(query_words, sides.unwanted, sides.wanted)?;
    let repeats =
        sides.only_wanted().any(|word| text_edit::occurs_outside(&edits, query_words, word));
    if !repeats {
        return apply_edits(query, edits);
    }
    // "laptops for business", wanted "gaming laptops": drop "for business", then overlay.
    let rest = apply_edits(query, vec![cut_phrase(query_words, sides.unwanted)?])
        .map(|rest| to_single_line(&rest))?;
    overlay_wanted(&rest, &split_words(&rest), sides.wanted)
}

/// Removes a phrase with the prepositions before it, unless another word follows it directly.
fn cut_phrase(query_words: &[Word<'_>], unwanted: &[Word<'_>]) -> Option<TextEdit> {
    let at = find_phrase(query_words, unwanted, 0)?;
    let end = at + unwanted.len();
    let ends_there = query_words.get(end).is_none_or(Word::is_preposition);
    let links =
        query_words.get(..at)?.iter().rev().take_while(|word| word.is_preposition()).count();
    let (first, last) = (query_words.get(at - links)?, query_words.get(end - 1)?);
    ends_there.then(|| TextEdit { range: first.start..last.end, text: String::new() })
}

/// "revenue by month" with "quarterly, not monthly": replaces the period in its other form.
fn replace_period(
    query: &str,
    query_words: &[Word<'_>],
    sides: &ContrastSides<'_>,
) -> Option<String> {
    let ([wanted], [unwanted]) = sides.differing_parts() else { return None };
    let known = |word: &Word<'_>| {
        PERIODS.iter().find(|(adjective, noun)| word.key() == *adjective || word.key() == *noun)
    };
    let ((adjective, noun), (old_adjective, old_noun)) = (known(wanted)?, known(unwanted)?);
    let place = query_words.iter().find(|w| w.key() == *old_adjective || w.key() == *old_noun)?;
    let text = if place.key() == *old_noun { noun } else { adjective };
    apply_edits(query, vec![TextEdit { range: place.start..place.end, text: (*text).to_owned() }])
}

/// Capitalises the words of `wants` that distinguish it from `against`.
pub(super) fn emphasise_difference(wants: &str, against: &str) -> String {
    let known = split_words(against);
    let found = split_words(wants);
    // Capitals would change identifiers such as orders_v2 or iPhone.
    let plain = |word: &&Word<'_>| {
        let mut letters = word.text().chars();
        letters.next().is_some_and(char::is_alphabetic)
            && letters.all(|c| c.is_alphabetic() && !c.is_uppercase() || c == '-')
    };
    let distinct =
        found.iter().filter(|w| !w.is_function_word() && !contains_word(&known, w)).filter(plain);
    let edits = distinct
        .map(|word| TextEdit {
            range: word.start..word.end,
            text: phrase_text(std::slice::from_ref(word)).to_uppercase(),
        })
        .collect();
    apply_edits(wants, edits).unwrap_or_else(|| wants.to_owned())
}

#[cfg(test)]
mod tests;
