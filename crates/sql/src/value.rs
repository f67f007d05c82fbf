//! Statement parameters and column values.

use super::error::{Error, Result};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ValueRef<'a> {
    Null,
    Integer(i64),
    Real(f64),
    Text(&'a str),
    Blob(&'a [u8]),
    /// A UUID: a blob in SQLite, canonical text in Postgres.
    Uuid(&'a [u8; 16]),
}

impl<'a> ValueRef<'a> {
    pub fn as_str(&self) -> Result<&'a str> {
        let Self::Text(text) = *self else {
            return Err(Error::Unreadable("expected a text".into()));
        };
        Ok(text)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    Integer(i64),
    Text(String),
    #[cfg(feature = "postgres")]
    Real(f64),
    #[cfg(feature = "postgres")]
    Blob(Vec<u8>),
    #[cfg(feature = "postgres")]
    Uuid([u8; 16]),
}

/// Types usable as a parameter.
pub trait ToSql {
    fn to_sql(&self) -> ValueRef<'_>;
}

/// Types readable from a column.
pub trait FromSql: Sized {
    /// `None` for a value of another type.
    fn from_sql(value: ValueRef<'_>) -> Option<Self>;
}

/// Reads a value, or returns an error that names the type found.
pub(super) fn read<T: FromSql>(value: ValueRef<'_>, column: usize) -> Result<T> {
    T::from_sql(value).ok_or_else(|| {
        let sort = match value {
            ValueRef::Null => "nothing",
            ValueRef::Integer(_) => "a number that is out of range or of the wrong type",
            ValueRef::Real(_) => "a fraction",
            ValueRef::Text(_) => "a text",
            ValueRef::Blob(_) | ValueRef::Uuid(_) => "bytes",
        };
        Error::Unreadable(format!("column {column} holds {sort}"))
    })
}

impl ToSql for Value {
    fn to_sql(&self) -> ValueRef<'_> {
        match self {
            Self::Null => ValueRef::Null,
            Self::Integer(number) => ValueRef::Integer(*number),
            Self::Text(text) => ValueRef::Text(text),
            #[cfg(feature = "postgres")]
            Self::Real(number) => ValueRef::Real(*number),
            #[cfg(feature = "postgres")]
            Self::Blob(bytes) => ValueRef::Blob(bytes),
            #[cfg(feature = "postgres")]
            Self::Uuid(bytes) => ValueRef::Uuid(bytes),
        }
    }
}

#[cfg(feature = "postgres")]
impl From<ValueRef<'_>> for Value {
    fn from(value: ValueRef<'_>) -> Self {
        match value {
            ValueRef::Null => Self::Null,
            ValueRef::Integer(number) => Self::Integer(number),
            ValueRef::Real(number) => Self::Real(number),
            ValueRef::Text(text) => Self::Text(text.to_owned()),
            ValueRef::Blob(bytes) => Self::Blob(bytes.to_owned()),
            ValueRef::Uuid(bytes) => Self::Uuid(*bytes),
        }
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Option<i64>> for Value {
    fn from(number: Option<i64>) -> Self {
        number.map_or(Self::Null, Self::Integer)
    }
}

/// Integers of at most 64 bits.
macro_rules! whole_numbers {
    ($($number:ty),*) => {$(
        impl ToSql for $number {
            fn to_sql(&self) -> ValueRef<'_> {
                ValueRef::Integer(i64::from(*self))
            }
        }

        impl FromSql for $number {
            fn from_sql(value: ValueRef<'_>) -> Option<Self> {
                let ValueRef::Integer(number) = value else { return None };
                Self::try_from(number).ok()
            }
        }
    )*};
}

whole_numbers!(i64, i32, u32, i16, u16, i8, u8);

impl FromSql for u64 {
    fn from_sql(value: ValueRef<'_>) -> Option<Self> {
        i64::from_sql(value).and_then(|number| Self::try_from(number).ok())
    }
}

impl ToSql for bool {
    fn to_sql(&self) -> ValueRef<'_> {
        ValueRef::Integer(i64::from(*self))
    }
}

impl FromSql for bool {
    fn from_sql(value: ValueRef<'_>) -> Option<Self> {
        i64::from_sql(value).map(|number| number != 0)
    }
}

impl ToSql for f64 {
    fn to_sql(&self) -> ValueRef<'_> {
        ValueRef::Real(*self)
    }
}

impl FromSql for f64 {
    fn from_sql(value: ValueRef<'_>) -> Option<Self> {
        match value {
            ValueRef::Real(number) => Some(number),
            ValueRef::Integer(number) => Some(number as Self),
            ValueRef::Null | ValueRef::Text(_) | ValueRef::Blob(_) | ValueRef::Uuid(_) => None,
        }
    }
}

impl ToSql for str {
    fn to_sql(&self) -> ValueRef<'_> {
        ValueRef::Text(self)
    }
}

impl ToSql for String {
    fn to_sql(&self) -> ValueRef<'_> {
        ValueRef::Text(self)
    }
}

impl FromSql for String {
    fn from_sql(value: ValueRef<'_>) -> Option<Self> {
        value.as_str().ok().map(str::to_owned)
    }
}

impl ToSql for [u8] {
    fn to_sql(&self) -> ValueRef<'_> {
        ValueRef::Blob(self)
    }
}

impl ToSql for Vec<u8> {
    fn to_sql(&self) -> ValueRef<'_> {
        ValueRef::Blob(self)
    }
}

impl<const N: usize> ToSql for [u8; N] {
    fn to_sql(&self) -> ValueRef<'_> {
        ValueRef::Blob(self)
    }
}

impl FromSql for Vec<u8> {
    fn from_sql(value: ValueRef<'_>) -> Option<Self> {
        match value {
            ValueRef::Blob(bytes) => Some(bytes.to_owned()),
            ValueRef::Uuid(bytes) => Some(bytes.to_vec()),
            ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) | ValueRef::Text(_) => None,
        }
    }
}

impl<const N: usize> FromSql for [u8; N] {
    fn from_sql(value: ValueRef<'_>) -> Option<Self> {
        Vec::from_sql(value)?.try_into().ok()
    }
}

impl<T: ToSql> ToSql for Option<T> {
    fn to_sql(&self) -> ValueRef<'_> {
        self.as_ref().map_or(ValueRef::Null, ToSql::to_sql)
    }
}

impl<T: FromSql> FromSql for Option<T> {
    fn from_sql(value: ValueRef<'_>) -> Option<Self> {
        if matches!(value, ValueRef::Null) { Some(None) } else { T::from_sql(value).map(Some) }
    }
}

impl<T: ToSql + ?Sized> ToSql for &T {
    fn to_sql(&self) -> ValueRef<'_> {
        (*self).to_sql()
    }
}
