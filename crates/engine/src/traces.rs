//! Traces of other instrumentations: spans are stored as they arrive, and assembled into turns.
//!
//! ```text
//! request --read--> spans --one event per trace--> log --ack
//!                                                   |
//!           leader: due traces --assemble--> opened, completed --> finding "trace" (not pending)
//! ```

pub(crate) mod assembler;
pub(crate) mod record;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Notify;

use crate::cluster::Cluster;
use crate::core::Core;
use crate::core::commit::{CommitObserver, CommitSummary, ObserverFuture};
use crate::turns::Turns;

/// Owns the assembler. Traces that wait for it are in the store.
pub struct Traces {
    core: Arc<Core>,
    cluster: Arc<Cluster>,
    turns: Arc<Turns>,
    /// Spans were committed.
    arrived: Notify,
    counters: SpanCounters,
}

#[derive(Debug, Default)]
struct SpanCounters {
    stored: AtomicU64,
    dropped: AtomicU64,
    rejected: AtomicU64,
    assembled: AtomicU64,
}

/// Numbers since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpanCounts {
    pub stored: u64,
    /// Spans that are not about generative AI.
    pub dropped: u64,
    pub rejected: u64,
    /// Traces that became turns.
    pub assembled: u64,
}

impl Traces {
    pub(crate) fn new(core: &Arc<Core>, cluster: &Arc<Cluster>, turns: &Arc<Turns>) -> Self {
        Self {
            core: Arc::clone(core),
            cluster: Arc::clone(cluster),
            turns: Arc::clone(turns),
            arrived: Notify::new(),
            counters: SpanCounters::default(),
        }
    }

    /// Counts spans that the wire format could not identify.
    pub fn count_rejected(&self, spans: u64) {
        self.counters.rejected.fetch_add(spans, Ordering::Relaxed);
    }

    pub fn span_counts(&self) -> SpanCounts {
        let SpanCounters { stored, dropped, rejected, assembled } = &self.counters;
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        SpanCounts {
            stored: read(stored),
            dropped: read(dropped),
            rejected: read(rejected),
            assembled: read(assembled),
        }
    }
}

impl CommitObserver for Traces {
    fn on_commit<'a>(&'a self, commit: &'a CommitSummary) -> ObserverFuture<'a> {
        if commit.spans {
            self.arrived.notify_one();
        }
        Box::pin(std::future::ready(Ok(())))
    }
}
