//! Reactions of one conversation, by turn.

use std::collections::{HashMap, HashSet};

use model::{ConversationId, Scope, Timestamp, TurnId, UserId};
use store::{ConversationQuery, ReactionCounts, Store, StoredReaction, StoredTurn};

use crate::report::ReportError;
use crate::report::item::FeedbackItem;
use crate::report::period::group_by_turn;

/// Maximum reactions per report, without and with the turns' events.
const MAX_REACTIONS: usize = 10_000;
const MAX_REACTIONS_WITH_EVENTS: usize = 1_000;

#[derive(Clone, Debug)]
pub struct ConversationRequest {
    pub scope: Scope,
    pub conversation: ConversationId,
    /// Restricts the report to these turns, including those without a reaction.
    pub turns: Option<Vec<TurnId>>,
    /// Earliest time of a reaction.
    pub since: Timestamp,
    /// True to add each turn's events.
    pub include_events: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ConversationReport {
    /// The user of its turns, when known.
    pub user: Option<UserId>,
    /// Turns in the order of their first reaction.
    pub turns: Vec<TurnReport>,
    /// Reaction counts of the turns shown.
    pub counts: ReactionCounts,
    /// True when older reactions were cut off.
    pub truncated: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct TurnReport {
    pub turn: TurnId,
    /// Sorted oldest first.
    pub feedbacks: Vec<FeedbackItem>,
    /// Its events, if requested and the turn exists.
    pub stored: Option<StoredTurn>,
}

impl TurnReport {
    pub fn reactions(&self) -> Vec<StoredReaction> {
        self.feedbacks.iter().map(|item| item.reaction.clone()).collect()
    }
}

pub async fn report_conversation(
    store: &Store,
    request: ConversationRequest,
) -> Result<ConversationReport, ReportError> {
    let ConversationRequest { scope, conversation, turns, since, include_events } = request;
    let wanted = turns.map(remove_duplicates);
    let most = if include_events { MAX_REACTIONS_WITH_EVENTS } else { MAX_REACTIONS };
    let query = ConversationQuery {
        scope: scope.clone(),
        conversation: conversation.clone(),
        turns: wanted.clone(),
        since,
        // One more than shown reveals whether there are more.
        limit: most + 1,
    };
    let mut reactions = store.conversation_reactions(query).await?;
    let truncated = reactions.len() > most;
    reactions.drain(..reactions.len().saturating_sub(most));
    let mut counts = ReactionCounts::default();
    for reaction in &reactions {
        counts.add(reaction.origin, reaction.reaction, 1);
    }
    let mut turns: Vec<TurnReport> = group_by_turn(&scope, reactions)
        .into_iter()
        .map(|turn| TurnReport { turn: turn.turn, feedbacks: turn.feedbacks, stored: None })
        .collect();
    let known = known_turns(store, &scope, &conversation, &turns, wanted, include_events).await?;
    let user = known.iter().find_map(|turn| turn.head.user.clone());
    add_known_turns(&mut turns, known, include_events);
    Ok(ConversationReport { user, turns, counts, truncated })
}

fn remove_duplicates(turns: Vec<TurnId>) -> Vec<TurnId> {
    let mut seen = HashSet::new();
    turns.into_iter().filter(|turn| seen.insert(turn.clone())).collect()
}

/// The known turns to show: all requested ones, otherwise one, for the user.
async fn known_turns(
    store: &Store,
    scope: &Scope,
    conversation: &ConversationId,
    turns: &[TurnReport],
    wanted: Option<Vec<TurnId>>,
    include_events: bool,
) -> Result<Vec<StoredTurn>, ReportError> {
    let shown = turns.iter().map(|turn| turn.turn.clone());
    let ids: Vec<TurnId> = match wanted {
        Some(wanted) => wanted,
        None if include_events => shown.collect(),
        None => shown.take(1).collect(),
    };
    let mut known = store.turns(scope, ids).await?;
    known.retain(|turn| turn.head.conversation.as_ref() == Some(conversation));
    Ok(known)
}

fn add_known_turns(turns: &mut Vec<TurnReport>, known: Vec<StoredTurn>, include_events: bool) {
    let places: HashMap<TurnId, usize> =
        turns.iter().enumerate().map(|(place, turn)| (turn.turn.clone(), place)).collect();
    for stored in known {
        let place = places.get(&stored.head.turn).copied().unwrap_or_else(|| {
            let turn = stored.head.turn.clone();
            turns.push(TurnReport { turn, feedbacks: Vec::new(), stored: None });
            turns.len() - 1
        });
        turns[place].stored = include_events.then_some(stored);
    }
}
