//! Turns: opened once, completed once. Halves that feedback quotes stand in until the turn's own
//! halves arrive.

use sql::{CachedFact, Connection, RowBatch, RowPart};

use super::Subject;
use crate::row_keys::Key;

/// Labels copied onto a turn's reactions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Labels<'a> {
    pub(crate) track: Option<&'a str>,
    pub(crate) bundle: Option<&'a str>,
    pub(crate) user_type: Option<&'a str>,
}

/// Fills in the turn's row.
pub(crate) fn open(
    connection: &Connection,
    subject: &Subject,
    turn: Key,
    labels: Labels<'_>,
) -> sql::Result<()> {
    let Subject { conversation, user, .. } = *subject;
    let Labels { track, bundle, user_type } = labels;
    let (ts, opened) = (subject.ts.as_micros(), subject.row_position());
    let mut update = connection.prepare_cached(
        "UPDATE turns SET conversation = ?2, user = ?3, ts = ?4, opened = ?5, track = ?6,
             bundle = ?7, user_type = ?8, opened_derived = 0
         WHERE key = ?1",
    )?;
    let values = (turn, conversation, user, ts, opened, track, bundle, user_type);
    let known = connection.recall::<Row>(turn);
    match known {
        Some(row) if row.opened == Half::Missing => {
            update.add(RowBatch::Part(OPENED), values)?;
        }
        Some(_) | None => update.run(values)?,
    }
    if let Some(row) = known {
        connection.remember(turn, || Row { conversation, user, opened: Half::Sent, ..row });
    }
    Ok(())
}

/// Stores the position of the answer.
pub(crate) fn complete(connection: &Connection, subject: &Subject, turn: Key) -> sql::Result<()> {
    let update = "UPDATE turns SET completed = ?2, completed_derived = 0 WHERE key = ?1";
    let values = (turn, subject.row_position());
    let Some(row) = connection.recall::<Row>(turn) else { return connection.run(update, values) };
    connection.remember(turn, || Row { completed: Half::Sent, ..row });
    match row.completed {
        Half::Missing => connection.add_row(update, RowBatch::Part(COMPLETED), values),
        Half::Named | Half::Quoted | Half::Sent => connection.run(update, values),
    }
}

/// Opens the turn by feedback. Returns false when its question has the same or a higher authority.
pub(crate) fn open_derived(
    connection: &Connection,
    subject: &Subject,
    turn: Key,
    half: Half,
) -> sql::Result<bool> {
    let row = row(connection, subject, turn)?;
    if row.opened >= half {
        return Ok(false);
    }
    let Subject { conversation, user, .. } = *subject;
    let (ts, opened) = (subject.ts.as_micros(), subject.row_position());
    connection.run(
        "UPDATE turns SET conversation = ?2, user = ?3, ts = ?4, opened = ?5, opened_derived = ?6
         WHERE key = ?1",
        (turn, conversation, user, ts, opened, half.derivation()),
    )?;
    // Batched updates of the turn must follow this one.
    connection.fence_pending();
    connection.remember(turn, || Row { conversation, user, opened: half, ..row });
    Ok(true)
}

/// Adds a quoted answer. Returns false when the turn has an answer.
pub(crate) fn complete_derived(
    connection: &Connection,
    subject: &Subject,
    turn: Key,
) -> sql::Result<bool> {
    let row = row(connection, subject, turn)?;
    if row.completed != Half::Missing {
        return Ok(false);
    }
    connection.run(
        "UPDATE turns SET completed = ?2, completed_derived = 1 WHERE key = ?1",
        (turn, subject.row_position()),
    )?;
    connection.fence_pending();
    connection.remember(turn, || Row { completed: Half::Quoted, ..row });
    Ok(true)
}

/// Of turns whose half is missing, so that the column `..._derived` is 0.
const OPENED: RowPart = RowPart {
    table: "turns",
    is_new: false,
    columns: &["key", "conversation", "user", "ts", "opened", "track", "bundle", "user_type"],
};
const COMPLETED: RowPart =
    RowPart { table: "turns", is_new: false, columns: &["key", "completed"] };

/// The question or answer of a turn, by increasing authority.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Half {
    #[default]
    Missing,
    /// Feedback names the turn.
    Named,
    /// Feedback quotes it.
    Quoted,
    /// Sent as part of the turn.
    Sent,
}

/// Stored in `opened_derived` and `completed_derived`, where 0 is a half that was sent.
const QUOTED: i64 = 1;
const NAMED: i64 = 2;

impl Half {
    pub(crate) fn new(is_stored: bool, derivation: i64) -> Self {
        match (is_stored, derivation) {
            (false, _) => Self::Missing,
            (true, NAMED) => Self::Named,
            (true, QUOTED) => Self::Quoted,
            (true, _) => Self::Sent,
        }
    }

    fn derivation(self) -> i64 {
        match self {
            Self::Named => NAMED,
            Self::Quoted => QUOTED,
            Self::Missing | Self::Sent => 0,
        }
    }
}

/// A turn's row, as far as other rows depend on it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Row {
    pub(crate) conversation: Option<Key>,
    /// `None` after erasure.
    pub(crate) user: Option<Key>,
    pub(crate) opened: Half,
    pub(crate) completed: Half,
}

impl CachedFact for Row {
    const TABLE: &'static str = "turns";

    fn for_new_row() -> Option<Self> {
        Some(Self::default())
    }
}

/// Reads the turn's row. An event from before an erasure is not attributed to the erased user.
pub(crate) fn row(connection: &Connection, subject: &Subject, turn: Key) -> sql::Result<Row> {
    if let Some(row) = connection.recall(turn) {
        return Ok(row);
    }
    let found = connection.find_row_with(
        "SELECT t.conversation, u.key, t.opened IS NOT NULL, t.opened_derived,
             t.completed IS NOT NULL, t.completed_derived
         FROM turns t LEFT JOIN users u ON u.key = t.user AND (u.erased IS NULL OR u.erased > ?2)
         WHERE t.key = ?1",
        (turn, subject.row_position()),
        |row| {
            Ok::<_, sql::Error>(Row {
                conversation: row.get(0)?,
                user: row.get(1)?,
                opened: Half::new(row.get(2)?, row.get(3)?),
                completed: Half::new(row.get(4)?, row.get(5)?),
            })
        },
    )?;
    found.ok_or(sql::Error::NoRows)
}
