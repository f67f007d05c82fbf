//! The latest choices, remembered for turns that do not say which choice they follow.

use std::collections::{HashMap, VecDeque};

use model::{RouterChoice, TurnId};

/// Choices that are remembered.
const MAX_RECENT_CHOICES: usize = 10_000;

/// The latest choices by turn, and how many were made by each router.
#[derive(Debug, Default)]
pub(super) struct RecentChoices {
    by_turn: HashMap<TurnId, RouterChoice>,
    order: VecDeque<TurnId>,
    made: HashMap<String, u64>,
}

impl RecentChoices {
    /// Remembers a choice, unless another one was first for the turn and may stand: then answers that.
    pub(super) fn remember_choice(
        &mut self,
        turn: Option<&TurnId>,
        choice: &RouterChoice,
        may_stand: impl Fn(&RouterChoice) -> bool,
    ) -> Option<RouterChoice> {
        let first = turn.and_then(|turn| self.by_turn.get(turn));
        if let Some(first) = first.filter(|first| may_stand(first)) {
            return Some(first.clone());
        }
        *self.made.entry(choice.router.clone()).or_default() += 1;
        let turn = turn?;
        if self.by_turn.insert(turn.clone(), choice.clone()).is_none() {
            self.order.push_back(turn.clone());
        }
        if self.order.len() > MAX_RECENT_CHOICES
            && let Some(oldest) = self.order.pop_front()
        {
            self.by_turn.remove(&oldest);
        }
        None
    }

    /// The choice that was made for a turn, if it is remembered.
    pub(super) fn find_choice(&self, turn: &TurnId) -> Option<RouterChoice> {
        self.by_turn.get(turn).cloned()
    }

    /// How many choices a router has made before this one. `known` is how many the log told of when the first
    /// one since the start was made: later ones get into the log a moment behind, and must not count twice.
    pub(super) fn count_choices(&mut self, router: &str, known: u64) -> u64 {
        *self.made.entry(router.to_owned()).or_insert(known)
    }

    /// Forgets the choices of turns.
    pub(super) fn forget_turns(&mut self, turns: &[TurnId]) {
        for turn in turns {
            self.by_turn.remove(turn);
        }
    }
}
