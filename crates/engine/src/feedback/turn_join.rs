//! Joins incoming events with the turns they name.
//!
//! ```text
//! turn known -----> its conversation and user fill the gaps of the event
//! turn unknown ---> the quoted question and answer become a derived turn, in the same write
//! ```
//!
//! The turn's own halves replace derived ones when they arrive (`TurnChange::OpenDerived`).

use std::collections::{HashMap, HashSet};

use ingest::TurnPlace;
use model::{
    Body, Completion, ConversationId, Entry, Event, Opening, QuotedTurn, Scope, TurnHalf, TurnId,
    Write,
};
use serde_json::json;
use store::TurnContext;

use crate::changes::build_entry;
use crate::error::EngineError;
use crate::feedback::Feedback;

type Contexts = HashMap<Scope, HashMap<TurnId, TurnContext>>;

impl Feedback {
    /// Generates a turn id for feedback that quotes a question without naming its turn.
    pub(super) fn name_quoted_turn(&self, event: &mut Event) -> Result<(), EngineError> {
        if event.turn.is_none() && event.body.quoted_turn().is_some() {
            // A turn of its own, because equal texts may be different answers.
            let id = self.derive_quoted_id(event, event.id.as_str())?;
            event.turn = Some(TurnId::new(id).map_err(|_| EngineError::NotStored)?);
        }
        Ok(())
    }

    /// Completes events from the turns they name, and derives turns that are only quoted.
    pub(super) async fn join_turns(&self, writes: &mut [Write]) -> Result<(), EngineError> {
        let contexts = self.load_contexts(writes).await?;
        let opened_here: HashSet<(Scope, TurnId)> = writes.iter().filter_map(opened_turn).collect();
        for write in writes {
            let event = &write.entry.event;
            let Some(turn) = joined_turn(event) else { continue };
            let is_opened_here = opened_here.contains(&(event.scope.clone(), turn.clone()));
            let context = contexts.get(&event.scope).and_then(|turns| turns.get(turn));
            if let Some(context) = context.filter(|context| !context.derived) {
                write.entry.event = event.derive(|event| fill_gaps(event, context));
            }
            // A write with preconditions comes from a widget, which cannot add turns.
            if write.needs.is_empty() && !is_opened_here {
                self.derive_turn(write, context)?;
            }
        }
        Ok(())
    }

    async fn load_contexts(&self, writes: &[Write]) -> Result<Contexts, EngineError> {
        let mut turns: HashMap<Scope, Vec<TurnId>> = HashMap::new();
        for write in writes {
            let event = &write.entry.event;
            if let Some(turn) = joined_turn(event) {
                turns.entry(event.scope.clone()).or_default().push(turn.clone());
            }
        }
        let mut contexts = Contexts::new();
        for (scope, turns) in turns {
            let found = self.core.store.turn_contexts(&scope, turns).await?;
            contexts.insert(scope, found);
        }
        Ok(contexts)
    }

    /// Adds the missing halves of the turn, as far as the event quotes them.
    fn derive_turn(
        &self,
        write: &mut Write,
        context: Option<&TurnContext>,
    ) -> Result<(), EngineError> {
        let event = &write.entry.event;
        let is_comment = matches!(event.body, Body::Comment(_));
        // Comments on answers of an unknown turn are compared with each other, so they need one too.
        let quoted = event.body.quoted_turn().or_else(|| is_comment.then(QuotedTurn::default));
        let (Some(QuotedTurn { query, response }), Some(turn)) = (quoted, event.turn.clone())
        else {
            return Ok(());
        };
        let mut halves = Vec::new();
        let unquoted = query.is_empty();
        if context.is_none_or(|context| !context.has_question && !unquoted) {
            let opening = Opening { text: query, derived: true, unquoted, ..Opening::default() };
            halves.push(TurnHalf::Opened(opening));
        }
        // A correction is about an answer, even if it does not quote it.
        let is_answered = response.is_some() || matches!(event.body, Body::Correction(_));
        if is_answered && context.is_none_or(|context| !context.answered) {
            halves.push(TurnHalf::Completed(Box::new(Completion::quoted(response))));
        }
        if event.conversation.is_none() && context.is_none_or(|context| !context.has_question) {
            // Without a session the turn is a conversation of its own.
            let id = self.derive_quoted_id(event, turn.as_str())?;
            let conversation = ConversationId::new(id).map_err(|_| EngineError::NotStored)?;
            write.entry.event =
                event.derive(|event| Event { conversation: Some(conversation), ..event.clone() });
        }
        let event = &write.entry.event;
        let place = TurnPlace {
            scope: event.scope.clone(),
            turn,
            conversation: event.conversation.clone(),
            user: event.user.clone(),
        };
        let entry = |half| {
            build_entry(event.derive(|event| {
                let id = self.core.ids.event_id(event.received_at);
                ingest::turn_event(place.clone(), half, id, event.ts, event.received_at)
            }))
        };
        let halves: Vec<Entry> = halves.into_iter().map(entry).collect();
        write.more.extend(halves);
        Ok(())
    }

    /// A deterministic id that clients cannot guess.
    fn derive_quoted_id(&self, event: &Event, name: &str) -> Result<String, EngineError> {
        let scope = [event.scope.tenant.as_str(), event.scope.project.as_str()];
        let id = self.core.derive_event_id("quoted", &json!([scope, name]))?;
        Ok(id.as_str().to_owned())
    }
}

/// The turn that a write opens, as an import does.
fn opened_turn(write: &Write) -> Option<(Scope, TurnId)> {
    let event = &write.entry.event;
    event.body.opening().and(event.turn.clone()).map(|turn| (event.scope.clone(), turn))
}

/// The turn that a client's event names. Our own records name theirs completely.
fn joined_turn(event: &Event) -> Option<&TurnId> {
    match &event.body {
        Body::Rating(_)
        | Body::Comment(_)
        | Body::Correction(_)
        | Body::Interaction(_)
        | Body::Metric(_)
        | Body::Decision(_)
        | Body::Settlement(_)
        | Body::Other(_)
        | Body::Unreadable(_) => event.turn.as_ref(),
        Body::Turn(_) | Body::Reaction(_) | Body::Rule(_) | Body::Finding(_) => None,
    }
}

fn fill_gaps(event: &Event, context: &TurnContext) -> Event {
    Event {
        conversation: event.conversation.clone().or_else(|| context.conversation.clone()),
        user: event.user.clone().or_else(|| context.user.clone()),
        ..event.clone()
    }
}
