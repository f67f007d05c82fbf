//! Counts reactions per conversation and day.

use model::Timestamp;
use sql::{Connection, RowBatch};

use crate::row_keys::Key;

pub(crate) const DAY_MICROS: i64 = 86_400_000_000;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Counted {
    pub(crate) project: Key,
    pub(crate) conversation: Key,
    pub(crate) origin: u8,
    pub(crate) reaction: u8,
    pub(crate) ts: Timestamp,
}

impl Counted {
    fn day(&self) -> i64 {
        self.ts.as_micros().div_euclid(DAY_MICROS)
    }
}

pub(crate) fn add(connection: &Connection, counted: Counted) -> sql::Result<()> {
    let Counted { project, conversation, origin, reaction, ts } = counted;
    let (day, ts) = (counted.day(), ts.as_micros());
    connection.add_row(
        "INSERT INTO activity (conversation, day, origin, reaction, project, count, last_ts)
         VALUES (?1, ?2, ?3, ?4, ?5, 1, ?6)
         ON CONFLICT (conversation, day, origin, reaction) DO UPDATE
             SET count = activity.count + 1, last_ts = max(activity.last_ts, excluded.last_ts)",
        RowBatch::Each(MANY),
        (conversation, day, origin, reaction, project, ts),
    )?;
    connection.add_row(
        "INSERT INTO newest (conversation, project, last_ts) VALUES (?1, ?2, ?3)
         ON CONFLICT (conversation) DO UPDATE SET last_ts = excluded.last_ts
             WHERE excluded.last_ts > newest.last_ts",
        RowBatch::Each(MANY_NEWEST),
        (conversation, project, ts),
    )
}

const MANY: &str = "
    INSERT INTO activity (conversation, day, origin, reaction, project, count, last_ts)
    SELECT conversation, day, origin, reaction, project, count(*), max(ts)
    FROM unnest($1::BIGINT[], $2::BIGINT[], $3::BIGINT[], $4::BIGINT[], $5::BIGINT[], $6::BIGINT[])
        AS given (conversation, day, origin, reaction, project, ts)
    GROUP BY conversation, day, origin, reaction, project
    ON CONFLICT (conversation, day, origin, reaction) DO UPDATE
        SET count = activity.count + excluded.count,
            last_ts = greatest(activity.last_ts, excluded.last_ts)";
const MANY_NEWEST: &str = "
    INSERT INTO newest (conversation, project, last_ts)
    SELECT conversation, project, max(ts)
    FROM unnest($1::BIGINT[], $2::BIGINT[], $3::BIGINT[]) AS given (conversation, project, ts)
    GROUP BY conversation, project
    ON CONFLICT (conversation) DO UPDATE SET last_ts = excluded.last_ts
        WHERE excluded.last_ts > newest.last_ts";

/// Decrements a counter after its reaction was deleted.
pub(crate) fn remove(connection: &Connection, counted: Counted) -> sql::Result<()> {
    remove_from_counter(connection, counted)?;
    let removed = remove_from_newest(connection, counted);
    connection.fence_pending();
    removed
}

fn remove_from_newest(connection: &Connection, counted: Counted) -> sql::Result<()> {
    let key = counted.conversation;
    let select = "SELECT last_ts FROM newest WHERE conversation = ?1";
    if connection.find_row(select, [key])? != Some(counted.ts.as_micros()) {
        return Ok(());
    }
    // The newest reaction is on the last remaining day.
    let left: Option<i64> = connection.read_row(
        "SELECT max(last_ts) FROM activity WHERE conversation = ?1 AND day =
             (SELECT max(day) FROM activity WHERE conversation = ?1)",
        [key],
    )?;
    match left {
        None => connection.run("DELETE FROM newest WHERE conversation = ?1", [key]),
        Some(left) => {
            connection.run("UPDATE newest SET last_ts = ?2 WHERE conversation = ?1", (key, left))
        }
    }
}

/// Decrements a counter. Only the newest remaining reaction is looked up.
fn remove_from_counter(connection: &Connection, counted: Counted) -> sql::Result<()> {
    let Counted { conversation, origin, reaction, .. } = counted;
    let day = counted.day();
    let newest_left: Option<i64> = connection.find_row(
        "SELECT ts FROM reactions
         WHERE conversation = ?1 AND origin = ?2 AND reaction = ?3 AND ts >= ?4 AND ts < ?5
         ORDER BY ts DESC LIMIT 1",
        (conversation, origin, reaction, day * DAY_MICROS, (day + 1) * DAY_MICROS),
    )?;
    let row = (conversation, day, origin, reaction);
    match newest_left {
        None => connection.run(
            "DELETE FROM activity
             WHERE conversation = ?1 AND day = ?2 AND origin = ?3 AND reaction = ?4",
            row,
        ),
        Some(newest) => connection.run(
            "UPDATE activity SET count = count - 1, last_ts = ?5
             WHERE conversation = ?1 AND day = ?2 AND origin = ?3 AND reaction = ?4",
            (conversation, day, origin, reaction, newest),
        ),
    }
}
