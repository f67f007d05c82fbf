//! State of a running demo and the queue of its events.

use std::collections::BTreeMap;

use model::Timestamp;

use crate::client::{DemoClient, TurnRef};
use crate::conversation::{Conversation, MessageKind, UserGesture};
use crate::people::DemoUser;

/// A scheduled event.
#[derive(Debug)]
pub(crate) enum DemoEvent {
    /// A user sends a message.
    Says {
        talk: usize,
        message: MessageKind,
    },
    /// A user reacts to an answer.
    Does {
        place: TurnRef,
        gesture: UserGesture,
        answer: String,
    },
    /// The background jobs run.
    Round,
    Upgrade,
    Start(&'static str),
    Complete(&'static str),
    /// This many invalid Kafka messages arrive.
    Garbled(u32),
    /// Reviewers check detected verdicts.
    Reviews,
}

/// Scheduled events, ordered by time.
#[derive(Debug)]
pub(crate) struct EventQueue {
    beats: BTreeMap<(Timestamp, u64), DemoEvent>,
    number: u64,
    end: Timestamp,
}

impl EventQueue {
    /// An empty queue that drops events after `end`.
    pub(crate) fn ending_at(end: Timestamp) -> Self {
        Self { beats: BTreeMap::new(), number: 0, end }
    }

    pub(crate) fn pop_next(&mut self) -> Option<(Timestamp, DemoEvent)> {
        self.beats.pop_first().map(|((at, _), beat)| (at, beat))
    }

    pub(crate) fn schedule(&mut self, at: Timestamp, beat: DemoEvent) {
        self.number += 1;
        if at <= self.end {
            self.beats.insert((at, self.number), beat);
        }
    }
}

/// State of a running demo.
pub(crate) struct DemoRun<'a> {
    pub(crate) doors: DemoClient<'a>,
    pub(crate) now: Timestamp,
    pub(crate) people: Vec<DemoUser>,
    pub(crate) talks: Vec<Conversation>,
    pub(crate) agenda: EventQueue,
    pub(crate) turns: u64,
    /// Turns that a user complained about.
    pub(crate) disliked: Vec<String>,
}
