//! The wire format of OTLP over HTTP (OpenTelemetry protocol), in protobuf and in JSON.
//!
//! Pure: decodes requests and encodes responses. It gives attributes no meaning.

mod json_form;
mod message;
mod response;
mod value;

pub use message::{
    ResourceSpans, ScopeSpans, Span, SpanEvent, SpanStatus, TraceRequest, decode_traces,
};
pub use response::{Refusal, TraceResponse};
pub use value::{KeyValue, to_fields};

/// The two encodings of a request. The response uses the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    Protobuf,
    Json,
}

impl Encoding {
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Protobuf => "application/x-protobuf",
            Self::Json => "application/json",
        }
    }

    /// The encoding of a `Content-Type`, whose parameters are ignored.
    pub fn from_content_type(text: &str) -> Option<Self> {
        let essence = text.split(';').next().unwrap_or_default().trim();
        [Self::Protobuf, Self::Json]
            .into_iter()
            .find(|one| one.content_type().eq_ignore_ascii_case(essence))
    }
}

/// A body that is no request of the protocol.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Malformed(pub(crate) String);
