//! Finds the turn of feedback whose turn id belongs to another conversation.
//!
//! Decided inside the transaction, so that concurrent writes and writes of one batch see each
//! other. The log keeps the result: a rebuild reads the turn of the stored event.

use model::{ConversationId, TurnId};
use sql::Connection;

use crate::log::packed_write::PackedWrite;
use crate::projections::apply::{TurnHalfState, TurnRow};
use crate::row_keys::{Key, Table, find_key};

/// A turn, seen from a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TurnLocation {
    /// Unknown, or named only by feedback that waits for it.
    NotOpen,
    /// Open in the conversation, or in a derived one.
    Here,
    Elsewhere,
}

/// The turn that a write joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JoinedTurn<'a> {
    /// The turn that it names, if any.
    Named,
    /// The named turn belongs to another conversation. The turn to use instead; `None` to keep it.
    Elsewhere(Option<&'a TurnId>),
}

pub(super) fn find_joined_turn<'a>(
    connection: &Connection,
    project: Key,
    write: &'a PackedWrite,
) -> sql::Result<JoinedTurn<'a>> {
    let Some(event) = write.first() else { return Ok(JoinedTurn::Named) };
    let (Some(turn), Some(conversation)) = (&event.turn, &event.conversation) else {
        return Ok(JoinedTurn::Named);
    };
    let locate = |turn: &TurnId| match find_key(connection, Table::Turns, project, turn.as_str())? {
        Some(turn) => locate_turn(connection, project, turn, conversation),
        None => Ok(TurnLocation::NotOpen),
    };
    if write.fallback_turns.is_empty() || locate(turn)? != TurnLocation::Elsewhere {
        return Ok(JoinedTurn::Named);
    }
    for fallback in &write.fallback_turns {
        match locate(fallback)? {
            TurnLocation::Here => return Ok(JoinedTurn::Elsewhere(Some(fallback))),
            TurnLocation::NotOpen if write.opens_derived_turn() => {
                return Ok(JoinedTurn::Elsewhere(Some(fallback)));
            }
            TurnLocation::NotOpen | TurnLocation::Elsewhere => {}
        }
    }
    Ok(JoinedTurn::Elsewhere(None))
}

pub(super) fn locate_turn(
    connection: &Connection,
    project: Key,
    turn: Key,
    conversation: &ConversationId,
) -> sql::Result<TurnLocation> {
    let Some(own) = find_conversation(connection, turn)? else { return Ok(TurnLocation::NotOpen) };
    let named = find_key(connection, Table::Conversations, project, conversation.as_str())?;
    let Some(own) = own.filter(|own| Some(*own) != named) else { return Ok(TurnLocation::Here) };
    let id: String = connection.read_row("SELECT id FROM conversations WHERE key = ?1", [own])?;
    let is_derived = ConversationId::new(id).is_ok_and(|id| id.is_derived());
    Ok(if is_derived { TurnLocation::Here } else { TurnLocation::Elsewhere })
}

/// The conversation of an open turn; `None` when the turn is not open.
pub(super) fn find_conversation(
    connection: &Connection,
    turn: Key,
) -> sql::Result<Option<Option<Key>>> {
    match connection.recall::<TurnRow>(turn) {
        Some(row) => Ok((row.opened != TurnHalfState::Missing).then_some(row.conversation)),
        None => connection.find_row(
            "SELECT conversation FROM turns WHERE key = ?1 AND opened IS NOT NULL",
            [turn],
        ),
    }
}
