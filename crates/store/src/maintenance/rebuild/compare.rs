//! Compares a projection with its rows in the scratch databases, both read in the order of the key.

use std::ops::ControlFlow;

use sql::{Connection, Rows};

use crate::error::StoreError;
use crate::maintenance::rebuild::layout::Layout;
use crate::maintenance::rebuild::rows::{Cell, for_each_row};
use crate::maintenance::rebuild::scratch::{NEW_KEYS, Scratch};

pub(super) enum Difference {
    /// The store lacks this row of the replay.
    Missing(Vec<Cell>),
    /// The replay has no such row.
    Extra(Vec<Cell>),
    /// The row of the replay. The store has other values under its key.
    Unequal(Vec<Cell>),
}

/// Passes each difference to `found`, until it breaks.
pub(super) fn compare(
    layout: &Layout,
    store: &Connection,
    scratches: &[Scratch],
    mut found: impl FnMut(Difference) -> Result<ControlFlow<()>, StoreError>,
) -> Result<(), StoreError> {
    let condition = match layout.table {
        "turns" => format!("key < {NEW_KEYS} AND project IN (SELECT key FROM projects)"),
        _ => "1 = 1".to_owned(),
    };
    let mut statements = Vec::with_capacity(scratches.len());
    for scratch in scratches {
        let select = layout.select(&scratch.connection, &condition);
        statements.push(scratch.connection.prepare(&select)?);
    }
    let mut replayed = Merged { layout, parts: Vec::with_capacity(scratches.len()) };
    for statement in &mut statements {
        let mut part = Part { rows: statement.query(())?, next: None };
        part.advance(layout)?;
        replayed.parts.push(part);
    }
    let mut is_over = false;
    let mut tell = |difference| -> Result<ControlFlow<()>, StoreError> {
        let flow = found(difference)?;
        is_over |= flow.is_break();
        Ok(flow)
    };
    for_each_row(store, &layout.select(store, &condition), |row| {
        let stored = layout.cells(row)?;
        let key = layout.key(&stored);
        while let Some(missing) = replayed.take_before(Some(&key))? {
            if tell(Difference::Missing(missing))?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        match replayed.take_at(&key)? {
            Some(row) if row == stored => Ok(ControlFlow::Continue(())),
            Some(row) => tell(Difference::Unequal(row)),
            None => tell(Difference::Extra(stored)),
        }
    })?;
    while !is_over && let Some(missing) = replayed.take_before(None)? {
        is_over = found(Difference::Missing(missing))?.is_break();
    }
    Ok(())
}

/// The rows of all scratch databases in one order. Each key is in one of them.
struct Merged<'a> {
    layout: &'a Layout,
    parts: Vec<Part<'a>>,
}

struct Part<'a> {
    rows: Rows<'a>,
    next: Option<Vec<Cell>>,
}

impl Part<'_> {
    /// Reads the next row. Returns the one before.
    fn advance(&mut self, layout: &Layout) -> sql::Result<Option<Vec<Cell>>> {
        let next = match self.rows.next()? {
            Some(row) => Some(layout.cells(&row)?),
            None => None,
        };
        Ok(std::mem::replace(&mut self.next, next))
    }
}

impl Merged<'_> {
    /// The first row, if its key is before the given one.
    fn take_before(&mut self, key: Option<&Vec<&Cell>>) -> sql::Result<Option<Vec<Cell>>> {
        let layout = self.layout;
        let parts = self.parts.iter_mut().filter(|part| part.next.is_some());
        let first = parts.min_by(|one, other| {
            let keys = [one, other].map(|part| part.next.as_ref().map(|row| layout.key(row)));
            keys[0].cmp(&keys[1])
        });
        let is_before = |part: &Part<'_>| {
            let next = part.next.as_ref().map(|row| layout.key(row));
            next.zip(key).is_none_or(|(next, key)| next < *key)
        };
        match first {
            Some(part) if is_before(part) => part.advance(layout),
            Some(_) | None => Ok(None),
        }
    }

    fn take_at(&mut self, key: &Vec<&Cell>) -> sql::Result<Option<Vec<Cell>>> {
        let layout = self.layout;
        let has_key =
            |part: &&mut Part<'_>| part.next.as_ref().is_some_and(|row| layout.key(row) == *key);
        match self.parts.iter_mut().find(has_key) {
            Some(part) => part.advance(layout),
            None => Ok(None),
        }
    }
}
