//! The turns of one conversation that somebody reacted to.

use std::collections::{HashMap, HashSet};

use model::{ConversationId, Scope, Timestamp, TurnId, UserId};
use store::{ConversationQuery, ReactionCounts, Store, StoredReaction, StoredTurn};

use crate::error::ReportError;
use crate::item::FeedbackItem;
use crate::period::by_turn;

/// Reactions that one answer holds at the most, and when it brings what happened to their turns.
const MOST_REACTIONS: usize = 10_000;
const MOST_WITH_EVENTS: usize = 1_000;

/// What is asked.
#[derive(Clone, Debug)]
pub struct ConversationRequest {
    /// Whose conversation.
    pub scope: Scope,
    /// Which one.
    pub conversation: ConversationId,
    /// Only these turns; then also those without a reaction.
    pub turns: Option<Vec<TurnId>>,
    /// Only reactions from then on.
    pub since: Timestamp,
    /// Whether to bring what happened to each turn.
    pub include_events: bool,
}

/// The conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct ConversationReport {
    /// The user of its turns, when known.
    pub user: Option<UserId>,
    /// Turns in the order of their first reaction.
    pub turns: Vec<TurnReport>,
    /// Reactions of the turns shown.
    pub counts: ReactionCounts,
    /// There are more reactions than one answer holds; these are the newest.
    pub truncated: bool,
}

/// One turn of it.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnReport {
    /// Which turn.
    pub turn: TurnId,
    /// Its reactions, oldest first.
    pub feedbacks: Vec<FeedbackItem>,
    /// What happened to it, if that was asked for and the turn is known.
    pub stored: Option<StoredTurn>,
}

impl TurnReport {
    /// The reactions as the store has them.
    pub fn reactions(&self) -> Vec<StoredReaction> {
        self.feedbacks.iter().map(|item| item.reaction.clone()).collect()
    }
}

/// Answers for one conversation.
pub async fn conversation(
    store: &Store,
    request: ConversationRequest,
) -> Result<ConversationReport, ReportError> {
    let ConversationRequest { scope, conversation, turns, since, include_events } = request;
    let wanted = turns.map(each_once);
    let most = if include_events { MOST_WITH_EVENTS } else { MOST_REACTIONS };
    let query = ConversationQuery {
        scope: scope.clone(),
        conversation: conversation.clone(),
        turns: wanted.clone(),
        since,
        // One more than are shown tells whether there are more.
        limit: most + 1,
    };
    let mut reactions = store.conversation_reactions(query).await?;
    let truncated = reactions.len() > most;
    reactions.drain(..reactions.len().saturating_sub(most));
    let mut counts = ReactionCounts::default();
    for reaction in &reactions {
        counts.add(reaction.origin, reaction.reaction, 1);
    }
    let mut turns: Vec<TurnReport> = by_turn(&scope, reactions)
        .into_iter()
        .map(|turn| TurnReport { turn: turn.turn, feedbacks: turn.feedbacks, stored: None })
        .collect();
    let known = known_turns(store, &scope, &conversation, &turns, wanted, include_events).await?;
    let user = known.iter().find_map(|turn| turn.head.user.clone());
    add_known(&mut turns, known, include_events);
    Ok(ConversationReport { user, turns, counts, truncated })
}

fn each_once(turns: Vec<TurnId>) -> Vec<TurnId> {
    let mut seen = HashSet::new();
    turns.into_iter().filter(|turn| seen.insert(turn.clone())).collect()
}

/// The turns to show that are known: all of them when they were asked for, else one, for the user.
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

fn add_known(turns: &mut Vec<TurnReport>, known: Vec<StoredTurn>, include_events: bool) {
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
