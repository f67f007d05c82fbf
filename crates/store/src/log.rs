//! The one write door.

use std::pin::Pin;

use event::{Outcome, Position, Write};

use crate::error::StoreError;

/// An answer that is on its way. Boxed, so that backends can be chosen at run time.
pub type Task<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// The append-only log of everything that happened.
pub trait Log: Send + Sync {
    /// Judges the writes one by one and stores those that may be, all in one transaction. Returns
    /// when that transaction is on disk, with one outcome per write, in order.
    fn commit(&self, writes: Vec<Write>) -> Task<'_, Vec<Outcome>>;

    /// The position of the newest event; 0 when there is none.
    fn head(&self) -> Position;

    /// The store's random key, made when the store was.
    fn seal_key(&self) -> [u8; 32];

    /// Finishes and commits what was accepted, then refuses everything else.
    fn close(&self) -> Task<'_, ()>;
}
