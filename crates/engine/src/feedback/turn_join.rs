//! Joins incoming events with the turns they name.
//!
//! ```text
//! turn known -----> its conversation and user fill the gaps of the event
//! turn unknown ---> the quoted question and answer become a derived turn, in the same write
//! turn of another conversation ---> as if unknown, under another id (`Write::fallback_turns`)
//! ```
//!
//! The turn's own halves replace derived ones when they arrive (`TurnChange::OpenDerived`).

use std::collections::HashMap;

use ingest::TurnPlace;
use model::{
    Body, Completion, ConversationId, Entry, Event, Need, Opening, QUOTED, QuotedTurn, Scope,
    TurnHalf, TurnId, Write,
};
use serde_json::json;
use store::TurnContext;

use crate::changes::build_entry;
use crate::error::EngineError;
use crate::feedback::Feedback;
use crate::feedback::turn_contexts::{NamedTurn, TurnContexts};
use crate::receipt::TurnState;

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

    /// Completes events from the turns they name, and derives turns that are only quoted. Returns
    /// the state of each write's turn.
    pub(super) async fn join_turns(
        &self,
        writes: &mut [Write],
    ) -> Result<Vec<TurnState>, EngineError> {
        let named: Vec<NamedTurn> = writes.iter().filter_map(named_turn).collect();
        let contexts = self.load_contexts(&named).await?;
        self.join_contexts(writes, &contexts)
    }

    /// Joins writes with the contexts of the turns they name.
    pub(super) fn join_contexts(
        &self,
        writes: &mut [Write],
        contexts: &TurnContexts,
    ) -> Result<Vec<TurnState>, EngineError> {
        let opened_here: HashMap<(Scope, TurnId), Option<ConversationId>> =
            writes.iter().filter_map(opened_turn).collect();
        let mut states = Vec::with_capacity(writes.len());
        for write in writes {
            let Some(named) = named_turn(write) else {
                states.push(TurnState::Unchecked);
                continue;
            };
            states.push(contexts.state(&named));
            self.add_fallback_turns(write)?;
            let is_opened_here = opened_here
                .get(&(named.scope.clone(), named.turn.clone()))
                .is_some_and(|own| !named.is_elsewhere(own.as_ref()));
            let context = find_context(contexts, &named, write);
            if let Some(context) = context.filter(|context| !context.derived) {
                for Entry { event, .. } in entries_mut(write) {
                    if joined_turn(event).is_some() {
                        *event = event.derive(|event| fill_gaps(event, context));
                    }
                }
            }
            // The turns of widgets must exist.
            let needs_turn = write.needs.iter().any(|need| matches!(need, Need::Turn(_)));
            if !needs_turn && !is_opened_here {
                self.derive_turn(write, context)?;
            }
        }
        Ok(states)
    }

    /// Names the turns to use if the event's turn belongs to another conversation. A write with
    /// preconditions is refused instead.
    pub(super) fn add_fallback_turns(&self, write: &mut Write) -> Result<(), EngineError> {
        if let Some(named) = named_turn(write).filter(|_| write.needs.is_empty()) {
            write.fallback_turns = self.list_fallback_turns(&named)?;
        }
        Ok(())
    }

    /// Adds the missing halves of the turn, as far as an event of the write quotes them.
    fn derive_turn(
        &self,
        write: &mut Write,
        context: Option<&TurnContext>,
    ) -> Result<(), EngineError> {
        let Some(entry) = entries_mut(write).find(|entry| opens_turn(&entry.event.body)) else {
            return Ok(());
        };
        let event = &entry.event;
        let is_comment = matches!(event.body, Body::Comment(_));
        // Comments on answers of an unknown turn are compared with each other, so they need one too.
        let quoted = event.body.quoted_turn().or_else(|| is_comment.then(QuotedTurn::default));
        let (Some(QuotedTurn { query, response }), Some(turn)) = (quoted, event.turn.clone())
        else {
            return Ok(());
        };
        // The turn's own halves may move a derived conversation to any other, so halves are added.
        let is_fixed = |context: &&TurnContext| {
            let is_same = context.conversation == event.conversation;
            is_same || event.conversation.is_none() || !context.derived
        };
        let context = context.filter(is_fixed);
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
            entry.event =
                event.derive(|event| Event { conversation: Some(conversation), ..event.clone() });
        }
        let event = &entry.event;
        let place = TurnPlace {
            scope: event.scope.clone(),
            turn,
            conversation: event.conversation.clone(),
            user: event.user.clone(),
        };
        let build = |half| {
            build_entry(event.derive(|event| {
                let id = self.core.ids.event_id(event.received_at);
                ingest::turn_event(place.clone(), half, id, event.ts, event.received_at)
            }))
        };
        let halves: Vec<Entry> = halves.into_iter().map(build).collect();
        write.more.extend(halves);
        Ok(())
    }

    /// A deterministic id that clients cannot guess.
    fn derive_quoted_id(&self, event: &Event, name: &str) -> Result<String, EngineError> {
        let scope = [event.scope.tenant.as_str(), event.scope.project.as_str()];
        let id = self.core.derive_event_id(QUOTED, &json!([scope, name]))?;
        Ok(id.as_str().to_owned())
    }
}

/// The turn that a write opens, as an import does, with its conversation.
fn opened_turn(write: &Write) -> Option<((Scope, TurnId), Option<ConversationId>)> {
    let event = &write.entry.event;
    let turn = event.body.opening().and(event.turn.clone())?;
    Some(((event.scope.clone(), turn), event.conversation.clone()))
}

/// The turn of the write's first event that joins one.
fn named_turn(write: &Write) -> Option<NamedTurn> {
    let name = |Entry { event, .. }: &Entry| Some(NamedTurn::new(event, joined_turn(event)?));
    entries(write).find_map(name)
}

fn entries(write: &Write) -> impl Iterator<Item = &Entry> {
    std::iter::once(&write.entry).chain(&write.more)
}

fn entries_mut(write: &mut Write) -> impl Iterator<Item = &mut Entry> {
    std::iter::once(&mut write.entry).chain(&mut write.more)
}

/// The context of the turn that the event joins; `None` when it is unknown.
fn find_context<'a>(
    contexts: &'a TurnContexts,
    named: &NamedTurn,
    write: &Write,
) -> Option<&'a TurnContext> {
    let found = contexts.find(named)?;
    if !named.is_elsewhere(found.conversation.as_ref()) {
        return Some(found);
    }
    match contexts.find_fallback(named, &write.fallback_turns) {
        Some((_, context)) => Some(context),
        None => {
            let opens = entries(write).any(|entry| opens_turn(&entry.event.body));
            Some(found).filter(|_| !opens)
        }
    }
}

/// True for feedback that makes an unknown turn known.
fn opens_turn(body: &Body) -> bool {
    matches!(body, Body::Comment(_)) || body.quoted_turn().is_some()
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
        Body::Turn(_) | Body::Reaction(_) | Body::Rule(_) | Body::Finding(_) | Body::Spans(_) => {
            None
        }
    }
}

fn fill_gaps(event: &Event, context: &TurnContext) -> Event {
    Event {
        conversation: event.conversation.clone().or_else(|| context.conversation.clone()),
        user: event.user.clone().or_else(|| context.user.clone()),
        ..event.clone()
    }
}
