//! The measures of an experiment, and how a unit's row counts for them.

use model::{Measure, Metric, MetricBy, Moments, UnitTotals};
use sql::{Connection, Row};

use crate::projections::counters::UnitSums;
use crate::row_keys::Key;

/// Writes to the projections, or to the copy named by `prefix`.
pub(crate) fn write(
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

/// The measures of an experiment, in order.
pub(crate) fn read_measures(connection: &Connection, experiment: Key) -> sql::Result<Vec<Measure>> {
    connection.read_rows_with(
        "SELECT metric, by_unit FROM experiment_measures WHERE experiment = ?1 ORDER BY place",
        [experiment],
        read,
    )
}

fn read(row: &Row<'_>) -> sql::Result<Measure> {
    let word: String = row.get(0)?;
    let metric = Metric::from_word(&word).map_err(|bad| sql::Error::Unreadable(bad.to_string()))?;
    let by = if row.get(1)? { MetricBy::Unit } else { MetricBy::Turn };
    Ok(Measure { metric, by })
}

/// A unit's row under a variant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counted<'a> {
    /// True for the unit's first variant, which comparisons use.
    pub(crate) is_first: bool,
    pub(crate) sums: &'a UnitSums,
    /// Sums before the exposure.
    pub(crate) before: Option<&'a UnitSums>,
}

impl Counted<'_> {
    /// The moments of this row for each measure.
    pub(crate) fn moments(&self, measures: &[Measure]) -> Vec<Moments> {
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
