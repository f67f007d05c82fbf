//! Responses to trace requests.

use prost::Message;
use serde_json::json;

use crate::Encoding;

/// The message `ExportTraceServiceResponse` of the protocol.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceResponse {
    /// Spans that were not stored because they are invalid.
    pub rejected: u64,
    /// The reason of the first rejection.
    pub reason: String,
}

#[derive(Clone, PartialEq, Message)]
struct PartialSuccess {
    #[prost(int64, tag = "1")]
    rejected_spans: i64,
    #[prost(string, tag = "2")]
    error_message: String,
}

#[derive(Clone, PartialEq, Message)]
struct ResponseMessage {
    #[prost(message, optional, tag = "1")]
    partial_success: Option<PartialSuccess>,
}

impl TraceResponse {
    /// An empty message when every span was taken.
    pub fn encode(&self, encoding: Encoding) -> Vec<u8> {
        let is_partial = self.rejected > 0;
        match encoding {
            Encoding::Json if is_partial => json!({"partialSuccess": {
                "rejectedSpans": self.rejected.to_string(), "errorMessage": self.reason}})
            .to_string()
            .into_bytes(),
            Encoding::Json => b"{}".to_vec(),
            Encoding::Protobuf => {
                let partial_success = is_partial.then(|| PartialSuccess {
                    rejected_spans: i64::try_from(self.rejected).unwrap_or(i64::MAX),
                    error_message: self.reason.clone(),
                });
                ResponseMessage { partial_success }.encode_to_vec()
            }
        }
    }
}

/// `google.rpc.Status`, the body of an error.
#[derive(Clone, PartialEq, Message)]
pub struct Refusal {
    #[prost(string, tag = "2")]
    pub message: String,
}

impl Refusal {
    pub fn encode_as(&self, encoding: Encoding) -> Vec<u8> {
        match encoding {
            Encoding::Json => json!({"message": self.message}).to_string().into_bytes(),
            Encoding::Protobuf => self.encode_to_vec(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complete_success_is_an_empty_message() {
        let all = TraceResponse::default();
        assert!(all.encode(Encoding::Protobuf).is_empty());
        assert_eq!(all.encode(Encoding::Json), b"{}");
    }

    #[test]
    fn partial_success_counts_rejected_spans() {
        let some = TraceResponse { rejected: 2, reason: "no trace id".into() };
        let json = r#"{"partialSuccess":{"errorMessage":"no trace id","rejectedSpans":"2"}}"#;
        assert_eq!(some.encode(Encoding::Json), json.as_bytes());
        assert_eq!(
            some.encode(Encoding::Protobuf),
            [&[0x0a, 15, 0x08, 2, 0x12, 11][..], b"no trace id"].concat()
        );
    }
}
