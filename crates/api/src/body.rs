//! Reads request bodies: type, size, depth, JSON, shape, in that order, each with its own answer.

use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::IntoResponse;
use serde::de::DeserializeOwned;
use serde_json::error::Category;
use serde_json::{Map, Value};

use crate::error::Problem;

const MAX_DEPTH: usize = 32;
/// A client that sends slower than this is not going to finish.
pub(crate) const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// A request's headers and body, with our own answer when it is too large.
#[derive(Debug)]
pub(crate) struct Payload {
    /// The headers.
    pub(crate) headers: HeaderMap,
    /// The body as it came.
    pub(crate) bytes: Bytes,
}

impl<S: Send + Sync> FromRequest<S> for Payload {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let headers = request.headers().clone();
        let reading = tokio::time::timeout(READ_TIMEOUT, Bytes::from_request(request, state));
        let Ok(read) = reading.await else {
            return Err(Problem::malformed("the body did not come to its end in time"));
        };
        let bytes = read.map_err(|rejection| {
            if rejection.into_response().status() == StatusCode::PAYLOAD_TOO_LARGE {
                return Problem::too_large(
                    "the body is larger than this address takes; send less at once, or raise max_body_kib or, \
                     for batches, max_batch_mib in section [server]",
                );
            }
            Problem::malformed("the body could not be read to its end")
        })?;
        Ok(Self { headers, bytes })
    }
}

/// How a body is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyFormat {
    /// One JSON value.
    Json,
    /// One JSON value per line.
    Ndjson,
}

/// What the `Content-Type` says.
pub(crate) fn detect_format(headers: &HeaderMap) -> Result<BodyFormat, Problem> {
    reject_content_encoding(headers)?;
    let text = headers.get(header::CONTENT_TYPE).map(|value| value.to_str().unwrap_or("?"));
    let essence = text.unwrap_or("").split(';').next().unwrap_or("").trim().to_ascii_lowercase();
    match essence.as_str() {
        "application/json" => Ok(BodyFormat::Json),
        "application/x-ndjson" | "application/jsonl" => Ok(BodyFormat::Ndjson),
        "" => Err(Problem::wrong_media_type("send Content-Type: application/json")),
        other if other.ends_with("+json") => Ok(BodyFormat::Json),
        _ => Err(Problem::wrong_media_type(
            "the Content-Type is not JSON; send Content-Type: application/json",
        )),
    }
}

/// Nothing is unpacked here, so that nothing small can become large.
fn reject_content_encoding(headers: &HeaderMap) -> Result<(), Problem> {
    let is_plain = |value: &HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"identity");
    if headers.get_all(header::CONTENT_ENCODING).iter().all(is_plain) {
        return Ok(());
    }
    Err(Problem::wrong_media_type("the body has a Content-Encoding; send it as it is, without one"))
}

/// A body that holds one JSON value.
pub(crate) fn parse_json(payload: &Payload) -> Result<Value, Problem> {
    match detect_format(&payload.headers)? {
        BodyFormat::Json => parse_json_bytes(&payload.bytes),
        BodyFormat::Ndjson => Err(Problem::wrong_media_type(
            "this address takes one JSON object; send Content-Type: application/json",
        )),
    }
}

/// A body that holds one JSON object, or nothing, which counts as an empty one.
pub(crate) fn parse_json_or_empty(payload: &Payload) -> Result<Value, Problem> {
    if payload.bytes.is_empty() { Ok(Value::Object(Map::new())) } else { parse_json(payload) }
}

/// One JSON value from its bytes.
pub(crate) fn parse_json_bytes(bytes: &[u8]) -> Result<Value, Problem> {
    if exceeds_depth(bytes, MAX_DEPTH) {
        return Err(Problem::invalid(
            "body",
            format!("the JSON is nested over {MAX_DEPTH} levels deep, expected at most that"),
        ));
    }
    serde_json::from_slice(bytes).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        Problem::malformed(match error.classify() {
            Category::Eof => "the JSON ends too early".to_owned(),
            Category::Io | Category::Syntax | Category::Data => {
                format!("the JSON is not well-formed at line {line}, column {column}")
            }
        })
    })
}

/// The value in the shape that an address takes, or the field that does not fit.
pub(crate) fn decode_fields<T: DeserializeOwned>(value: Value) -> Result<T, Problem> {
    if !value.is_object() {
        return Err(Problem::invalid("body", "the body is not a JSON object, expected one"));
    }
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = error.path().to_string();
        let cause = error.into_inner().to_string();
        let field = match quoted_name(&cause) {
            // serde names these two in its message only.
            Some(name) if cause.starts_with("unknown field") => join_path(&path, name),
            Some(name) if cause.starts_with("missing field") => join_path(&path, name),
            Some(_) | None => path,
        };
        Problem::invalid(field.clone(), format!("{field}: {}", rephrase_serde_error(&cause)))
    })
}

/// What was expected, in words of JSON instead of Rust. What stands before it may be the client's own and stays.
fn rephrase_serde_error(cause: &str) -> String {
    let Some((got, expected)) = cause.rsplit_once(", expected ") else { return cause.to_owned() };
    let word = match expected {
        "f64" | "f32" => "a number",
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number, not below 0",
        "i32" | "i64" | "isize" => "a whole number",
        "a sequence" => "a list",
        "a map" => "an object",
        "a boolean" => "true or false",
        "a string" => "a text",
        other if other.starts_with("struct ") || other.contains("tagged enum ") => "an object",
        other => other,
    };
    format!("{got}, expected {word}")
}

fn quoted_name(cause: &str) -> Option<&str> {
    cause.split('`').nth(1)
}

fn join_path(path: &str, name: &str) -> String {
    let last = path.rsplit('.').next().unwrap_or(path);
    match path {
        "." => name.to_owned(),
        _ if last == name => path.to_owned(),
        _ => format!("{path}.{name}"),
    }
}

/// Counts brackets outside of strings; cheaper than parsing, and no recursion.
fn exceeds_depth(bytes: &[u8], limit: usize) -> bool {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for byte in bytes {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => {
                depth += 1;
                if depth > limit {
                    return true;
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

/// The longest text that is taken in anywhere.
const MAX_TEXT_CHARS: usize = 100_000;

/// Refuses a text that is longer than any text may be.
pub(crate) fn check_length(field: &str, text: &str) -> Result<(), Problem> {
    // A character has a byte at least.
    let count = if text.len() > MAX_TEXT_CHARS { text.chars().count() } else { 0 };
    if count > MAX_TEXT_CHARS {
        let detail = format!("{field} has {count} characters, expected at most {MAX_TEXT_CHARS}");
        return Err(Problem::invalid(field, detail));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_expected_is_told_in_words_of_json() {
        let rows = [
            (r#"invalid type: string "x, expected u8", expected f64"#, "a number"),
            ("invalid type: string \"abc\", expected usize", "a whole number, not below 0"),
            ("invalid type: string \"a\", expected struct PromptRequest", "an object"),
            ("invalid type: string \"a\", expected internally tagged enum Policy", "an object"),
        ];
        for (cause, expected) in rows {
            let (got, _) = cause.rsplit_once(", expected ").unwrap();
            assert_eq!(rephrase_serde_error(cause), format!("{got}, expected {expected}"));
        }
        assert_eq!(rephrase_serde_error("unknown field `a`"), "unknown field `a`");
    }

    #[test]
    fn depth_is_counted_outside_of_strings() {
        let deep = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
        assert!(parse_json_bytes(deep(32).as_bytes()).is_ok());
        assert!(parse_json_bytes(deep(33).as_bytes()).is_err());
        let quoted = format!("[\"\\\"{}\"]", "[".repeat(99));
        assert!(parse_json_bytes(quoted.as_bytes()).is_ok());
    }

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its shape is tested")]
    struct Shape {
        name: String,
        inner: Option<Inner>,
    }

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its shape is tested")]
    struct Inner {
        count: u8,
    }

    #[track_caller]
    fn check_field(body: &str, expected: &str) {
        let problem =
            decode_fields::<Shape>(parse_json_bytes(body.as_bytes()).unwrap()).unwrap_err();
        assert_eq!(problem.field.as_deref(), Some(expected), "{}", problem.detail);
        assert!(problem.detail.contains(expected), "{}", problem.detail);
    }

    #[test]
    fn whatever_does_not_fit_is_named() {
        check_field(r#"{"name": 1}"#, "name");
        check_field(r#"{"title": "a", "name": "b"}"#, "title");
        check_field(r#"{}"#, "name");
        check_field(r#"{"name": "a", "inner": {"count": 300}}"#, "inner.count");
        check_field(r#"{"name": "a", "inner": {"cont": 3}}"#, "inner.cont");
        check_field(r#"{"name": "a", "inner": {}}"#, "inner.count");
        check_field("[]", "body");
    }
}
