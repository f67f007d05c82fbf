//! Reads the sums: whole days from the daily sums, the rest from the hourly sums.

use std::collections::BTreeMap;

use sql::Row;

use super::{AnsweredBy, BY_MODEL_AND_PROMPT, Buckets, Report, add_reaction, bucket_at, wait};
use crate::error::StoreError;
use crate::projections::apply::{DAY_HOURS, hour_number};
use crate::projections::counters::QualityCounts;
use crate::row_keys::Key;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Unit {
    column: &'static str,
    /// The suffix of its tables.
    ending: &'static str,
    hours: i64,
}

const HOUR: Unit = Unit { column: "hour", ending: "", hours: 1 };
const DAY: Unit = Unit { column: "day", ending: "_days", hours: DAY_HOURS };

/// A range of hours or days, inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    unit: Unit,
    first: i64,
    last: i64,
}

fn in_days(first: i64, last: i64) -> Vec<Run> {
    let begin = (first + DAY_HOURS - 1).div_euclid(DAY_HOURS);
    let end = (last + 1).div_euclid(DAY_HOURS);
    let hours = |first: i64, last: i64| Run { unit: HOUR, first, last };
    if begin >= end {
        return vec![hours(first, last)];
    }
    let days = Run { unit: DAY, first: begin, last: end - 1 };
    let all = [hours(first, begin * DAY_HOURS - 1), days, hours(end * DAY_HOURS, last)];
    all.into_iter().filter(|run| run.first <= run.last).collect()
}

impl Report<'_> {
    /// Ranges of the window. Whole days are used when buckets do not split them.
    fn runs(&self) -> Vec<Run> {
        let by_day = |hours: u32| i64::from(hours) % DAY_HOURS == 0;
        let (size, shift) = (self.query.bucket_hours, self.query.bucket_shift);
        let first = hour_number(self.query.window.start.as_micros());
        match size > 0 && by_day(size) && by_day(shift) {
            true => in_days(first, self.last_hour()),
            false => vec![Run { unit: HOUR, first, last: self.last_hour() }],
        }
    }

    /// Calls `add` with the first hour of a bucket and a row of its sums: the time, then `columns`.
    fn each(
        &self,
        (project, table): (Key, &str),
        (columns, group): (&str, &str),
        mut add: impl FnMut(i64, &Row<'_>) -> sql::Result<()>,
    ) -> sql::Result<()> {
        for Run { unit: Unit { column: time, ending, hours }, first, last } in self.runs() {
            // In index order, which saves a sort.
            let mut select = self.connection.prepare_cached(&format!(
                "SELECT {time}, {columns} FROM {table}{ending}
                 WHERE project = ?1 AND {time} BETWEEN ?2 AND ?3 AND {BY_MODEL_AND_PROMPT}
                 GROUP BY {time}{group}"
            ))?;
            let (model, prompt) = (&self.query.model, &self.query.prompt);
            let mut rows = select.query((project, first, last, model, prompt))?;
            while let Some(row) = &rows.next()? {
                add(self.bucket_start(row.get::<_, i64>(0)? * hours), row)?;
            }
        }
        Ok(())
    }

    pub(super) fn add_counts(&self, project: Key, buckets: &mut Buckets) -> sql::Result<()> {
        let sums = QualityCounts::COLUMNS.iter().map(|name| format!("sum({name})"));
        let sums = sums.collect::<Vec<_>>().join(", ");
        self.each((project, "quality"), (&sums, ""), |start, row| {
            let mut values = QualityCounts::default().values();
            for (column, value) in values.iter_mut().enumerate() {
                *value = row.get(column + 1)?;
            }
            let bucket = bucket_at(buckets, start);
            bucket.counts = bucket.counts.plus(&QualityCounts::from_values(values));
            Ok(())
        })
    }

    pub(super) fn add_waits(&self, project: Key, buckets: &mut Buckets) -> sql::Result<()> {
        self.each((project, "waits"), ("step, sum(count)", ", step"), |start, row| {
            wait(bucket_at(buckets, start), row.get(1)?, row.get(2)?);
            Ok(())
        })
    }

    pub(super) fn add_reactions(&self, project: Key, buckets: &mut Buckets) -> sql::Result<()> {
        let columns = ("reaction, sum(count)", ", reaction");
        self.each((project, "reacted"), columns, |start, row| {
            add_reaction(bucket_at(buckets, start), row.get(1)?, row.get(2)?);
            Ok(())
        })
    }

    pub(super) fn answered_by(&self) -> Result<Vec<AnsweredBy>, StoreError> {
        let mut counts: BTreeMap<(String, String), u64> = BTreeMap::new();
        let all = in_days(hour_number(self.query.window.start.as_micros()), self.last_hour());
        for project in self.projects()? {
            for Run { unit: Unit { column: time, ending, .. }, first, last } in &all {
                let sql = format!(
                    "SELECT model, prompt, sum(answered) FROM quality{ending}
                     WHERE project = ?1 AND {time} BETWEEN ?2 AND ?3 GROUP BY model, prompt"
                );
                let answers: Vec<(String, String, i64)> =
                    self.connection.read_rows(&sql, (project, first, last))?;
                for (model, prompt, answered) in answers {
                    *counts.entry((model, prompt)).or_default() += answered.unsigned_abs();
                }
            }
        }
        let one = |((model, prompt), answered)| AnsweredBy { model, prompt, answered };
        Ok(counts.into_iter().map(one).collect())
    }

    pub(super) fn answers_over_time(&self) -> Result<Vec<(String, i64, u64)>, StoreError> {
        let mut counts: BTreeMap<(String, i64), u64> = BTreeMap::new();
        let columns = ("model, sum(answered)", ", model");
        for project in self.projects()? {
            self.each((project, "quality"), columns, |start, row| {
                let answered = row.get::<_, i64>(2)?.unsigned_abs();
                *counts.entry((row.get(1)?, start)).or_default() += answered;
                Ok(())
            })?;
        }
        Ok(counts.into_iter().map(|((model, hour), answered)| (model, hour, answered)).collect())
    }
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
                let unit = run.unit.hours;
                hours.extend(run.first * unit..(run.last + 1) * unit);
            }
            assert_eq!(hours, (first..=last).collect::<Vec<_>>(), "{first} to {last}");
        }
        let days = |first, last| in_days(first, last).iter().filter(|run| run.unit == DAY).count();
        assert_eq!((days(0, 23), days(1, 46), days(1, 47)), (1, 0, 1));
    }
}
