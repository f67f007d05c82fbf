//! Why the engine did not do what it was asked.

use connectors::ConnectorError;
use ingest::CaptureError;
use model::{BadData, ClaimSpace};
use report::ReportError;
use store::StoreError;

/// Divided by what the caller can do about it.
#[derive(Debug, thiserror::Error)]
pub enum FlowError {
    /// The event itself is wrong: mend it and send it again.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// A line of a file that is no event at all.
    #[error("the line is not a JSON object, expected an event")]
    NotALine,
    /// What the request is about is not there.
    #[error("there is no {0} with this id here")]
    Unknown(&'static str),
    /// A page that anybody can open may not say this.
    #[error(
        "a widget key can only send its user's ratings, comments and interactions on a turn (message_id)"
    )]
    NotForWidgets,
    /// A setting does not make sense: mend it and send it again.
    #[error(transparent)]
    Setting(BadData),
    /// The report cannot be given as asked.
    #[error(transparent)]
    Report(ReportError),
    /// The id or key was used for something else: choose another.
    #[error("this {} was used before with another body", claim_word(*.0))]
    Conflict(ClaimSpace),
    /// Things do not stand so that it could be done: the text says what could.
    #[error("{0}")]
    NotPossible(String),
    /// This write broke although others did not; it was set aside with the reason.
    #[error(
        "it could not be stored and is on the list of dead letters, from where it can be replayed"
    )]
    SetAside,
    /// This write broke although others did not; it was not stored.
    #[error("the event could not be stored")]
    NotStored,
    /// It is done in the store, but not yet all that follows from it: ask again. The text says what is left.
    #[error("{0}")]
    Unfinished(&'static str),
    /// The store could not take it: try again.
    #[error("the store did not answer")]
    Store(#[from] StoreError),
}

impl FlowError {
    /// Whether the disk or the database is to blame. The store itself says so, once.
    pub fn is_away(&self) -> bool {
        matches!(self, Self::Store(cause) if cause.is_away())
    }
}

/// Errors of connectors are handled as errors of the store: the caller retries or reports them.
pub(crate) fn connector_error(error: ConnectorError) -> StoreError {
    match error {
        ConnectorError::Busy => StoreError::Busy,
        ConnectorError::Unavailable(text) => StoreError::Unavailable(text),
        ConnectorError::Closed => StoreError::Closed,
        ConnectorError::Corrupt(text) => StoreError::Corrupt(text),
        ConnectorError::File { path, cause } => StoreError::Folder { folder: path, cause },
    }
}

impl From<ConnectorError> for FlowError {
    fn from(error: ConnectorError) -> Self {
        Self::Store(connector_error(error))
    }
}

impl From<ReportError> for FlowError {
    fn from(error: ReportError) -> Self {
        match error {
            ReportError::Store(error) => Self::Store(error),
            bad @ ReportError::BadCursor => Self::Report(bad),
        }
    }
}

fn claim_word(space: ClaimSpace) -> &'static str {
    match space {
        ClaimSpace::Event => "event id",
        ClaimSpace::RequestKey => "Idempotency-Key",
        ClaimSpace::Turn | ClaimSpace::Completion => "turn id",
        ClaimSpace::Decision => "decision id",
        ClaimSpace::Experiment => "experiment id",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_store_that_does_not_answer_is_away() {
        let rows = [
            (FlowError::Store(StoreError::Unavailable("no way".into())), true),
            (FlowError::Store(StoreError::Corrupt("a row".into())), false),
            (FlowError::NotStored, false),
            (FlowError::Unfinished("copies"), false),
        ];
        for (error, is_away) in rows {
            assert_eq!(error.is_away(), is_away, "{error:?}");
        }
    }
}
