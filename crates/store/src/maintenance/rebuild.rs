//! Rebuilds the projections from the log.
//!
//! The log is replayed in scratch databases, several projects at a time, and the result is compared
//! with the projections in one snapshot. Writes continue. Only when something differs, the log is
//! held while the newest events are replayed and the differing rows are written, in one
//! transaction: readers see the old projections until then, and a crash keeps them.

mod compare;
mod layout;
mod repair;
mod replay;
mod rows;
mod scratch;
mod snapshot;

use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::Mutex;
use sql::Connection;

use crate::connection_source::Source;
use crate::error::StoreError;
use crate::log::writer::Writer;
use crate::maintenance::rebuild::repair::Repair;
use crate::maintenance::rebuild::replay::Replay;
use crate::maintenance::rebuild::snapshot::Snapshot;
use crate::meta;
use crate::projections::baseline::ChangesOf;
use crate::projections::word_index;

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

/// Attempts while users are erased, old events dropped or tenants removed at the same time. Each
/// makes what was replayed outdated.
const MAX_ATTEMPTS: u32 = 5;

/// Routers learn again from the log. Where events may have been dropped, their state is kept.
const RESET_ROUTERS: &str = "
    UPDATE router_progress SET version = version + 1, forgets = forgets + 1, position = NULL
    WHERE project NOT IN (SELECT project FROM baselines WHERE position > 0);
    DELETE FROM router_states
    WHERE project NOT IN (SELECT project FROM baselines WHERE position > 0);
    DELETE FROM router_turns
    WHERE project NOT IN (SELECT project FROM baselines WHERE position > 0);";

/// The database, and the folder for scratch files.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    pub(crate) source: Source,
    pub(crate) folder: PathBuf,
}

/// The parameters, shared by threads.
struct Instructions {
    changes_of: ChangesOf,
    progress: Mutex<Box<dyn Fn(u64, u64) + Send>>,
}

pub(crate) async fn rebuild(
    writer: &Writer,
    site: &Site,
    how: Rebuild,
) -> Result<Rebuilt, StoreError> {
    let Rebuild { changes_of, progress } = how;
    let how = Arc::new(Instructions { changes_of, progress: Mutex::new(progress) });
    scratch::remove_abandoned(&site.folder);
    for _ in 0..MAX_ATTEMPTS {
        let Some(rebuilt) = attempt(writer, site, &how).await? else { continue };
        rebuild_word_index(writer).await?;
        return Ok(rebuilt);
    }
    Err(StoreError::Unavailable(format!(
        "users were erased or events dropped during each of {MAX_ATTEMPTS} attempts; run the \
         rebuild again"
    )))
}

/// Returns `None` when the replay is outdated.
async fn attempt(
    writer: &Writer,
    site: &Site,
    how: &Arc<Instructions>,
) -> Result<Option<Rebuilt>, StoreError> {
    let source = site.source.clone();
    let readers = run_blocking(move || snapshot::open_readers(&source)).await?;
    let snapshot = writer.run(|connection| Snapshot::pin(connection, readers)).await?;
    let (place, instructions) = (site.clone(), Arc::clone(how));
    let replay = run_blocking(move || Replay::run(snapshot, &place, &instructions)).await?;
    if !replay.new_ids.is_empty() {
        // Keys are no projection. The next attempt finds them.
        writer.run(move |connection| repair::create_ids(connection, &replay.new_ids)).await?;
        return Ok(None);
    }
    let (replay, differing) = run_blocking(move || replay.find_differences()).await?;
    if differing.is_empty() {
        let events = replay.events;
        drop(replay);
        writer.run(settle).await?;
        return Ok(Some(Rebuilt { events, changed: false }));
    }
    tracing::info!(tables = differing.join(", "), "projections differ from the log");
    let instructions = Arc::clone(how);
    let Some(replay) = run_blocking(move || replay.catch_up(&instructions)).await? else {
        return Ok(None);
    };
    let instructions = Arc::clone(how);
    match writer.run(move |connection| repair::repair(connection, replay, &instructions)).await? {
        Repair::Done(events) => Ok(Some(Rebuilt { events, changed: true })),
        Repair::Outdated => Ok(None),
    }
}

fn settle(connection: &mut Connection) -> Result<(), StoreError> {
    let transaction = connection.transaction()?;
    settle_in(&transaction)?;
    Ok(transaction.commit()?)
}

/// Lets routers learn again and marks the projections as current.
fn settle_in(connection: &Connection) -> Result<(), StoreError> {
    connection.execute_batch(RESET_ROUTERS)?;
    Ok(meta::clear_stale(connection)?)
}

/// In batches, between which other writes are committed.
async fn rebuild_word_index(writer: &Writer) -> Result<(), StoreError> {
    writer.run(|connection| Ok(word_index::clear(connection)?)).await?;
    while writer.run(word_index::index_batch).await? {}
    Ok(())
}

async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    let joined = tokio::task::spawn_blocking(work).await;
    joined.unwrap_or_else(|_| Err(StoreError::Unavailable("a rebuild panicked".into())))
}
