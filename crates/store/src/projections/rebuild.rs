//! Rebuilds the projections from the log.

use std::hash::{DefaultHasher, Hash, Hasher};

use model::{Event, Position};
use sql::{Connection, ValueRef};

use crate::error::StoreError;
use crate::event_rows;
use crate::meta;
use crate::projections::apply::{Subject, apply};
use crate::projections::baseline::ChangesOf;
use crate::projections::{PROJECTIONS, baseline, baseline_positions, word_index};

/// The parameters of a rebuild.
pub struct Rebuild {
    /// The changes of an event.
    pub changes_of: ChangesOf,
    /// Called with the done and total number of events.
    pub progress: Box<dyn Fn(u64, u64) + Send>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rebuilt {
    pub events: u64,
    /// True when a projection changed, which indicates a bug.
    pub changed: bool,
}

const PAGE_EVENTS: usize = 1000;

/// Ids stay, because other rows refer to them.
const EMPTY_TURNS: &str = "
    UPDATE turns SET conversation = NULL, user = NULL, ts = NULL, opened = NULL, completed = NULL,
        track = NULL, bundle = NULL, user_type = NULL, opened_derived = 0, completed_derived = 0";

/// Routers learn again from the log. Where events may have been dropped, their state is kept.
const RESET_ROUTERS: &str = "
    UPDATE router_progress SET version = version + 1, forgets = forgets + 1, position = NULL
    WHERE project NOT IN (SELECT project FROM baselines WHERE position > 0);
    DELETE FROM router_states
    WHERE project NOT IN (SELECT project FROM baselines WHERE position > 0);
    DELETE FROM router_turns
    WHERE project NOT IN (SELECT project FROM baselines WHERE position > 0);";

/// Runs in one transaction: readers see the old projections, and a crash keeps them.
pub(crate) fn rebuild(connection: &mut Connection, how: &Rebuild) -> Result<Rebuilt, StoreError> {
    let transaction = connection.transaction()?;
    baseline_positions::lock_all(&transaction)?;
    let before = digest(&transaction)?;
    empty(&transaction)?;
    let total = event_rows::newest_position(&transaction)?;
    let (mut done, mut events) = (Position(0), 0);
    let baselines = baseline_positions::positions(&transaction)?;
    baseline::restore(&transaction)?;
    transaction.execute_batch(RESET_ROUTERS)?;
    loop {
        let page = page(&transaction, done)?;
        let Some((last, _)) = page.last() else { break };
        done = last.position;
        for (subject, event) in &page {
            if baselines.get(&subject.project).is_some_and(|upto| subject.position <= *upto) {
                continue;
            }
            for change in (how.changes_of)(event) {
                apply(&transaction, subject, &change)?;
            }
            events += 1;
        }
        (how.progress)(done.0, total.0);
    }
    word_index::rebuild_word_index(&transaction)?;
    let changed = digest(&transaction)? != before;
    meta::clear_stale(&transaction)?;
    transaction.commit()?;
    Ok(Rebuilt { events, changed })
}

fn empty(connection: &Connection) -> sql::Result<()> {
    for (table, _) in PROJECTIONS {
        match table {
            "turns" => connection.execute_batch(EMPTY_TURNS)?,
            // Row by row, so that the similarity index receives each change.
            "turn_index" | "turn_vectors" => {
                connection.execute_batch(&format!("DELETE FROM {table} WHERE TRUE"))?;
            }
            _ => connection.execute_batch(&format!("DELETE FROM {table}"))?,
        }
    }
    Ok(())
}

/// The next events with their keys.
fn page(connection: &Connection, after: Position) -> Result<Vec<(Subject, Event)>, StoreError> {
    let with_keys = event_rows::read_tail_with_keys(connection, after, PAGE_EVENTS)?;
    Ok(with_keys.into_iter().map(|(stored, keys)| Subject::from_stored(stored, &keys)).collect())
}

fn digest(connection: &Connection) -> sql::Result<u64> {
    let mut hasher = DefaultHasher::new();
    for (table, order) in PROJECTIONS {
        let mut select = connection.prepare(&format!("SELECT * FROM {table} ORDER BY {order}"))?;
        let columns = select.column_count();
        let mut rows = select.query(())?;
        while let Some(row) = &rows.next()? {
            for column in 0..columns {
                absorb(&mut hasher, row.get_ref(column)?);
            }
        }
        table.hash(&mut hasher);
    }
    Ok(hasher.finish())
}

fn absorb(hasher: &mut DefaultHasher, value: ValueRef<'_>) {
    match value {
        ValueRef::Null => 0_u8.hash(hasher),
        ValueRef::Integer(number) => (1_u8, number).hash(hasher),
        ValueRef::Real(number) => (2_u8, number.to_bits()).hash(hasher),
        ValueRef::Text(bytes) => (3_u8, bytes).hash(hasher),
        ValueRef::Blob(bytes) => (4_u8, bytes).hash(hasher),
        ValueRef::Uuid(bytes) => (4_u8, &bytes[..]).hash(hasher),
    }
}
