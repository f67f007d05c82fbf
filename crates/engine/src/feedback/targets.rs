//! Checks whether the turns that feedback names exist.

use std::collections::HashMap;

use model::{Body, ConversationId, Fields, Scope, TurnId, Write};

use crate::error::EngineError;
use crate::feedback::Feedback;
use crate::warning::{Warning, WarningCode};

/// The turn that an event is about.
#[derive(Clone, Debug)]
pub struct FeedbackTarget {
    scope: Scope,
    turn: TurnId,
    /// The conversation that the event names.
    conversation: Option<ConversationId>,
}

impl FeedbackTarget {
    /// `None` for events that are no feedback on a turn, and for feedback that brings the question
    /// and the answer itself.
    pub fn from_write(write: &Write) -> Option<Self> {
        let event = &write.entry.event;
        let fields = feedback_fields(&event.body)?;
        if fields.contains_key("query") && fields.contains_key("response") {
            return None;
        }
        Some(Self {
            scope: event.scope.clone(),
            turn: event.turn.clone()?,
            conversation: event.conversation.clone(),
        })
    }
}

fn feedback_fields(body: &Body) -> Option<&Fields> {
    match body {
        Body::Rating(sent) => Some(sent.fields()),
        Body::Comment(sent) => Some(sent.fields()),
        Body::Correction(sent) => Some(sent.fields()),
        Body::Interaction(sent) => Some(sent.fields()),
        Body::Turn(_)
        | Body::Reaction(_)
        | Body::Rule(_)
        | Body::Finding(_)
        | Body::Metric(_)
        | Body::Decision(_)
        | Body::Settlement(_)
        | Body::Other(_)
        | Body::Unreadable(_) => None,
    }
}

impl Feedback {
    /// Warns about feedback whose turn is unknown or in another conversation, by its number.
    pub async fn check_targets(
        &self,
        targets: Vec<(usize, FeedbackTarget)>,
    ) -> Result<Vec<(usize, Warning)>, EngineError> {
        let mut by_scope: HashMap<Scope, Vec<TurnId>> = HashMap::new();
        for (_, target) in &targets {
            by_scope.entry(target.scope.clone()).or_default().push(target.turn.clone());
        }
        let mut known: HashMap<Scope, HashMap<TurnId, Option<ConversationId>>> = HashMap::new();
        for (scope, turns) in by_scope {
            let found = self.core.store.turn_conversations(&scope, turns).await?;
            known.insert(scope, found);
        }
        let check = |(number, target): (usize, FeedbackTarget)| {
            let found = known.get(&target.scope).and_then(|turns| turns.get(&target.turn));
            let warning = match (found, target.conversation) {
                (None, _) => Some(Warning::unknown_turn("message_id")),
                (Some(Some(own)), Some(named)) if *own != named => {
                    Some(other_conversation(&target.turn, own, &named))
                }
                (Some(_), _) => None,
            };
            warning.map(|warning| (number, warning))
        };
        let warnings: Vec<(usize, Warning)> = targets.into_iter().filter_map(check).collect();
        warnings
            .iter()
            .for_each(|(_, warning)| self.core.count_warnings(std::slice::from_ref(warning)));
        Ok(warnings)
    }
}

fn other_conversation(turn: &TurnId, own: &ConversationId, named: &ConversationId) -> Warning {
    let detail = format!(
        "turn {turn} belongs to conversation {own}, not {named}; the feedback counts for {own}. Turn \
         ids are unique in a project"
    );
    Warning { code: WarningCode::OtherConversation, field: "session_id", detail }
}
