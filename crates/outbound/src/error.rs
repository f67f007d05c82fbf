//! Errors of outbound requests.

/// An outbound request failed. Variants differ in what the caller can do.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    #[error("{url} does not answer")]
    Unreachable {
        url: String,
        #[source]
        cause: Box<ureq::Error>,
    },
    #[error("{detail}")]
    Refused { status: u16, detail: String },
    #[error("the answer does not fit: {0}")]
    InvalidResponse(&'static str),
}
