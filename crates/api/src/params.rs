//! Path and query parameters.

use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query};
use model::{BadId, Position, Timestamp};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::body;
use crate::error::{Problem, quote};

pub(crate) type PathParams<T> = Result<Path<T>, PathRejection>;

pub(crate) fn read_path<T>(parts: PathParams<T>) -> Result<T, Problem> {
    let Path(parts) = parts.map_err(|_| {
        Problem::invalid(
            "path",
            "path: an id in the path is not UTF-8, expected percent-encoded UTF-8",
        )
    })?;
    Ok(parts)
}

pub(crate) fn parse_id<T>(
    field: &str,
    text: String,
    new: impl Fn(String) -> Result<T, BadId>,
) -> Result<T, Problem> {
    new(text).map_err(|bad| Problem::invalid(field, format!("{field}: {bad}")))
}

/// The parameters of a query string, in order.
pub(crate) type QueryParams = Result<Query<Vec<(String, String)>>, QueryRejection>;

pub(crate) fn parse_optional_id<T>(
    field: &str,
    text: Option<String>,
    new: impl Fn(String) -> Result<T, BadId>,
) -> Result<Option<T>, Problem> {
    text.map(|text| parse_id(field, text, new)).transpose()
}

pub(crate) fn parse_time(field: &str, text: &str) -> Result<Timestamp, Problem> {
    Timestamp::parse_window_end(text)
        .map_err(|bad| Problem::invalid(field, format!("{field}: {bad}")))
}

/// The JSON type that a query parameter is converted to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ParamKind {
    Text,
    /// A number or boolean.
    Scalar,
    /// A comma-separated list of strings.
    List,
}

/// Converts query parameters to the equivalent JSON body. An empty parameter counts as absent, and
/// a parameter outside `known` is refused like an unknown field.
pub(crate) fn query_to_json(
    parameters: QueryParams,
    known: &[(&str, ParamKind)],
) -> Result<Value, Problem> {
    let Query(pairs) = parameters.map_err(|_| {
        Problem::invalid("query", "query: the query string is malformed, expected name=value pairs")
    })?;
    let mut fields = Map::new();
    for (name, text) in pairs.into_iter().filter(|(_, text)| !text.is_empty()) {
        let Some((_, kind)) = known.iter().find(|(one, _)| *one == name) else {
            let names: Vec<&str> = known.iter().map(|(one, _)| *one).collect();
            let detail = format!("{name}: unknown parameter, expected {}", names.join(", "));
            return Err(Problem::invalid(name, detail));
        };
        let value = match kind {
            ParamKind::Text => Value::String(text),
            ParamKind::List => text.split(',').map(|part| Value::from(part.trim())).collect(),
            ParamKind::Scalar => match serde_json::from_str(&text) {
                Ok(value @ (Value::Number(_) | Value::Bool(_))) => value,
                Ok(_) | Err(_) => Value::String(text),
            },
        };
        if fields.insert(name.clone(), value).is_some() {
            let detail = format!("{name}: given twice, expected once");
            return Err(Problem::invalid(name, detail));
        }
    }
    Ok(Value::Object(fields))
}

/// Decodes query parameters like the equivalent JSON body.
pub(crate) fn decode_query<T: DeserializeOwned>(
    parameters: QueryParams,
    known: &[(&str, ParamKind)],
) -> Result<T, Problem> {
    body::decode_fields(query_to_json(parameters, known)?)
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PageRequest {
    after: Option<u64>,
    limit: Option<usize>,
}

/// Reads the start position (exclusive) and the size of a page.
pub(crate) fn read_page(parameters: QueryParams, max: usize) -> Result<(Position, usize), Problem> {
    let known = [("after", ParamKind::Scalar), ("limit", ParamKind::Scalar)];
    let request: PageRequest = decode_query(parameters, &known)?;
    Ok((check_position("after", request.after)?, check_count("limit", request.limit, max, max)?))
}

pub(crate) fn check_count(
    field: &str,
    given: Option<usize>,
    default: usize,
    max: usize,
) -> Result<usize, Problem> {
    match given {
        None => Ok(default),
        Some(n) if (1..=max).contains(&n) => Ok(n),
        Some(n) => Err(Problem::invalid(field, format!("{field} is {n}, expected 1 to {max}"))),
    }
}

/// Positions have 63 bits in the store.
pub(crate) fn check_position(field: &str, given: Option<u64>) -> Result<Position, Problem> {
    let given = given.unwrap_or(0);
    if i64::try_from(given).is_err() {
        return Err(Problem::invalid(
            field,
            format!("{field} is {given}, expected a log position below 2^63"),
        ));
    }
    Ok(Position(given))
}

pub(crate) fn days_before(now: Timestamp, days: u32) -> Result<Timestamp, Problem> {
    if !(1..=3650).contains(&days) {
        return Err(Problem::invalid("days", format!("days is {days}, expected 1 to 3650")));
    }
    Ok(now.plus_secs(-i64::from(days) * 86_400))
}

pub(crate) fn parse_word<T>(
    field: &str,
    text: Option<String>,
    from_word: impl Fn(&str) -> Option<T>,
    words: &[&str],
) -> Result<Option<T>, Problem> {
    let Some(text) = text else { return Ok(None) };
    let unknown = || {
        let detail = format!("{field} is {}, expected one of {}", quote(&text), words.join(", "));
        Problem::invalid(field, detail)
    };
    from_word(&text).map(Some).ok_or_else(unknown)
}
