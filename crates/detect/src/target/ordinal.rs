//! Resolves ordinal references to turns: "the first diagram", "the previous one".
//!
//! A noun selects the turns that mention it in the question or at the beginning of the answer. A
//! generic noun ("version", "reply") selects all turns, or the attempts at one task when the last
//! ones were rejected. An ordinal after a list means a list item, so it concerns the last turn.

use model::{Verdict, VerdictStatus};

use super::{PastTurn, answer_head};
use crate::references::{Named, Noun, Order, same_things};
use crate::text::{Text, stem};

/// Minimum letters of a word that may match the end of a compound: "sequencediagram".
const TELLING_END: usize = 5;

/// Index of the referenced turn in `past` (newest first); `None` when no turn matches.
pub(super) fn resolve(thing: &Named, verdict: &Verdict, past: &[PastTurn<'_>]) -> Option<usize> {
    let order = thing.order?;
    let previous = past.first()?;
    if matches!(order, Order::Nth(_) | Order::Last) && is_item(thing, previous) {
        return Some(0);
    }
    if thing.words.is_empty() {
        return by_place(order, thing.noun, verdict, past);
    }
    let counts = counts(past, &thing.words);
    let most = counts.iter().copied().max().unwrap_or(0);
    // Prefers turns that mention all words, then those that mention fewer.
    (1..=most).rev().find_map(|least| {
        let named: Vec<usize> = (0..past.len()).filter(|at| counts[*at] >= least).collect();
        pick(order, verdict, past, &named)
    })
}

/// True when the turn mentions any of the words.
pub(super) fn names_any(turn: &PastTurn<'_>, words: &[String]) -> bool {
    let texts = [Text::read(turn.question), Text::read(turn.answer)];
    words.iter().any(|word| texts.iter().any(|text| names(text, word)))
}

/// Picks one of the mentioning turns; `named` holds their indexes, newest first.
fn pick(order: Order, verdict: &Verdict, past: &[PastTurn<'_>], named: &[usize]) -> Option<usize> {
    match order {
        Order::Nth(n) => named.len().checked_sub(n).map(|at| named[at]),
        Order::Last => named.first().copied(),
        Order::Before => {
            let older = || named.iter().copied().filter(|at| *at != 0);
            // A user who retracts a complaint means the rejected turn.
            let accepts = verdict.status == VerdictStatus::Accepted;
            let rejected = |at: &usize| past[*at].status == VerdictStatus::Rejected;
            let taken_back = older().find(|at| accepts && rejected(at));
            taken_back.or_else(|| older().next()).or_else(|| named.first().copied())
        }
    }
}

/// Resolves an ordinal without a noun: "the first answer", "the previous version".
fn by_place(order: Order, noun: Noun, verdict: &Verdict, past: &[PastTurn<'_>]) -> Option<usize> {
    let rejected = |turn: &&PastTurn<'_>| turn.status == VerdictStatus::Rejected;
    let attempts = 1 + past[1..].iter().take_while(rejected).count();
    match order {
        Order::Nth(n) => {
            // Counts only the attempts at one task when there were several, else all turns.
            let among = if attempts > 1 && n <= attempts { attempts } else { past.len() };
            among.checked_sub(n)
        }
        Order::Last => Some(0),
        Order::Before => {
            let taken_back = verdict.status == VerdictStatus::Accepted && attempts > 1;
            // "Your previous answer" is the last one; "the version before" is not.
            let older = noun != Noun::Answer || taken_back;
            Some(usize::from(older && past.len() > 1))
        }
    }
}

/// True when the answer ended with a question to the user.
pub(super) fn asks(turn: &PastTurn<'_>) -> bool {
    turn.answer.trim_end().ends_with(['?', '？'])
}

/// True when the reference names an item that the last answer lists.
fn is_item(thing: &Named, previous: &PastTurn<'_>) -> bool {
    let chosen = asks(previous) && thing.noun == Noun::Item && thing.words.is_empty();
    if thing.noun == Noun::Answer || !(chosen || lists(previous.answer)) {
        return false;
    }
    let texts = [Text::read(previous.question), Text::read(previous.answer)];
    // The last answer listed "laptops", so "the first laptop" is one of them.
    let several = |word: &String| {
        let plural = |folded: &str| {
            stem(folded) == word && folded.len() > word.len() && folded.ends_with(PLURAL)
        };
        texts.iter().any(|text| text.spoken().any(|w| plural(text.folded(w))))
    };
    thing.words.is_empty() || thing.words.last().is_some_and(several)
}

const PLURAL: [char; 4] = ['s', 'n', 'i', 'e'];

/// True for bullets, numbered lines, several code blocks, or "A, B and C" after a colon.
fn lists(answer: &str) -> bool {
    const MOST_LINES: usize = 200;
    /// Two code blocks have four fences.
    const FENCES: usize = 4;
    let (mut items, mut fences) = (0, 0);
    for line in answer.lines().take(MOST_LINES) {
        let line = line.trim_start();
        if line.starts_with("```") {
            fences += 1;
        } else if fences % 2 == 0 && opens_item(line) {
            items += 1;
        }
    }
    items > 1 || fences >= FENCES || (fences == 0 && lists_in_a_sentence(answer))
}

fn opens_item(line: &str) -> bool {
    let bullet = ["- ", "* ", "• ", "– ", "+ "].iter().any(|mark| line.starts_with(mark));
    let bare = line.trim_start_matches(['*', '#', ' ', '(']);
    let digits = bare.chars().take_while(char::is_ascii_digit).count();
    let numbered = (1..=2).contains(&digits) && bare[digits..].starts_with(['.', ')', ':', '、']);
    let titled =
        ["Option ", "Variant ", "Version ", "Example "].iter().any(|title| bare.starts_with(title));
    bullet || numbered || titled
}

fn lists_in_a_sentence(answer: &str) -> bool {
    const JOINING: [&str; 12] = [
        " and ", " or ", " und ", " oder ", " y ", " et ", " ou ", " e ", " en ", "と", "和", "或",
    ];
    answer_head(answer).split(['\n', '。']).any(|sentence| {
        let behind = sentence.split_once([':', '：']).map_or("", |(_, behind)| behind);
        behind.contains([',', '、', '，']) && JOINING.iter().any(|and| behind.contains(and))
    })
}

/// Number of words that each turn mentions. A word that no turn mentions is replaced by its
/// synonyms.
fn counts(past: &[PastTurn<'_>], words: &[String]) -> Vec<usize> {
    let texts: Vec<[Text; 2]> = past
        .iter()
        .map(|turn| [Text::read(turn.question), Text::read(answer_head(turn.answer))])
        .collect();
    let has = |word: &str| -> Vec<bool> {
        texts.iter().map(|both| both.iter().any(|text| names(text, word))).collect()
    };
    let mut counts = vec![0; past.len()];
    for word in words {
        let mut found = has(word);
        if !found.contains(&true) {
            for other in same_things().iter().filter(|group| group.contains(word)).flatten() {
                found.iter_mut().zip(has(other)).for_each(|(all, one)| *all |= one);
            }
        }
        counts.iter_mut().zip(found).for_each(|(count, found)| *count += usize::from(found));
    }
    counts
}

fn names(text: &Text, word: &str) -> bool {
    text.spoken().any(|spoken| {
        let other = stem(text.folded(spoken));
        other == word || (word.len() >= TELLING_END && other.ends_with(word))
    })
}
