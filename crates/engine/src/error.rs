//! The engine's error type.

use crate::report::ReportError;
use connectors::ConnectorError;
use ingest::CaptureError;
use model::{BadData, ClaimSpace, ConversationId, TurnId};
use store::StoreError;

/// Divided by what the caller can do about it.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The event is invalid: correct it and resend.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    #[error("the line is not a JSON object, expected an event")]
    InvalidLine,
    /// The subject of the request does not exist.
    #[error("there is no {0} with this id in this project")]
    NotFound(&'static str),
    /// Widget keys are public, so they may send only a user's own feedback.
    #[error(
        "a widget key can only send its user's ratings, comments and interactions on a turn (message_id)"
    )]
    WidgetNotAllowed,
    /// A setting is invalid: correct it and resend.
    #[error(transparent)]
    InvalidSetting(BadData),
    #[error(transparent)]
    Report(ReportError),
    /// The id or key was used for something else: choose another.
    #[error("this {} was used before with another body", claim_word(*.0))]
    Conflict(ClaimSpace),
    /// The turn id belongs to another conversation of the project: choose another.
    #[error(
        "turn_id {turn} is used in conversation {conversation}, and turn ids are unique in a project; \
         send another turn_id, for example {requested}:{turn}, or none to get a generated one"
    )]
    TurnTaken { turn: TurnId, conversation: ConversationId, requested: ConversationId },
    /// The current state does not allow the operation. The text names an alternative.
    #[error("{0}")]
    PreconditionFailed(String),
    /// This write failed although others of its group did not. It is a dead letter with the
    /// reason.
    #[error("the event could not be stored; it is on the list of dead letters and can be replayed")]
    DeadLettered,
    #[error("the event could not be stored")]
    NotStored,
    /// The store is updated, but follow-up work is pending: retry. The text names what is pending.
    #[error("{0}")]
    Incomplete(&'static str),
    /// The store is unavailable: retry.
    #[error("the store is unavailable")]
    Store(#[from] StoreError),
}

impl EngineError {
    /// True when the disk or the database is unreachable. The store logs this itself.
    pub fn is_unavailable(&self) -> bool {
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

impl From<ConnectorError> for EngineError {
    fn from(error: ConnectorError) -> Self {
        Self::Store(connector_error(error))
    }
}

impl From<ReportError> for EngineError {
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
    fn only_an_unreachable_store_is_unavailable() {
        let rows = [
            (EngineError::Store(StoreError::Unavailable("no way".into())), true),
            (EngineError::Store(StoreError::Corrupt("a row".into())), false),
            (EngineError::NotStored, false),
            (EngineError::Incomplete("copies"), false),
        ];
        for (error, expected) in rows {
            assert_eq!(error.is_unavailable(), expected, "{error:?}");
        }
    }
}
