//! Reads fields of JSON records whose exact shape is not known.

use model::Timestamp;
use serde_json::{Map, Value};

pub(super) fn list_field<'a>(record: &'a Map<String, Value>, name: &str) -> Option<&'a Vec<Value>> {
    record.get(name)?.as_array()
}

pub(super) fn text_field(record: &Map<String, Value>, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| match record.get(*name)? {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
            None
        }
    })
}

/// A number, also when the export wrote it as text.
pub(super) fn number_field(record: &Map<String, Value>, names: &[&str]) -> Option<f64> {
    let number = text_field(record, names)?.parse::<f64>().ok();
    number.filter(|number| number.is_finite())
}

/// A time in any form of `Timestamp::parse`. Numbers out of range are kept, to be refused.
pub(super) fn time_field(fields: &Map<String, Value>, names: &[&str]) -> Option<Timestamp> {
    let written = text_field(fields, names)?;
    match written.parse::<f64>() {
        Ok(number) if number.is_finite() => Some(Timestamp::from_unix(number)),
        Ok(_) | Err(_) => Timestamp::parse(&written).ok(),
    }
}

/// Text, a list of parts, or an object with either.
pub(super) fn read_content(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts: Vec<String> =
                parts.iter().map(read_content).filter(|t| !t.is_empty()).collect();
            texts.join("\n")
        }
        Value::Object(fields) => ["text", "content", "value", "answer", "output"]
            .iter()
            .find_map(|name| fields.get(*name))
            .map(read_content)
            .unwrap_or_default(),
        Value::Null | Value::Bool(_) => String::new(),
        Value::Number(number) => number.to_string(),
    }
}

/// Exports write objects and lists as JSON text. Other text stays as it is.
pub(crate) fn decode_json(value: Option<&Value>) -> Value {
    let value = value.unwrap_or(&Value::Null);
    let json = value.as_str().filter(|text| text.trim_start().starts_with(['{', '[']));
    json.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_else(|| value.clone())
}

/// True for a record whose level or status is `error`.
pub(super) fn is_error(record: &Map<String, Value>) -> bool {
    text_field(record, &["level", "status"])
        .is_some_and(|level| level.eq_ignore_ascii_case("error"))
}
