//! Converts values to and from Postgres.

use std::error::Error as StdError;

use bytes::BytesMut;
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};
use uuid::Uuid;

use super::super::error::{Error, Result};
use super::super::value::{Value, ValueRef};

type Failure = Box<dyn StdError + Sync + Send>;

pub(crate) fn value(row: &Row, column: usize) -> Result<ValueRef<'_>> {
    let found: Option<Found<'_>> = row.try_get(column).map_err(Error::Postgres)?;
    Ok(found.map_or(ValueRef::Null, |found| found.0))
}

struct Found<'a>(ValueRef<'a>);

impl<'a> FromSql<'a> for Found<'a> {
    fn from_sql(kind: &Type, raw: &'a [u8]) -> std::result::Result<Self, Failure> {
        Ok(Self(match *kind {
            Type::INT8 => ValueRef::Integer(i64::from_sql(kind, raw)?),
            Type::INT4 => ValueRef::Integer(i32::from_sql(kind, raw)?.into()),
            Type::BOOL => ValueRef::Integer(bool::from_sql(kind, raw)?.into()),
            Type::FLOAT8 => ValueRef::Real(f64::from_sql(kind, raw)?),
            Type::NUMERIC => ValueRef::Integer(whole_number(raw).ok_or("a number out of range")?),
            Type::BYTEA => ValueRef::Blob(raw),
            _ => ValueRef::Text(std::str::from_utf8(raw)?),
        }))
    }

    fn accepts(kind: &Type) -> bool {
        [
            Type::INT8,
            Type::INT4,
            Type::BOOL,
            Type::FLOAT8,
            Type::NUMERIC,
            Type::BYTEA,
            Type::TEXT,
            Type::VARCHAR,
            Type::NAME,
            Type::JSON,
            Type::UNKNOWN,
        ]
        .contains(kind)
    }
}

impl ToSql for ValueRef<'_> {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> std::result::Result<IsNull, Failure> {
        match (*self, kind) {
            (ValueRef::Null, _) => Ok(IsNull::Yes),
            (ValueRef::Integer(number), &Type::INT4) => i32::try_from(number)?.to_sql(kind, out),
            (ValueRef::Integer(number), &Type::BOOL) => (number != 0).to_sql(kind, out),
            (ValueRef::Integer(number), &Type::FLOAT8) => (number as f64).to_sql(kind, out),
            (ValueRef::Integer(number), &Type::TEXT) => number.to_string().to_sql(kind, out),
            (ValueRef::Integer(number), &Type::INT8) => number.to_sql(kind, out),
            (ValueRef::Real(number), &Type::FLOAT8) => number.to_sql(kind, out),
            (ValueRef::Blob(bytes), &Type::BYTEA) => bytes.to_sql(kind, out),
            (ValueRef::Uuid(bytes), &Type::TEXT) => {
                Uuid::from_bytes(*bytes).hyphenated().to_string().to_sql(kind, out)
            }
            (ValueRef::Text(text), &Type::TEXT | &Type::VARCHAR | &Type::NAME) => {
                text.to_sql(kind, out)
            }
            // Without the value, because errors are logged and user text is not.
            (ValueRef::Integer(_), wanted) => misplaced("a number", wanted),
            (ValueRef::Real(_), wanted) => misplaced("a fraction", wanted),
            (ValueRef::Text(_), wanted) => misplaced("a text", wanted),
            (ValueRef::Blob(_), wanted) => misplaced("bytes", wanted),
            (ValueRef::Uuid(_), wanted) => misplaced("an id", wanted),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

fn misplaced(given: &str, wanted: &Type) -> std::result::Result<IsNull, Failure> {
    Err(format!("{given} was given, expected {wanted}").into())
}

impl ToSql for Value {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> std::result::Result<IsNull, Failure> {
        ToSql::to_sql(&super::super::value::ToSql::to_sql(self), kind, out)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// Reads a NUMERIC sum of a 64-bit column; `None` when the number does not fit.
fn whole_number(bytes: &[u8]) -> Option<i64> {
    let word = |at: usize| Some(i16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
    let (digits, weight, sign) = (word(0)?, word(2)?, word(4)?);
    let mut number: i128 = 0;
    for at in 0..=weight.max(-1) {
        let digit = if at < digits { word(8 + 2 * at as usize)? } else { 0 };
        number = number.checked_mul(10_000)?.checked_add(i128::from(digit))?;
    }
    let fraction = (weight + 1).max(0)..digits;
    let is_whole = fraction.into_iter().all(|at| word(8 + 2 * at as usize) == Some(0));
    if sign == 0x4000 {
        number = -number;
    }
    if is_whole && (sign == 0 || sign == 0x4000) { i64::try_from(number).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type_error_omits_the_value() {
        let written = |value: ValueRef<'_>, kind: &Type| {
            let mut out = BytesMut::new();
            value.to_sql(kind, &mut out).map(drop).map_err(|error| error.to_string())
        };
        for (value, sort) in [
            (ValueRef::Text("4711"), "a text"),
            (ValueRef::Real(4711.0), "a fraction"),
            (ValueRef::Blob(b"4711"), "bytes"),
            (ValueRef::Uuid(&[47; 16]), "an id"),
        ] {
            let told = format!("{sort} was given, expected int8");
            assert_eq!(written(value, &Type::INT8), Err(told));
        }
        let told = "a number was given, expected bytea".to_owned();
        assert_eq!(written(ValueRef::Integer(4711), &Type::BYTEA), Err(told));
        assert_eq!(written(ValueRef::Null, &Type::BYTEA), Ok(()));
        assert_eq!(written(ValueRef::Integer(4711), &Type::INT8), Ok(()));
    }

    #[test]
    fn only_whole_numerics_are_read() {
        let number = |digits: &[i16], weight: i16, sign: i16| {
            let head = [digits.len() as i16, weight, sign, 0];
            head.iter().chain(digits).flat_map(|word| word.to_be_bytes()).collect::<Vec<u8>>()
        };
        assert_eq!(whole_number(&number(&[], 0, 0)), Some(0));
        assert_eq!(whole_number(&number(&[42], 0, 0)), Some(42));
        assert_eq!(whole_number(&number(&[1, 2], 1, 0x4000)), Some(-10_002));
        assert_eq!(whole_number(&number(&[3], 2, 0)), Some(300_000_000));
        assert_eq!(whole_number(&number(&[1, 5000], 0, 0)), None, "1.5");
        assert_eq!(whole_number(&number(&[9999; 6], 5, 0)), None, "too large");
        assert_eq!(whole_number(&[0]), None);
    }
}
