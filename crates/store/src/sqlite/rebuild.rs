//! Makes the projections again from the log.

use std::hash::{DefaultHasher, Hash, Hasher};

use event::{Event, Position};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, TransactionBehavior};

use super::apply::{Subject, apply};
use super::events;
use super::keys::{find_key, find_project};
use crate::error::StoreError;
use crate::log::{Rebuild, Rebuilt};

const PAGE: usize = 1000;

/// Projections, and the order in which their rows are compared. The ids in `turns` are no
/// projection, but comparing them as well does no harm.
const PROJECTIONS: [(&str, &str); 7] = [
    ("turns", "key"),
    ("reactions", "position"),
    ("activity", "conversation, day, origin, reaction"),
    ("newest", "conversation"),
    ("decisions", "project, id"),
    ("privacy", "tenant"),
    ("profiles", "user"),
];

const EMPTY: &str = "
    UPDATE turns SET conversation = NULL, user = NULL, ts = NULL, opened = NULL, completed = NULL,
        track = NULL, bundle = NULL, user_type = NULL;
    DELETE FROM reactions;
    DELETE FROM activity;
    DELETE FROM newest;
    DELETE FROM decisions;
    DELETE FROM privacy;
    DELETE FROM profiles;";

/// One transaction: whoever reads meanwhile sees the old projections, and a crash leaves them.
pub(super) fn rebuild(connection: &mut Connection, how: &Rebuild) -> Result<Rebuilt, StoreError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let before = digest(&transaction)?;
    transaction.execute_batch(EMPTY)?;
    let total = events::newest(&transaction)?;
    let (mut done, mut events) = (Position(0), 0);
    loop {
        let page = events::tail(&transaction, done, PAGE)?;
        let Some(last) = page.last() else { break };
        done = last.position;
        for stored in &page {
            let subject = subject_of(&transaction, stored.position, &stored.event)?;
            for change in (how.changes_of)(&stored.event) {
                apply(&transaction, &subject, &change)?;
            }
            events += 1;
        }
        (how.progress)(done.0, total.0);
    }
    let changed = digest(&transaction)? != before;
    transaction.commit()?;
    Ok(Rebuilt { events, changed })
}

fn subject_of(
    connection: &Connection,
    position: Position,
    event: &Event,
) -> Result<Subject, StoreError> {
    let gone = || StoreError::Corrupt(format!("the ids of event {position} are gone"));
    let project = find_project(connection, &event.scope)?.ok_or_else(gone)?;
    Subject::of(event, position, project, |table, id| {
        find_key(connection, table, project, id)?.ok_or_else(gone).map(Some)
    })
}

/// A number that is the same for the same rows.
fn digest(connection: &Connection) -> rusqlite::Result<u64> {
    let mut hasher = DefaultHasher::new();
    for (table, order) in PROJECTIONS {
        let mut select = connection.prepare(&format!("SELECT * FROM {table} ORDER BY {order}"))?;
        let columns = select.column_count();
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
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
    }
}
