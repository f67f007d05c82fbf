//! The one write door.

use std::pin::Pin;

use model::{Change, Event, Outcome, Position, Write};
use tokio::sync::watch;

use crate::error::StoreError;
use crate::meter::LogStats;

/// An answer that is on its way. Boxed, so that backends can be chosen at run time.
pub type Task<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// How projections are made again.
pub struct Rebuild {
    /// What an event does to the projections.
    pub changes_of: fn(&Event) -> Vec<Change>,
    /// Told now and then: events done, and events in all.
    pub progress: Box<dyn Fn(u64, u64) + Send>,
}

/// What came of making the projections again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rebuilt {
    /// How many events were replayed.
    pub events: u64,
    /// Whether anything is different now. It never should be.
    pub changed: bool,
}

/// The append-only log of everything that happened.
pub trait Log: Send + Sync {
    /// Judges the writes one by one and stores those that may be, all in one transaction. Returns
    /// when that transaction is on disk, with one outcome per write, in order.
    fn commit(&self, writes: Vec<Write>) -> Task<'_, Vec<Outcome>>;

    /// The position of the newest event; 0 when there is none.
    fn head(&self) -> Position;

    /// Tells when there is something newer.
    fn watch(&self) -> watch::Receiver<Position>;

    /// Whether other processes may write too.
    fn is_shared(&self) -> bool;

    /// Whether the log is shorter than it was: whoever has read it knows what is not so any more.
    fn went_back(&self) -> bool;

    /// Makes every projection again from the log, in one transaction; writes wait meanwhile.
    fn rebuild(&self, how: Rebuild) -> Task<'_, Rebuilt>;

    /// Whether the projections are older than this program and must be made again before they are
    /// read.
    fn is_stale(&self) -> Task<'_, bool>;

    /// Whether something could be stored now. After trouble it tries.
    fn is_ready(&self) -> Task<'_, bool>;

    /// How it is doing.
    fn stats(&self) -> LogStats;

    /// The store's random key, made when the store was.
    fn seal_key(&self) -> [u8; 32];

    /// Finishes and commits what was accepted, then refuses everything else.
    fn close(&self) -> Task<'_, ()>;
}
