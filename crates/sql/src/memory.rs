//! What a transaction remembers of what it has read, where a question costs a round trip.

/// A fact about a row of a table that can be remembered until the transaction is over.
#[cfg_attr(not(feature = "postgres"), expect(dead_code, reason = "nothing needs to be remembered"))]
pub trait CachedFact: Clone + Send + 'static {
    /// The table whose key it goes by.
    const TABLE: &'static str;

    /// What is so of a row that was only just made, if that is known.
    fn for_new_row() -> Option<Self>;
}
