//! Which metrics of an experiment are summed up, and how its units' rows count for them.

use model::{Measure, Metric, MetricBy, Moments, UnitTotals};
use serde_json::Value;

use super::super::super::keys::Key;
use crate::read::experiments::UnitSums;
use crate::sql::{self, Connection, Row};

/// Keeps what a definition asks for. One that makes no sense asks for nothing.
pub(super) fn keep(
    connection: &Connection,
    experiment: Key,
    definition: &Value,
) -> sql::Result<()> {
    write(connection, "", experiment, &Measure::parse_all(definition))
}

/// Writes them down, among the projections or in the copy of them that `prefix` names.
pub(super) fn write(
    connection: &Connection,
    prefix: &str,
    experiment: Key,
    measures: &[Measure],
) -> sql::Result<()> {
    let mut insert = connection.prepare_cached(&format!(
        "INSERT INTO {prefix}experiment_measures (experiment, place, metric, by_unit)
         VALUES (?1, ?2, ?3, ?4)"
    ))?;
    for (place, measure) in measures.iter().enumerate() {
        let by_unit = measure.by == MetricBy::Unit;
        insert.run((experiment, place as i64, measure.metric.word(), by_unit))?;
    }
    Ok(())
}

/// What is kept for an experiment, by place.
pub(super) fn of(connection: &Connection, experiment: Key) -> sql::Result<Vec<Measure>> {
    connection
        .prepare_cached(
            "SELECT metric, by_unit FROM experiment_measures WHERE experiment = ?1 ORDER BY place",
        )?
        .query_map([experiment], read)?
        .collect()
}

fn read(row: &Row<'_>) -> sql::Result<Measure> {
    let word: String = row.get(0)?;
    let metric = Metric::from_word(&word).map_err(|bad| sql::Error::Unreadable(bad.to_string()))?;
    let by = if row.get(1)? { MetricBy::Unit } else { MetricBy::Turn };
    Ok(Measure { metric, by })
}

/// A unit's row under a variant, as it counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counted<'a> {
    /// It is the unit's first variant: what it stands for in comparisons.
    pub(super) is_first: bool,
    /// What it gave.
    pub(super) sums: &'a UnitSums,
    /// What it gave before it was exposed.
    pub(super) before: Option<&'a UnitSums>,
}

impl Counted<'_> {
    /// The moments of this row alone, for each place.
    pub(super) fn moments(&self, measures: &[Measure]) -> Vec<Moments> {
        let places = measures.iter().enumerate();
        places.map(|(place, measure)| self.moments_at(place, *measure)).collect()
    }

    fn moments_at(&self, place: usize, measure: Measure) -> Moments {
        let (value, count) = self.sums.measured(measure.metric);
        if place > 0 {
            return Moments::from_totals(UnitTotals { value, count, before: None });
        }
        if !self.is_first {
            return Moments::default();
        }
        let before = self.before.and_then(|before| before.mean(measure.metric));
        Moments::from_totals(UnitTotals { value, count, before }.weighted_by(measure.by))
    }
}
