//! Event in: capture, commit. (Detection and learning join here.)
//!
//! ```text
//! raw event --accept--> event --redact, and what follows from it--> write --commit--> outcome --> receipt
//! ```
//!
//! The other doors do the same with what they take in: `turn.rs`, `react.rs`, `decide.rs`.

use ingest::RawEvent;
use model::{
    Body, ClaimSpace, Entry, Event, Finding, FoundRetry, InteractionKind, Mac, Need, RetryIntent,
    Scope, Severity, Source, Type, UnitInterval, Write,
};

use crate::error::FlowError;
use crate::feedback::Feedback;
use crate::privacy::demo_tenant::refuse_mark;
use crate::receipt::{Receipt, RequestKey};
use crate::retriable::log_retriable;

/// Writes of one batch that share a transaction; small enough that others need not wait long.
const BATCH_CHUNK: usize = 1000;

/// An event on its way in.
#[derive(Clone, Debug)]
pub struct Incoming {
    /// What it says.
    pub raw: RawEvent,
    /// The MAC of the body it came in, by `Feedback::fingerprint`.
    pub mac: Mac,
    /// The request's own key.
    pub key: Option<RequestKey>,
    /// How far its sender is trusted.
    pub trust: Trust,
}

/// Who sends an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// A backend of the application: it may say whatever fits.
    Backend,
    /// A page that anybody can open: it may say what its user does to a turn that is there.
    Widget,
}

impl Feedback {
    /// Takes one event through the whole flow. When this returns, the event is on disk.
    pub async fn record(&self, scope: &Scope, incoming: Incoming) -> Result<Receipt, FlowError> {
        let write = self.prepare(scope, incoming)?;
        self.core.commit_one(write).await
    }

    /// Stores many prepared writes and says of each what became of it. A failure of the store in
    /// the middle leaves the earlier ones stored, and says so. If they came with a key, the first
    /// one has it: a key that stood for something else stops all of them.
    pub async fn record_all(
        &self,
        writes: Vec<Write>,
    ) -> Result<Vec<Result<Receipt, FlowError>>, FlowError> {
        let mut receipts = Vec::with_capacity(writes.len());
        let mut writes = writes.into_iter().peekable();
        let has_key =
            |write: &Write| write.claims.iter().any(|claim| claim.space == ClaimSpace::RequestKey);
        if let Some(first) = writes.next_if(has_key) {
            match self.core.commit_one(first).await {
                Err(FlowError::Conflict(ClaimSpace::RequestKey)) => {
                    return Err(FlowError::Conflict(ClaimSpace::RequestKey));
                }
                other => receipts.push(other),
            }
        }
        while writes.peek().is_some() {
            let chunk: Vec<Write> = writes.by_ref().take(BATCH_CHUNK).collect();
            let size = chunk.len();
            match self.core.commit(chunk).await {
                Ok(some) => receipts.extend(some),
                Err(error) => {
                    log_retriable(error, "part of a batch was not stored; its sender is told");
                    receipts.extend((0..size).map(|_| Err(FlowError::NotStored)));
                }
            }
        }
        Ok(receipts)
    }

    /// Checks an event and makes the write that would store it.
    pub fn prepare(&self, scope: &Scope, incoming: Incoming) -> Result<Write, FlowError> {
        let Incoming { raw, mac, key, trust } = incoming;
        let now = self.core.clock.now();
        let event = ingest::accept(scope, raw, now, || self.core.ids.event_id(now))?;
        refuse_mark(&event)?;
        let mut write = self.core.build_write(event, mac, key);
        match trust {
            Trust::Backend => {}
            Trust::Widget => {
                write.needs.push(widget_need(&write.entry.event)?);
                // Its time is ours, and it cannot find out or use up anybody's ids.
                write.entry.event.ts = now;
            }
        }
        write.more.extend(self.regenerated(&write.entry.event));
        write.more.extend(self.sentiment_entry(&write.entry.event));
        Ok(write)
    }

    /// Asking for another answer by a button is asking again.
    fn regenerated(&self, event: &Event) -> Option<Entry> {
        let Ok(Body::Interaction(interaction)) = Body::read(event.kind, &event.data) else {
            return None;
        };
        let turn = event.turn.clone()?;
        (interaction.kind == InteractionKind::Regenerate).then(|| {
            let finding = Finding::Retry(FoundRetry {
                detector: self.core.detectors.retry_version(),
                detected_in: None,
                similarity: UnitInterval::ONE,
                delay_seconds: None,
                intent: RetryIntent::Dissatisfied,
            });
            self.core.finding_entry(event, Some(turn), &finding)
        })
    }
}

/// What a widget sends must be its user's doing, on a turn that is there.
fn widget_need(event: &Event) -> Result<Need, FlowError> {
    let by_user = matches!(
        event.kind.source,
        Source::UserRating | Source::UserComment | Source::UserInteraction
    );
    let of_user = matches!(
        event.kind.event_type,
        Type::Explicit | Type::UserExplicit | Type::Implicit | Type::Interaction
    );
    let claims_more = event.severity != Severity::Info
        || ["origin", "confidence"].iter().any(|name| event.data.contains_key(*name));
    if !by_user || !of_user || claims_more || event.turn.is_none() {
        return Err(FlowError::NotForWidgets);
    }
    Ok(Need::Turn(event.conversation.clone()))
}

#[cfg(test)]
mod tests {
    use crate::Engine;
    use model::Timestamp;
    use serde_json::json;

    use super::*;
    use crate::test_engine::{NOW, TestEngine, open_test_engine};

    fn incoming(engine: &Engine, at: Timestamp) -> Incoming {
        let data = json!({"comment": "as an application embeds it"});
        let raw = RawEvent {
            event_type: "explicit".into(),
            source: "user_comment".into(),
            category: "quality".into(),
            timestamp: Some(at.to_string()),
            data: data.as_object().cloned().unwrap_or_default(),
            ..RawEvent::default()
        };
        let mac = engine.core.fingerprint("event", &data);
        Incoming { raw, mac, key: None, trust: Trust::Backend }
    }

    #[tokio::test]
    async fn an_embedded_engine_goes_by_the_clock_it_was_given() {
        let folder = tempfile::tempdir().unwrap();
        let TestEngine { engine, clock, .. } = open_test_engine(folder.path()).await;
        let scope = Scope::default();
        let ahead = NOW.plus_secs(301);
        let early = engine.feedback.record(&scope, incoming(&engine, ahead)).await;
        assert!(matches!(early, Err(FlowError::Capture(_))), "{early:?}");
        clock.advance_secs(1);
        let receipt = engine.feedback.record(&scope, incoming(&engine, ahead)).await.unwrap();
        let stored = engine.feedback.event(&scope, &receipt.id).await.unwrap().unwrap();
        assert_eq!((stored.event.ts, stored.event.received_at), (ahead, NOW.plus_secs(1)));
    }
}
