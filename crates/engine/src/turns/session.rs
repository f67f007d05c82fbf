//! Ends sessions after a silence, at the next message or in the sweep.

use detect::Utterance;
use ingest::FindingPlace;
use model::{
    Body, Category, Entry, Event, Finding, FoundSession, InteractionKind, Kind, Need, Redacted,
    Severity, Source, Timestamp, Type, Write,
};
use serde_json::json;
use store::{OpenSession, StoredExchange};

use crate::changes::build_entry;
use crate::core::build_redacted_write;
use crate::error::EngineError;
use crate::turns::Turns;

impl Turns {
    /// The write that ends the session before a message, if it has timed out.
    pub(crate) async fn end_session_before(
        &self,
        message: &Event,
        open: Option<&OpenSession>,
    ) -> Result<Option<Write>, EngineError> {
        let Some(open) = open.filter(|open| self.is_session_over(open, message.ts)) else {
            return Ok(None);
        };
        let turn = open.last_turn.clone();
        let last = self.core.store.exchanges_by_id(&open.scope, vec![turn]).await?.pop();
        Ok(Some(self.build_session_end(open, last.as_ref())))
    }

    fn is_session_over(&self, open: &OpenSession, at: Timestamp) -> bool {
        at.as_micros().saturating_sub(open.last_at.as_micros()) > self.silence_micros()
    }

    /// Session timeout in microseconds.
    pub(crate) fn silence_micros(&self) -> i64 {
        i64::try_from(self.core.detectors.verdict.session.as_micros()).unwrap_or(i64::MAX)
    }

    /// Builds the write that ends a session. The transaction skips it when the session has new
    /// activity or was already ended.
    pub(crate) fn build_session_end(
        &self,
        open: &OpenSession,
        last: Option<&StoredExchange>,
    ) -> Write {
        let now = self.core.clock.now();
        let turn = open.last_turn.clone();
        let said_goodbye =
            last.is_some_and(|last| detect::is_farewell(&Utterance::read(&last.opening.text)));
        let abandoned = open.left || (open.answered && !open.used && !said_goodbye);
        let finding = Finding::Session(FoundSession {
            started_at: open.started_at,
            last_at: open.last_at,
            turns: open.turns,
            abandoned,
        });
        let place = FindingPlace {
            scope: open.scope.clone(),
            turn: Some(turn.clone()),
            conversation: Some(open.conversation.clone()),
            user: last.and_then(|last| last.user.clone()),
        };
        let id = self.core.ids.event_id(now);
        let event = ingest::finding_event(place, finding, id, open.last_at, now);
        let event = Redacted::assert_no_user_text(event);
        let more = abandoned.then(|| self.abandonment_entry(&event));
        Write {
            needs: vec![Need::SilentSince(open.last_at)],
            more: more.into_iter().collect(),
            ..build_redacted_write(event, None, None)
        }
    }

    /// The interaction event of a user who left without using the last answer.
    fn abandonment_entry(&self, ended: &Redacted<Event>) -> Entry {
        let kind = Kind { event_type: Type::Interaction, source: Source::SessionAnalysis };
        let data = json!({"kind": InteractionKind::Abandonment});
        build_entry(ended.derive(|ended| Event {
            id: self.core.ids.event_id(ended.received_at),
            kind,
            severity: Severity::Info,
            category: Category::UserSatisfaction,
            body: Body::from_stored(kind, data.as_object().cloned().unwrap_or_default()),
            ..ended.clone()
        }))
    }
}
