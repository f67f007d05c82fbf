//! Reading what became of items that queries returned.

use model::BANDS;

/// Counters of an item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoredTally {
    /// Queries whose answer used it.
    pub used: u64,
    /// Queries whose answer did not.
    pub ignored: u64,
    /// Queries for which it was called helpful.
    pub positive: u64,
    /// Queries for which it was not.
    pub negative: u64,
    /// How often it was returned, by bands of ranks.
    pub returned: [u64; BANDS],
}

/// What is known of some items.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredTallies {
    /// Of each item that was asked for: over all queries, and under the sort of question.
    pub items: Vec<(Option<StoredTally>, Option<StoredTally>)>,
    /// By bands of ranks: how often items were returned, and used.
    pub totals: [(u64, u64); BANDS],
}

/// Which items are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extreme {
    /// Those that were used and called helpful most.
    Helpful,
    /// Those that were ignored most.
    Ignored,
}
