//! The story while it is being told: what has been, and what is still to come.

use std::collections::BTreeMap;

use model::Timestamp;

use crate::cast::Person;
use crate::doors::{Doors, Place};
use crate::story::{Gesture, Message, Talk};

/// What happens at a moment.
#[derive(Debug)]
pub(crate) enum Beat {
    /// Somebody says something.
    Says {
        talk: usize,
        message: Message,
    },
    /// Somebody does something with an answer.
    Does {
        place: Place,
        gesture: Gesture,
        answer: String,
    },
    /// What happens by itself.
    Round,
    Upgrade,
    Start(&'static str),
    Complete(&'static str),
    /// Messages arrive that nobody can read.
    Garbled(u32),
    /// People look at what the machine thought.
    Reviews,
}

/// What is still to be told, in order.
#[derive(Debug)]
pub(crate) struct Agenda {
    beats: BTreeMap<(Timestamp, u64), Beat>,
    number: u64,
    end: Timestamp,
}

impl Agenda {
    /// Nothing yet; the story is over at this moment.
    pub(crate) fn until(end: Timestamp) -> Self {
        Self { beats: BTreeMap::new(), number: 0, end }
    }

    /// What comes next, and when.
    pub(crate) fn next(&mut self) -> Option<(Timestamp, Beat)> {
        self.beats.pop_first().map(|((at, _), beat)| (at, beat))
    }

    /// Something is to be told, unless the story is over by then.
    pub(crate) fn put(&mut self, at: Timestamp, beat: Beat) {
        self.number += 1;
        if at <= self.end {
            self.beats.insert((at, self.number), beat);
        }
    }
}

/// The story as it is being told.
pub(crate) struct Telling<'a> {
    pub(crate) doors: Doors<'a>,
    pub(crate) now: Timestamp,
    pub(crate) people: Vec<Person>,
    pub(crate) talks: Vec<Talk>,
    pub(crate) agenda: Agenda,
    pub(crate) turns: u64,
    /// Turns whose answers somebody complained about.
    pub(crate) disliked: Vec<String>,
}
