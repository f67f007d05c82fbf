//! Why a call came to nothing.

/// Divided by what the caller can do about it.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    /// Nobody answered.
    #[error("{url} does not answer")]
    Unreachable {
        /// Who was called.
        url: String,
        /// Why.
        #[source]
        cause: Box<ureq::Error>,
    },
    /// It was answered with a problem.
    #[error("{detail}")]
    Refused {
        /// The answer's status.
        status: u16,
        /// What it said.
        detail: String,
    },
    /// It was answered with something else than was asked for.
    #[error("the answer does not fit: {0}")]
    Unfit(&'static str),
}
