//! Calls the engine the way the API does.

use std::cell::RefCell;

use engine::{
    Engine, EngineError, Include, IncomingEvent, IncomingHalf, IncomingReaction, IncomingTurn,
    RawCompletion, RawEvent, RawOpening, RawOutcome, RawReaction, Route, Trust,
};
use model::{ConversationId, DecisionId, Scope, TurnId, UserId, Write};
use serde_json::{Value, json};

/// Events are flushed in batches of this size, as a client of the API would.
const MAX_BATCH_EVENTS: usize = 100;

/// Sends all demo data to the engine.
pub(crate) struct DemoClient<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) scope: Scope,
    /// Unsent events, each with the conversation it belongs to.
    waiting: RefCell<Vec<(String, Write)>>,
}

/// Ids of a turn, its conversation and its user.
#[derive(Clone, Debug)]
pub(crate) struct TurnRef {
    pub(crate) turn: String,
    pub(crate) conversation: String,
    pub(crate) user: String,
}

impl<'a> DemoClient<'a> {
    pub(crate) fn new(engine: &'a Engine, scope: Scope) -> Self {
        Self { engine, scope, waiting: RefCell::default() }
    }

    /// Opens a turn and returns the routing decision for its answer.
    pub(crate) async fn open_turn(
        &self,
        turn: &TurnRef,
        (text, intent): (String, &str),
        router: &str,
    ) -> Result<Option<Route>, EngineError> {
        // Events about a conversation must be stored before its next message is processed.
        if self.waiting.borrow().iter().any(|(about, _)| *about == turn.conversation) {
            self.flush_events().await?;
        }
        let mac = self.engine.fingerprint("turn", &json!([turn.turn, text]));
        let raw = RawOpening {
            turn_id: Some(turn.turn.clone()),
            conversation_id: Some(turn.conversation.clone()),
            user_id: Some(turn.user.clone()),
            text,
            intent: Some(intent.to_owned()),
            ..RawOpening::default()
        };
        let incoming = IncomingTurn {
            opening: IncomingHalf { raw, mac },
            completion: None,
            key: None,
            include: Include::default(),
            router: Some(router.to_owned()),
        };
        Ok(self.engine.turns.open_turn(&self.scope, incoming).await?.route)
    }

    pub(crate) async fn complete_turn(
        &self,
        turn: &TurnRef,
        raw: RawCompletion,
    ) -> Result<(), EngineError> {
        let mac = self.engine.fingerprint("completion", &json!([turn.turn]));
        let turn = checked_id(TurnId::new(turn.turn.clone()))?;
        let half = IncomingHalf { raw, mac };
        self.engine.turns.complete_turn(&self.scope, turn, half, None).await.map(drop)
    }

    /// Queues an event about a turn and flushes the queue when it is full.
    pub(crate) async fn queue_event(
        &self,
        turn: &TurnRef,
        (event_type, source, category): (&str, &str, &str),
        data: Value,
    ) -> Result<(), EngineError> {
        let mac = self.engine.fingerprint("event", &json!([turn.turn, source, data]));
        let raw = RawEvent {
            event_type: event_type.to_owned(),
            source: source.to_owned(),
            category: category.to_owned(),
            user_id: Some(turn.user.clone()),
            session_id: Some(turn.conversation.clone()),
            message_id: Some(turn.turn.clone()),
            data: data.as_object().cloned().unwrap_or_default(),
            tags: vec!["demo".to_owned()],
            ..RawEvent::default()
        };
        let incoming = IncomingEvent { raw, mac, key: None, trust: Trust::Backend };
        let write = self.engine.feedback.prepare(&self.scope, incoming)?;
        let is_full = {
            let mut waiting = self.waiting.borrow_mut();
            waiting.push((turn.conversation.clone(), write));
            waiting.len() >= MAX_BATCH_EVENTS
        };
        if is_full { self.flush_events().await } else { Ok(()) }
    }

    pub(crate) async fn flush_events(&self) -> Result<(), EngineError> {
        let waiting = std::mem::take(&mut *self.waiting.borrow_mut());
        let writes = waiting.into_iter().map(|(_, write)| write).collect();
        for receipt in self.engine.feedback.record_batch(writes).await? {
            receipt?;
        }
        Ok(())
    }

    /// Sends a thumbs up or down with a note.
    pub(crate) async fn send_reaction(
        &self,
        turn: &TurnRef,
        up: bool,
        text: &str,
    ) -> Result<(), EngineError> {
        let reaction = json!(if up { "ok" } else { "not_ok" });
        let incoming = IncomingReaction {
            conversation: checked_id(ConversationId::new(turn.conversation.clone()))?,
            turn: checked_id(TurnId::new(turn.turn.clone()))?,
            mac: self.engine.fingerprint("reaction", &json!([turn.turn, reaction, text])),
            raw: RawReaction {
                reaction: Some(reaction),
                text: Some(text.to_owned()),
                user_id: Some(turn.user.clone()),
                ..RawReaction::default()
            },
            key: None,
        };
        self.engine.feedback.react(&self.scope, incoming).await.map(drop)
    }

    /// Records that a user corrected the decision.
    pub(crate) async fn report_correction(&self, decision: &str) -> Result<(), EngineError> {
        self.flush_events().await?;
        let raw = RawOutcome { outcome: "correction".to_owned(), ..RawOutcome::default() };
        let mac = self.engine.fingerprint("outcome", &json!([decision]));
        let decision = checked_id(DecisionId::new(decision))?;
        self.engine.feedback.record_outcome(&self.scope, &decision, raw, mac, None).await.map(drop)
    }

    pub(crate) async fn set_profile(
        &self,
        user: &str,
        attributes: serde_json::Map<String, Value>,
    ) -> Result<(), EngineError> {
        self.engine
            .privacy
            .set_profile(&self.scope, checked_id(UserId::new(user))?, attributes)
            .await
    }
}

/// Converts the result of an id constructor; the demo's own ids are always valid.
pub(crate) fn checked_id<T, E>(made: Result<T, E>) -> Result<T, EngineError> {
    made.map_err(|_| EngineError::NotStored)
}
