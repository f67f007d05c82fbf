//! Makes the sums of all experiments from the rows of their units: for a store that has units from
//! before there were sums, also where the events they came from are gone.

use std::collections::BTreeMap;

use model::{Measure, Moments};
use serde_json::Value;

use super::super::super::keys::Key;
use super::super::super::moments::pack;
use super::before::BEFORE;
use super::measures::{self, Counted};
use super::read_sums;
use crate::read::experiments::UnitSums;
use crate::sql::{self, Connection, Row};

/// By variant and number of moves: how many were exposed, and the moments of each place.
type Sums = BTreeMap<(i64, u32), (u64, Vec<Moments>)>;

/// Of the projections, or of the copy of them that `prefix` names. Their sums must be empty.
pub(in super::super::super) fn make(connection: &Connection, prefix: &str) -> sql::Result<()> {
    let sql = format!("SELECT key, definition FROM {prefix}experiments ORDER BY key");
    let all: Vec<(Key, String)> = connection
        .prepare(&sql)?
        .query_map((), |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<_, _>>()?;
    for (experiment, definition) in all {
        let definition: Value = serde_json::from_str(&definition).unwrap_or_default();
        let measures = Measure::parse_all(&definition);
        measures::write(connection, prefix, experiment, &measures)?;
        let sums = sums_of(connection, prefix, experiment, &measures)?;
        keep_sums(connection, prefix, experiment, sums)?;
    }
    Ok(())
}

fn sums_of(
    connection: &Connection,
    prefix: &str,
    experiment: Key,
    measures: &[Measure],
) -> sql::Result<Sums> {
    // A unit's time before comes ahead of its variants.
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
