//! The spans of one trace: without repeats, in order, with their relations.

use std::collections::{HashMap, HashSet};

use model::{ConversationId, Span, SpanKind, Timestamp, UserId};

/// Tolerated clock skew of a client. Beyond it, all times of the trace are moved.
const MAX_AHEAD_MICROS: i64 = 5 * 60 * 1_000_000;

/// Spans of a trace that arrived together.
#[derive(Clone, Copy, Debug)]
pub struct TraceBatch<'a> {
    pub user: Option<&'a UserId>,
    pub conversation: Option<&'a ConversationId>,
    pub received_at: Timestamp,
    /// Empty when they were erased.
    pub spans: &'a [Span],
}

/// All spans of a trace, by start time. The order and number of its batches do not matter.
pub(super) struct TraceSpans<'a> {
    spans: Vec<&'a Span>,
    by_id: HashMap<&'a str, usize>,
    /// Microseconds by which the client's clock is ahead.
    ahead: i64,
}

impl<'a> TraceSpans<'a> {
    pub(super) fn new(batches: &[TraceBatch<'a>]) -> Self {
        let mut known: HashMap<&str, &Span> = HashMap::new();
        for span in batches.iter().flat_map(|batch| batch.spans) {
            let one = known.entry(span.span_id.as_str()).or_insert(span);
            // Of two versions, the one that ended later is complete.
            if span.ended_at > one.ended_at {
                *one = span;
            }
        }
        let mut spans: Vec<&Span> = known.into_values().collect();
        spans.sort_by(|a, b| (a.started_at, &a.span_id).cmp(&(b.started_at, &b.span_id)));
        let by_id =
            spans.iter().enumerate().map(|(at, span)| (span.span_id.as_str(), at)).collect();
        let skew = |batch: &TraceBatch<'_>| {
            let end = batch.spans.iter().map(|span| span.ended_at).max()?;
            Some(end.as_micros() - batch.received_at.as_micros())
        };
        let ahead = batches.iter().filter_map(skew).max().unwrap_or(0);
        let ahead = if ahead > MAX_AHEAD_MICROS { ahead } else { 0 };
        Self { spans, by_id, ahead }
    }

    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &'a Span> + '_ {
        self.spans.iter().copied()
    }

    pub(super) fn of_kind(&self, kind: SpanKind) -> impl DoubleEndedIterator<Item = &'a Span> + '_ {
        self.iter().filter(move |span| span.kind == kind)
    }

    /// The span of the whole request. Without one, the first span whose parent is unknown; in a
    /// cycle of parents, the first span.
    pub(super) fn root(&self) -> Option<&'a Span> {
        let flagged = |span: &&Span| span.root;
        let orphan = |span: &&Span| {
            span.parent_id.as_ref().is_none_or(|id| !self.by_id.contains_key(id.as_str()))
        };
        let without_parent = |span: &&Span| span.root && span.parent_id.is_none();
        self.iter()
            .find(without_parent)
            .or_else(|| self.iter().find(flagged))
            .or_else(|| self.iter().find(orphan))
            .or_else(|| self.iter().next())
    }

    /// Spans with a property that no span below them has.
    pub(super) fn leaves(&self, has: impl Fn(&Span) -> bool) -> Vec<&'a Span> {
        let mut above: HashSet<&str> = HashSet::new();
        for span in self.iter().filter(|span| has(span)) {
            let mut parent = span.parent_id.as_deref();
            while let Some(id) = parent
                && above.insert(id)
            {
                parent = self.by_id.get(id).and_then(|at| self.spans[*at].parent_id.as_deref());
            }
        }
        self.iter().filter(|span| has(span) && !above.contains(span.span_id.as_str())).collect()
    }

    /// The end of the last span.
    pub(super) fn end(&self) -> Option<Timestamp> {
        self.iter().map(|span| span.ended_at).max()
    }

    /// The time of the client, corrected when its clock is ahead.
    pub(super) fn correct(&self, time: Timestamp) -> Timestamp {
        Timestamp::from_micros(time.as_micros() - self.ahead)
    }
}

/// The id that the earliest batch names. Which batch arrives first does not matter.
pub(super) fn first_id<'a, T: Ord + ?Sized>(
    batches: &[TraceBatch<'a>],
    id: impl Fn(&TraceBatch<'a>) -> Option<&'a T>,
) -> Option<&'a T> {
    let start = |batch: &TraceBatch<'_>| batch.spans.iter().map(|span| span.started_at).min();
    batches.iter().filter_map(|batch| Some((start(batch)?, id(batch)?))).min().map(|(_, id)| id)
}
