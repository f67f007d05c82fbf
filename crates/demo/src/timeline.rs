//! State of a running demo and the queue of its events.

use std::collections::BTreeMap;

use model::Timestamp;

use crate::client::{DemoClient, TurnRef};
use crate::conversation::{Conversation, Gesture, MessageKind};
use crate::people::DemoUser;

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
