//! Loads the index at start, on a thread of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sql::Connection;

use crate::background_thread::BackgroundThread;
use crate::connection_source::Purpose;
use crate::connection_source::Source;
use crate::error::StoreError;
use crate::similarity::entry;
use crate::similarity::indexes::SimilarityIndexes;

const PAGE_TURNS: usize = 2_000;
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

pub(crate) fn spawn_loader(
    source: &Source,
    indexes: Arc<SimilarityIndexes>,
) -> Result<BackgroundThread, StoreError> {
    let mut connection = source.reader(Purpose::Report)?;
    let source = source.clone();
    BackgroundThread::spawn("uptake-vectors", move |stop| {
        while !stop.load(Ordering::Acquire) {
            match load(&connection, &indexes, stop) {
                Ok(turns) => return tracing::info!(turns, "similarity index loaded"),
                Err(error) if error.is_lasting() => {
                    return tracing::error!(%error, "loading the similarity index failed; it is incomplete");
                }
                // Starts over; loading a turn twice is harmless.
                Err(error) => {
                    tracing::warn!(%error, "loading the similarity index failed; retrying");
                }
            }
            std::thread::park_timeout(RETRY_INTERVAL);
            if connection.is_lost()
                && let Ok(another) = source.reader(Purpose::Report)
            {
                connection = another;
            }
        }
    })
}

/// Loads all turns. Returns their number.
fn load(
    connection: &Connection,
    indexes: &SimilarityIndexes,
    stop: &AtomicBool,
) -> Result<u64, StoreError> {
    let (mut after, mut turns) = (0, 0);
    // The writer inserts later turns.
    let last = entry::last(connection)?;
    while after < last {
        if stop.load(Ordering::Acquire) {
            return Ok(turns);
        }
        let page = entry::page(connection, after, PAGE_TURNS)?;
        let Some((end, _, _)) = page.last() else { break };
        after = end.turn;
        for (entry, model, own) in page {
            if let Some(values) = entry::together(connection, &entry, &model, &own)? {
                indexes.load(&model, &entry, &values);
                turns += 1;
            }
        }
    }
    indexes.finish_loading();
    Ok(turns)
}
