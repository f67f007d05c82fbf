//! Times in request bodies.

use serde::Deserialize;
use utoipa::ToSchema;

/// A time: RFC 3339 text, ISO 8601 text without a zone (UTC), or Unix seconds as a number
/// (milliseconds above 10^11).
#[derive(Debug, Deserialize, ToSchema)]
#[serde(
    untagged,
    expecting = "expected a time: RFC 3339 such as 2026-01-31T12:00:00Z, or Unix seconds or milliseconds"
)]
pub(crate) enum TimeInput {
    Text(String),
    Unix(f64),
}

impl TimeInput {
    /// A text that `Timestamp::parse` reads.
    pub(crate) fn into_text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Unix(number) => number.to_string(),
        }
    }
}
