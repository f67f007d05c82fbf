//! Reads and validates request bodies: coding, size, media type, depth, JSON syntax, then fields.

use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse;
use model::rename_aliases;
use serde::de::DeserializeOwned;
use serde_json::error::Category;
use serde_json::{Map, Value};

use crate::alias_decoder::{AliasDecoder, CONFLICT_PREFIX, field_names};
use crate::error::Problem;
use crate::unpack::{UnpackedLimit, is_gzip, unpack_gzip};

const MAX_DEPTH: usize = 32;
/// Time that a client has to send the whole body.
pub(crate) const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// The headers and body of a request, unpacked. Oversized bodies are refused with a problem response.
#[derive(Debug)]
pub(crate) struct Payload {
    pub(crate) headers: HeaderMap,
    pub(crate) bytes: Bytes,
}

impl<S: Send + Sync> FromRequest<S> for Payload {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let mut headers = request.headers().clone();
        let is_gzip = is_gzip(&headers)?;
        let limit = request.extensions().get::<UnpackedLimit>().copied();
        let reading = tokio::time::timeout(READ_TIMEOUT, Bytes::from_request(request, state));
        let Ok(read) = reading.await else {
            return Err(Problem::malformed("the body was not complete after 30 s; send it again"));
        };
        let bytes = read.map_err(|rejection| {
            if rejection.into_response().status() == StatusCode::PAYLOAD_TOO_LARGE {
                return Problem::too_large(
                    "the body exceeds the size limit of this route; send less at once, or raise \
                     max_body_kib (for batches max_batch_mib) in section [server]",
                );
            }
            Problem::malformed(
                "the connection failed before the body was complete; send the request again",
            )
        })?;
        if !is_gzip {
            return Ok(Self { headers, bytes });
        }
        let UnpackedLimit(limit) = limit.unwrap_or(UnpackedLimit(bytes.len()));
        let unpacking = tokio::task::spawn_blocking(move || unpack_gzip(&bytes, limit)).await;
        let failed = |_| Problem::malformed("unpacking the body failed; send it again");
        headers.remove(header::CONTENT_ENCODING);
        Ok(Self { headers, bytes: unpacking.map_err(failed)?? })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyFormat {
    Json,
    Ndjson,
}

pub(crate) fn detect_format(headers: &HeaderMap) -> Result<BodyFormat, Problem> {
    let text = headers.get(header::CONTENT_TYPE).map(|value| value.to_str().unwrap_or("?"));
    let essence = text.unwrap_or("").split(';').next().unwrap_or("").trim().to_ascii_lowercase();
    match essence.as_str() {
        "application/json" => Ok(BodyFormat::Json),
        "application/x-ndjson" | "application/jsonl" => Ok(BodyFormat::Ndjson),
        "" => Err(Problem::wrong_media_type(
            "the request has no Content-Type; send Content-Type: application/json",
        )),
        other if other.ends_with("+json") => Ok(BodyFormat::Json),
        _ => Err(Problem::wrong_media_type(
            "the Content-Type is not JSON; send Content-Type: application/json",
        )),
    }
}

pub(crate) fn parse_json(payload: &Payload) -> Result<Value, Problem> {
    match detect_format(&payload.headers)? {
        BodyFormat::Json => parse_json_bytes(&payload.bytes),
        BodyFormat::Ndjson => Err(Problem::wrong_media_type(
            "the body is NDJSON, expected one JSON object; send Content-Type: application/json",
        )),
    }
}

/// Parses the body of a request `T`, under the names of its fields. A repeat under other names then
/// has the same fingerprint.
pub(crate) fn parse_request<T: DeserializeOwned>(payload: &Payload) -> Result<Value, Problem> {
    let mut value = parse_json(payload)?;
    rename_fields(&mut value, field_names::<T>())?;
    Ok(value)
}

pub(crate) fn decode_json<T: DeserializeOwned>(payload: &Payload) -> Result<T, Problem> {
    decode_fields(parse_json(payload)?)
}

/// An empty body counts as an empty object.
pub(crate) fn parse_json_or_empty(payload: &Payload) -> Result<Value, Problem> {
    if payload.bytes.is_empty() { Ok(Value::Object(Map::new())) } else { parse_json(payload) }
}

pub(crate) fn parse_json_bytes(bytes: &[u8]) -> Result<Value, Problem> {
    if exceeds_depth(bytes, MAX_DEPTH) {
        return Err(Problem::invalid(
            "body",
            format!("the JSON is nested too deeply, expected at most {MAX_DEPTH} levels"),
        ));
    }
    serde_json::from_slice(bytes).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        Problem::malformed(match error.classify() {
            Category::Eof => "the JSON ends before it is complete".to_owned(),
            Category::Io | Category::Syntax | Category::Data => {
                format!("the JSON has a syntax error at line {line}, column {column}")
            }
        })
    })
}

/// Renames the aliases of an object's fields, before fields are read one by one.
pub(crate) fn rename_fields(value: &mut Value, known: &[&str]) -> Result<(), Problem> {
    let Value::Object(fields) = value else { return Ok(()) };
    rename_aliases(fields, known).map_err(|conflict| {
        let detail = format!("{}: {conflict}", conflict.alias);
        Problem::invalid(conflict.alias, detail)
    })
}

pub(crate) fn require_object(value: Value) -> Result<Map<String, Value>, Problem> {
    let Value::Object(fields) = value else {
        return Err(Problem::invalid("body", "the body is not a JSON object, expected one"));
    };
    Ok(fields)
}

/// Deserializes a JSON object, whose fields may have aliases. The error names the field that is invalid.
pub(crate) fn decode_fields<T: DeserializeOwned>(value: Value) -> Result<T, Problem> {
    let value = Value::Object(require_object(value)?);
    serde_path_to_error::deserialize(AliasDecoder(value)).map_err(|error| {
        let path = error.path().to_string();
        let cause = error.into_inner().to_string();
        let field = match quoted_name(&cause) {
            // serde puts the field name of these into the message, not into the path.
            Some(name) if cause.starts_with("unknown field") => join_path(&path, name),
            Some(name) if cause.starts_with("missing field") => join_path(&path, name),
            Some(name) if cause.starts_with(CONFLICT_PREFIX) => join_path(&path, name),
            Some(_) | None => path,
        };
        Problem::invalid(field.clone(), format!("{field}: {}", rephrase_serde_error(&cause)))
    })
}

/// Replaces the Rust type that serde expected by its JSON type. The part before it may quote the
/// client's value and stays.
fn rephrase_serde_error(cause: &str) -> String {
    let Some((got, expected)) = cause.rsplit_once(", expected ") else { return cause.to_owned() };
    let word = match expected {
        "f64" | "f32" => "a number",
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number, not below 0",
        "i32" | "i64" | "isize" => "a whole number",
        "a sequence" => "a list",
        "a map" => "an object",
        "a boolean" => "true or false",
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

/// Counts brackets outside of strings. Runs before parsing, which recurses.
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

const MAX_TEXT_CHARS: usize = 100_000;

pub(crate) fn check_length(field: &str, text: &str) -> Result<(), Problem> {
    // Counting is skipped for short texts: a character has at least one byte.
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
    fn serde_errors_name_json_types() {
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
    fn depth_limit_ignores_brackets_in_strings() {
        let deep = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
        assert!(parse_json_bytes(deep(32).as_bytes()).is_ok());
        assert!(parse_json_bytes(deep(33).as_bytes()).is_err());
        let quoted = format!("[\"\\\"{}\"]", "[".repeat(99));
        assert!(parse_json_bytes(quoted.as_bytes()).is_ok());
    }

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "the test only deserializes it")]
    struct Shape {
        name: String,
        inner: Option<Inner>,
    }

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "the test only deserializes it")]
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
    fn invalid_fields_are_named_with_their_path() {
        check_field(r#"{"name": 1}"#, "name");
        check_field(r#"{"title": "a", "name": "b"}"#, "title");
        check_field(r#"{}"#, "name");
        check_field(r#"{"name": "a", "inner": {"count": 300}}"#, "inner.count");
        check_field(r#"{"name": "a", "inner": {"cont": 3}}"#, "inner.cont");
        check_field(r#"{"name": "a", "inner": {}}"#, "inner.count");
        check_field("[]", "body");
        check_field(r#"{"name": "a", "Name": "b"}"#, "Name");
        check_field(r#"{"name": "a", "inner": {"count": 1, "Count": 2}}"#, "inner.Count");
    }
}
