//! What messages and people say about turns.

use event::{Origin, Reaction, TurnId, VerdictStatus};

use super::super::keys::{Key, Table, key_of};
use super::{Subject, index, reaction};
use crate::sql::{self, Connection, OptionalExtension};

/// What a message says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Said<'a> {
    pub(super) status: VerdictStatus,
    pub(super) confidence: f64,
    pub(super) raw_confidence: f64,
    pub(super) moved_on: bool,
    pub(super) corrects: bool,
    pub(super) detected_in: Option<&'a TurnId>,
}

/// Notes what a message says about a turn. What the same message said before goes, whatever turn
/// that was about.
pub(super) fn judge(
    connection: &Connection,
    subject: &Subject,
    turn: Option<Key>,
    said: Said<'_>,
) -> sql::Result<()> {
    let message = match said.detected_in {
        None => None,
        Some(id) => Some(key_of(connection, Table::Turns, subject.project, id.as_str())?),
    };
    if let Some(message) = message {
        take_back(connection, subject, message)?;
        let corrected = turn.filter(|_| said.corrects);
        connection
            .prepare_cached(
                "UPDATE turn_index SET corrects = ?2 WHERE turn = ?1 AND corrects IS DISTINCT FROM ?2",
            )?
            .run((message, corrected))?;
        // Tells whoever keeps vectors in memory that this one is to be made again.
        connection
            .prepare_cached("UPDATE turn_vectors SET model = model WHERE turn = ?1")?
            .run([message])?;
    }
    connection
        .prepare_cached(
            "INSERT INTO verdicts (position, turn, detected_in, status, confidence, raw_confidence,
                 moved_on)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .run((
            subject.at(),
            turn,
            message,
            said.status.code(),
            said.confidence,
            said.raw_confidence,
            said.moved_on,
        ))?;
    turn.map_or(Ok(()), |turn| index::refresh(connection, subject.project, turn))
}

fn take_back(connection: &Connection, subject: &Subject, message: Key) -> sql::Result<()> {
    let before: Option<Option<Key>> = connection
        .prepare_cached("DELETE FROM verdicts WHERE detected_in = ?1 RETURNING turn")?
        .query_row([message], |row| row.get(0))
        .optional()?;
    let Some(Some(turn)) = before else { return Ok(()) };
    reaction::take_back(connection, subject.project, message)?;
    index::refresh(connection, subject.project, turn)
}

/// A person's word takes the place of the machine's, in the index and among the reactions.
pub(super) fn review(
    connection: &Connection,
    subject: &Subject,
    turn: Key,
    status: VerdictStatus,
) -> sql::Result<()> {
    connection
        .prepare_cached("UPDATE turn_index SET review = ?2, reviewed = ?3 WHERE turn = ?1")?
        .run((turn, status.code(), subject.at()))?;
    reaction::remove_machines(connection, subject.project, turn)?;
    let given = reaction::Given {
        origin: Origin::Machine,
        reaction: Reaction::from(status),
        confidence: 1.0,
        message: None,
    };
    reaction::react(connection, subject, turn, given)?;
    index::refresh(connection, subject.project, turn)
}
