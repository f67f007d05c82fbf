//! The contexts of turns that events name, seen from the conversations that the events name.
//!
//! Some clients number messages per session. The first conversation that uses a turn id keeps it;
//! in another one the id stands for a fallback turn (`Write::fallback_turns`).

use std::collections::HashMap;

use model::{ConversationId, Event, QUOTED, Scope, TurnId};
use serde_json::json;
use store::TurnContext;

use crate::error::EngineError;
use crate::feedback::Feedback;
use crate::receipt::TurnState;

/// A turn as an event names it.
#[derive(Clone, Debug)]
pub(super) struct NamedTurn {
    pub(super) scope: Scope,
    pub(super) turn: TurnId,
    pub(super) conversation: Option<ConversationId>,
}

impl NamedTurn {
    pub(super) fn new(event: &Event, turn: &TurnId) -> Self {
        let (scope, conversation) = (event.scope.clone(), event.conversation.clone());
        Self { scope, turn: turn.clone(), conversation }
    }

    /// True when the turn of this conversation is not the one that is named. A derived
    /// conversation may become any.
    pub(super) fn is_elsewhere(&self, own: Option<&ConversationId>) -> bool {
        match (own, &self.conversation) {
            (Some(own), Some(named)) => own != named && !own.is_derived(),
            (None, _) | (_, None) => false,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct TurnContexts(HashMap<Scope, HashMap<TurnId, TurnContext>>);

impl TurnContexts {
    /// The turn with the named id, of any conversation.
    pub(super) fn find(&self, named: &NamedTurn) -> Option<&TurnContext> {
        self.0.get(&named.scope)?.get(&named.turn)
    }

    /// The first of these turns in the named conversation.
    pub(super) fn find_fallback<'a>(
        &self,
        named: &NamedTurn,
        fallbacks: &'a [TurnId],
    ) -> Option<(&'a TurnId, &TurnContext)> {
        let known = self.0.get(&named.scope)?;
        let found = fallbacks.iter().filter_map(|turn| Some((turn, known.get(turn)?)));
        found.into_iter().find(|(_, context)| !named.is_elsewhere(context.conversation.as_ref()))
    }

    pub(super) fn state(&self, named: &NamedTurn) -> TurnState {
        match self.find(named) {
            Some(found) if named.is_elsewhere(found.conversation.as_ref()) => TurnState::Elsewhere,
            Some(found) if !found.derived => TurnState::Sent,
            Some(_) | None => TurnState::Unsent,
        }
    }
}

impl Feedback {
    /// The contexts of the named turns, and of the fallbacks of those in another conversation.
    pub(super) async fn load_contexts(
        &self,
        named: &[NamedTurn],
    ) -> Result<TurnContexts, EngineError> {
        let mut contexts = TurnContexts::default();
        let turns = named.iter().map(|one| (&one.scope, one.turn.clone()));
        self.add_contexts(&mut contexts, turns).await?;
        let mut fallbacks = Vec::new();
        for one in named.iter().filter(|one| contexts.state(one) == TurnState::Elsewhere) {
            let turns = self.list_fallback_turns(one)?;
            fallbacks.extend(turns.into_iter().map(|turn| (&one.scope, turn)));
        }
        self.add_contexts(&mut contexts, fallbacks).await?;
        Ok(contexts)
    }

    async fn add_contexts(
        &self,
        contexts: &mut TurnContexts,
        turns: impl IntoIterator<Item = (&Scope, TurnId)>,
    ) -> Result<(), EngineError> {
        let mut by_scope: HashMap<Scope, Vec<TurnId>> = HashMap::new();
        for (scope, turn) in turns {
            by_scope.entry(scope.clone()).or_default().push(turn);
        }
        for (scope, turns) in by_scope {
            let found = self.core.store.turn_contexts(&scope, turns).await?;
            contexts.0.entry(scope).or_default().extend(found);
        }
        Ok(())
    }

    /// Turn ids for this one in its conversation: the id that `EngineError::TurnTaken` suggests,
    /// then one that clients cannot guess. Empty without a conversation.
    pub(super) fn list_fallback_turns(
        &self,
        named: &NamedTurn,
    ) -> Result<Vec<TurnId>, EngineError> {
        let NamedTurn { scope, turn, conversation } = named;
        let Some(conversation) = conversation else { return Ok(Vec::new()) };
        // Long ids do not fit together.
        let suggested = TurnId::new(format!("{conversation}:{turn}")).ok();
        let names = [scope.tenant.as_str(), scope.project.as_str(), conversation.as_str()];
        let derived = self.core.derive_event_id(QUOTED, &json!([names, turn.as_str()]))?;
        let derived = TurnId::new(derived.as_str()).map_err(|_| EngineError::NotStored)?;
        Ok(suggested.into_iter().chain([derived]).collect())
    }
}
