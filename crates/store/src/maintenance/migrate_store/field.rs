//! Converts one value from SQLite to Postgres.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};

use bytes::{BufMut, BytesMut};
use sql::ValueRef;
use uuid::Uuid;

use super::columns::Kind;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Field<'a> {
    Null,
    Integer(i64),
    Real(f64),
    Text(Cow<'a, str>),
    Bytes(Cow<'a, [u8]>),
}

impl<'a> Field<'a> {
    /// Converts a value for a column of this kind, or returns why it does not fit.
    pub(crate) fn new(value: ValueRef<'a>, kind: Kind) -> Result<Self, String> {
        match (value, kind) {
            (ValueRef::Null, _) => Ok(Self::Null),
            (ValueRef::Integer(number), Kind::Integer) => Ok(Self::Integer(number)),
            (ValueRef::Integer(number), Kind::Real) => Ok(Self::Real(number as f64)),
            // Older stores keep some numbers as bytes.
            (ValueRef::Integer(number), Kind::Bytes) => {
                Ok(Self::Bytes(number.to_be_bytes().to_vec().into()))
            }
            (ValueRef::Real(number), Kind::Real) => Ok(Self::Real(number)),
            (ValueRef::Text(text), Kind::Text) if text.contains('\0') => {
                Err("a text with a NUL character, which Postgres cannot store".to_owned())
            }
            (ValueRef::Text(text), Kind::Text) => Ok(Self::Text(text.into())),
            // SQLite stores UUIDs as 16 bytes.
            (ValueRef::Blob(bytes), Kind::Text) => match Uuid::from_slice(bytes) {
                Ok(uuid) => Ok(Self::Text(uuid.hyphenated().to_string().into())),
                Err(_) => Err(format!("{} bytes, expected a UUID of 16 bytes", bytes.len())),
            },
            (ValueRef::Blob(bytes), Kind::Bytes) => Ok(Self::Bytes(bytes.into())),
            (found, kind) => Err(format!("{}, expected {kind:?}", type_name(found))),
        }
    }

    /// Writes the binary `COPY` form.
    pub(crate) fn write(&self, out: &mut BytesMut) -> Result<(), String> {
        let length = |bytes: &[u8]| i32::try_from(bytes.len()).map_err(|_| "too long".to_owned());
        match self {
            Self::Null => out.put_i32(-1),
            Self::Integer(number) => {
                out.put_i32(8);
                out.put_i64(*number);
            }
            Self::Real(number) => {
                out.put_i32(8);
                out.put_f64(*number);
            }
            Self::Text(text) => {
                out.put_i32(length(text.as_bytes())?);
                out.put_slice(text.as_bytes());
            }
            Self::Bytes(bytes) => {
                out.put_i32(length(bytes)?);
                out.put_slice(bytes);
            }
        }
        Ok(())
    }

    pub(crate) fn absorb(&self, hasher: &mut DefaultHasher) {
        match self {
            Self::Null => 0_u8.hash(hasher),
            Self::Integer(number) => (1_u8, number).hash(hasher),
            Self::Real(number) => (2_u8, number.to_bits()).hash(hasher),
            Self::Text(text) => (3_u8, text.as_bytes()).hash(hasher),
            Self::Bytes(bytes) => (4_u8, bytes).hash(hasher),
        }
    }
}

fn type_name(value: ValueRef<'_>) -> &'static str {
    match value {
        ValueRef::Null => "nothing",
        ValueRef::Integer(_) => "a number",
        ValueRef::Real(_) => "a fraction",
        ValueRef::Text(_) => "a text",
        ValueRef::Blob(_) | ValueRef::Uuid(_) => "bytes",
    }
}

/// Checksums of a table, independent of row order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sums {
    rows: u64,
    one: u64,
    other: u64,
}

impl Sums {
    pub(crate) fn add<'a>(&mut self, fields: impl Iterator<Item = Field<'a>>) {
        let mut hasher = DefaultHasher::new();
        fields.for_each(|field| field.absorb(&mut hasher));
        let hash = hasher.finish();
        self.rows += 1;
        self.one = self.one.wrapping_add(hash);
        self.other = self.other.wrapping_add(hash.wrapping_mul(hash | 1).rotate_left(32));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_converts_or_names_its_problem() {
        let uuid = [7; 16];
        let text = |text: &'static str| Field::Text(text.into());
        let fitting = [
            (ValueRef::Blob(&uuid), Kind::Text, text("07070707-0707-0707-0707-070707070707")),
            (ValueRef::Text("x"), Kind::Text, text("x")),
            (ValueRef::Integer(1), Kind::Real, Field::Real(1.0)),
            (ValueRef::Integer(2), Kind::Bytes, Field::Bytes(vec![0, 0, 0, 0, 0, 0, 0, 2].into())),
            (ValueRef::Null, Kind::Integer, Field::Null),
        ];
        for (value, kind, expected) in fitting {
            assert_eq!(Field::new(value, kind), Ok(expected));
        }
        let refused = [
            (ValueRef::Text("a\0b"), Kind::Text, "NUL character"),
            (ValueRef::Blob(b"short"), Kind::Text, "5 bytes"),
            (ValueRef::Text("1"), Kind::Integer, "a text, expected Integer"),
        ];
        for (value, kind, why) in refused {
            let said = Field::new(value, kind).unwrap_err();
            assert!(said.contains(why), "{said}");
        }
    }

    #[test]
    fn sums_do_not_depend_on_the_order_and_see_every_difference() {
        let sums = |rows: &[[i64; 2]]| {
            let mut sums = Sums::default();
            rows.iter().for_each(|row| sums.add(row.iter().map(|n| Field::Integer(*n))));
            sums
        };
        assert_eq!(sums(&[[1, 2], [3, 4]]), sums(&[[3, 4], [1, 2]]));
        for other in
            [&[[1, 2], [4, 3]][..], &[[1, 2]], &[[1, 2], [3, 4], [3, 4]], &[[2, 1], [3, 4]]]
        {
            assert_ne!(sums(&[[1, 2], [3, 4]]), sums(other));
        }
        let mut null = Sums::default();
        null.add([Field::Null, Field::Integer(2)].into_iter());
        assert_ne!(null, sums(&[[0, 2]]));
    }
}
