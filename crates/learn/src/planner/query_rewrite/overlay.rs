//! The two sides of a contrast, and putting the wanted onto what the query shares with it.

use super::text_edit::{Edit, apply, ends_with, leaves};
use crate::planner::words::{Word, find, has, phrase};

/// What is wanted and what is not, without the articles and prepositions around them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sides<'a> {
    pub(super) wanted: &'a [Word<'a>],
    pub(super) unwanted: &'a [Word<'a>],
}

impl<'a> Sides<'a> {
    pub(super) fn of(wants: &'a [Word<'a>], instead_of: &'a [Word<'a>]) -> Self {
        let (wanted, mut unwanted) = (core(wants), core(instead_of));
        // "for gaming, not for business" arrives as "gaming" and "for business".
        let starts_alike = |first: &Word<'_>| wanted.first().is_some_and(|w| w.is(first));
        while let [first, rest @ ..] = unwanted {
            if !first.is_link() || starts_alike(first) {
                break;
            }
            unwanted = core(rest);
        }
        Self { wanted, unwanted }
    }

    /// Words with a meaning that only what is wanted has.
    pub(super) fn only_wanted(&self) -> impl Iterator<Item = &'a Word<'a>> {
        let unwanted = self.unwanted;
        self.wanted.iter().filter(move |word| word.is_content() && !has(unwanted, word))
    }

    /// Words with a meaning that only the unwanted has.
    pub(super) fn only_unwanted(&self) -> impl Iterator<Item = &'a Word<'a>> {
        let wanted = self.wanted;
        self.unwanted.iter().filter(move |word| word.is_content() && !has(wanted, word))
    }

    /// Both without the words that they begin and end with alike.
    pub(super) fn middles(&self) -> (&'a [Word<'a>], &'a [Word<'a>]) {
        let (before, after) = (self.shared_start(), self.shared_end());
        let inner = |side: &'a [Word<'a>]| side.get(before..side.len() - after).unwrap_or_default();
        (inner(self.wanted), inner(self.unwanted))
    }

    fn shared_start(&self) -> usize {
        let pairs = self.wanted.iter().zip(self.unwanted);
        pairs.take_while(|(a, b)| a.is(b)).count()
    }

    fn shared_end(&self) -> usize {
        let most = self.wanted.len().min(self.unwanted.len()) - self.shared_start();
        let pairs = self.wanted.iter().rev().zip(self.unwanted.iter().rev());
        pairs.take(most).take_while(|(a, b)| a.is(b)).count()
    }
}

/// Without articles and pronouns at both ends.
fn core<'a>(words: &'a [Word<'a>]) -> &'a [Word<'a>] {
    let start = words.iter().take_while(|w| w.is_empty()).count();
    let kept = words.get(start..).unwrap_or_default();
    let end = kept.iter().rev().take_while(|w| w.is_empty()).count();
    kept.get(..kept.len() - end).unwrap_or_default()
}

/// "laptops under $1000" and "gaming laptops, not business laptops": both sides end in a word of
/// the query, so the wanted word goes before it. Where both begin alike it goes behind.
pub(super) fn beside_shared(query: &str, asked: &[Word<'_>], sides: &Sides<'_>) -> Option<String> {
    let (new, _) = sides.middles();
    let unsaid = new.iter().filter(|w| w.is_content()).all(|w| !has(asked, w));
    if new.is_empty() || !unsaid {
        return None;
    }
    let text = phrase(new);
    let shared = sides.wanted.get(sides.wanted.len() - sides.shared_end()..)?;
    if let Some(at) = shared_place(asked, shared) {
        let start = asked.get(at)?.start;
        return apply(query, vec![Edit { range: start..start, text: format!("{text} ") }]);
    }
    let begins = sides.wanted.get(..sides.shared_start())?;
    let at = find(asked, begins, 0).filter(|_| begins.last().is_some_and(Word::is_content))?;
    let end = asked.get(at + begins.len() - 1)?.end;
    apply(query, vec![Edit { range: end..end, text: format!(" {text}") }])
}

/// Where the shared end stands in the query, whole or by its last word.
fn shared_place(asked: &[Word<'_>], shared: &[Word<'_>]) -> Option<usize> {
    let last = shared.last().filter(|word| word.is_content())?;
    find(asked, shared, 0).or_else(|| find(asked, std::slice::from_ref(last), 0))
}

/// Puts the wanted onto that part of it which the query has: "gaming laptops" onto "laptops".
pub(super) fn lay_over(query: &str, asked: &[Word<'_>], wanted: &[Word<'_>]) -> Option<String> {
    let thing = wanted.iter().position(Word::is_relation).unwrap_or(wanted.len());
    let (thing, behind) = wanted.split_at(thing);
    thing.last().filter(|head| head.is_content())?;
    let shared = (1..=thing.len()).rev().find_map(|n| {
        let end = thing.get(thing.len() - n..)?;
        find(asked, end, 0).map(|at| (at, n))
    });
    let (at, n) = shared?;
    let lead = thing.get(..thing.len() - n)?;
    let mut edits = Vec::new();
    if !lead.is_empty() {
        edits.push(before(asked, at, lead)?);
    }
    if !behind.is_empty() {
        edits.push(after(asked, at + n, behind)?);
    }
    let content = |w: &&Word<'_>| w.is_content();
    let said_twice =
        lead.iter().chain(behind).filter(content).any(|word| leaves(&edits, asked, word));
    if said_twice { None } else { apply(query, edits) }
}

/// Puts describing words before a thing, in place of those that stand there already.
fn before(asked: &[Word<'_>], at: usize, lead: &[Word<'_>]) -> Option<Edit> {
    let already = asked.get(..at)?;
    let same = (0..=lead.len()).rev().find(|n| ends_with(already, lead.get(..*n)))?;
    // "top 10 products" and "20 products": a number takes the place of a number.
    let numbers =
        lead.last().is_some_and(Word::is_number) && already.last().is_some_and(Word::is_number);
    let first = at - same.max(usize::from(numbers));
    let (start, end) = (asked.get(first)?.start, asked.get(at)?.start);
    Some(Edit { range: start..end, text: format!("{} ", phrase(lead)) })
}

/// Puts "with a good keyboard" behind a thing. A preposition that the query has already is a
/// place that is taken: one last word or number can be exchanged, anything longer cannot.
fn after(asked: &[Word<'_>], at: usize, behind: &[Word<'_>]) -> Option<Edit> {
    let (relation, rest) = behind.split_first()?;
    let Some(taken) = asked.iter().position(|word| word.is(relation)) else {
        let end = asked.get(at - 1)?.end;
        return Some(Edit { range: end..end, text: format!(" {}", phrase(behind)) });
    };
    let ([new], old) = (rest, asked.get(taken + 1)?) else { return None };
    let last = taken + 2 == asked.len();
    let exchangeable = taken + 1 > at && (last || (new.is_number() && old.is_number()));
    let edit = Edit { range: old.start..old.end, text: phrase(rest).to_owned() };
    exchangeable.then_some(edit)
}
