//! Ids in addresses and query strings.

use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query};
use model::{BadId, Position, Timestamp};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::body;
use crate::error::Problem;

/// The variable parts of an address.
pub(crate) type PathParams<T> = Result<Path<T>, PathRejection>;

/// The parts, unless they are not even text.
pub(crate) fn read_path<T>(parts: PathParams<T>) -> Result<T, Problem> {
    let Path(parts) =
        parts.map_err(|_| Problem::invalid("path", "path: an id in the address is not UTF-8"))?;
    Ok(parts)
}

/// An id in an address.
pub(crate) fn parse_id<T>(
    field: &str,
    text: String,
    new: impl Fn(String) -> Result<T, BadId>,
) -> Result<T, Problem> {
    new(text).map_err(|bad| Problem::invalid(field, format!("{field}: {bad}")))
}

/// The parameters of a query string, in order.
pub(crate) type QueryParams = Result<Query<Vec<(String, String)>>, QueryRejection>;

/// How a parameter's text is read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ParamKind {
    /// As it is.
    Text,
    /// As a number or truth value.
    Scalar,
    /// As several texts with commas between them.
    List,
}

/// Query parameters in the shape of the JSON body that means the same. An empty one counts as
/// absent; one that is not in the list is refused like an unknown field.
pub(crate) fn query_to_json(
    parameters: QueryParams,
    known: &[(&str, ParamKind)],
) -> Result<Value, Problem> {
    let Query(pairs) =
        parameters.map_err(|_| Problem::invalid("query", "query: it could not be read"))?;
    let mut fields = Map::new();
    for (name, text) in pairs.into_iter().filter(|(_, text)| !text.is_empty()) {
        let Some((_, read)) = known.iter().find(|(one, _)| *one == name) else {
            let names: Vec<&str> = known.iter().map(|(one, _)| *one).collect();
            let detail = format!("{name}: unknown parameter, expected {}", names.join(", "));
            return Err(Problem::invalid(name, detail));
        };
        let value = match read {
            ParamKind::Text => Value::String(text),
            ParamKind::List => text.split(',').map(|part| Value::from(part.trim())).collect(),
            ParamKind::Scalar => match serde_json::from_str(&text) {
                Ok(value @ (Value::Number(_) | Value::Bool(_))) => value,
                Ok(_) | Err(_) => Value::String(text),
            },
        };
        if fields.insert(name.clone(), value).is_some() {
            let detail = format!("{name}: given twice");
            return Err(Problem::invalid(name, detail));
        }
    }
    Ok(Value::Object(fields))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PageRequest {
    after: Option<u64>,
    limit: Option<usize>,
}

/// The page of a list that is asked for: behind which position, and its size.
pub(crate) fn read_page(
    parameters: QueryParams,
    most: usize,
) -> Result<(Position, usize), Problem> {
    let known = [("after", ParamKind::Scalar), ("limit", ParamKind::Scalar)];
    let request: PageRequest = body::decode_fields(query_to_json(parameters, &known)?)?;
    Ok((check_position("after", request.after)?, check_limit(request.limit, most, most)?))
}

/// A page's size.
pub(crate) fn check_limit(
    given: Option<usize>,
    default: usize,
    most: usize,
) -> Result<usize, Problem> {
    match given {
        None => Ok(default),
        Some(n) if (1..=most).contains(&n) => Ok(n),
        Some(n) => Err(Problem::invalid("limit", format!("limit is {n}, expected 1 to {most}"))),
    }
}

/// A place in the log. Positions are 63 bits in the store.
pub(crate) fn check_position(field: &str, given: Option<u64>) -> Result<Position, Problem> {
    let given = given.unwrap_or(0);
    if i64::try_from(given).is_err() {
        return Err(Problem::invalid(field, format!("{field}: expected a position in the log")));
    }
    Ok(Position(given))
}

/// A moment so many days ago.
pub(crate) fn days_before(now: Timestamp, days: u32) -> Result<Timestamp, Problem> {
    if !(1..=3650).contains(&days) {
        return Err(Problem::invalid("days", format!("days is {days}, expected 1 to 3650")));
    }
    Ok(now.plus_secs(-i64::from(days) * 86_400))
}

/// One of a list of words.
pub(crate) fn parse_word<T>(
    field: &str,
    text: Option<String>,
    from_word: impl Fn(&str) -> Option<T>,
    words: &[&str],
) -> Result<Option<T>, Problem> {
    let Some(text) = text else { return Ok(None) };
    let detail = || format!("{field}: expected one of {}", words.join(", "));
    from_word(&text).map(Some).ok_or_else(|| Problem::invalid(field, detail()))
}
