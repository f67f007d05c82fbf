//! Values of attributes, in protobuf, OTLP's JSON and plain JSON.

use prost::{Message, Oneof};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::json_form::{Whole, text};

#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct KeyValue {
    #[prost(string, tag = "1")]
    #[serde(deserialize_with = "text")]
    pub key: String,
    #[prost(message, optional, tag = "2")]
    pub value: Option<AnyValue>,
}

#[derive(Clone, PartialEq, Message)]
pub struct AnyValue {
    #[prost(oneof = "Content", tags = "1, 2, 3, 4, 5, 6, 7")]
    pub value: Option<Content>,
}

#[derive(Clone, PartialEq, Oneof)]
pub enum Content {
    #[prost(string, tag = "1")]
    Text(String),
    #[prost(bool, tag = "2")]
    Flag(bool),
    #[prost(int64, tag = "3")]
    Whole(i64),
    #[prost(double, tag = "4")]
    Number(f64),
    #[prost(message, tag = "5")]
    List(ValueList),
    #[prost(message, tag = "6")]
    Fields(ValueFields),
    #[prost(bytes = "vec", tag = "7")]
    Bytes(Vec<u8>),
}

#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ValueList {
    #[prost(message, repeated, tag = "1")]
    pub values: Vec<AnyValue>,
}

#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ValueFields {
    #[prost(message, repeated, tag = "1")]
    pub values: Vec<KeyValue>,
}

/// The JSON form: an object with one of these fields.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct JsonContent {
    string_value: Option<String>,
    bool_value: Option<bool>,
    int_value: Option<Whole<i64>>,
    double_value: Option<Value>,
    array_value: Option<ValueList>,
    kvlist_value: Option<ValueFields>,
}

impl<'de> Deserialize<'de> for AnyValue {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let given = JsonContent::deserialize(from)?;
        let value = given
            .string_value
            .map(Content::Text)
            .or(given.bool_value.map(Content::Flag))
            .or(given.int_value.map(|Whole(number)| Content::Whole(number)))
            // "NaN" and "Infinity" are texts and count as absent.
            .or(given.double_value.and_then(|number| number.as_f64()).map(Content::Number))
            .or(given.array_value.map(Content::List))
            .or(given.kvlist_value.map(Content::Fields));
        Ok(Self { value })
    }
}

/// Attributes as JSON fields. Values without content are left out, and so are bytes.
pub fn to_fields(attributes: &[KeyValue]) -> Map<String, Value> {
    let field = |one: &KeyValue| Some((one.key.clone(), to_json(one.value.as_ref()?)?));
    attributes.iter().filter_map(field).collect()
}

fn to_json(value: &AnyValue) -> Option<Value> {
    Some(match value.value.as_ref()? {
        Content::Text(text) => Value::String(text.clone()),
        Content::Flag(flag) => Value::Bool(*flag),
        Content::Whole(number) => Value::from(*number),
        Content::Number(number) => Value::from(*number),
        Content::List(list) => Value::Array(list.values.iter().filter_map(to_json).collect()),
        Content::Fields(fields) => Value::Object(to_fields(&fields.values)),
        Content::Bytes(_) => return None,
    })
}
