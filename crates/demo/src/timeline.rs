//! State of a running demo: its clock and the queue of its events.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, Ordering};

use model::{Clock, Timestamp};

use crate::client::{DemoClient, TurnRef};
use crate::conversation::{Conversation, Gesture, MessageKind};
use crate::people::DemoUser;

/// The clock that the engine uses while the demo runs. It shows the simulated time.
#[derive(Debug)]
pub struct DemoClock(AtomicI64);

impl DemoClock {
    pub fn new(moment: Timestamp) -> Self {
        Self(AtomicI64::new(moment.as_micros()))
    }

    /// Advances the clock; it never goes backwards.
    pub(crate) fn advance_to(&self, moment: Timestamp) {
        self.0.fetch_max(moment.as_micros(), Ordering::SeqCst);
    }
}

impl Clock for DemoClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.load(Ordering::SeqCst))
    }
}

/// A scheduled event.
#[derive(Debug)]
pub(crate) enum DemoEvent {
    /// A user sends a message.
    Message {
        conversation: usize,
        message: MessageKind,
    },
    /// A user reacts to an answer.
    Gesture {
        turn: TurnRef,
        gesture: Gesture,
        answer: String,
    },
    /// The background jobs run.
    Jobs,
    Upgrade,
    StartExperiment(&'static str),
    CompleteExperiment(&'static str),
    /// This many invalid Kafka messages arrive.
    InvalidMessages(u32),
    /// Reviewers check detected verdicts.
    Reviews,
}

/// Scheduled events, ordered by time.
#[derive(Debug)]
pub(crate) struct EventQueue {
    events: BTreeMap<(Timestamp, u64), DemoEvent>,
    number: u64,
    end: Timestamp,
}

impl EventQueue {
    /// An empty queue that drops events after `end`.
    pub(crate) fn ending_at(end: Timestamp) -> Self {
        Self { events: BTreeMap::new(), number: 0, end }
    }

    pub(crate) fn pop_next(&mut self) -> Option<(Timestamp, DemoEvent)> {
        self.events.pop_first().map(|((at, _), event)| (at, event))
    }

    pub(crate) fn schedule(&mut self, at: Timestamp, event: DemoEvent) {
        self.number += 1;
        if at <= self.end {
            self.events.insert((at, self.number), event);
        }
    }
}

/// State of a running demo.
pub(crate) struct DemoRun<'a> {
    pub(crate) client: DemoClient<'a>,
    pub(crate) now: Timestamp,
    pub(crate) people: Vec<DemoUser>,
    pub(crate) conversations: Vec<Conversation>,
    pub(crate) queue: EventQueue,
    pub(crate) turns: u64,
    /// Turns that a user complained about.
    pub(crate) complained_turns: Vec<String>,
}
