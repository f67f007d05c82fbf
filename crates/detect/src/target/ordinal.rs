//! Resolves ordinal references to turns: "the first diagram", "the previous one".
//!
//! A noun selects the turns that mention it in the question or at the beginning of the answer. A
//! generic noun ("version", "reply") selects all turns, or the attempts at one task when the last
//! ones were rejected. An ordinal after a list means a list item, so it concerns the last turn.

use model::VerdictStatus;

use super::{PastTurn, answer_head};
use crate::references::{AnswerReference, Ordinal, ReferentKind, SYNONYM_GROUPS};
use crate::text::{FoldedText, stem_word};
use crate::utterance::ends_with_question;

/// Minimum letters of a word that may match the end of a compound: "sequencediagram".
const MIN_COMPOUND_SUFFIX_LETTERS: usize = 5;

/// Index of the referenced turn in `past` (newest first); `None` when no turn matches.
pub(super) fn resolve_ordinal(
    reference: &AnswerReference,
    judged: VerdictStatus,
    past: &[PastTurn<'_>],
) -> Option<usize> {
    let order = reference.ordinal?;
    let previous = past.first()?;
    if matches!(order, Ordinal::Nth(_) | Ordinal::Last) && is_list_item(reference, previous) {
        return Some(0);
    }
    if reference.stems.is_empty() {
        return resolve_without_noun(order, reference.kind, judged, past);
    }
    let counts = count_mentions(past, &reference.stems);
    let most = counts.iter().copied().max().unwrap_or(0);
    // Prefers turns that mention all words, then those that mention fewer.
    (1..=most).rev().find_map(|least| {
        let mentioning: Vec<usize> = (0..past.len()).filter(|at| counts[*at] >= least).collect();
        pick_mentioned_turn(order, judged, past, &mentioning)
    })
}

pub(super) fn mentions_any(turn: &PastTurn<'_>, words: &[String]) -> bool {
    let texts = [FoldedText::new(turn.question), FoldedText::new(turn.answer)];
    words.iter().any(|word| texts.iter().any(|text| mentions_word(text, word)))
}

/// The `n`th turn whose question mentions the noun or a synonym, else whose answer does.
pub(super) fn nth_mentioning(n: usize, noun: &str, past: &[PastTurn<'_>]) -> Option<usize> {
    let asked: Vec<PastTurn<'_>> =
        past.iter().map(|turn| PastTurn { answer: "", ..*turn }).collect();
    let nouns = [noun.to_owned()];
    let nth = |past: &[PastTurn<'_>]| {
        let counts = count_mentions(past, &nouns);
        let mentioning: Vec<usize> = (0..past.len()).filter(|at| counts[*at] > 0).collect();
        mentioning.len().checked_sub(n).map(|at| mentioning[at])
    };
    nth(&asked).or_else(|| nth(past))
}

/// Picks one of the mentioning turns; `mentioning` holds their indexes, newest first.
fn pick_mentioned_turn(
    order: Ordinal,
    judged: VerdictStatus,
    past: &[PastTurn<'_>],
    mentioning: &[usize],
) -> Option<usize> {
    match order {
        Ordinal::Nth(n) => mentioning.len().checked_sub(n).map(|at| mentioning[at]),
        Ordinal::Last => mentioning.first().copied(),
        Ordinal::Previous => {
            let older = || mentioning.iter().copied().filter(|at| *at != 0);
            // A user who retracts a complaint means the rejected turn.
            let accepts = judged == VerdictStatus::Accepted;
            let rejected = |at: &usize| past[*at].status == VerdictStatus::Rejected;
            let taken_back = older().find(|at| accepts && rejected(at));
            taken_back.or_else(|| older().next()).or_else(|| mentioning.first().copied())
        }
    }
}

/// Resolves an ordinal without a noun: "the first answer", "the previous version".
fn resolve_without_noun(
    order: Ordinal,
    noun: ReferentKind,
    judged: VerdictStatus,
    past: &[PastTurn<'_>],
) -> Option<usize> {
    let rejected = |turn: &&PastTurn<'_>| turn.status == VerdictStatus::Rejected;
    let attempts = 1 + past[1..].iter().take_while(rejected).count();
    match order {
        Ordinal::Nth(n) => {
            // Counts only the attempts at one task when there were several, else all turns.
            let among = if attempts > 1 && n <= attempts { attempts } else { past.len() };
            among.checked_sub(n)
        }
        Ordinal::Last => Some(0),
        Ordinal::Previous => {
            let taken_back = judged == VerdictStatus::Accepted && attempts > 1;
            // "Your previous answer" is the last one; "the version before" is not.
            let older = noun != ReferentKind::Answer || taken_back;
            Some(usize::from(older && past.len() > 1))
        }
    }
}

/// True when the reference names an item that the last answer lists.
fn is_list_item(reference: &AnswerReference, previous: &PastTurn<'_>) -> bool {
    let chosen = ends_with_question(previous.answer)
        && reference.kind == ReferentKind::Item
        && reference.stems.is_empty();
    if reference.kind == ReferentKind::Answer || !(chosen || contains_list(previous.answer)) {
        return false;
    }
    let texts = [FoldedText::new(previous.question), FoldedText::new(previous.answer)];
    // The last answer listed "laptops", so "the first laptop" is one of them.
    let several = |word: &String| {
        let plural = |folded: &str| {
            stem_word(folded) == word
                && folded.len() > word.len()
                && folded.ends_with(PLURAL_ENDINGS)
        };
        texts.iter().any(|text| text.lexical_words().any(|w| plural(text.folded_word(w))))
    };
    reference.stems.is_empty() || reference.stems.last().is_some_and(several)
}

const PLURAL_ENDINGS: [char; 4] = ['s', 'n', 'i', 'e'];

/// True for bullets, numbered lines, several code blocks, or "A, B, C" after a colon.
pub(super) fn contains_list(answer: &str) -> bool {
    const MAX_LIST_LINES: usize = 200;
    /// Two code blocks have four fences.
    const MIN_FENCES: usize = 4;
    let (mut items, mut fences) = (0, 0);
    for line in answer.lines().take(MAX_LIST_LINES) {
        let line = line.trim_start();
        if line.starts_with("```") {
            fences += 1;
        } else if fences % 2 == 0 && is_item_line(line) {
            items += 1;
        }
    }
    items > 1 || fences >= MIN_FENCES || (fences == 0 && has_inline_list(answer))
}

fn is_item_line(line: &str) -> bool {
    let bullet = ["- ", "* ", "• ", "– ", "+ "].iter().any(|mark| line.starts_with(mark));
    let bare = line.trim_start_matches(['*', '#', ' ', '(']);
    let digits = bare.chars().take_while(char::is_ascii_digit).count();
    let numbered = (1..=2).contains(&digits) && bare[digits..].starts_with(['.', ')', ':', '、']);
    let titled =
        ["Option ", "Variant ", "Version ", "Example "].iter().any(|title| bare.starts_with(title));
    bullet || numbered || titled
}

fn has_inline_list(answer: &str) -> bool {
    const CONJUNCTIONS: [&str; 12] = [
        " and ", " or ", " und ", " oder ", " y ", " et ", " ou ", " e ", " en ", "と", "和", "或",
    ];
    answer_head(answer).split(['\n', '。']).any(|sentence| {
        let behind = sentence.split_once([':', '：']).map_or("", |(_, behind)| behind);
        let commas = behind.matches([',', '、', '，']).count();
        commas > 1 || (commas == 1 && CONJUNCTIONS.iter().any(|and| behind.contains(and)))
    })
}

/// Words mentioned per turn, by themselves or by a synonym.
fn count_mentions(past: &[PastTurn<'_>], words: &[String]) -> Vec<usize> {
    let texts: Vec<[FoldedText; 2]> = past
        .iter()
        .map(|turn| [FoldedText::new(turn.question), FoldedText::new(answer_head(turn.answer))])
        .collect();
    let has_word = |word: &str| -> Vec<bool> {
        texts.iter().map(|both| both.iter().any(|text| mentions_word(text, word))).collect()
    };
    let mut counts = vec![0; past.len()];
    for word in words {
        let mut found = has_word(word);
        for other in SYNONYM_GROUPS.iter().filter(|group| group.contains(&word.as_str())).flatten()
        {
            found.iter_mut().zip(has_word(other)).for_each(|(all, one)| *all |= one);
        }
        counts.iter_mut().zip(found).for_each(|(count, found)| *count += usize::from(found));
    }
    counts
}

fn mentions_word(text: &FoldedText, word: &str) -> bool {
    text.lexical_words().any(|candidate| {
        let other = stem_word(text.folded_word(candidate));
        other == word || (word.len() >= MIN_COMPOUND_SUFFIX_LETTERS && other.ends_with(word))
    })
}
