//! Experiments: status, exposures and sums.
//!
//! A turn counts for the variant served when it is opened. If its unit was not exposed by then, it
//! counts for the variant served when its answer arrives. Later changes of the turn change the
//! unit's sums by the difference, until the experiment ends.

mod make;
mod measures;
mod sums;

use std::sync::LazyLock;

use model::{ExperimentChange, ExperimentRule, ExperimentUnit, Exposure, Measure, UnitInterval};
use serde_json::Value;
use sql::{CachedFact, Connection, Row, ToSql};

use super::Subject;
use super::facts::Facts;
use crate::projections::counters::UnitSums;
use crate::row_keys::Key;

pub(crate) use make::make;

/// Experiment, unit and variant.
type UnitKey = (Key, Key, i64);

/// The tolerated clock difference between a turn and its exposure. Older turns do not count.
const SKEW_MICROS: i64 = 300_000_000;
/// The newest turns before the exposure that count. Enough for a mean, and bounded.
const MAX_TURNS_BEFORE: i64 = 1000;
/// The variant number of the time before exposure.
const BEFORE: i64 = -1;

pub(crate) fn apply(
    connection: &Connection,
    subject: &Subject,
    change: &ExperimentChange,
) -> sql::Result<()> {
    match change {
        ExperimentChange::Rule(rule) => decide(connection, subject, rule),
        ExperimentChange::Expose(exposure) => expose(connection, subject, exposure),
    }
}

fn decide(connection: &Connection, subject: &Subject, rule: &ExperimentRule) -> sql::Result<()> {
    let (project, at, ts) = (subject.project, subject.row_position(), subject.ts.as_micros());
    connection.unlearn::<HasRunningExperiments>(project);
    match rule {
        ExperimentRule::Defined { experiment_id, unit, definition } => {
            let definition = Value::Object(definition.clone());
            let is_new = connection.execute_cached(
                "INSERT INTO experiments (key, project, id, unit, definition, status, created,
                     changed)
                 VALUES (?1, ?2, ?3, ?4, ?5, 'DRAFT', ?6, ?6) ON CONFLICT DO NOTHING",
                (at, project, experiment_id.as_str(), unit.code(), definition.to_string(), ts),
            )?;
            if is_new > 0 {
                measures::write(connection, "", at, &Measure::parse_all(&definition))?;
            }
            Ok(is_new)
        }
        ExperimentRule::Status { experiment_id, action: _, status } => connection.execute_cached(
            "UPDATE experiments SET status = ?3, changed = ?4 WHERE project = ?1 AND id = ?2",
            (project, experiment_id.as_str(), status, ts),
        ),
        ExperimentRule::Moved { experiment_id, number, shares, step } => {
            let shares = serde_json::json!(shares).to_string();
            let step = Value::Object(step.clone()).to_string();
            connection.execute_cached(
                "INSERT INTO experiment_moves (experiment, number, ts, shares, step)
                 SELECT key, CAST(?3 AS BIGINT), CAST(?4 AS BIGINT), ?5, ?6
                 FROM experiments WHERE project = ?1 AND id = ?2
                 ON CONFLICT DO NOTHING",
                (project, experiment_id.as_str(), number, ts, shares, step),
            )
        }
    }
    .map(drop)
}

/// Finds the experiment's key and the event's unit.
fn find_unit(
    connection: &Connection,
    subject: &Subject,
    experiment: &str,
) -> sql::Result<Option<(Key, u8, Key)>> {
    let found: Option<(Key, u8)> = connection.find_row(
        "SELECT key, unit FROM experiments WHERE project = ?1 AND id = ?2",
        (subject.project, experiment),
    )?;
    let Some((key, kind)) = found else { return Ok(None) };
    let is_user = kind == ExperimentUnit::User.code();
    let unit = if is_user { subject.user } else { subject.conversation };
    Ok(unit.map(|unit| (key, kind, unit)))
}

/// The variant served to the event's unit.
pub(crate) fn served(
    connection: &Connection,
    subject: &Subject,
    experiment: &str,
) -> sql::Result<Option<u32>> {
    let Some((experiment, _, unit)) = find_unit(connection, subject, experiment)? else {
        return Ok(None);
    };
    connection.find_row(
        "SELECT variant FROM experiment_units
         WHERE experiment = ?1 AND unit = ?2 AND current = 1",
        (experiment, unit),
    )
}

fn expose(connection: &Connection, subject: &Subject, exposure: &Exposure) -> sql::Result<()> {
    let Some((experiment, kind, unit)) =
        find_unit(connection, subject, exposure.experiment_id.as_str())?
    else {
        return Ok(());
    };
    let before = connection.execute_cached(
        "UPDATE experiment_units SET current = 0
         WHERE experiment = ?1 AND unit = ?2 AND current = 1",
        (experiment, unit),
    )?;
    let (is_first, since) = (before == 0, subject.ts.as_micros());
    let key: UnitKey = (experiment, unit, i64::from(exposure.index));
    let is_known = connection.execute_cached(
        "UPDATE experiment_units SET current = 1
         WHERE experiment = ?1 AND unit = ?2 AND variant = ?3",
        key,
    )? > 0;
    if is_known {
        return Ok(());
    }
    connection.run(
        "INSERT INTO experiment_units (experiment, unit, variant, kind, moves, since, first,
             current)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 1)",
        (experiment, unit, exposure.index, kind, exposure.moves, since, is_first),
    )?;
    sums::count_exposed_unit(connection, subject, key, exposure.moves, is_first)?;
    if is_first { keep_before(connection, subject, (experiment, unit), kind) } else { Ok(()) }
}

/// Stores the sums of a unit before its exposure as a row of their own, when there are any.
fn keep_before(
    connection: &Connection,
    subject: &Subject,
    (experiment, unit): (Key, Key),
    kind: u8,
) -> sql::Result<()> {
    let since = subject.ts.as_micros();
    let sums = look_back(connection, kind, unit, since)?;
    if sums == UnitSums::default() {
        return Ok(());
    }
    connection.run(
        "INSERT INTO experiment_units (experiment, unit, variant, kind, moves, since, first,
             current)
         VALUES (?1, ?2, ?3, ?4, 0, ?5, 0, 0)",
        (experiment, unit, BEFORE, kind, since),
    )?;
    add(connection, subject, (experiment, unit, BEFORE), &sums)
}

fn look_back(connection: &Connection, kind: u8, unit: Key, until: i64) -> sql::Result<UnitSums> {
    let sql = if kind == ExperimentUnit::User.code() {
        "SELECT f.*, i.quality_score FROM turn_facts f LEFT JOIN turn_index i ON i.turn = f.turn
         WHERE f.user = ?1 AND f.ts < ?2 AND f.answered = 1
         ORDER BY f.ts DESC, f.turn DESC LIMIT ?3"
    } else {
        "SELECT f.*, i.quality_score FROM turns t JOIN turn_facts f ON f.turn = t.key
             LEFT JOIN turn_index i ON i.turn = f.turn
         WHERE t.conversation = ?1 AND t.ts < ?2 AND f.answered = 1
         ORDER BY t.ts DESC, t.key DESC LIMIT ?3"
    };
    let turns = connection.read_rows_with(sql, (unit, until, MAX_TURNS_BEFORE), sums_from_row)?;
    Ok(turns.iter().fold(UnitSums::default(), |sums, turn| sums.plus(turn)))
}

pub(crate) fn bind_turn(connection: &Connection, subject: &Subject, turn: Key) -> sql::Result<()> {
    if !is_any_going_on(connection, subject.project)? {
        return Ok(());
    }
    bind(connection, subject, turn, (subject.user, subject.conversation))
}

/// Handles the answer of a turn.
pub(crate) fn record_answer(
    connection: &Connection,
    subject: &Subject,
    turn: Key,
    score: Option<UnitInterval>,
) -> sql::Result<()> {
    if !is_any_going_on(connection, subject.project)? {
        return Ok(());
    }
    let whose =
        connection.read_row("SELECT user, conversation FROM turns WHERE key = ?1", [turn])?;
    record_fact_change(connection, subject, turn, &score_sums(score.map(UnitInterval::get)))?;
    bind(connection, subject, turn, whose)
}

fn score_sums(score: Option<f64>) -> UnitSums {
    let billionths = score.map_or(0, |score| (score * 1e9).round() as i64);
    UnitSums { scored: i64::from(score.is_some()), score: billionths, ..UnitSums::default() }
}

fn is_any_going_on(connection: &Connection, project: Key) -> sql::Result<bool> {
    if let Some(HasRunningExperiments(any)) = connection.recall(project) {
        return Ok(any);
    }
    let any = connection.exists(
        "SELECT 1 FROM experiments WHERE project = ?1 AND status IN ('RUNNING', 'PAUSED')",
        [project],
    )?;
    connection.remember(project, || HasRunningExperiments(any));
    Ok(any)
}

/// Cached per project: whether it has a running experiment.
#[derive(Clone, Debug)]
pub(crate) struct HasRunningExperiments(pub(crate) bool);

impl CachedFact for HasRunningExperiments {
    const TABLE: &'static str = "projects";

    fn for_new_row() -> Option<Self> {
        None
    }
}

/// Assigns the turn to the variants its units are served, unless it is assigned.
fn bind(
    connection: &Connection,
    subject: &Subject,
    turn: Key,
    (user, conversation): (Option<Key>, Option<Key>),
) -> sql::Result<()> {
    let units = [(ExperimentUnit::User, user), (ExperimentUnit::Conversation, conversation)];
    for (kind, unit) in units {
        let Some(unit) = unit else { continue };
        let bound: Vec<(Key, i64)> = connection.read_rows(
            "INSERT INTO experiment_turns (turn, experiment, unit, variant)
             SELECT CAST(?1 AS BIGINT), u.experiment, u.unit, u.variant
             FROM experiment_units u JOIN experiments x ON x.key = u.experiment
             WHERE u.unit = ?2 AND u.kind = ?3 AND u.current = 1 AND u.since <= ?4
                 AND x.status IN ('RUNNING', 'PAUSED')
             ON CONFLICT DO NOTHING RETURNING experiment, variant",
            (turn, unit, kind.code(), subject.ts.as_micros() + SKEW_MICROS),
        )?;
        if bound.is_empty() {
            continue;
        }
        let sums = turn_sums(connection, turn)?;
        for (experiment, variant) in bound {
            add(connection, subject, (experiment, unit, variant), &sums)?;
        }
    }
    Ok(())
}

/// The turn's current contribution.
fn turn_sums(connection: &Connection, turn: Key) -> sql::Result<UnitSums> {
    let known = connection.find_row_with(
        "SELECT f.*, i.quality_score FROM turn_facts f LEFT JOIN turn_index i ON i.turn = f.turn
         WHERE f.turn = ?1",
        [turn],
        sums_from_row,
    )?;
    Ok(known.unwrap_or_default())
}

fn sums_from_row(row: &Row<'_>) -> sql::Result<UnitSums> {
    Ok(Facts::read(row)?.unit_sums().plus(&score_sums(row.get("quality_score")?)))
}

/// Applies a change of the turn's contribution.
pub(crate) fn record_fact_change(
    connection: &Connection,
    subject: &Subject,
    turn: Key,
    more: &UnitSums,
) -> sql::Result<()> {
    if *more == UnitSums::default() || !is_any_going_on(connection, subject.project)? {
        return Ok(());
    }
    let bound: Vec<(Key, Key, i64)> = connection.read_rows(
        "SELECT t.experiment, t.unit, t.variant
         FROM experiment_turns t JOIN experiments x ON x.key = t.experiment
         WHERE t.turn = ?1 AND x.status IN ('RUNNING', 'PAUSED')",
        [turn],
    )?;
    bound.into_iter().try_for_each(|row| add(connection, subject, row, more))
}

/// Adds to the sums of a unit under a variant, and to the totals.
fn add(
    connection: &Connection,
    subject: &Subject,
    key: UnitKey,
    more: &UnitSums,
) -> sql::Result<()> {
    if key.2 >= 0 {
        sums::add_unit_change(connection, subject, key, more)?;
    }
    let values = more.values();
    let mut parameters: Vec<&dyn ToSql> = vec![&key.0, &key.1, &key.2];
    parameters.extend(values.iter().map(|value| value as &dyn ToSql));
    connection.run(&ADD, &parameters[..])
}

/// The statement, built from the list of counters.
static ADD: LazyLock<String> = LazyLock::new(|| {
    let sum = |(n, name): (usize, &&str)| format!("{name} = {name} + ?{}", n + 4);
    let sums: Vec<String> = UnitSums::COLUMNS.iter().enumerate().map(sum).collect();
    format!(
        "UPDATE experiment_units SET {} WHERE experiment = ?1 AND unit = ?2 AND variant = ?3",
        sums.join(", ")
    )
});
static SELECT_SUMS: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT moves, first, {} FROM experiment_units
         WHERE experiment = ?1 AND unit = ?2 AND variant = ?3",
        UnitSums::COLUMNS.join(", ")
    )
});

/// Reads the counters of a row, starting at a column.
pub(crate) fn read_sums(row: &Row<'_>, from: usize) -> sql::Result<UnitSums> {
    let mut values = UnitSums::default().values();
    for (column, value) in values.iter_mut().enumerate() {
        *value = row.get(column + from)?;
    }
    Ok(UnitSums::from_values(values))
}
