//! Reads the sums: whole days from the daily sums, the rest from the hourly sums.

use std::collections::BTreeMap;

use sql::{Connection, Row};

use super::{Buckets, at, bucket_start, last_hour, projects, wait};
use crate::error::StoreError;
use crate::projections::apply::{DAY_HOURS, hour_number};
use crate::projections::counters::QualityCounts;
use crate::queries::quality::{AnsweredBy, QualityQuery};
use crate::row_keys::Key;

/// The unit of a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Hour,
    Day,
}

impl Unit {
    fn column(self) -> &'static str {
        match self {
            Self::Hour => "hour",
            Self::Day => "day",
        }
    }

    /// The suffix of its tables.
    fn ending(self) -> &'static str {
        match self {
            Self::Hour => "",
            Self::Day => "_days",
        }
    }

    fn hours(self) -> i64 {
        match self {
            Self::Hour => 1,
            Self::Day => DAY_HOURS,
        }
    }
}

/// A range of hours or days, inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    unit: Unit,
    first: i64,
    last: i64,
}

/// Splits a query into ranges. Whole days are used when buckets do not split them.
fn runs(query: &QualityQuery) -> Vec<Run> {
    let by_day = |hours: u32| i64::from(hours) % DAY_HOURS == 0;
    let days = query.bucket_hours > 0 && by_day(query.bucket_hours) && by_day(query.bucket_shift);
    let (first, last) = (hour_number(query.window.start.as_micros()), last_hour(query));
    if days { in_days(first, last) } else { vec![Run { unit: Unit::Hour, first, last }] }
}

fn in_days(first: i64, last: i64) -> Vec<Run> {
    let begin = (first + DAY_HOURS - 1).div_euclid(DAY_HOURS);
    let end = (last + 1).div_euclid(DAY_HOURS);
    let hours = |first: i64, last: i64| Run { unit: Unit::Hour, first, last };
    if begin >= end {
        return vec![hours(first, last)];
    }
    let days = Run { unit: Unit::Day, first: begin, last: end - 1 };
    let all = [hours(first, begin * DAY_HOURS - 1), days, hours(end * DAY_HOURS, last)];
    all.into_iter().filter(|run| run.first <= run.last).collect()
}

/// The rows of a project that match. A prompt without a version matches all versions.
fn each(
    connection: &Connection,
    query: &QualityQuery,
    (project, run): (Key, Run),
    sql: &str,
    mut add: impl FnMut(&Row<'_>) -> sql::Result<()>,
) -> sql::Result<()> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query((project, run.first, run.last, &query.model, &query.prompt))?;
    while let Some(row) = &rows.next()? {
        add(row)?;
    }
    Ok(())
}

const WHERE: &str = "AND (model = ?4 OR ?4 IS NULL)
    AND (prompt = ?5 OR ?5 IS NULL OR substr(prompt, 1, length(?5) + 1) = ?5 || '@')";

pub(crate) fn add_counts(
    connection: &Connection,
    query: &QualityQuery,
    project: Key,
    buckets: &mut Buckets,
) -> sql::Result<()> {
    let sums: Vec<String> =
        QualityCounts::COLUMNS.iter().map(|name| format!("sum({name})")).collect();
    for run in runs(query) {
        let (time, ending) = (run.unit.column(), run.unit.ending());
        // In index order, which saves a sort.
        let sql = format!(
            "SELECT {time}, {} FROM quality{ending}
             WHERE project = ?1 AND {time} BETWEEN ?2 AND ?3 {WHERE} GROUP BY {time}",
            sums.join(", ")
        );
        each(connection, query, (project, run), &sql, |row| {
            let mut values = QualityCounts::default().values();
            for (column, value) in values.iter_mut().enumerate() {
                *value = row.get(column + 1)?;
            }
            let hour = row.get::<_, i64>(0)? * run.unit.hours();
            let bucket = at(buckets, bucket_start(query, hour));
            bucket.counts = bucket.counts.plus(&QualityCounts::from_values(values));
            Ok(())
        })?;
    }
    Ok(())
}

pub(crate) fn add_waits(
    connection: &Connection,
    query: &QualityQuery,
    project: Key,
    buckets: &mut Buckets,
) -> sql::Result<()> {
    for run in runs(query) {
        let (time, ending) = (run.unit.column(), run.unit.ending());
        let sql = format!(
            "SELECT {time}, step, sum(count) FROM waits{ending}
             WHERE project = ?1 AND {time} BETWEEN ?2 AND ?3 {WHERE} GROUP BY {time}, step"
        );
        each(connection, query, (project, run), &sql, |row| {
            let hour = row.get::<_, i64>(0)? * run.unit.hours();
            wait(at(buckets, bucket_start(query, hour)), row.get(1)?, row.get(2)?);
            Ok(())
        })?;
    }
    Ok(())
}

pub(crate) fn answered_by(
    connection: &Connection,
    query: &QualityQuery,
) -> Result<Vec<AnsweredBy>, StoreError> {
    let mut counts: BTreeMap<(String, String), u64> = BTreeMap::new();
    let all = in_days(hour_number(query.window.start.as_micros()), last_hour(query));
    for project in projects(connection, query)? {
        for run in &all {
            let (time, ending) = (run.unit.column(), run.unit.ending());
            let mut select = connection.prepare_cached(&format!(
                "SELECT model, prompt, sum(answered) FROM quality{ending}
                 WHERE project = ?1 AND {time} BETWEEN ?2 AND ?3 GROUP BY model, prompt"
            ))?;
            let mut rows = select.query((project, run.first, run.last))?;
            while let Some(row) = &rows.next()? {
                let answered: i64 = row.get(2)?;
                *counts.entry((row.get(0)?, row.get(1)?)).or_default() += answered.unsigned_abs();
            }
        }
    }
    let one = |((model, prompt), answered)| AnsweredBy { model, prompt, answered };
    Ok(counts.into_iter().map(one).collect())
}

pub(crate) fn answers_over_time(
    connection: &Connection,
    query: &QualityQuery,
) -> Result<Vec<(String, i64, u64)>, StoreError> {
    let mut counts: BTreeMap<(String, i64), u64> = BTreeMap::new();
    for project in projects(connection, query)? {
        for run in runs(query) {
            let (time, ending) = (run.unit.column(), run.unit.ending());
            let sql = format!(
                "SELECT model, {time}, sum(answered) FROM quality{ending}
                 WHERE project = ?1 AND {time} BETWEEN ?2 AND ?3 {WHERE} GROUP BY {time}, model"
            );
            each(connection, query, (project, run), &sql, |row| {
                let hour = row.get::<_, i64>(1)? * run.unit.hours();
                let answered = row.get::<_, i64>(2)?.unsigned_abs();
                *counts.entry((row.get(0)?, bucket_start(query, hour))).or_default() += answered;
                Ok(())
            })?;
        }
    }
    Ok(counts.into_iter().map(|((model, hour), answered)| (model, hour, answered)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hour_is_in_one_run() {
        for (first, last) in
            [(0, 23), (5, 22), (5, 23), (0, 24), (23, 24), (-30, 70), (7, 7), (-24, -1)]
        {
            let mut hours = Vec::new();
            for run in in_days(first, last) {
                let unit = run.unit.hours();
                hours.extend(run.first * unit..(run.last + 1) * unit);
            }
            assert_eq!(hours, (first..=last).collect::<Vec<_>>(), "{first} to {last}");
        }
        let days =
            |first, last| in_days(first, last).iter().filter(|run| run.unit == Unit::Day).count();
        assert_eq!((days(0, 23), days(1, 46), days(1, 47)), (1, 0, 1));
    }
}
