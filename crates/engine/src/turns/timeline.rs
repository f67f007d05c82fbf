//! Turns as shown to people: question, answer, verdict and its evidence.

use std::collections::HashMap;

use learn::TurnReward;
use model::{Body, ConversationId, Finding, FoundVerdict, Position, Scope, Timestamp, TurnId};
use store::{
    ConversationQuery, ExchangeQuery, ListCursor, ListQuery, StoredEvent, StoredExchange,
    StoredReaction, StoredTurn,
};

use crate::answer_signals::AnswerSignals;
use crate::comment_view::CommentView;
use crate::error::EngineError;
use crate::turns::Turns;

/// Newest reactions that are loaded for a timeline.
const MAX_REACTIONS: usize = 10_000;

#[derive(Clone, Debug)]
pub struct TurnView {
    /// Question, answer and standing.
    pub exchange: StoredExchange,
    /// The verdict in effect and the time of its detection.
    pub verdict: Option<(FoundVerdict, Timestamp)>,
    pub signals: Option<AnswerSignals>,
    pub reactions: Vec<StoredReaction>,
    /// Number of times that the question was repeated.
    pub retries: usize,
    /// Comments on the turn, in order.
    pub comments: Vec<CommentView>,
    pub reviewed_at: Option<Timestamp>,
    pub reward: TurnReward,
    /// All events of the turn.
    pub stored: StoredTurn,
}

impl TurnView {
    /// Quality of the answer by validator and user, −1 to 1.
    pub fn satisfaction(&self) -> f64 {
        let standing = &self.exchange.standing;
        learn::compute_satisfaction(standing.validation_outcome, standing.status)
    }
}

#[derive(Clone, Debug)]
pub struct Timeline {
    /// Turns of the conversation, oldest first.
    pub turns: Vec<TurnView>,
    /// Cursor of the next page: time and position of the oldest turn shown.
    pub older_than: Option<(Timestamp, Position)>,
}

impl Turns {
    pub async fn load_turn_view(
        &self,
        scope: &Scope,
        turn: TurnId,
    ) -> Result<Option<TurnView>, EngineError> {
        let exchange = self.core.store.exchanges_by_id(scope, vec![turn]).await?.pop();
        match exchange {
            None => Ok(None),
            Some(exchange) => self.build_view(scope, exchange).await,
        }
    }

    /// The latest turns of a conversation, or those older than a cursor.
    pub async fn load_timeline(
        &self,
        scope: &Scope,
        conversation: ConversationId,
        older_than: Option<(Timestamp, Position)>,
        limit: usize,
    ) -> Result<Option<Timeline>, EngineError> {
        let query = ExchangeQuery {
            scope: scope.clone(),
            conversation: Some(conversation),
            user: None,
            until: Timestamp::from_micros(i64::MAX),
            older_than,
            before: None,
            only_answered: false,
            limit: limit + 1,
        };
        let mut found = self.core.store.exchanges(query).await?;
        if found.is_empty() && older_than.is_none() {
            return Ok(None);
        }
        let more = found.len() > limit;
        found.truncate(limit);
        let oldest = found.last().filter(|_| more).map(|last| (last.ts, last.opened));
        found.reverse();
        Ok(Some(Timeline { turns: self.build_views(scope, found).await?, older_than: oldest }))
    }

    /// Matching turns, newest first, and the cursor of the next page.
    pub async fn list_turns(
        &self,
        scope: &Scope,
        query: ListQuery,
    ) -> Result<(Vec<TurnView>, Option<ListCursor>), EngineError> {
        let page = self.core.store.newest_turns(query).await?;
        let order: Vec<TurnId> = page.items.iter().map(|one| one.turn.clone()).collect();
        let mut by_conversation: HashMap<Option<ConversationId>, Vec<StoredExchange>> =
            HashMap::new();
        for exchange in page.items {
            by_conversation.entry(exchange.conversation.clone()).or_default().push(exchange);
        }
        let mut views: HashMap<TurnId, TurnView> = HashMap::new();
        for exchanges in by_conversation.into_values() {
            let built = self.build_views(scope, exchanges).await?;
            views.extend(built.into_iter().map(|view| (view.exchange.turn.clone(), view)));
        }
        let views = order.iter().filter_map(|turn| views.remove(turn)).collect();
        Ok((views, page.next))
    }

    /// Builds the views of one conversation's turns in one read.
    async fn build_views(
        &self,
        scope: &Scope,
        exchanges: Vec<StoredExchange>,
    ) -> Result<Vec<TurnView>, EngineError> {
        let Some(conversation) = exchanges.iter().find_map(|one| one.conversation.clone()) else {
            return Ok(Vec::new());
        };
        let turns: Vec<TurnId> = exchanges.iter().map(|one| one.turn.clone()).collect();
        let query = ConversationQuery {
            scope: scope.clone(),
            conversation,
            turns: Some(turns.clone()),
            since: Timestamp::from_micros(0),
            limit: MAX_REACTIONS,
        };
        let mut reactions: HashMap<TurnId, Vec<StoredReaction>> = HashMap::new();
        for given in self.core.store.conversation_reactions(query).await? {
            reactions.entry(given.turn.clone()).or_default().push(given);
        }
        let mut stored: HashMap<TurnId, StoredTurn> = HashMap::new();
        for turn in self.core.store.turns(scope, turns).await? {
            stored.insert(turn.head.turn.clone(), turn);
        }
        let build = |exchange: StoredExchange| {
            let turn = stored.remove(&exchange.turn)?;
            let given = reactions.remove(&exchange.turn).unwrap_or_default();
            let reward = self.routing.turn_reward(scope, &turn);
            Some(assemble_view(exchange, turn, given, reward))
        };
        Ok(exchanges.into_iter().filter_map(build).collect())
    }

    async fn build_view(
        &self,
        scope: &Scope,
        exchange: StoredExchange,
    ) -> Result<Option<TurnView>, EngineError> {
        let Some(stored) = self.core.load_turn(scope, exchange.turn.clone()).await? else {
            return Ok(None);
        };
        let reactions = self.turn_reactions(scope, &stored).await?;
        let reward = self.routing.turn_reward(scope, &stored);
        Ok(Some(assemble_view(exchange, stored, reactions, reward)))
    }
}

fn assemble_view(
    exchange: StoredExchange,
    stored: StoredTurn,
    reactions: Vec<StoredReaction>,
    reward: TurnReward,
) -> TurnView {
    let mut view = TurnView {
        verdict: None,
        signals: None,
        reactions,
        retries: 0,
        comments: Vec::new(),
        reviewed_at: None,
        reward,
        exchange,
        stored: StoredTurn { events: Vec::new(), ..stored.clone() },
    };
    for event in &stored.events {
        add_event(&mut view, event);
    }
    view.stored = stored;
    view
}

fn add_event(view: &mut TurnView, stored: &StoredEvent) {
    let is_at = |position: Option<Position>| position == Some(stored.position);
    view.comments.extend(CommentView::from_event(&stored.event));
    let Body::Finding(finding) = &stored.event.body else { return };
    let standing = &view.exchange.standing;
    match finding {
        Finding::Verdict(found) if is_at(standing.verdict) => {
            view.verdict = Some((FoundVerdict::clone(found), stored.event.ts));
        }
        Finding::Answer(found) => {
            view.signals =
                Some(AnswerSignals { failure: found.error.clone(), pace: found.latency });
        }
        Finding::Retry(_) => view.retries += 1,
        Finding::Sentiment(found) => {
            view.comments.iter_mut().for_each(|comment| comment.apply_sentiment(found));
        }
        Finding::Review { .. } if is_at(standing.review.map(|(_, position)| position)) => {
            view.reviewed_at = Some(stored.event.ts);
        }
        Finding::Verdict(_)
        | Finding::Review { .. }
        | Finding::Session(_)
        | Finding::Vector { .. }
        | Finding::Choice(_)
        | Finding::Served { .. }
        | Finding::Alert(_)
        | Finding::Suggestion(_)
        | Finding::Exposure(_)
        | Finding::Reward(_)
        | Finding::Returned(_)
        | Finding::PendingUsage(_)
        | Finding::Trace(_)
        | Finding::Relevance(_) => {}
    }
}
