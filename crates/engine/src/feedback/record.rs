//! Records events: the main write path.
//!
//! ```text
//! raw event --accept--> event --redact, compute changes--> write --commit--> outcome --> receipt
//! ```
//!
//! Turns, reactions and decisions take the same path.

use ingest::RawEvent;
use model::{
    Body, ClaimSpace, Entry, Event, Finding, FoundRetry, InteractionKind, Mac, Need, Redacted,
    RetryIntent, Scope, Severity, Source, Type, UnitInterval, Write,
};

use crate::error::EngineError;
use crate::feedback::Feedback;
use crate::feedback::targets::{FeedbackTarget, StoredTarget};
use crate::privacy::demo_tenant::reject_demo_marker;
use crate::receipt::{Receipt, RequestKey, TurnState};
use crate::retriable::log_retriable;
use crate::warning::Warning;

/// Writes of a batch that share one transaction. Small enough not to delay other writers.
const BATCH_WRITES: usize = 1000;

/// An event as received.
#[derive(Clone, Debug)]
pub struct IncomingEvent {
    pub raw: RawEvent,
    /// The MAC of the request body, by `Engine::fingerprint`.
    pub mac: Mac,
    pub key: Option<RequestKey>,
    pub trust: Trust,
}

/// The sender's trust level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// The application's backend, which may send any event.
    Backend,
    /// A public web page, which may send only its user's feedback on an existing turn.
    Widget,
}

impl Feedback {
    /// Stores one event. When this returns, the event is on disk.
    pub async fn record(
        &self,
        scope: &Scope,
        incoming: IncomingEvent,
    ) -> Result<Receipt, EngineError> {
        let write = self.prepare(scope, incoming)?;
        self.join_and_commit_one(write).await
    }

    /// Stores one event and warns when it waits for its turn or finds none.
    pub async fn record_with_warnings(
        &self,
        scope: &Scope,
        incoming: IncomingEvent,
    ) -> Result<(Receipt, Vec<Warning>), EngineError> {
        let trust = incoming.trust;
        let write = self.prepare(scope, incoming)?;
        let target = FeedbackTarget::from_write(&write).filter(|_| trust == Trust::Backend);
        let receipt = self.join_and_commit_one(write).await?;
        let stored = |target| StoredTarget { index: 0, receipt: receipt.clone(), target };
        let warnings = self.check_targets(target.into_iter().map(stored).collect()).await?;
        Ok((receipt, warnings.into_iter().map(|(_, warning)| warning).collect()))
    }

    /// Stores prepared writes and returns one result each. If the store fails midway, earlier
    /// writes stay stored. An idempotency key belongs to the first write, and its conflict refuses
    /// all of them.
    pub async fn record_batch(
        &self,
        writes: Vec<Write>,
    ) -> Result<Vec<Result<Receipt, EngineError>>, EngineError> {
        let mut receipts = Vec::with_capacity(writes.len());
        let mut writes = writes.into_iter().peekable();
        let has_key =
            |write: &Write| write.claims.iter().any(|claim| claim.space == ClaimSpace::RequestKey);
        if let Some(first) = writes.next_if(has_key) {
            match self.join_and_commit_one(first).await {
                Err(EngineError::Conflict(ClaimSpace::RequestKey)) => {
                    return Err(EngineError::Conflict(ClaimSpace::RequestKey));
                }
                other => receipts.push(other),
            }
        }
        while writes.peek().is_some() {
            let chunk: Vec<Write> = writes.by_ref().take(BATCH_WRITES).collect();
            let size = chunk.len();
            match self.join_and_commit(chunk).await {
                Ok(some) => receipts.extend(some),
                Err(error) => {
                    log_retriable(error, "part of a batch was not stored; the response names it");
                    receipts.extend((0..size).map(|_| Err(EngineError::NotStored)));
                }
            }
        }
        Ok(receipts)
    }

    /// Completes events from their turns and commits them together.
    pub(super) async fn join_and_commit(
        &self,
        mut writes: Vec<Write>,
    ) -> Result<Vec<Result<Receipt, EngineError>>, EngineError> {
        let states = self.join_turns(&mut writes).await?;
        let mut receipts = self.core.commit(writes).await?;
        for (receipt, state) in receipts.iter_mut().zip(states) {
            receipt.iter_mut().for_each(|receipt| receipt.turn = resolve_state(receipt, state));
        }
        Ok(receipts)
    }

    async fn join_and_commit_one(&self, write: Write) -> Result<Receipt, EngineError> {
        let mut receipts = self.join_and_commit(vec![write]).await?;
        receipts.pop().unwrap_or(Err(EngineError::NotStored))
    }

    /// Validates an event and builds its write.
    pub fn prepare(&self, scope: &Scope, incoming: IncomingEvent) -> Result<Write, EngineError> {
        let IncomingEvent { raw, mac, key, trust } = incoming;
        let now = self.core.clock.now();
        let claims_more = ["origin", "confidence"].iter().any(|name| raw.data.contains_key(*name));
        let mut event = ingest::accept_event(scope, raw, now, || self.core.ids.event_id(now))?;
        reject_demo_marker(&event)?;
        let need = match trust {
            Trust::Backend => None,
            Trust::Widget if claims_more => return Err(EngineError::WidgetNotAllowed),
            Trust::Widget => {
                // Widgets cannot set the time or claim ids.
                event.ts = now;
                Some(check_widget_event(&event)?)
            }
        };
        self.name_quoted_turn(&mut event)?;
        let mut write = self.core.build_write(event, mac, key);
        write.needs.extend(need);
        write.more.extend(self.regeneration_entry(&write.entry.event));
        write.more.extend(self.sentiment_entry(&write.entry.event));
        Ok(write)
    }

    /// A click on "regenerate" counts as a retry.
    fn regeneration_entry(&self, event: &Redacted<Event>) -> Option<Entry> {
        let Body::Interaction(interaction) = &event.body else { return None };
        let turn = event.turn.clone()?;
        (interaction.kind == InteractionKind::Regenerate).then(|| {
            let finding = Finding::Retry(FoundRetry {
                detector: self.core.detectors.retry_version(),
                detected_in: None,
                similarity: UnitInterval::ONE,
                delay_seconds: None,
                intent: RetryIntent::Dissatisfied,
            });
            self.core.finding_entry(event, Some(turn), finding)
        })
    }
}

/// The state of the turn before and after the commit. A repeat may have found the turn in another
/// conversation.
fn resolve_state(receipt: &Receipt, before: TurnState) -> TurnState {
    match (receipt.turn, before) {
        (TurnState::Unchecked, TurnState::Unsent) if receipt.replayed => TurnState::Unchecked,
        (TurnState::Unchecked, before) => before,
        (decided, _) => decided,
    }
}

/// A widget's event must be its user's feedback on an existing turn.
fn check_widget_event(event: &Event) -> Result<Need, EngineError> {
    let by_user = matches!(
        event.kind.source,
        Source::UserRating | Source::UserComment | Source::UserInteraction
    );
    let of_user = matches!(
        event.kind.event_type,
        Type::Explicit | Type::UserExplicit | Type::Implicit | Type::Interaction
    );
    let claims_more = event.severity != Severity::Info;
    if !by_user || !of_user || claims_more || event.turn.is_none() {
        return Err(EngineError::WidgetNotAllowed);
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

    fn incoming(engine: &Engine, at: Timestamp) -> IncomingEvent {
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
        IncomingEvent { raw, mac, key: None, trust: Trust::Backend }
    }

    #[tokio::test]
    async fn embedded_engine_uses_the_given_clock() {
        let folder = tempfile::tempdir().unwrap();
        let TestEngine { engine, clock, .. } = open_test_engine(folder.path()).await;
        let scope = Scope::default();
        let ahead = NOW.plus_secs(301);
        let early = engine.feedback.record(&scope, incoming(&engine, ahead)).await;
        assert!(matches!(early, Err(EngineError::Capture(_))), "{early:?}");
        clock.advance_secs(1);
        let receipt = engine.feedback.record(&scope, incoming(&engine, ahead)).await.unwrap();
        let stored = engine.feedback.event(&scope, &receipt.id).await.unwrap().unwrap();
        assert_eq!((stored.event.ts, stored.event.received_at), (ahead, NOW.plus_secs(1)));
    }
}
