//! Reactions counted by conversation and day.

use event::Timestamp;
use rusqlite::{Connection, OptionalExtension};

use super::super::keys::Key;

pub(in super::super) const DAY_MICROS: i64 = 86_400_000_000;

/// What counts as one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counted {
    pub(super) project: Key,
    pub(super) conversation: Key,
    pub(super) origin: u8,
    pub(super) reaction: u8,
    pub(super) ts: Timestamp,
}

impl Counted {
    fn day(&self) -> i64 {
        self.ts.as_micros().div_euclid(DAY_MICROS)
    }
}

/// One more.
pub(super) fn add(connection: &Connection, counted: Counted) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO activity (conversation, day, origin, reaction, project, count, last_ts)
             VALUES (?1, ?2, ?3, ?4, ?5, 1, ?6)
             ON CONFLICT DO UPDATE SET count = count + 1, last_ts = max(last_ts, excluded.last_ts)",
        )?
        .execute((
            counted.conversation,
            counted.day(),
            counted.origin,
            counted.reaction,
            counted.project,
            counted.ts.as_micros(),
        ))
        .map(drop)
}

/// One less. The newest of those that are left is looked up by index, the others are not touched.
pub(super) fn remove(connection: &Connection, counted: Counted) -> rusqlite::Result<()> {
    let Counted { conversation, origin, reaction, .. } = counted;
    let day = counted.day();
    let newest_left: Option<i64> = connection
        .prepare_cached(
            "SELECT ts FROM reactions
             WHERE conversation = ?1 AND origin = ?2 AND reaction = ?3 AND ts >= ?4 AND ts < ?5
             ORDER BY ts DESC LIMIT 1",
        )?
        .query_row(
            (conversation, origin, reaction, day * DAY_MICROS, (day + 1) * DAY_MICROS),
            |row| row.get(0),
        )
        .optional()?;
    let row = (conversation, day, origin, reaction);
    match newest_left {
        None => connection
            .prepare_cached(
                "DELETE FROM activity
                 WHERE conversation = ?1 AND day = ?2 AND origin = ?3 AND reaction = ?4",
            )?
            .execute(row)
            .map(drop),
        Some(newest) => connection
            .prepare_cached(
                "UPDATE activity SET count = count - 1, last_ts = ?5
                 WHERE conversation = ?1 AND day = ?2 AND origin = ?3 AND reaction = ?4",
            )?
            .execute((conversation, day, origin, reaction, newest))
            .map(drop),
    }
}
