//! Checks whether the turns and sessions that feedback names exist.

use std::collections::HashMap;

use model::{Body, ConversationId, Event, Fields, InteractionKind, Scope, TurnId, Write};

use crate::error::EngineError;
use crate::feedback::Feedback;
use crate::feedback::turn_contexts::{NamedTurn, TurnContexts};
use crate::receipt::{Receipt, TurnState};
use crate::warning::{Warning, WarningCode};

/// The turn or session that an event is about.
#[derive(Clone, Debug)]
pub struct FeedbackTarget(Named);

#[derive(Clone, Debug)]
enum Named {
    Turn {
        named: NamedTurn,
        /// True when the event brings the question and the answer itself.
        is_quoted: bool,
    },
    /// A report of abandonment without a turn is about the last turn of its conversation.
    Session { scope: Scope, conversation: Option<ConversationId> },
}

/// The target of a stored event.
#[derive(Clone, Debug)]
pub struct StoredTarget {
    /// The number of the event in its request.
    pub index: usize,
    pub receipt: Receipt,
    pub target: FeedbackTarget,
}

impl FeedbackTarget {
    /// `None` for events that are no feedback on a turn, and for feedback that quotes its turn and
    /// names no conversation, because it needs no other turn.
    pub fn from_write(write: &Write) -> Option<Self> {
        let event = &write.entry.event;
        let fields = feedback_fields(&event.body)?;
        let is_quoted = fields.contains_key("query") && fields.contains_key("response");
        let Some(turn) = &event.turn else {
            let (scope, conversation) = (event.scope.clone(), event.conversation.clone());
            return is_abandonment(event).then_some(Self(Named::Session { scope, conversation }));
        };
        let named = NamedTurn::new(event, turn);
        let needs_check = named.conversation.is_some() || !is_quoted;
        needs_check.then_some(Self(Named::Turn { named, is_quoted }))
    }
}

fn is_abandonment(event: &Event) -> bool {
    matches!(&event.body, Body::Interaction(done) if done.kind == InteractionKind::Abandonment)
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
        | Body::Spans(_)
        | Body::Other(_)
        | Body::Unreadable(_) => None,
    }
}

impl Feedback {
    /// Warns about feedback whose turn is unknown or in another conversation, and about a report of
    /// abandonment without a turn before it. Returns the warnings by the index of their event.
    pub async fn check_targets(
        &self,
        stored: Vec<StoredTarget>,
    ) -> Result<Vec<(usize, Warning)>, EngineError> {
        let (mut turns, mut sessions) = (Vec::new(), HashMap::new());
        for StoredTarget { target: FeedbackTarget(named), receipt, .. } in &stored {
            match named {
                Named::Turn { named, .. } => {
                    turns.extend(is_unclear(receipt.turn).then(|| named.clone()));
                }
                Named::Session { scope, conversation } => {
                    let named: &mut Vec<_> = sessions.entry(scope.clone()).or_default();
                    named.extend(conversation.clone());
                }
            }
        }
        let contexts = self.load_contexts(&turns).await?;
        let mut first_turns = HashMap::new();
        for (scope, sessions) in sessions {
            let found = self.core.store.first_turns(&scope, sessions).await?;
            first_turns.insert(scope, found);
        }
        let mut warnings = Vec::new();
        for StoredTarget { index, receipt, target: FeedbackTarget(named) } in &stored {
            let warning = match named {
                Named::Turn { named, is_quoted } if is_unclear(receipt.turn) => {
                    self.check_turn(named, *is_quoted, &contexts)?
                }
                Named::Turn { is_quoted, .. } => warn_unsent(receipt.turn, *is_quoted),
                Named::Session { scope, conversation } => {
                    let first = first_turns.get(scope).zip(conversation.as_ref());
                    let first = first.and_then(|(known, named)| known.get(named));
                    let had_turn = first.is_some_and(|first| first < &receipt.position);
                    (!had_turn).then(|| Warning::unknown_session(conversation.as_ref()))
                }
            };
            warnings.extend(warning.map(|warning| (*index, warning)));
        }
        warnings
            .iter()
            .for_each(|(_, warning)| self.core.count_warnings(std::slice::from_ref(warning)));
        Ok(warnings)
    }

    /// Compares stored feedback with its turn. `contexts` are read after the commit.
    fn check_turn(
        &self,
        named: &NamedTurn,
        is_quoted: bool,
        contexts: &TurnContexts,
    ) -> Result<Option<Warning>, EngineError> {
        let found = contexts.find(named);
        let own = found.and_then(|context| context.conversation.as_ref());
        if let Some(own) = own.filter(|own| named.is_elsewhere(Some(own))) {
            let fallbacks = self.list_fallback_turns(named)?;
            let joined = contexts.find_fallback(named, &fallbacks).map(|(turn, _)| turn);
            return Ok(Some(other_conversation(named, own, joined)));
        }
        Ok(warn_unsent(contexts.state(named), is_quoted))
    }
}

/// True when the turn must be read again to compare the feedback with it.
fn is_unclear(turn: TurnState) -> bool {
    match turn {
        TurnState::Unchecked | TurnState::Elsewhere => true,
        TurnState::Sent | TurnState::Unsent => false,
    }
}

fn warn_unsent(turn: TurnState, is_quoted: bool) -> Option<Warning> {
    (turn == TurnState::Unsent && !is_quoted).then(|| Warning::unknown_turn("message_id"))
}

fn other_conversation(
    NamedTurn { turn, conversation: named, .. }: &NamedTurn,
    own: &ConversationId,
    joined: Option<&TurnId>,
) -> Warning {
    let named = named.as_ref().map_or("", ConversationId::as_str);
    let counts_for = match joined {
        Some(joined) => format!("turn {joined} of {named}"),
        None => own.to_string(),
    };
    let detail = format!(
        "turn {turn} belongs to conversation {own}, not {named}; the feedback counts for \
         {counts_for}. Turn ids are unique in a project"
    );
    Warning { code: WarningCode::OtherConversation, field: "session_id", detail }
}
