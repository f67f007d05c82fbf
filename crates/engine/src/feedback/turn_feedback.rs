//! All feedback on a turn in one request: one write, all or nothing.

use ingest::{AcceptedFeedback, RawTurnFeedback, TurnPlace};
use model::{
    Body, ConversationId, Entry, Event, Mac, Need, Outcome, Redacted, Scope, TurnId, Write,
};
use store::TurnContext;

use crate::changes::build_entry;
use crate::error::EngineError;
use crate::feedback::Feedback;
use crate::feedback::record::Trust;
use crate::feedback::turn_contexts::NamedTurn;
use crate::receipt::RequestKey;
use crate::warning::{Warning, WarningCode};

#[derive(Clone, Debug)]
pub struct IncomingFeedback {
    pub turn: TurnId,
    /// The turn's conversation, if the client named it.
    pub conversation: Option<ConversationId>,
    pub raw: RawTurnFeedback,
    /// The MAC of the request.
    pub mac: Mac,
    pub key: Option<RequestKey>,
    pub trust: Trust,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedbackReceipt {
    /// Names of the stored fields.
    pub stored: Vec<&'static str>,
    /// True when the turn is unknown. The feedback joins it when it arrives.
    pub pending: bool,
    pub warnings: Vec<Warning>,
}

impl Feedback {
    /// Stores all parts of the feedback in one commit.
    pub async fn give_feedback(
        &self,
        scope: &Scope,
        incoming: IncomingFeedback,
    ) -> Result<FeedbackReceipt, EngineError> {
        let IncomingFeedback { turn, conversation, mut raw, mac, key, trust } = incoming;
        let named = NamedTurn { scope: scope.clone(), turn: turn.clone(), conversation };
        let contexts = self.load_contexts(std::slice::from_ref(&named)).await?;
        let context = contexts.find(&named);
        let is_known = context.is_some_and(|context| !context.derived);
        let place = locate_turn(named, context, trust)?;
        if trust == Trust::Widget {
            if raw.correction.is_some() {
                return Err(EngineError::WidgetNotAllowed);
            }
            // Widgets cannot set the time.
            raw.ts = None;
        }
        let now = self.core.clock.now();
        let fresh_id = || self.core.ids.event_id(now);
        let accepted = ingest::accept_turn_feedback(place, &raw, now, fresh_id)?;
        let AcceptedFeedback { events, stored, overridden } = accepted;
        let mut writes = vec![self.build_feedback_write(events, mac, key, trust)?];
        self.join_contexts(&mut writes, &contexts)?;
        let outcome = self.core.store_writes(writes).await?.pop();
        match outcome.unwrap_or(Outcome::Failed) {
            Outcome::Stored(_)
            | Outcome::StoredElsewhere(_)
            | Outcome::Replayed { .. }
            | Outcome::Unchanged => {}
            Outcome::Conflict(space) => return Err(EngineError::Conflict(space)),
            Outcome::Missing(Need::SameConversation(named)) => {
                return Err(self.explain_other_conversation(scope, &turn, &named).await?);
            }
            Outcome::Missing(_) => return Err(EngineError::NotFound("turn")),
            Outcome::SetAside => return Err(EngineError::DeadLettered),
            Outcome::Failed => return Err(EngineError::NotStored),
        }
        let by = stored.first().copied().unwrap_or_default();
        let overridden = overridden.into_iter().map(|field| overridden_field(field, by));
        let mut warnings: Vec<Warning> = overridden.collect();
        warnings.extend((!is_known).then(|| Warning::unknown_turn("turn_id")));
        self.core.count_warnings(&warnings);
        Ok(FeedbackReceipt { stored, pending: !is_known, warnings })
    }

    /// The error for feedback on a turn that concurrent feedback has opened elsewhere.
    async fn explain_other_conversation(
        &self,
        scope: &Scope,
        turn: &TurnId,
        named: &ConversationId,
    ) -> Result<EngineError, EngineError> {
        let head = self.core.store.turn_head(scope, turn).await?;
        let own = head.and_then(|head| head.conversation);
        Ok(own.map_or(EngineError::NotFound("turn"), |own| other_conversation(turn, &own, named)))
    }

    /// One write with all events. A reaction alone that repeats the stored one changes nothing.
    fn build_feedback_write(
        &self,
        events: Vec<Event>,
        mac: Mac,
        key: Option<RequestKey>,
        trust: Trust,
    ) -> Result<Write, EngineError> {
        let mut events = events.into_iter();
        let first = events.next().ok_or(EngineError::NotStored)?;
        let mut write = self.core.build_write(first, mac, key);
        write.more.extend(self.sentiment_entry(&write.entry.event));
        for event in events {
            let event: Redacted<Event> = self.core.redact(event);
            let sentiment: Option<Entry> = self.sentiment_entry(&event);
            write.more.push(build_entry(event));
            write.more.extend(sentiment);
        }
        match (trust, &write.entry.event.conversation) {
            (Trust::Widget, _) => write.needs.push(Need::Turn(None)),
            (Trust::Backend, Some(named)) => {
                write.needs.push(Need::SameConversation(named.clone()));
            }
            (Trust::Backend, None) => {}
        }
        if let (Body::Reaction(given), true) = (&write.entry.event.body, write.more.is_empty()) {
            let (reaction, text) = (given.reaction, given.text.clone());
            let tags = write.entry.event.tags.clone();
            write.needs.push(Need::OtherReaction { reaction, text, tags });
        }
        Ok(write)
    }
}

/// The scope of the feedback: the turn's conversation and user, as far as they are known.
fn locate_turn(
    named: NamedTurn,
    context: Option<&TurnContext>,
    trust: Trust,
) -> Result<TurnPlace, EngineError> {
    let own = context.and_then(|context| context.conversation.as_ref());
    if let (Some(own), Some(other)) = (own, &named.conversation)
        && named.is_elsewhere(Some(own))
    {
        return Err(match trust {
            // A public page must not learn the conversations of others.
            Trust::Widget => EngineError::NotFound("turn"),
            Trust::Backend => other_conversation(&named.turn, own, other),
        });
    }
    let NamedTurn { scope, turn, conversation } = named;
    // The user and conversation of a derived turn are those of other feedback.
    let Some(context) = context.filter(|context| !context.derived) else {
        return match trust {
            Trust::Backend => Ok(TurnPlace { scope, turn, conversation, user: None }),
            Trust::Widget => Err(EngineError::NotFound("turn")),
        };
    };
    let conversation = context.conversation.clone().or(conversation);
    Ok(TurnPlace { scope, turn, conversation, user: context.user.clone() })
}

fn other_conversation(turn: &TurnId, own: &ConversationId, named: &ConversationId) -> EngineError {
    EngineError::PreconditionFailed(format!(
        "turn {turn} belongs to conversation {own}, not {named}; send conversation_id {own}, or \
         leave it out"
    ))
}

fn overridden_field(field: &'static str, by: &str) -> Warning {
    let detail = format!("{field} is ignored, because {by} was sent as well");
    Warning { code: WarningCode::OverriddenField, field, detail }
}
