//! Rewrites a query to what the user wants: "laptops" with "gaming laptops, not business laptops"
//! becomes "gaming laptops".
//!
//! The rules use words only, no grammar. They return nothing when unsure: no query is better for a
//! planner than a wrong one.

mod query;
mod overlay;

use model::Contrast;

use super::words::{Word, contains_word, phrase_text, split_words};
use crate::text::MAX_QUOTED_CHARS;
use crate::text::{list_contains, to_single_line};
use overlay::ContrastSides;
use query::{Query, TextEdit};

/// Adjective and noun of a period: "monthly revenue" is "revenue by month".
const PERIODS: &[(&str, &str)] = &[
    ("hourly", "hour"),
    ("daily", "day"),
    ("weekly", "week"),
    ("monthly", "month"),
    ("quarterly", "quarter"),
    ("yearly", "year"),
];

/// Words of a wanted phrase that is appended to a query.
const MAX_APPENDED_WORDS: usize = 6;

/// Words that name nothing in a query.
const VAGUE_WORDS: &str = "other others something anything else different better same new correct \
    right andere anderes anderen etwas besser autre autres chose otro otra otros algo altro altra \
    qualcosa outro outra andere iets inny inna inne coś başka другой другая другое";

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
    let once = Query::new(&query).rewrite_once(&sides)?;
    // A rewrite that can be rewritten once more misplaced the wanted phrase.
    let settled = Query::new(&once).rewrite_once(&sides).is_none();
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

impl Query<'_> {
    fn rewrite_once(&self, sides: &ContrastSides<'_>) -> Option<String> {
        if sides.wanted.is_empty() || self.already_satisfied(sides) {
            return None;
        }
        let result = self
            .replace_middle(sides)
            .or_else(|| self.replace_whole(sides))
            .or_else(|| self.replace_period(sides))
            .or_else(|| self.insert_beside_shared(sides))
            .or_else(|| self.overlay_wanted(sides.wanted))
            .or_else(|| self.append_wanted(sides))?;
        let result_words = split_words(&result);
        let unwanted_stays = sides.only_unwanted().any(|word| contains_word(&result_words, word));
        (!unwanted_stays && result != self.text).then_some(result)
    }

    /// True when the query has all distinguishing words of the wanted side, or the whole phrase.
    fn already_satisfied(&self, sides: &ContrastSides<'_>) -> bool {
        let mut new = sides.only_wanted().peekable();
        let has_new = new.peek().is_some() && new.all(|word| contains_word(&self.words, word));
        let contains = |side| self.find_phrase(side).is_some();
        has_new || (contains(sides.wanted) && !contains(sides.unwanted))
    }

    /// "business laptop": replaces the part of "business laptops" that the sides do not share.
    fn replace_middle(&self, sides: &ContrastSides<'_>) -> Option<String> {
        let (wanted, unwanted) = sides.differing_parts();
        let named = !wanted.is_empty() && unwanted.iter().any(Word::is_content);
        let edits = self.replace_phrase(unwanted, wanted).filter(|_| named)?;
        let repeats = self.repeats_outside(&edits, wanted.iter().filter(|w| w.is_content()));
        if repeats { None } else { self.apply_edits(&edits) }
    }

    /// "price with tax": replaces the whole unwanted phrase by the wanted one.
    fn replace_whole(&self, sides: &ContrastSides<'_>) -> Option<String> {
        let edits = self.replace_phrase(sides.unwanted, sides.wanted)?;
        if !self.repeats_outside(&edits, sides.only_wanted()) {
            return self.apply_edits(&edits);
        }
        // "laptops for business", wanted "gaming laptops": drop "for business", then overlay.
        let rest = to_single_line(&self.cut_phrase(sides.unwanted)?);
        Query::new(&rest).overlay_wanted(sides.wanted)
    }

    /// "tests for parse_date" with "pytest" alone: adds a phrase that shares no word with the query.
    fn append_wanted(&self, sides: &ContrastSides<'_>) -> Option<String> {
        let is_short = (1..=MAX_APPENDED_WORDS).contains(&sides.wanted.len());
        let names = |word: &Word<'_>| word.is_content() && !list_contains(VAGUE_WORDS, word.key());
        let is_named = sides.wanted.iter().any(names);
        let is_new = !sides.wanted.iter().any(|word| contains_word(&self.words, word));
        let is_alone = sides.unwanted.is_empty() && !self.words.is_empty();
        let query = self.text.trim_end_matches(|c: char| c.is_whitespace() || ".?!,;:".contains(c));
        (is_short && is_named && is_new && is_alone)
            .then(|| format!("{query}, {}", phrase_text(sides.wanted)))
    }

    /// Removes a phrase with the prepositions before it, unless another word follows it directly.
    fn cut_phrase(&self, unwanted: &[Word<'_>]) -> Option<String> {
        let at = self.find_phrase(unwanted)?;
        let end = at + unwanted.len();
        let ends_there = self.words.get(end).is_none_or(Word::is_preposition);
        let before = self.words.get(..at)?.iter().rev();
        let links = before.take_while(|word| word.is_preposition()).count();
        let (first, last) = (self.words.get(at - links)?, self.words.get(end - 1)?);
        self.replace_range(first.start..last.end, String::new()).filter(|_| ends_there)
    }

    /// "revenue by month" with "quarterly, not monthly": replaces the period in its other form.
    fn replace_period(&self, sides: &ContrastSides<'_>) -> Option<String> {
        let ([wanted], [unwanted]) = sides.differing_parts() else { return None };
        let known = |word: &Word<'_>| {
            PERIODS.iter().find(|(adjective, noun)| word.key() == *adjective || word.key() == *noun)
        };
        let ((adjective, noun), (old_adjective, old_noun)) = (known(wanted)?, known(unwanted)?);
        let mut words = self.words.iter();
        let place = words.find(|w| w.key() == *old_adjective || w.key() == *old_noun)?;
        let text = if place.key() == *old_noun { noun } else { adjective };
        self.replace_range(place.start..place.end, (*text).to_owned())
    }
}

/// Capitalises the words of `wants` that distinguish it from `against`.
pub(super) fn emphasise_difference(wants: &str, against: &str) -> String {
    let (known, query) = (split_words(against), Query::new(wants));
    // Capitals would change identifiers such as orders_v2 or iPhone.
    let plain = |word: &&Word<'_>| {
        let mut letters = word.text().chars();
        letters.next().is_some_and(char::is_alphabetic)
            && letters.all(|c| c.is_alphabetic() && !c.is_uppercase() || c == '-')
    };
    let distinct =
        query.words.iter().filter(|w| !w.is_function_word() && !contains_word(&known, w));
    let capitalised = distinct.filter(plain).map(|word| TextEdit {
        range: word.start..word.end,
        text: phrase_text(std::slice::from_ref(word)).to_uppercase(),
    });
    let edits: Vec<TextEdit> = capitalised.collect();
    query.apply_edits(&edits).unwrap_or_else(|| wants.to_owned())
}

#[cfg(test)]
mod tests;
