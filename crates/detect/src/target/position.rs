//! Finds the turn that order words name without a verb to judge it: "your second query double
//! counts", "what you said at the start".

use super::PastTurn;
use super::ordinal::{contains_list, nth_mentioning};
use crate::lexicon::lexicon;
use crate::references::{OrderWord, Ordinal, ReferentKind, match_order_word};
use crate::text::{Word, stem_word};
use crate::utterance::Utterance;

/// Words after an order word in which its noun is expected.
const MAX_NOUN_DISTANCE: usize = 3;

/// Index in `past` (newest first) of the turn that an order word of the message names.
pub(super) fn find_position(
    message: &Utterance,
    stated: &[bool],
    past: &[PastTurn<'_>],
) -> Option<usize> {
    let words = &message.word_hashes;
    let stated = (0..words.len()).filter(|at| stated[*at]);
    stated.into_iter().find_map(|at| match match_order_word(&words[at..])? {
        (OrderWord::Start, _) => past.len().checked_sub(1),
        (OrderWord::SecondLast, _) => (past.len() > 1).then_some(1),
        (OrderWord::Ordinal(Ordinal::Nth(n)), length) => {
            find_nth(message, at, at + length, n, past)
        }
        _ => None,
    })
}

/// True when the message contains an order word that may name an earlier turn. Cheap.
pub(super) fn may_name_position(message: &Utterance, stated: &[bool]) -> bool {
    let words = &message.word_hashes;
    let names = |at: usize| {
        matches!(
            match_order_word(&words[at..]),
            Some((
                OrderWord::Start
                    | OrderWord::SecondLast
                    | OrderWord::Ordinal(Ordinal::Nth(_) | Ordinal::Previous),
                _
            ))
        )
    };
    (0..words.len()).any(|at| stated[at] && names(at))
}

/// Resolves an ordinal by the noun behind it.
fn find_nth(
    message: &Utterance,
    at: usize,
    behind: usize,
    n: usize,
    past: &[PastTurn<'_>],
) -> Option<usize> {
    let words: Vec<&Word> = message.text.lexical_words().collect();
    let hashes = &message.word_hashes;
    let absolute = || past.len().checked_sub(n);
    let determiner =
        |at: usize| matches!(match_order_word(&hashes[at..]), Some((OrderWord::Determiner, _)));
    let is_preceded = at.checked_sub(1).is_some_and(determiner);
    for next in behind..words.len().min(behind + MAX_NOUN_DISTANCE) {
        match match_order_word(&hashes[next..]) {
            Some((OrderWord::Said, _)) => return absolute(),
            Some((OrderWord::Noun(ReferentKind::Answer | ReferentKind::Attempt), _)) => {
                return absolute();
            }
            Some((OrderWord::Noun(ReferentKind::Item), _)) => {
                // "I'll take the first one" chooses, and names no answer.
                let lists = past.first().is_some_and(|last| contains_list(last.answer));
                let rejects = message.hits.iter().any(|hit| hit.cue.is_rejecting());
                return if lists || !rejects { Some(0) } else { absolute() };
            }
            Some((OrderWord::Noun(_), _)) => return None,
            Some((OrderWord::Verb | OrderWord::Stop, _)) => {
                return if is_preceded { absolute() } else { None };
            }
            _ if lexicon().is_stop_word(words[next].hash) => {}
            _ => {
                let noun = stem_word(message.text.folded_word(words[next])).to_owned();
                return nth_mentioning(n, &noun, past);
            }
        }
    }
    if is_preceded { absolute() } else { None }
}
