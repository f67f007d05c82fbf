//! Trace requests for tests: in JSON, and the same in protobuf, by an encoder of our own.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

/// 2026-01-15 12:00 UTC, in milliseconds.
const START: u64 = 1_768_478_400_000;

/// One span of a test. Times are milliseconds after the start of the day.
pub(crate) struct TestSpan {
    pub(crate) trace: u64,
    pub(crate) id: u64,
    /// 0 for a root.
    pub(crate) parent: u64,
    pub(crate) name: &'static str,
    pub(crate) scope: &'static str,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) attributes: Value,
    pub(crate) error: Option<&'static str>,
}

/// A model call by OpenInference.
pub(crate) fn model_call(trace: u64, question: &str, answer: &str) -> TestSpan {
    TestSpan {
        trace,
        id: 3,
        parent: 1,
        name: "ChatCompletion",
        scope: "openinference.instrumentation.openai",
        start: 300,
        end: 1000,
        attributes: json!({"openinference.span.kind": "LLM", "llm.model_name": "m-1",
            "llm.token_count.prompt": 10, "llm.token_count.completion": 5,
            "llm.input_messages.0.message.role": "system",
            "llm.input_messages.0.message.content": format!("Use the documents. {question}"),
            "llm.input_messages.1.message.role": "user",
            "llm.input_messages.1.message.content": question,
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.content": answer}),
        error: None,
    }
}

pub(crate) fn retrieval(trace: u64) -> TestSpan {
    TestSpan {
        id: 2,
        parent: 1,
        name: "retrieve",
        start: 100,
        end: 200,
        attributes: json!({"openinference.span.kind": "RETRIEVER",
            "retrieval.documents.0.document.id": "d1",
            "retrieval.documents.0.document.content": "x is y",
            "retrieval.documents.0.document.score": 0.5}),
        ..model_call(trace, "", "")
    }
}

/// The root, which names conversation and user.
pub(crate) fn root(trace: u64, conversation: &str) -> TestSpan {
    TestSpan {
        id: 1,
        parent: 0,
        name: "chat",
        scope: "app",
        start: 0,
        end: 1250,
        attributes: json!({"session.id": conversation, "user.id": "ann"}),
        ..model_call(trace, "", "")
    }
}

/// The trace id, as the turn's id has it.
pub(crate) fn trace_id(trace: u64) -> String {
    format!("{trace:032x}")
}

/// The request in JSON.
pub(crate) fn request(spans: &[TestSpan]) -> Value {
    let scopes: Vec<Value> = spans
        .iter()
        .map(|span| json!({"scope": {"name": span.scope}, "spans": [span_json(span)]}))
        .collect();
    json!({"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": scopes}]})
}

fn span_json(span: &TestSpan) -> Value {
    let nanos = |millis: u64| ((START + span.trace * 10_000 + millis) * 1_000_000).to_string();
    let mut json = json!({"traceId": trace_id(span.trace), "spanId": format!("{:016x}", span.id),
        "name": span.name, "kind": 1, "startTimeUnixNano": nanos(span.start),
        "endTimeUnixNano": nanos(span.end), "attributes": attributes_json(&span.attributes)});
    if span.parent != 0 {
        json["parentSpanId"] = json!(format!("{:016x}", span.parent));
    }
    if let Some(error) = span.error {
        json["status"] = json!({"code": 2, "message": error});
    }
    json
}

fn attributes_json(attributes: &Value) -> Vec<Value> {
    let one = |(key, value): (&String, &Value)| {
        let value = if value.is_string() {
            json!({"stringValue": value})
        } else if value.is_i64() {
            json!({"intValue": value.to_string()})
        } else if value.is_number() {
            json!({"doubleValue": value})
        } else {
            json!({"boolValue": value})
        };
        json!({"key": key, "value": value})
    };
    attributes.as_object().unwrap().iter().map(one).collect()
}

/// The same request in protobuf.
pub(crate) fn protobuf(request: &Value) -> Vec<u8> {
    let list = |value: &Value, encode: fn(&Value) -> Vec<u8>, number| -> Vec<u8> {
        value.as_array().into_iter().flatten().flat_map(|one| field(number, &encode(one))).collect()
    };
    let scope = |scope: &Value| field(1, scope["scope"]["name"].as_str().unwrap().as_bytes());
    let scopes: Vec<u8> = request["resourceSpans"][0]["scopeSpans"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|one| {
            field(2, &[field(1, &scope(one)), list(&one["spans"], encode_span, 2)].concat())
        })
        .collect();
    field(1, &scopes)
}

fn encode_span(span: &Value) -> Vec<u8> {
    let id = |name: &str| -> Vec<u8> {
        let digits = span[name].as_str().unwrap_or_default();
        let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
        (0..digits.len()).step_by(2).map(byte).collect()
    };
    let time = |name: &str| span[name].as_str().unwrap().parse::<u64>().unwrap().to_le_bytes();
    let mut bytes = [field(1, &id("traceId")), field(2, &id("spanId"))].concat();
    if span["parentSpanId"].is_string() {
        bytes.extend(field(4, &id("parentSpanId")));
    }
    bytes.extend(field(5, span["name"].as_str().unwrap().as_bytes()));
    bytes.extend([&[7 << 3 | 1][..], &time("startTimeUnixNano")].concat());
    bytes.extend([&[8 << 3 | 1][..], &time("endTimeUnixNano")].concat());
    for attribute in span["attributes"].as_array().unwrap() {
        let value = &attribute["value"];
        let value = if let Some(text) = value["stringValue"].as_str() {
            field(1, text.as_bytes())
        } else if let Some(number) = value["intValue"].as_str() {
            [vec![3 << 3], varint(number.parse().unwrap())].concat()
        } else if let Some(number) = value["doubleValue"].as_f64() {
            [&[4 << 3 | 1][..], &number.to_le_bytes()].concat()
        } else {
            vec![2 << 3, u8::from(value["boolValue"].as_bool().unwrap())]
        };
        let key = field(1, attribute["key"].as_str().unwrap().as_bytes());
        bytes.extend(field(9, &[key, field(2, &value)].concat()));
    }
    if let Some(message) = span["status"]["message"].as_str() {
        bytes.extend(field(15, &[field(2, message.as_bytes()), vec![3 << 3, 2]].concat()));
    }
    bytes
}

/// A field with a length.
fn field(number: u64, bytes: &[u8]) -> Vec<u8> {
    [varint(number << 3 | 2), varint(bytes.len() as u64), bytes.to_vec()].concat()
}

fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

pub(crate) fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}
