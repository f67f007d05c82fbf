//! Stores spans as they arrive: one event per trace and request.

use std::collections::HashMap;
use std::sync::atomic::Ordering;

use ingest::{RawSpan, ReadSpan, fit_foreign_id, read_span};
use model::{
    Body, Category, Claim, ClaimSpace, ConversationId, Event, Kind, Scope, Source, Span, SpanBatch,
    Timestamp, TurnId, Type, UserId, Write,
};
use serde_json::json;

use crate::core::{Core, build_redacted_write};
use crate::error::EngineError;
use crate::traces::Traces;

/// Spans of one trace in one request.
struct ArrivedTrace {
    spans: Vec<ReadSpan>,
    is_genai: bool,
}

/// Spans that are read and redacted, ready to be stored.
#[derive(Debug)]
pub struct PreparedSpans {
    writes: Vec<Write>,
    stored: u64,
    dropped: u64,
}

impl Traces {
    /// Stores spans. When this returns, they are durable. A repeated request stores nothing.
    pub async fn store_spans(&self, spans: PreparedSpans) -> Result<(), EngineError> {
        let PreparedSpans { writes, stored, dropped } = spans;
        self.counters.dropped.fetch_add(dropped, Ordering::Relaxed);
        if writes.is_empty() {
            return Ok(());
        }
        for receipt in self.core.commit(writes).await? {
            match receipt {
                // A dead letter is durable and can be replayed.
                Ok(_) | Err(EngineError::DeadLettered) => {}
                Err(error) => return Err(error),
            }
        }
        self.counters.stored.fetch_add(stored, Ordering::Relaxed);
        Ok(())
    }

    /// Reads the spans about generative AI, and the roots of their traces; drops the others. Takes
    /// long for many spans.
    pub fn prepare_spans(
        &self,
        scope: &Scope,
        raw: Vec<RawSpan>,
    ) -> Result<PreparedSpans, EngineError> {
        let now = self.core.clock.now();
        let (mut order, mut traces): (Vec<String>, HashMap<String, ArrivedTrace>) =
            Default::default();
        for span in raw.into_iter().map(|span| read_span(span, now)) {
            let trace = traces.entry(span.trace_id.clone()).or_insert_with(|| {
                order.push(span.trace_id.clone());
                ArrivedTrace { spans: Vec::new(), is_genai: false }
            });
            trace.is_genai |= span.is_genai;
            trace.spans.push(span);
        }
        let (mut writes, mut stored, mut dropped) = (Vec::new(), 0, 0);
        for id in order {
            let Some(ArrivedTrace { mut spans, is_genai }) = traces.remove(&id) else { continue };
            let all = spans.len() as u64;
            spans.retain(|span| is_genai && (span.is_genai || span.span.root));
            stored += spans.len() as u64;
            dropped += all - spans.len() as u64;
            if !spans.is_empty() {
                writes.push(self.core.build_span_write(scope, &id, spans, now)?);
            }
        }
        Ok(PreparedSpans { writes, stored, dropped })
    }
}

impl Core {
    /// The id of the event follows from the ids of its spans, so that a repeat is recognised.
    fn build_span_write(
        &self,
        scope: &Scope,
        trace: &str,
        spans: Vec<ReadSpan>,
        now: Timestamp,
    ) -> Result<Write, EngineError> {
        let ids: Vec<&str> = spans.iter().map(|span| span.span.span_id.as_str()).collect();
        let id = self.derive_event_id("spans", &json!([trace, ids]))?;
        let hash = |text: &str| self.hash_foreign_id(text);
        let conversation = best_id(spans.iter().filter_map(|span| span.conversation.as_ref()))
            .and_then(|id| fit_foreign_id(id, ConversationId::new, hash));
        let user = best_id(spans.iter().filter_map(|span| span.user.as_ref()))
            .and_then(|id| fit_foreign_id(id, UserId::new, hash));
        let turn = fit_foreign_id(trace, TurnId::new, hash);
        let spans: Vec<Span> = spans.into_iter().map(|span| span.span).collect();
        let ts = spans.iter().map(|span| span.started_at).min().unwrap_or(now);
        let body = Body::Spans(SpanBatch { root: spans.iter().any(|span| span.root), spans });
        let kind = Kind { event_type: Type::Log, source: Source::Trace };
        let event = Event::new(scope.clone(), id, (kind, Category::Quality), now, body);
        let event = self.redact(Event { user, conversation, turn, ts, ..event });
        let id = event.id.as_str().to_owned();
        let mut write = build_redacted_write(event, None, None);
        // Repeated spans are the same whatever their content.
        write.claims = vec![Claim { space: ClaimSpace::Event, id, mac: None }];
        Ok(write)
    }

    /// A keyed hash, since the id of a user may be guessed.
    fn hash_foreign_id(&self, text: &str) -> String {
        let mac = self.fingerprint("foreign id", &json!(text)).0;
        mac.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// The id under the best-ranked name.
fn best_id<'a>(ids: impl Iterator<Item = &'a (usize, String)>) -> Option<&'a str> {
    ids.min_by_key(|(rank, _)| *rank).map(|(_, id)| id.as_str())
}
