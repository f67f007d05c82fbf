//! Facts that a transaction caches on Postgres, where a read costs a round trip.

/// A fact about a row, cached until the transaction ends.
pub trait CachedFact: Clone + Send + 'static {
    /// The table of the key.
    const TABLE: &'static str;

    /// The fact for a row created in this transaction, if known.
    fn for_new_row() -> Option<Self>;
}
