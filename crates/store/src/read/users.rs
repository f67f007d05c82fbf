//! Users, as far as erasing them needs.

/// How much there was of a user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ErasedCounts {
    /// Events.
    pub events: u64,
    /// Turns that they opened.
    pub turns: u64,
    /// Reactions of theirs that stand.
    pub reactions: u64,
}
