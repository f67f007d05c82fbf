//! The engine's doors, as the API opens them.

use std::cell::RefCell;

use engine::{
    Engine, EngineError, Include, IncomingEvent, IncomingHalf, IncomingReaction, IncomingTurn,
    RawCompletion, RawEvent, RawOpening, RawOutcome, RawReaction, Route, Trust,
};
use model::{ConversationId, DecisionId, ExperimentId, Mac, Scope, TurnId, UserId, Write};
use serde_json::{Value, json};

/// Events that are sent together at the most, as a client sends a batch.
const BATCH: usize = 100;

/// Everything that is told goes through here.
pub(crate) struct Doors<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) scope: Scope,
    /// Events that are sent with the next batch, and the conversations they are about.
    waiting: RefCell<Vec<(String, Write)>>,
}

/// A turn and whose it is.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) turn: String,
    pub(crate) conversation: String,
    pub(crate) user: String,
}

impl<'a> Doors<'a> {
    /// The doors of this engine.
    pub(crate) fn of(engine: &'a Engine, scope: Scope) -> Self {
        Self { engine, scope, waiting: RefCell::default() }
    }
}

impl Doors<'_> {
    fn mac(&self, door: &str, of: &Value) -> Mac {
        self.engine.fingerprint(door, of)
    }

    /// A question; answers who shall answer it.
    pub(crate) async fn ask(
        &self,
        place: &Place,
        (text, intent): (String, &str),
        router: &str,
    ) -> Result<Option<Route>, EngineError> {
        // What was done with an answer is known before the next message of its conversation.
        if self.waiting.borrow().iter().any(|(about, _)| *about == place.conversation) {
            self.send().await?;
        }
        let mac = self.mac("turn", &json!([place.turn, text]));
        let raw = RawOpening {
            turn_id: Some(place.turn.clone()),
            conversation_id: Some(place.conversation.clone()),
            user_id: Some(place.user.clone()),
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

    /// Its answer.
    pub(crate) async fn answer(
        &self,
        place: &Place,
        raw: RawCompletion,
    ) -> Result<(), EngineError> {
        let mac = self.mac("completion", &json!([place.turn]));
        let turn = id(TurnId::new(place.turn.clone()))?;
        let half = IncomingHalf { raw, mac };
        self.engine.turns.complete_turn(&self.scope, turn, half, None).await.map(drop)
    }

    /// Something that happened to a turn.
    pub(crate) async fn event(
        &self,
        place: &Place,
        (event_type, source, category): (&str, &str, &str),
        data: Value,
    ) -> Result<(), EngineError> {
        let mac = self.mac("event", &json!([place.turn, source, data]));
        let raw = RawEvent {
            event_type: event_type.to_owned(),
            source: source.to_owned(),
            category: category.to_owned(),
            user_id: Some(place.user.clone()),
            session_id: Some(place.conversation.clone()),
            message_id: Some(place.turn.clone()),
            data: data.as_object().cloned().unwrap_or_default(),
            tags: vec!["demo".to_owned()],
            ..RawEvent::default()
        };
        let incoming = IncomingEvent { raw, mac, key: None, trust: Trust::Backend };
        let write = self.engine.feedback.prepare(&self.scope, incoming)?;
        let is_full = {
            let mut waiting = self.waiting.borrow_mut();
            waiting.push((place.conversation.clone(), write));
            waiting.len() >= BATCH
        };
        if is_full { self.send().await } else { Ok(()) }
    }

    /// Sends the events that wait.
    pub(crate) async fn send(&self) -> Result<(), EngineError> {
        let waiting = std::mem::take(&mut *self.waiting.borrow_mut());
        let writes = waiting.into_iter().map(|(_, write)| write).collect();
        for receipt in self.engine.feedback.record_batch(writes).await? {
            receipt?;
        }
        Ok(())
    }

    /// A thumb with a note.
    pub(crate) async fn react(
        &self,
        place: &Place,
        up: bool,
        text: &str,
    ) -> Result<(), EngineError> {
        let reaction = json!(if up { "ok" } else { "not_ok" });
        let incoming = IncomingReaction {
            conversation: id(ConversationId::new(place.conversation.clone()))?,
            turn: id(TurnId::new(place.turn.clone()))?,
            mac: self.mac("reaction", &json!([place.turn, reaction, text])),
            raw: RawReaction {
                reaction: Some(reaction),
                text: Some(text.to_owned()),
                user_id: Some(place.user.clone()),
                ..RawReaction::default()
            },
            key: None,
        };
        self.engine.feedback.react(&self.scope, incoming).await.map(drop)
    }

    /// A statement that an agent chose to run, and how that went.
    pub(crate) async fn decide(
        &self,
        place: &Place,
        decision: &str,
        (data, worked, confidence): (Value, bool, f64),
    ) -> Result<(), EngineError> {
        let data = json!({"decision_id": decision, "decision_type": "sql_generation",
            "decision_data": data, "confidence": confidence,
            "outcome": if worked { "success" } else { "failure" }});
        self.event(place, ("query", "model_response", "accuracy"), data).await
    }

    /// Somebody corrected what was decided.
    pub(crate) async fn overrule(&self, decision: &str) -> Result<(), EngineError> {
        self.send().await?;
        let raw = RawOutcome { outcome: "correction".to_owned(), ..RawOutcome::default() };
        let mac = self.mac("outcome", &json!([decision]));
        let decision = id(DecisionId::new(decision))?;
        self.engine.feedback.record_outcome(&self.scope, &decision, raw, mac, None).await.map(drop)
    }

    /// What is known of somebody.
    pub(crate) async fn profile(
        &self,
        user: &str,
        attributes: serde_json::Map<String, Value>,
    ) -> Result<(), EngineError> {
        self.engine.privacy.set_profile(&self.scope, id(UserId::new(user))?, attributes).await
    }

    /// The variant of an experiment that a conversation gets.
    pub(crate) async fn variant(
        &self,
        experiment: &str,
        unit: &str,
    ) -> Result<String, EngineError> {
        let experiment = id(ExperimentId::new(experiment))?;
        Ok(self.engine.experiments.assign(&self.scope, &experiment, unit).await?.variant)
    }
}

/// An id of ours, which always fits.
pub(crate) fn id<T, E>(made: Result<T, E>) -> Result<T, EngineError> {
    made.map_err(|_| EngineError::NotStored)
}
