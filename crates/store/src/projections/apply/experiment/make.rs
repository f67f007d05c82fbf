//! Computes the sums of all experiments from the rows of their units, for stores older than the
//! sums.

use std::collections::BTreeMap;

use model::{Measure, Moments};
use serde_json::Value;
use sql::{Connection, Row};

use super::measures::{self, Counted};
use super::{BEFORE, read_sums};
use crate::projections::counters::UnitSums;
use crate::projections::moments::pack;
use crate::row_keys::Key;

/// By variant and number of moves: exposed units, and the moments of each measure.
type Sums = BTreeMap<(i64, u32), (u64, Vec<Moments>)>;

/// Works on the projections, or on the copy named by `prefix`. Their sums must be empty.
pub(crate) fn make(connection: &Connection, prefix: &str) -> sql::Result<()> {
    let sql = format!("SELECT key, definition FROM {prefix}experiments ORDER BY key");
    for (experiment, definition) in connection.read_rows::<(Key, String)>(&sql, ())? {
        let definition: Value = serde_json::from_str(&definition).unwrap_or_default();
        let measures = Measure::parse_all(&definition);
        measures::write(connection, prefix, experiment, &measures)?;
        let sums = collect_sums(connection, prefix, experiment, &measures)?;
        keep_sums(connection, prefix, experiment, sums)?;
    }
    Ok(())
}

fn collect_sums(
    connection: &Connection,
    prefix: &str,
    experiment: Key,
    measures: &[Measure],
) -> sql::Result<Sums> {
    // A unit's row from before its exposure sorts before its variants.
    let mut select = connection.prepare(&format!(
        "SELECT unit, variant, moves, first, {} FROM {prefix}experiment_units
         WHERE experiment = ?1 ORDER BY unit, variant",
        UnitSums::COLUMNS.join(", ")
    ))?;
    let mut rows = select.query([experiment])?;
    let (mut sums, mut before) = (Sums::new(), None);
    while let Some(row) = &rows.next()? {
        let (unit, variant): (Key, i64) = (row.get(0)?, row.get(1)?);
        let given = read_sums(row, 4)?;
        if variant == BEFORE {
            before = Some((unit, given));
            continue;
        }
        let before = before.as_ref().filter(|(whose, _)| *whose == unit).map(|(_, given)| given);
        add(&mut sums, row, Counted { is_first: row.get(3)?, sums: &given, before }, measures)?;
    }
    Ok(sums)
}

fn add(
    sums: &mut Sums,
    row: &Row<'_>,
    counted: Counted<'_>,
    measures: &[Measure],
) -> sql::Result<()> {
    let nothing = || (0, vec![Moments::default(); measures.len()]);
    let (exposed, kept) = sums.entry((row.get(1)?, row.get(2)?)).or_insert_with(nothing);
    *exposed += u64::from(counted.is_first);
    for (kept, more) in kept.iter_mut().zip(counted.moments(measures)) {
        *kept = kept.plus(&more);
    }
    Ok(())
}

fn keep_sums(
    connection: &Connection,
    prefix: &str,
    experiment: Key,
    sums: Sums,
) -> sql::Result<()> {
    let mut insert = connection.prepare(&format!(
        "INSERT INTO {prefix}experiment_sums (experiment, variant, moves, exposed, sums)
         VALUES (?1, ?2, ?3, ?4, ?5)"
    ))?;
    for ((variant, moves), (exposed, sums)) in sums {
        insert.run((experiment, variant, moves, exposed as i64, pack(&sums)))?;
    }
    Ok(())
}
