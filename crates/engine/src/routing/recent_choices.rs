//! The latest choices in memory, for turns that are completed without a `decision_id`.

use std::collections::{HashMap, VecDeque};

use model::{RouterChoice, TurnId};

const MAX_RECENT_CHOICES: usize = 10_000;

/// The latest choices by turn, and the number of choices of each router.
#[derive(Debug, Default)]
pub(super) struct RecentChoices {
    by_turn: HashMap<TurnId, RouterChoice>,
    order: VecDeque<TurnId>,
    made: HashMap<String, u64>,
}

impl RecentChoices {
    /// Remembers a choice. Returns the turn's earlier choice instead, if `may_stand` accepts it.
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

    pub(super) fn find_choice(&self, turn: &TurnId) -> Option<RouterChoice> {
        self.by_turn.get(turn).cloned()
    }

    /// The number of earlier choices of a router. `known` is the number in the log, used for the
    /// first choice since the start. Later choices reach the log with a delay and are counted here.
    pub(super) fn count_choices(&mut self, router: &str, known: u64) -> u64 {
        *self.made.entry(router.to_owned()).or_insert(known)
    }

    pub(super) fn forget_turns(&mut self, turns: &[TurnId]) {
        for turn in turns {
            self.by_turn.remove(turn);
        }
    }
}
