//! Sums per hour and per day, by model and prompt. Days make long periods quick to read.

use std::sync::LazyLock;

use sql::{Connection, RowBatch, ToSql};

use crate::projections::counters::QualityCounts;
use crate::row_keys::Key;

pub(crate) const HOUR_MICROS: i64 = 3_600_000_000;
pub(crate) const DAY_HOURS: i64 = 24;

/// The row a turn counts in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place<'a> {
    pub(crate) hour: i64,
    pub(crate) model: &'a str,
    pub(crate) prompt: &'a str,
}

pub(crate) fn hour_number(micros: i64) -> i64 {
    micros.div_euclid(HOUR_MICROS)
}

fn day_number(hour: i64) -> i64 {
    hour.div_euclid(DAY_HOURS)
}

/// Adds to a row and deletes it when all zero, so the result does not depend on the steps.
pub(crate) fn add(
    connection: &Connection,
    project: Key,
    place: Place<'_>,
    more: &QualityCounts,
) -> sql::Result<()> {
    let values = more.values();
    if values.iter().all(|value| *value == 0) {
        return Ok(());
    }
    let takes_away = values.iter().any(|value| *value < 0);
    for (kept, time) in [(&*BY_HOUR, place.hour), (&*BY_DAY, day_number(place.hour))] {
        let mut parameters: Vec<&dyn ToSql> = vec![&project, &time, &place.model, &place.prompt];
        parameters.extend(values.iter().map(|value| value as &dyn ToSql));
        connection.add_row(&kept.add, RowBatch::Each(&kept.add_many), &parameters[..])?;
        if takes_away {
            let clean = RowBatch::Each(&kept.clean_many);
            connection.add_row(&kept.clean, clean, &parameters[..4])?;
        }
    }
    Ok(())
}

/// Adds or subtracts one answer's latency.
pub(crate) fn wait(
    connection: &Connection,
    project: Key,
    place: Place<'_>,
    step: u32,
    by: i64,
) -> sql::Result<()> {
    let bin = i64::from(step);
    WAITS_BY_HOUR.count(connection, (project, place.hour), place, bin, by)?;
    WAITS_BY_DAY.count(connection, (project, day_number(place.hour)), place, bin, by)
}

/// Adds or subtracts one reaction of a user, in the hour in which it was given.
pub(crate) fn reacted(
    connection: &Connection,
    project: Key,
    place: Place<'_>,
    reaction: u8,
    by: i64,
) -> sql::Result<()> {
    let bin = i64::from(reaction);
    REACTED_BY_HOUR.count(connection, (project, place.hour), place, bin, by)?;
    REACTED_BY_DAY.count(connection, (project, day_number(place.hour)), place, bin, by)
}

/// The statements that update sums, built from the counters. Additions run before clean-ups.
struct Statements {
    add: String,
    add_many: String,
    clean: String,
    clean_many: String,
}

static BY_HOUR: LazyLock<Statements> = LazyLock::new(|| Statements::new("quality", "hour"));
static BY_DAY: LazyLock<Statements> = LazyLock::new(|| Statements::new("quality_days", "day"));

/// The statements that update counts by a further number: the latency step or the reaction.
struct BinStatements {
    add: String,
    add_many: String,
    clean: String,
    clean_many: String,
}

static WAITS_BY_HOUR: LazyLock<BinStatements> =
    LazyLock::new(|| BinStatements::new("waits", "hour", "step"));
static WAITS_BY_DAY: LazyLock<BinStatements> =
    LazyLock::new(|| BinStatements::new("waits_days", "day", "step"));
static REACTED_BY_HOUR: LazyLock<BinStatements> =
    LazyLock::new(|| BinStatements::new("reacted", "hour", "reaction"));
static REACTED_BY_DAY: LazyLock<BinStatements> =
    LazyLock::new(|| BinStatements::new("reacted_days", "day", "reaction"));

const PLACE_ARRAYS: &str = "$1::BIGINT[], $2::BIGINT[], $3::TEXT[], $4::TEXT[]";

impl Statements {
    /// `time` is the column of the hour or day.
    fn new(quality: &str, time: &str) -> Self {
        let columns = QualityCounts::COLUMNS;
        let names = columns.join(", ");
        let each = |one: &dyn Fn(usize, &str) -> String, between: &str| {
            let all: Vec<String> =
                columns.iter().enumerate().map(|(n, name)| one(n + 5, name)).collect();
            all.join(between)
        };
        let places = each(&|n, _| format!("?{n}"), ", ");
        let sums = each(&|_, name| format!("{name} = {quality}.{name} + excluded.{name}"), ", ");
        let zeros = each(&|_, name| format!("{quality}.{name} = 0"), " AND ");
        let added = each(&|_, name| format!("CAST(sum({name}) AS BIGINT)"), ", ");
        let arrays = each(&|n, _| format!("${n}::BIGINT[]"), ", ");
        let place = format!("project, {time}, model, prompt");
        let at = format!("project = ?1 AND {time} = ?2 AND model = ?3 AND prompt = ?4");
        Self {
            add: format!(
                "INSERT INTO {quality} ({place}, {names}) VALUES (?1, ?2, ?3, ?4, {places})
                 ON CONFLICT ({place}) DO UPDATE SET {sums}"
            ),
            add_many: format!(
                "INSERT INTO {quality} ({place}, {names})
                 SELECT {place}, {added}
                 FROM unnest({PLACE_ARRAYS}, {arrays}) AS given ({place}, {names})
                 GROUP BY {place}
                 ON CONFLICT ({place}) DO UPDATE SET {sums}"
            ),
            clean: format!("DELETE FROM {quality} WHERE {at} AND {zeros}"),
            clean_many: format!(
                "DELETE FROM {quality} USING unnest({PLACE_ARRAYS}) AS given ({place})
                 WHERE {} AND {zeros}",
                same_place(quality, time)
            ),
        }
    }
}

/// Joins a table to the given places.
fn same_place(table: &str, time: &str) -> String {
    format!(
        "{table}.project = given.project AND {table}.{time} = given.{time}
         AND {table}.model = given.model AND {table}.prompt = given.prompt"
    )
}

impl BinStatements {
    /// `time` is the column of the hour or day, `bin` that of the further number.
    fn new(table: &str, time: &str, bin: &str) -> Self {
        let row = format!("project, {time}, model, prompt, {bin}");
        let counted =
            format!("ON CONFLICT ({row}) DO UPDATE SET count = {table}.count + excluded.count");
        Self {
            add: format!(
                "INSERT INTO {table} ({row}, count) VALUES (?1, ?2, ?3, ?4, ?5, ?6) {counted}"
            ),
            add_many: format!(
                "INSERT INTO {table} ({row}, count)
                 SELECT {row}, CAST(sum(count) AS BIGINT)
                 FROM unnest({PLACE_ARRAYS}, $5::BIGINT[], $6::BIGINT[]) AS given ({row}, count)
                 GROUP BY {row} {counted}"
            ),
            clean: format!(
                "DELETE FROM {table} WHERE project = ?1 AND {time} = ?2 AND model = ?3
                     AND prompt = ?4 AND {bin} = ?5 AND count = 0"
            ),
            clean_many: format!(
                "DELETE FROM {table} USING unnest({PLACE_ARRAYS}, $5::BIGINT[]) AS given ({row})
                 WHERE {} AND {table}.{bin} = given.{bin} AND {table}.count = 0",
                same_place(table, time)
            ),
        }
    }

    /// Deletes the row at zero, so the result does not depend on the steps.
    fn count(
        &'static self,
        connection: &Connection,
        (project, time): (Key, i64),
        place: Place<'_>,
        bin: i64,
        by: i64,
    ) -> sql::Result<()> {
        let row = (project, time, place.model, place.prompt, bin);
        connection.add_row(
            &self.add,
            RowBatch::Each(&self.add_many),
            (row.0, row.1, row.2, row.3, row.4, by),
        )?;
        if by < 0 {
            connection.add_row(&self.clean, RowBatch::Each(&self.clean_many), row)?;
        }
        Ok(())
    }
}
