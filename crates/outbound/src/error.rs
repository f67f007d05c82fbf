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
    #[error(
        "{url} has a loopback, link-local or private address, which the server's setting \
         alerts.allow_private_webhooks does not allow"
    )]
    PrivateAddress { url: String },
    #[error("{detail}")]
    Refused { status: u16, detail: String },
    #[error("invalid response: {0}")]
    InvalidResponse(&'static str),
}
