//! Why an answer may serve as an example.

/// From the weakest reason to the strongest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ExampleSource {
    /// The next message took the answer as right.
    Accepted,
    /// Somebody rated the answer well.
    Rating,
    /// Somebody wrote what the answer should have been.
    Correction,
}

impl ExampleSource {
    /// The word on the wire.
    pub const fn as_word(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Rating => "rating",
            Self::Correction => "correction",
        }
    }
}
