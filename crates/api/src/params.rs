//! Path and query parameters.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::RangeInclusive;

use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query};
use model::{BadId, Position, Timestamp, Window, decode_path_segment, resolve_alias};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::body;
use crate::error::{Problem, quote};

pub(crate) type PathParams<T> = Result<Path<T>, PathRejection>;
pub(crate) type PathParam = PathParams<String>;

pub(crate) fn read_path<T>(parts: PathParams<T>) -> Result<T, Problem> {
    let Path(parts) = parts.map_err(|_| {
        Problem::invalid(
            "path",
            "path: an id in the path is not UTF-8, expected percent-encoded UTF-8",
        )
    })?;
    Ok(parts)
}

pub(crate) fn read_id<T>(
    field: &str,
    part: PathParam,
    new: impl Fn(String) -> Result<T, BadId>,
) -> Result<T, Problem> {
    parse_segment(field, read_path(part)?, new)
}

/// Parses an id that was a segment of a path.
pub(crate) fn parse_segment<T>(
    field: &str,
    segment: String,
    new: impl Fn(String) -> Result<T, BadId>,
) -> Result<T, Problem> {
    parse_id(field, decode_path_segment(segment), new)
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

pub(crate) fn check_window(start: Timestamp, end: Timestamp) -> Result<Window, Problem> {
    if start > end {
        let detail = format!("end is {end}, expected a time after start {start}");
        return Err(Problem::invalid("end", detail));
    }
    Ok(Window { start, end })
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

/// Query parameters as fields of the equivalent JSON body.
#[derive(Debug)]
pub(crate) struct QueryFields(Map<String, Value>);

/// Converts query parameters to fields. Aliases are accepted as in bodies. An empty parameter
/// counts as absent, and a parameter outside `known` is refused like an unknown field.
pub(crate) fn read_query(
    query: QueryParams,
    known: &[(&str, ParamKind)],
) -> Result<QueryFields, Problem> {
    let mut fields = Map::new();
    let names: Vec<&str> = known.iter().map(|(one, _)| *one).collect();
    for (name, text) in read_pairs(query)?.into_iter().filter(|(_, text)| !text.is_empty()) {
        let field = resolve_alias(&name, &names);
        let Some((field, kind)) = known.iter().find(|(one, _)| Some(*one) == field) else {
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
        if fields.insert((*field).to_owned(), value).is_some() {
            let detail = format!("{name}: given twice, expected once");
            return Err(Problem::invalid(name, detail));
        }
    }
    Ok(QueryFields(fields))
}

/// Returns `None` for absent and empty texts.
pub(crate) fn find_text<'a>(pairs: &'a [(String, String)], name: &str) -> Option<&'a str> {
    let mut found = pairs.iter().filter(|(one, text)| one == name && !text.is_empty());
    found.next().map(|(_, text)| text.as_str())
}

pub(crate) fn read_pairs<E>(
    query: Result<Query<Vec<(String, String)>>, E>,
) -> Result<Vec<(String, String)>, Problem> {
    let bad = "query: the query string is malformed, expected name=value pairs";
    query.map(|Query(pairs)| pairs).map_err(|_| Problem::invalid("query", bad))
}

impl QueryFields {
    /// Removes and decodes a field.
    pub(crate) fn take<T: DeserializeOwned>(&mut self, name: &str) -> Result<Option<T>, Problem> {
        let Some(value) = self.0.remove(name) else { return Ok(None) };
        let mut field: BTreeMap<String, T> = body::decode_fields(json!({ name: value }))?;
        Ok(field.remove(name))
    }

    pub(crate) fn take_time(&mut self, name: &str) -> Result<Option<Timestamp>, Problem> {
        let text: Option<String> = self.take(name)?;
        text.map(|text| parse_time(name, &text)).transpose()
    }

    pub(crate) fn into_json(self) -> Value {
        Value::Object(self.0)
    }

    /// Removes `after`, the exclusive start of a page.
    pub(crate) fn take_position(&mut self) -> Result<Position, Problem> {
        check_position("after", self.take("after")?)
    }

    /// Removes `limit`, the size of a page.
    pub(crate) fn take_limit(&mut self, default: usize, max: usize) -> Result<usize, Problem> {
        check_count("limit", self.take("limit")?, default, max)
    }
}

/// Reads the start position (exclusive) and the size of a page.
pub(crate) fn read_page(query: QueryParams, max: usize) -> Result<(Position, usize), Problem> {
    let known = [("after", ParamKind::Scalar), ("limit", ParamKind::Scalar)];
    let mut query = read_query(query, &known)?;
    Ok((query.take_position()?, query.take_limit(max, max)?))
}

pub(crate) fn check_count(
    field: &str,
    given: Option<usize>,
    default: usize,
    max: usize,
) -> Result<usize, Problem> {
    given.map_or(Ok(default), |count| check_range(field, count, 1..=max))
}

pub(crate) fn check_range<T: PartialOrd + Display>(
    field: &str,
    value: T,
    range: RangeInclusive<T>,
) -> Result<T, Problem> {
    if range.contains(&value) {
        return Ok(value);
    }
    let (low, high) = range.into_inner();
    Err(Problem::invalid(field, format!("{field} is {value}, expected {low} to {high}")))
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

/// The time `days` before `now`; `field` names the days in errors.
pub(crate) fn days_before(field: &str, now: Timestamp, days: u32) -> Result<Timestamp, Problem> {
    Ok(now.plus_secs(-i64::from(check_range(field, days, 1..=3650)?) * 86_400))
}

pub(crate) fn parse_word<T>(
    field: &str,
    text: &str,
    from_word: impl Fn(&str) -> Option<T>,
    words: &[&str],
) -> Result<T, Problem> {
    let unknown = || {
        let detail = format!("{field} is {}, expected one of {}", quote(text), words.join(", "));
        Problem::invalid(field, detail)
    };
    from_word(text).ok_or_else(unknown)
}

pub(crate) fn parse_optional_word<T>(
    field: &str,
    text: Option<String>,
    from_word: impl Fn(&str) -> Option<T>,
    words: &[&str],
) -> Result<Option<T>, Problem> {
    text.map(|text| parse_word(field, &text, from_word, words)).transpose()
}

/// Chooses the value of a word; the first choice is the default.
pub(crate) fn choose_word<T: Copy>(
    field: &str,
    word: Option<&str>,
    choices: &[(&str, T)],
) -> Result<T, Problem> {
    let Some(word) = word else { return Ok(choices[0].1) };
    let unknown = || {
        let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
        let (last, others) = words.split_last().unwrap_or((&"", &[]));
        let expected = format!("{} or {last}", others.join(", "));
        Problem::invalid(field, format!("{field} is {}, expected {expected}", quote(word)))
    };
    choices.iter().find(|(one, _)| *one == word).map(|(_, value)| *value).ok_or_else(unknown)
}

/// Parses `micros-position`: the time and the log position of the oldest turn shown.
pub(crate) fn parse_cursor(text: &str) -> Option<(Timestamp, Position)> {
    let (micros, position) = text.rsplit_once('-')?;
    Some((Timestamp::from_micros(micros.parse().ok()?), Position(position.parse().ok()?)))
}
