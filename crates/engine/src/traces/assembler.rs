//! The assembler: turns complete traces into turns, in the order of their start.
//!
//! The leader runs it. Traces that wait are a projection, so that it continues after a restart.
//! Turn ids follow from trace ids: a trace that is assembled twice is stored once.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::stream::{self, StreamExt};
use ingest::{
    AssembledTrace, AssembledTurn, FindingPlace, RawEvent, TraceBatch, accept_event, assemble_trace,
};
use model::{Body, Finding, FoundTrace, Mac, Need, Position, Scope, TurnId, Write};
use serde_json::json;
use store::{PendingTrace, TraceDeadlines};

use crate::error::EngineError;
use crate::retriable::log_retriable;
use crate::tasks::StopSignal;
use crate::traces::Traces;
use crate::turns::open::{Include, IncomingHalf, IncomingTurn};

/// A trace without a root is assembled this long after its last spans.
const SILENCE_SECS: i64 = 10;
/// A trace without a root is assembled this long after its first spans.
const PATIENCE_SECS: i64 = 60;
/// Traces per round.
const ROUND_TRACES: usize = 256;
/// Conversations that are stored at the same time.
const CONCURRENCY: usize = 64;
/// The interval at which deadlines are checked.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// A trace with its result.
struct DueTrace {
    scope: Scope,
    turn: TurnId,
    upto: Position,
    read_at: Position,
    result: AssembledTrace,
}

impl Traces {
    /// Starts the assembler. Call it once, before serving.
    pub(crate) fn spawn_assembler(self: &Arc<Self>) {
        let traces = Arc::clone(self);
        self.core.tasks.spawn_task(|stop| run_assembler(traces, stop));
    }

    /// Assembles one round of due traces. Returns how many are done.
    pub(crate) async fn assemble_due(&self) -> Result<usize, EngineError> {
        let now = self.core.clock.now();
        let deadlines = TraceDeadlines {
            last_before: now.plus_secs(-SILENCE_SECS),
            first_before: now.plus_secs(-PATIENCE_SECS),
        };
        let due = self.core.store.due_traces(deadlines, ROUND_TRACES).await?;
        if due.is_empty() {
            return Ok(0);
        }
        // Reading texts takes long for a full round.
        let assembled = tokio::task::spawn_blocking(|| due.into_iter().map(assemble).collect());
        let assembled: Vec<DueTrace> = assembled.await.map_err(|_| EngineError::NotStored)?;
        let lines = split_conversations(assembled);
        let stored = stream::iter(lines).map(|line| self.store_line(line));
        let done: Vec<Vec<Write>> = stored.buffer_unordered(CONCURRENCY).collect().await;
        self.core.commit_writes(done.into_iter().flatten().collect()).await
    }

    /// Stores the traces of one conversation one after the other. Returns the writes that end their
    /// waiting. A trace that could not be stored waits for the next round, and so do those after it.
    async fn store_line(&self, line: Vec<DueTrace>) -> Vec<Write> {
        let mut ended = Vec::with_capacity(line.len());
        for trace in line {
            let (scope, turn, upto) = (trace.scope.clone(), trace.turn.clone(), trace.upto);
            if let Err(error) = self.store_trace(trace).await {
                log_retriable(error, "a trace could not be stored as a turn; retrying");
                break;
            }
            ended.push(self.build_end(scope, turn, upto));
        }
        ended
    }

    async fn store_trace(&self, trace: DueTrace) -> Result<(), EngineError> {
        let DueTrace { scope, turn, upto: _, read_at, result } = trace;
        // The words of a user who was erased since are not stored again.
        let need = Need::PendingTrace { trace: turn.clone(), read_at };
        let stored = match result {
            AssembledTrace::Nothing => Ok(()),
            AssembledTrace::Measurement(raw) => {
                self.store_measurement(&scope, &turn, *raw, need).await
            }
            AssembledTrace::Turn(assembled) => {
                self.store_turn(&scope, &turn, *assembled, need).await
            }
        };
        match stored {
            Ok(()) => Ok(()),
            Err(error @ (EngineError::Store(_) | EngineError::NotStored)) => Err(error),
            // The application sent the turn itself, or a dead letter keeps it.
            Err(EngineError::Conflict(_) | EngineError::TurnTaken { .. }) => Ok(()),
            Err(EngineError::DeadLettered) => Ok(()),
            Err(error) => {
                tracing::error!(%error, %turn, "a trace is invalid as a turn; its spans stay in the log");
                Ok(())
            }
        }
    }

    async fn store_turn(
        &self,
        scope: &Scope,
        turn: &TurnId,
        assembled: AssembledTurn,
        need: Need,
    ) -> Result<(), EngineError> {
        let incoming = self.build_turn(turn, &assembled);
        let opened = match self.turns.open_turn_if(scope, incoming, Some(need.clone())).await {
            // Feedback without a conversation may have come before a trace without one.
            Err(EngineError::TurnTaken { conversation, .. }) if !assembled.has_conversation => {
                let mut moved = assembled;
                moved.opening.conversation_id = Some(conversation.to_string());
                self.turns.open_turn_if(scope, self.build_turn(turn, &moved), Some(need)).await
            }
            other => other,
        };
        if !opened?.replayed {
            self.counters.assembled.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    /// The MACs follow from the trace: what came first stays, and later spans add what is missing.
    fn build_turn(&self, turn: &TurnId, assembled: &AssembledTurn) -> IncomingTurn {
        let mac = |half| self.core.fingerprint(half, &json!(["trace", turn.as_str()]));
        let AssembledTurn { opening, completion, .. } = assembled.clone();
        let completion = completion.map(|raw| IncomingHalf { raw, mac: mac("completion") });
        IncomingTurn {
            opening: IncomingHalf { raw: opening, mac: mac("turn") },
            completion,
            key: None,
            include: Include::default(),
            router: None,
        }
    }

    async fn store_measurement(
        &self,
        scope: &Scope,
        turn: &TurnId,
        raw: RawEvent,
        need: Need,
    ) -> Result<(), EngineError> {
        let now = self.core.clock.now();
        let id = self.core.derive_event_id("measured", &json!(turn.as_str()))?;
        let event = accept_event(scope, raw, now, || id)?;
        let mac = self.core.fingerprint("measured", &json!(turn.as_str()));
        let mut write = self.core.build_write(event, mac, None);
        write.needs.push(need);
        self.core.commit_one(write).await.map(drop)
    }

    fn build_end(&self, scope: Scope, turn: TurnId, upto: Position) -> Write {
        let now = self.core.clock.now();
        let place = FindingPlace { scope, turn: Some(turn), conversation: None, user: None };
        let finding = Finding::Trace(FoundTrace { upto: upto.0 });
        let event = ingest::finding_event(place, finding, self.core.ids.event_id(now), now, now);
        self.core.build_write(event, Mac([0; 16]), None)
    }
}

fn assemble(pending: PendingTrace) -> DueTrace {
    let PendingTrace { scope, turn, batches, upto, read_at } = pending;
    let batches: Vec<TraceBatch<'_>> = batches.iter().filter_map(as_batch).collect();
    let result = assemble_trace(&turn, &batches);
    DueTrace { scope, turn, upto, read_at, result }
}

fn as_batch(stored: &store::StoredEvent) -> Option<TraceBatch<'_>> {
    let event = &*stored.event;
    let Body::Spans(batch) = &event.body else { return None };
    Some(TraceBatch {
        user: event.user.as_ref(),
        conversation: event.conversation.as_ref(),
        received_at: event.received_at,
        spans: &batch.spans,
    })
}

/// The traces of each conversation by their start, so that a message judges the answer before it.
fn split_conversations(traces: Vec<DueTrace>) -> Vec<Vec<DueTrace>> {
    let mut lines: HashMap<(Scope, String), Vec<DueTrace>> = HashMap::new();
    for trace in traces {
        let conversation = match &trace.result {
            AssembledTrace::Turn(turn) => turn.opening.conversation_id.clone(),
            AssembledTrace::Measurement(_) | AssembledTrace::Nothing => None,
        };
        let name = conversation.unwrap_or_else(|| trace.turn.to_string());
        lines.entry((trace.scope.clone(), name)).or_default().push(trace);
    }
    let start = |trace: &DueTrace| match &trace.result {
        AssembledTrace::Turn(turn) => Some(turn.started_at),
        AssembledTrace::Measurement(_) | AssembledTrace::Nothing => None,
    };
    let mut lines: Vec<Vec<DueTrace>> = lines.into_values().collect();
    lines.iter_mut().for_each(|line| line.sort_by_key(start));
    lines
}

async fn run_assembler(traces: Arc<Traces>, mut stop: StopSignal) {
    while traces.cluster.leadership.wait_until_leader(&mut stop).await {
        match traces.assemble_due().await {
            Ok(1..) => continue,
            Ok(0) => {}
            Err(error) => log_retriable(error, "traces could not be assembled; retrying"),
        }
        tokio::select! {
            _ = stop.changed() => {}
            () = traces.arrived.notified() => {}
            () = tokio::time::sleep(CHECK_INTERVAL) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use ingest::RawSpan;
    use serde_json::json;

    use super::*;
    use crate::Engine;
    use crate::test_engine::{NOW, TestEngine, open_engine, open_test_engine};

    /// A model call with a parent that never comes.
    fn call(trace: &str, attributes: &serde_json::Value) -> RawSpan {
        RawSpan {
            trace_id: trace.into(),
            span_id: "s1".into(),
            parent_id: Some("s0".into()),
            name: "chat".into(),
            started_at: NOW.as_micros(),
            ended_at: NOW.as_micros() + 1000,
            attributes: attributes.as_object().unwrap().clone(),
            ..RawSpan::default()
        }
    }

    async fn store(engine: &Engine, spans: Vec<RawSpan>) {
        let spans = engine.traces.prepare_spans(&Scope::default(), spans).unwrap();
        engine.traces.store_spans(spans).await.unwrap();
    }

    async fn is_complete(engine: &Engine, turn: &str) -> Option<bool> {
        let turn = TurnId::new(turn).unwrap();
        let stored = engine.turns.load_turn(&Scope::default(), turn).await.unwrap();
        stored.map(|turn| turn.head.completed)
    }

    #[tokio::test]
    async fn trace_without_a_root_waits_for_silence_also_across_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let TestEngine { engine, store: log, clock } = open_test_engine(folder.path()).await;
        let asked = json!({"gen_ai.operation.name": "chat",
            "gen_ai.input.messages": "[{\"role\": \"user\", \"content\": \"hi\"}]"});
        store(&engine, vec![call("t1", &asked)]).await;
        drop(engine);
        let engine = open_engine(Arc::clone(&log), Arc::clone(&clock)).await;
        clock.advance_secs(SILENCE_SECS);
        assert_eq!(engine.traces.assemble_due().await.unwrap(), 0);
        clock.advance_secs(1);
        assert_eq!(engine.traces.assemble_due().await.unwrap(), 1);
        assert_eq!(is_complete(&engine, "t1").await, Some(false), "there is no answer");
        assert_eq!(log.pending_traces().await.unwrap(), 0);
        // A later span adds the answer.
        let answer = json!({"openinference.span.kind": "LLM", "output.value": "Hello."});
        let later = RawSpan { span_id: "s2".into(), ..call("t1", &answer) };
        store(&engine, vec![later]).await;
        clock.advance_secs(SILENCE_SECS + 1);
        assert_eq!(engine.traces.assemble_due().await.unwrap(), 1);
        assert_eq!(is_complete(&engine, "t1").await, Some(true));
        assert!(!engine.rebuild(|_, _| {}).await.unwrap().changed);
    }

    #[tokio::test]
    async fn busy_trace_without_a_root_ends_after_a_while() {
        let folder = tempfile::tempdir().unwrap();
        let TestEngine { engine, clock, .. } = open_test_engine(folder.path()).await;
        for n in 0..=PATIENCE_SECS / 5 {
            let said =
                json!({"openinference.span.kind": "LLM", "input.value": "a", "output.value": "b"});
            let span = RawSpan { span_id: format!("s{n}"), ..call("t1", &said) };
            store(&engine, vec![span]).await;
            assert_eq!(engine.traces.assemble_due().await.unwrap(), 0, "{n}");
            clock.advance_secs(5);
        }
        assert_eq!(engine.traces.assemble_due().await.unwrap(), 1);
        assert_eq!(is_complete(&engine, "t1").await, Some(true));
    }

    #[tokio::test]
    async fn clock_that_is_ahead_moves_the_whole_trace() {
        let folder = tempfile::tempdir().unwrap();
        let TestEngine { engine, .. } = open_test_engine(folder.path()).await;
        let said =
            json!({"openinference.span.kind": "LLM", "input.value": "a", "output.value": "b"});
        let day = 86_400_000_000;
        let ahead = RawSpan {
            parent_id: None,
            started_at: NOW.as_micros() + day - 2_000_000,
            ended_at: NOW.as_micros() + day,
            ..call("t1", &said)
        };
        store(&engine, vec![ahead]).await;
        assert_eq!(engine.traces.assemble_due().await.unwrap(), 1);
        let turn = TurnId::new("t1").unwrap();
        let stored = engine.turns.load_turn(&Scope::default(), turn).await.unwrap().unwrap();
        assert_eq!(stored.head.ts, NOW.plus_secs(-2));
        let done = stored.events.iter().find_map(|stored| stored.event.body.completion());
        assert_eq!(done.unwrap().latency_ms, Some(2000.0));
    }
}
