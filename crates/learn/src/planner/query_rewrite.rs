//! Writes a query again with what the user wants: "laptops" and "gaming laptops, not business
//! laptops" make "gaming laptops".
//!
//! Works on words alone and knows no grammar. Where it cannot tell what would be right it gives
//! nothing: a planner without a query is better off than one with a wrong query.

mod text_edit;
mod overlay;

use model::Contrast;

use super::quoting::QUOTED;
use super::words::{Word, find, has, phrase, words};
use crate::text::to_single_line;
use overlay::{Sides, beside_shared, lay_over};
use text_edit::{Edit, apply, replace};

/// The adjective and the noun of a stretch of time: "monthly revenue" is "revenue by month".
const PERIODS: &[(&str, &str)] = &[
    ("hourly", "hour"),
    ("daily", "day"),
    ("weekly", "week"),
    ("monthly", "month"),
    ("quarterly", "quarter"),
    ("yearly", "year"),
];

/// The query with what is wanted in it; `None` when it holds it already, when it is code or very
/// long, and when no sensible way is known.
pub(super) fn rewrite(query: &str, contrast: &Contrast) -> Option<String> {
    let query = to_single_line(query);
    let wants = to_single_line(contrast.wants.as_deref()?);
    let instead_of = to_single_line(contrast.instead_of.as_deref().unwrap_or_default());
    // What does not fit into the planner's line would be cut, and half a query is a wrong one.
    let fits = |text: &str| text.chars().count() <= QUOTED;
    if is_code(&query) || !fits(&query) || !fits(&wants) || !fits(&instead_of) {
        return None;
    }
    let (wants, instead_of) = (words(&wants), words(&instead_of));
    let sides = Sides::of(&wants, &instead_of);
    let once = attempt(&query, &sides)?;
    // A rewrite that could be rewritten again did not put the wanted where it belongs.
    let settled = attempt(&once, &sides).is_none();
    (settled && fits(&once)).then_some(once)
}

/// SQL, JSON, an address: not a text that a word can be put into.
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

fn attempt(query: &str, sides: &Sides<'_>) -> Option<String> {
    let asked = words(query);
    if sides.wanted.is_empty() || holds(&asked, sides) {
        return None;
    }
    let result = middle(query, &asked, sides)
        .or_else(|| in_place(query, &asked, sides))
        .or_else(|| period(query, &asked, sides))
        .or_else(|| beside_shared(query, &asked, sides))
        .or_else(|| lay_over(query, &asked, sides.wanted))?;
    let left = words(&result);
    let unwanted_stays = sides.only_unwanted().any(|word| has(&left, word));
    (!unwanted_stays && result != query).then_some(result)
}

/// Whether the query has every word that tells what is wanted from what is not, or says it whole.
fn holds(asked: &[Word<'_>], sides: &Sides<'_>) -> bool {
    let mut new = sides.only_wanted().peekable();
    let has_new = new.peek().is_some() && new.all(|word| has(asked, word));
    let says = |side| find(asked, side, 0).is_some();
    has_new || (says(sides.wanted) && !says(sides.unwanted))
}

/// "business laptop": the part of "business laptops" that is not shared gives its place, and the
/// rest of the query stays as it was written.
fn middle(query: &str, asked: &[Word<'_>], sides: &Sides<'_>) -> Option<String> {
    let (wanted, unwanted) = sides.middles();
    let named = !wanted.is_empty() && unwanted.iter().any(Word::is_content);
    let edits = replace(asked, unwanted, wanted).filter(|_| named)?;
    let said_twice =
        wanted.iter().filter(|w| w.is_content()).any(|word| text_edit::leaves(&edits, asked, word));
    if said_twice { None } else { apply(query, edits) }
}

/// "price with tax": the whole of the unwanted gives its place to the wanted.
fn in_place(query: &str, asked: &[Word<'_>], sides: &Sides<'_>) -> Option<String> {
    let edits = replace(asked, sides.unwanted, sides.wanted)?;
    let said_twice = sides.only_wanted().any(|word| text_edit::leaves(&edits, asked, word));
    if !said_twice {
        return apply(query, edits);
    }
    // "laptops for business", wanted "gaming laptops": drop "for business", then see.
    let rest = apply(query, vec![cut(asked, sides.unwanted)?]).map(|rest| to_single_line(&rest))?;
    lay_over(&rest, &words(&rest), sides.wanted)
}

/// Takes a phrase out together with the prepositions before it, if nothing hangs on it.
fn cut(asked: &[Word<'_>], unwanted: &[Word<'_>]) -> Option<Edit> {
    let at = find(asked, unwanted, 0)?;
    let end = at + unwanted.len();
    let ends_there = asked.get(end).is_none_or(Word::is_relation);
    let links = asked.get(..at)?.iter().rev().take_while(|word| word.is_relation()).count();
    let (first, last) = (asked.get(at - links)?, asked.get(end - 1)?);
    ends_there.then(|| Edit { range: first.start..last.end, text: String::new() })
}

/// "revenue by month" and "quarterly, not monthly": the same stretch of time in its other form.
fn period(query: &str, asked: &[Word<'_>], sides: &Sides<'_>) -> Option<String> {
    let ([wanted], [unwanted]) = sides.middles() else { return None };
    let known = |word: &Word<'_>| {
        PERIODS.iter().find(|(adjective, noun)| word.key() == *adjective || word.key() == *noun)
    };
    let ((adjective, noun), (old_adjective, old_noun)) = (known(wanted)?, known(unwanted)?);
    let place = asked.iter().find(|w| w.key() == *old_adjective || w.key() == *old_noun)?;
    let text = if place.key() == *old_noun { noun } else { adjective };
    apply(query, vec![Edit { range: place.start..place.end, text: (*text).to_owned() }])
}

/// The words of what is wanted with those in capitals that set it apart from `against`.
pub(super) fn emphasised(wants: &str, against: &str) -> String {
    let known = words(against);
    let found = words(wants);
    // A name such as orders_v2 or iPhone in capitals would be another name.
    let plain = |word: &&Word<'_>| {
        let mut letters = word.text().chars();
        letters.next().is_some_and(char::is_alphabetic)
            && letters.all(|c| c.is_alphabetic() && !c.is_uppercase() || c == '-')
    };
    let distinct = found.iter().filter(|w| !w.is_empty() && !has(&known, w)).filter(plain);
    let edits = distinct
        .map(|word| Edit {
            range: word.start..word.end,
            text: phrase(std::slice::from_ref(word)).to_uppercase(),
        })
        .collect();
    apply(wants, edits).unwrap_or_else(|| wants.to_owned())
}

#[cfg(test)]
mod tests;
