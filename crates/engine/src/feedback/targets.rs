//! Checks whether the turns that feedback names exist.

use model::{Body, ConversationId, Fields, TurnId, Write};

use crate::error::EngineError;
use crate::feedback::Feedback;
use crate::feedback::turn_contexts::{NamedTurn, TurnContexts};
use crate::warning::{Warning, WarningCode};

/// The turn that an event is about.
#[derive(Clone, Debug)]
pub struct FeedbackTarget {
    named: NamedTurn,
    /// True when the event brings the question and the answer itself.
    is_quoted: bool,
}

impl FeedbackTarget {
    /// `None` for events that are no feedback on a turn, and for feedback that quotes its turn and
    /// names no conversation, because it needs no other turn.
    pub fn from_write(write: &Write) -> Option<Self> {
        let event = &write.entry.event;
        let fields = feedback_fields(&event.body)?;
        let is_quoted = fields.contains_key("query") && fields.contains_key("response");
        let named = NamedTurn::new(event, event.turn.as_ref()?);
        (named.conversation.is_some() || !is_quoted).then_some(Self { named, is_quoted })
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
        let named: Vec<NamedTurn> =
            targets.iter().map(|(_, target)| target.named.clone()).collect();
        let contexts = self.load_contexts(&named).await?;
        let mut warnings = Vec::new();
        for (number, target) in &targets {
            warnings
                .extend(self.check_target(target, &contexts)?.map(|warning| (*number, warning)));
        }
        warnings
            .iter()
            .for_each(|(_, warning)| self.core.count_warnings(std::slice::from_ref(warning)));
        Ok(warnings)
    }

    /// Compares stored feedback with its turn. `contexts` are read after the commit.
    fn check_target(
        &self,
        FeedbackTarget { named, is_quoted }: &FeedbackTarget,
        contexts: &TurnContexts,
    ) -> Result<Option<Warning>, EngineError> {
        let found = contexts.find(named);
        let own = found.and_then(|context| context.conversation.as_ref());
        if let Some(own) = own.filter(|own| named.is_elsewhere(Some(own))) {
            let fallbacks = self.list_fallback_turns(named)?;
            let joined = contexts.find_fallback(named, &fallbacks).map(|(turn, _)| turn);
            return Ok(Some(other_conversation(named, own, joined)));
        }
        let is_sent = found.is_some_and(|context| !context.derived);
        Ok((!is_sent && !is_quoted).then(|| Warning::unknown_turn("message_id")))
    }
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
