//! Turns: opened once, completed once, and what came before them attached.

use super::super::keys::Key;
use super::{Subject, reaction};
use crate::sql::{self, Connection};

/// What is copied onto a turn's reactions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Labels<'a> {
    pub(super) track: Option<&'a str>,
    pub(super) bundle: Option<&'a str>,
    pub(super) user_type: Option<&'a str>,
}

/// Fills in the turn's row and gives it the reactions that arrived before it.
pub(super) fn open(
    connection: &Connection,
    subject: &Subject,
    turn: Key,
    labels: Labels<'_>,
) -> sql::Result<()> {
    connection
        .prepare_cached(
            "UPDATE turns SET conversation = ?2, user = ?3, ts = ?4, opened = ?5, track = ?6,
                 bundle = ?7, user_type = ?8
             WHERE key = ?1",
        )?
        .run((
            turn,
            subject.conversation,
            subject.user,
            subject.ts.as_micros(),
            subject.at(),
            labels.track,
            labels.bundle,
            labels.user_type,
        ))?;
    reaction::attach(connection, subject, turn)
}

/// Notes where the answer is.
pub(super) fn complete(connection: &Connection, subject: &Subject, turn: Key) -> sql::Result<()> {
    connection
        .prepare_cached("UPDATE turns SET completed = ?2 WHERE key = ?1")?
        .run((turn, subject.at()))
}
