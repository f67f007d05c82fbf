//! Exchanged places: "from Rome to Oslo" and "from Oslo to Rome", "20 minutes at 6" and "6 minutes
//! at 20".

use std::sync::LazyLock;

use rustc_hash::FxHashSet;

use super::alignment::{Alignment, PairWord};
use crate::lexicon::words_in_set;
use crate::text::{WordKind, hash};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    From,
    To,
    Other,
}

/// True when two words exchange places and roles.
pub(super) fn turns_direction(words: &Alignment<'_>) -> bool {
    let shared: Vec<(usize, usize)> = words
        .a
        .iter()
        .enumerate()
        .filter(|(_, word)| word.is_content())
        .filter_map(|(at, word)| Some((at, word.partner?)))
        .collect();
    let roles =
        |(at, partner): (usize, usize)| (find_role(&words.a, at), find_role(&words.b, partner));
    shared.iter().enumerate().any(|(place, x)| {
        let turned = shared[place + 1..].iter().filter(|y| y.1 < x.1);
        let (x_before, x_after) = roles(*x);
        turned.clone().any(|y| {
            let (y_before, y_after) = roles(*y);
            let passes = |role: Role| {
                (x_before == role) != (x_after == role)
                    && (y_before == role) == (x_after == role)
                    && (y_after == role) == (x_before == role)
            };
            passes(Role::From) || passes(Role::To)
        })
    })
}

/// True when a thing has another number in the other message, which has its number elsewhere.
pub(super) fn exchanges_numbers(words: &Alignment<'_>) -> bool {
    let is_number = |word: &PairWord<'_>| word.kind == WordKind::Number && !word.is_open();
    words.a.windows(2).any(|pair| {
        let Some(thing) = pair[1].partner.filter(|at| *at > 0) else { return false };
        let counted = &words.b[thing - 1];
        pair[1].is_content()
            && is_number(&pair[0])
            && is_number(counted)
            && pair[0].hash != counted.hash
    })
}

struct DirectionWords {
    from: FxHashSet<u32>,
    to: FxHashSet<u32>,
}

static DIRECTION_WORDS: LazyLock<DirectionWords> = LazyLock::new(|| {
    let set = |name: &str| words_in_set(name).map(|word| hash(0, word.as_bytes())).collect();
    DirectionWords { from: set("direction from"), to: set("direction to") }
});

/// Words in front of a noun that may separate it from its preposition.
const MAX_PREPOSITION_DISTANCE: usize = 2;
/// Turkish endings for "from".
const FROM_ENDINGS: [&str; 4] = ["den", "dan", "ten", "tan"];

/// The role of a word by its preposition, its particle (Japanese) or its ending (Turkish).
fn find_role(words: &[PairWord<'_>], at: usize) -> Role {
    let before = &words[at.saturating_sub(MAX_PREPOSITION_DISTANCE)..at];
    for word in before.iter().rev().take_while(|word| !word.is_content()) {
        if DIRECTION_WORDS.from.contains(&word.hash) {
            return Role::From;
        }
        if DIRECTION_WORDS.to.contains(&word.hash) {
            return Role::To;
        }
    }
    let word = &words[at];
    let next = |ahead: usize| words.get(at + ahead).map_or("", |word| word.text);
    match (word.kind, next(1), next(2)) {
        (WordKind::Sign, "か", "ら") => Role::From,
        (WordKind::Sign, "に" | "へ", _) | (WordKind::Sign, "ま", "で") => Role::To,
        (WordKind::Letters, ..) if FROM_ENDINGS.iter().any(|end| word.text.ends_with(end)) => {
            Role::From
        }
        _ => Role::Other,
    }
}
