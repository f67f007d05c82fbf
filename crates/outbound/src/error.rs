//! Errors of outbound requests.

/// An outbound request failed. Variants differ in what the caller can do.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    #[error("request to {url} failed")]
    Unreachable {
        url: String,
        #[source]
        cause: Box<ureq::Error>,
    },
    #[error("{detail}")]
    Refused { status: u16, detail: String },
    #[error("invalid response: {0}")]
    InvalidResponse(&'static str),
}
