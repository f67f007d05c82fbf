//! Decodes request bodies under any accepted spelling of their fields.
//!
//! A struct tells serde its field names. At every depth, aliases in the body are renamed to these
//! names before the struct is decoded. Free-form maps are decoded as sent.

use model::rename_aliases;
use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{DeserializeOwned, Deserializer, Error as _, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::{Error, Map, Value};

/// A JSON value whose objects may use aliases.
pub(crate) struct AliasDecoder(pub(crate) Value);

/// Starts the message of a field that was sent under two names with different values.
pub(crate) const CONFLICT_PREFIX: &str = "conflicting field";

fn visit_map<'de, V: Visitor<'de>>(
    fields: Map<String, Value>,
    visitor: V,
) -> Result<V::Value, Error> {
    let decoded = fields.into_iter().map(|(name, value)| (name, AliasDecoder(value)));
    let mut map = MapDeserializer::new(decoded);
    let value = visitor.visit_map(&mut map)?;
    map.end()?;
    Ok(value)
}

/// The names of a struct's fields, as it tells them to serde. Other types have none.
pub(crate) fn field_names<T: DeserializeOwned>() -> &'static [&'static str] {
    let mut names: &'static [&'static str] = &[];
    // Decoding fails, because there is no value to decode.
    drop(T::deserialize(FieldNames(&mut names)));
    names
}

/// Takes the field names of the decoded struct.
struct FieldNames<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for FieldNames<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Error> {
        Err(Error::custom("no value"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        *self.0 = known;
        self.deserialize_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

impl<'de> IntoDeserializer<'de, Error> for AliasDecoder {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for AliasDecoder {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Object(fields) => visit_map(fields, visitor),
            Value::Array(items) => {
                let mut items = SeqDeserializer::new(items.into_iter().map(AliasDecoder));
                let value = visitor.visit_seq(&mut items)?;
                items.end()?;
                Ok(value)
            }
            scalar @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => {
                scalar.deserialize_any(visitor)
            }
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let Value::Object(mut fields) = self.0 else {
            // The error of serde_json names the expected struct.
            return self.0.deserialize_struct(name, known, visitor);
        };
        rename_aliases(&mut fields, known).map_err(|conflict| {
            Error::custom(format_args!("{CONFLICT_PREFIX} `{}`: {conflict}", conflict.alias))
        })?;
        visit_map(fields, visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.0.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.0.deserialize_enum(name, variants, visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map identifier ignored_any
    }
}
