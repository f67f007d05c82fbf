//! Carries out what an event does to the projections. The same code runs when the event is stored
//! and when the projections are made again from the log, so the two cannot differ.

mod activity;
mod decision;
mod erase;
mod reaction;
mod rule;
mod turn;

use event::{Change, Event, Position, Timestamp};
use rusqlite::Connection;

use super::keys::{Key, PackedId, Table};
pub(super) use activity::DAY_MICROS;
pub(super) use erase::THEIRS;

/// The event that changes are applied for, by its keys.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    pub(super) position: Position,
    pub(super) id: PackedId,
    pub(super) project: Key,
    pub(super) user: Option<Key>,
    pub(super) conversation: Option<Key>,
    pub(super) turn: Option<Key>,
    pub(super) ts: Timestamp,
}

impl Subject {
    /// The event with its ids looked up.
    pub(super) fn of<E>(
        event: &Event,
        position: Position,
        project: Key,
        key: impl Fn(Table, &str) -> Result<Option<Key>, E>,
    ) -> Result<Self, E> {
        let look_up = |table, id: Option<&str>| id.map_or(Ok(None), |id| key(table, id));
        let conversation = event.conversation.as_ref().map(|id| id.as_str());
        Ok(Self {
            position,
            id: PackedId::of(event.id.as_str()),
            project,
            user: look_up(Table::Users, event.user.as_ref().map(|id| id.as_str()))?,
            conversation: look_up(Table::Conversations, conversation)?,
            turn: look_up(Table::Turns, event.turn.as_ref().map(|id| id.as_str()))?,
            ts: event.ts,
        })
    }

    /// The position as the tables keep it.
    fn at(&self) -> i64 {
        self.position.0 as i64
    }
}

/// Applies one change. A change of a turn by an event that names none does nothing.
pub(super) fn apply(
    connection: &Connection,
    subject: &Subject,
    change: &Change,
) -> rusqlite::Result<()> {
    match (change, subject.turn) {
        (Change::OpenTurn { track, bundle, user_type }, Some(turn)) => {
            let labels = turn::Labels {
                track: track.as_deref(),
                bundle: bundle.as_deref(),
                user_type: user_type.as_deref(),
            };
            turn::open(connection, subject, turn, labels)
        }
        (Change::CompleteTurn, Some(turn)) => turn::complete(connection, subject, turn),
        (Change::React { origin, reaction, confidence }, Some(turn)) => {
            let given = reaction::Given {
                origin: *origin,
                reaction: *reaction,
                confidence: confidence.get(),
            };
            reaction::react(connection, subject, turn, given)
        }
        (Change::ClearReaction, Some(turn)) => reaction::clear(connection, subject, turn),
        (Change::Decide(id), _) => decision::decide(connection, subject, id),
        (Change::EraseUser(user), _) => erase::erase(connection, subject, user),
        (Change::SetPrivacy(settings), _) => rule::set_privacy(connection, subject, settings),
        (Change::SetProfile(attributes), _) => rule::set_profile(connection, subject, attributes),
        (Change::Settle(id), _) => decision::settle(connection, subject, id),
        (
            Change::OpenTurn { .. }
            | Change::CompleteTurn
            | Change::React { .. }
            | Change::ClearReaction,
            None,
        ) => Ok(()),
    }
}
