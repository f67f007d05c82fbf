//! Deserializers of the JSON form: ids are hexadecimal, 64-bit numbers may be texts, and clients
//! write `null` for absent fields.

use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

/// A whole number, also as a text.
pub(crate) struct Whole<T>(pub(crate) T);

impl<'de, T: Deserialize<'de> + FromStr> Deserialize<'de> for Whole<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form<T> {
            Number(T),
            Text(String),
        }
        match Form::deserialize(from)? {
            Form::Number(number) => Ok(Self(number)),
            Form::Text(text) => {
                text.parse().map(Self).map_err(|_| D::Error::custom("expected a whole number"))
            }
        }
    }
}

pub(crate) fn nanos<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    Ok(Option::<Whole<u64>>::deserialize(from)?.map_or(0, |Whole(number)| number))
}

pub(crate) fn text<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

/// Enums are numbers; some clients write their names.
pub(crate) fn status_code<'de, D: Deserializer<'de>>(from: D) -> Result<i32, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Form {
        Number(i32),
        Name(String),
    }
    Ok(match Option::deserialize(from)? {
        Some(Form::Number(code)) => code,
        Some(Form::Name(name)) if name == "STATUS_CODE_ERROR" => 2,
        Some(Form::Name(_)) | None => 0,
    })
}

/// Malformed digits give an empty id, so that one bad span does not reject the request.
pub(crate) fn hex<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
    let digits: String = text(from)?;
    Ok(parse_hex(&digits).unwrap_or_default())
}

fn parse_hex(digits: &str) -> Option<Vec<u8>> {
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let is_even = digits.len().is_multiple_of(2);
    is_even.then(|| digits.as_bytes().chunks(2).map(pair).collect())?
}
