//! The messages of a trace request, with the field numbers and names of the protocol. Fields that
//! Uptake does not read are left out; decoding skips them.

use prost::Message;
use serde::Deserialize;

use crate::json_form::{hex, nanos, text};
use crate::value::KeyValue;
use crate::{Encoding, Malformed};

/// The message `ExportTraceServiceRequest` of the protocol.
#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TraceRequest {
    #[prost(message, repeated, tag = "1")]
    pub resource_spans: Vec<ResourceSpans>,
}

#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceSpans {
    #[prost(message, optional, tag = "1")]
    pub resource: Option<Resource>,
    #[prost(message, repeated, tag = "2")]
    pub scope_spans: Vec<ScopeSpans>,
}

/// The process that the spans come from.
#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Resource {
    #[prost(message, repeated, tag = "1")]
    pub attributes: Vec<KeyValue>,
}

#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ScopeSpans {
    #[prost(message, optional, tag = "1")]
    pub scope: Option<Scope>,
    #[prost(message, repeated, tag = "2")]
    pub spans: Vec<Span>,
}

/// The library that made the spans.
#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Scope {
    #[prost(string, tag = "1")]
    #[serde(deserialize_with = "text")]
    pub name: String,
    #[prost(string, tag = "2")]
    #[serde(deserialize_with = "text")]
    pub version: String,
}

#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Span {
    /// Has 16 bytes when it is valid.
    #[prost(bytes = "vec", tag = "1")]
    #[serde(deserialize_with = "hex")]
    pub trace_id: Vec<u8>,
    /// Has 8 bytes when it is valid.
    #[prost(bytes = "vec", tag = "2")]
    #[serde(deserialize_with = "hex")]
    pub span_id: Vec<u8>,
    /// Empty for a root.
    #[prost(bytes = "vec", tag = "4")]
    #[serde(deserialize_with = "hex")]
    pub parent_span_id: Vec<u8>,
    #[prost(string, tag = "5")]
    #[serde(deserialize_with = "text")]
    pub name: String,
    /// Nanoseconds since 1970 UTC, like all times of the protocol.
    #[prost(fixed64, tag = "7")]
    #[serde(deserialize_with = "nanos")]
    pub start_time_unix_nano: u64,
    #[prost(fixed64, tag = "8")]
    #[serde(deserialize_with = "nanos")]
    pub end_time_unix_nano: u64,
    #[prost(message, repeated, tag = "9")]
    pub attributes: Vec<KeyValue>,
    #[prost(message, repeated, tag = "11")]
    pub events: Vec<SpanEvent>,
    #[prost(message, optional, tag = "15")]
    pub status: Option<SpanStatus>,
}

#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SpanEvent {
    #[prost(fixed64, tag = "1")]
    #[serde(deserialize_with = "nanos")]
    pub time_unix_nano: u64,
    #[prost(string, tag = "2")]
    #[serde(deserialize_with = "text")]
    pub name: String,
    #[prost(message, repeated, tag = "3")]
    pub attributes: Vec<KeyValue>,
}

#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SpanStatus {
    #[prost(string, tag = "2")]
    #[serde(deserialize_with = "text")]
    pub message: String,
    /// 2 is an error.
    #[prost(int32, tag = "3")]
    #[serde(deserialize_with = "crate::json_form::status_code")]
    pub code: i32,
}

/// Decodes the body of a trace request.
pub fn decode_traces(encoding: Encoding, body: &[u8]) -> Result<TraceRequest, Malformed> {
    match encoding {
        Encoding::Protobuf => TraceRequest::decode(body).map_err(|error| {
            Malformed(format!("the body is not a protobuf trace request: {error}"))
        }),
        Encoding::Json => serde_json::from_slice(body).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            let place = format!("line {line}, column {column}");
            Malformed(format!("the body is not a JSON trace request: error at {place}"))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{AnyValue, Content, to_fields};

    fn request() -> TraceRequest {
        let value = |content| Some(AnyValue { value: Some(content) });
        let attributes = vec![
            KeyValue { key: "a".into(), value: value(Content::Text("x".into())) },
            KeyValue { key: "n".into(), value: value(Content::Whole(-3)) },
            KeyValue { key: "none".into(), value: None },
        ];
        let span = Span {
            trace_id: vec![0xab; 16],
            span_id: vec![1; 8],
            name: "chat".into(),
            start_time_unix_nano: 1_800_000_000_000_000_001,
            end_time_unix_nano: 1_800_000_000_000_000_002,
            attributes,
            status: Some(SpanStatus { message: "down".into(), code: 2 }),
            ..Span::default()
        };
        let scope = Some(Scope { name: "app".into(), version: String::new() });
        let scope_spans = vec![ScopeSpans { scope, spans: vec![span] }];
        TraceRequest { resource_spans: vec![ResourceSpans { resource: None, scope_spans }] }
    }

    #[test]
    fn protobuf_and_json_decode_to_the_same_request() {
        let json = r#"{"resourceSpans": [{"scopeSpans": [{"scope": {"name": "app"}, "spans": [
            {"traceId": "ABababababababababababababababab", "spanId": "0101010101010101", "parentSpanId": null,
             "name": "chat", "kind": 3, "flags": 257, "startTimeUnixNano": "1800000000000000001",
             "endTimeUnixNano": 1800000000000000002, "droppedAttributesCount": 0,
             "attributes": [{"key": "a", "value": {"stringValue": "x"}},
                            {"key": "n", "value": {"intValue": "-3"}}, {"key": "none"}],
             "status": {"code": "STATUS_CODE_ERROR", "message": "down"}}]}]}]}"#;
        let from_json = decode_traces(Encoding::Json, json.as_bytes()).unwrap();
        assert_eq!(from_json, request());
        let bytes = request().encode_to_vec();
        assert_eq!(decode_traces(Encoding::Protobuf, &bytes).unwrap(), request());
        let fields = to_fields(&from_json.resource_spans[0].scope_spans[0].spans[0].attributes);
        assert_eq!(serde_json::Value::Object(fields), serde_json::json!({"a": "x", "n": -3}));
    }

    #[test]
    fn other_bodies_are_malformed() {
        let bad = decode_traces(Encoding::Protobuf, b"\x0a\xff\xff").unwrap_err();
        assert!(bad.to_string().contains("protobuf"), "{bad}");
        for body in [&b"{"[..], b"[1]", br#"{"resourceSpans": 3}"#] {
            let bad = decode_traces(Encoding::Json, body).unwrap_err();
            assert!(bad.to_string().contains("JSON"), "{bad}");
        }
        let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
        assert!(decode_traces(Encoding::Json, deep.as_bytes()).is_err());
    }
}
