//! Read connections that see the store at the same position.

use model::Position;
use sql::Connection;

use crate::connection_source::Purpose;
use crate::connection_source::Source;
use crate::error::StoreError;
use crate::event_rows::newest_position;
#[cfg(feature = "scaled")]
use crate::postgres::settings;

/// Threads that replay. On Postgres each has a session.
const MAX_READERS: usize = 8;

/// A snapshot is idle while pages are applied. Its rows are read to the end.
#[cfg(feature = "scaled")]
const READER_SETTINGS: &str =
    "SET idle_in_transaction_session_timeout = 0; SET cursor_tuple_fraction = 1";

pub(super) struct Snapshot {
    pub(super) readers: Vec<Connection>,
    pub(super) head: Position,
}

/// Opens a connection per core, at most one per project.
pub(super) fn open_readers(source: &Source) -> Result<Vec<Connection>, StoreError> {
    let first = open(source)?;
    let projects: i64 = first.query_row("SELECT count(*) FROM projects", (), |row| row.get(0))?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let most = cores.min(MAX_READERS).min(usize::try_from(projects).unwrap_or(MAX_READERS));
    let mut readers = vec![first];
    while readers.len() < most {
        readers.push(open(source)?);
    }
    Ok(readers)
}

fn open(source: &Source) -> Result<Connection, StoreError> {
    let reader = source.reader(Purpose::Report)?;
    #[cfg(feature = "scaled")]
    if let Some(session) = reader.postgres() {
        session.raw_batch(READER_SETTINGS)?;
    }
    Ok(reader)
}

impl Snapshot {
    /// Starts reading while the log stands still.
    pub(super) fn pin(
        connection: &mut Connection,
        readers: Vec<Connection>,
    ) -> Result<Self, StoreError> {
        let transaction = connection.transaction()?;
        transaction.flush()?;
        let mut head = Position(0);
        for reader in &readers {
            head = begin(reader)?;
        }
        transaction.commit()?;
        Ok(Self { readers, head })
    }
}

/// Starts a snapshot. Returns its newest position.
fn begin(reader: &Connection) -> Result<Position, StoreError> {
    reader.begin_reading()?;
    // The snapshot starts with the first query.
    newest_position(reader)
}

/// Ends the snapshot of a reader and starts the next one.
pub(super) fn renew(reader: &Connection) -> Result<Position, StoreError> {
    reader.end_reading()?;
    begin(reader)
}

/// Planner settings of a reader on Postgres.
#[derive(Clone, Copy)]
pub(super) enum Plans {
    /// For pages of events. By cost, each page would read whole tables.
    ByIndex,
    /// For whole tables.
    ByCost,
}

#[cfg_attr(
    not(feature = "scaled"),
    expect(unused_variables, clippy::unnecessary_wraps, reason = "only Postgres has the setting")
)]
pub(super) fn plan(reader: &Connection, plans: Plans) -> Result<(), StoreError> {
    #[cfg(feature = "scaled")]
    if let Some(session) = reader.postgres() {
        session.raw_batch(match plans {
            Plans::ByIndex => settings::PLAN_BY_INDEX,
            Plans::ByCost => settings::PLAN_BY_COST,
        })?;
    }
    Ok(())
}
