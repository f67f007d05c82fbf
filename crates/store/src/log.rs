//! The one write door.

use std::pin::Pin;

use model::{Change, Event};

use crate::error::StoreError;

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
