//! Decisions and their outcomes, in whichever order they arrive.

use event::DecisionId;
use rusqlite::Connection;

use super::super::keys::PackedId;
use super::Subject;

/// Notes where the decision is.
pub(super) fn decide(
    connection: &Connection,
    subject: &Subject,
    id: &DecisionId,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO decisions (project, id, conversation, made) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT DO UPDATE SET conversation = excluded.conversation, made = excluded.made",
        )?
        .execute((subject.project, PackedId::of(id.as_str()), subject.conversation, subject.at()))
        .map(drop)
}

/// Notes where its newest outcome is.
pub(super) fn settle(
    connection: &Connection,
    subject: &Subject,
    id: &DecisionId,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO decisions (project, id, settled) VALUES (?1, ?2, ?3)
             ON CONFLICT DO UPDATE SET settled = excluded.settled",
        )?
        .execute((subject.project, PackedId::of(id.as_str()), subject.at()))
        .map(drop)
}
