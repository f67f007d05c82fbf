//! One row of a result.

use super::error::{Error, Result};
use super::value::{FromSql, ValueRef, read};

pub enum Row<'a> {
    Sqlite(&'a rusqlite::Row<'a>),
    #[cfg(feature = "postgres")]
    Postgres(&'a tokio_postgres::Row),
}

impl Row<'_> {
    /// A column by number or name.
    pub fn get<C: Column, T: FromSql>(&self, column: C) -> Result<T> {
        let column = column.number(self)?;
        read(self.get_ref(column)?, column)
    }

    /// The first columns, as one value or as a tuple.
    pub fn read<T: FromRow>(&self) -> Result<T> {
        T::from_row(self)
    }

    pub fn get_ref(&self, column: usize) -> Result<ValueRef<'_>> {
        match self {
            Self::Sqlite(row) => sqlite_value(row.get_ref(column)?, column),
            #[cfg(feature = "postgres")]
            Self::Postgres(row) => super::postgres::value(row, column),
        }
    }
}

/// Types readable from the first columns of a row.
pub trait FromRow: Sized {
    fn from_row(row: &Row<'_>) -> Result<Self>;
}

impl<T: FromSql> FromRow for T {
    fn from_row(row: &Row<'_>) -> Result<Self> {
        row.get(0)
    }
}

macro_rules! tuples {
    ($($($name:ident $column:literal)+;)*) => {$(
        impl<$($name: FromSql),+> FromRow for ($($name,)+) {
            fn from_row(row: &Row<'_>) -> Result<Self> {
                Ok(($(row.get::<_, $name>($column)?,)+))
            }
        }
    )*};
}

tuples! {
    A 0 B 1;
    A 0 B 1 C 2;
    A 0 B 1 C 2 D 3;
    A 0 B 1 C 2 D 3 E 4;
}

/// A column's number or name.
pub trait Column {
    fn number(self, row: &Row<'_>) -> Result<usize>;
}

impl Column for usize {
    fn number(self, _: &Row<'_>) -> Result<usize> {
        Ok(self)
    }
}

impl Column for &str {
    fn number(self, row: &Row<'_>) -> Result<usize> {
        match row {
            Row::Sqlite(row) => Ok(row.as_ref().column_index(self)?),
            #[cfg(feature = "postgres")]
            Row::Postgres(row) => {
                let found = row.columns().iter().position(|column| column.name() == self);
                found.ok_or_else(|| Error::Unreadable(format!("there is no column {self}")))
            }
        }
    }
}

fn sqlite_value(value: rusqlite::types::ValueRef<'_>, column: usize) -> Result<ValueRef<'_>> {
    use rusqlite::types::ValueRef as Found;
    Ok(match value {
        Found::Null => ValueRef::Null,
        Found::Integer(number) => ValueRef::Integer(number),
        Found::Real(number) => ValueRef::Real(number),
        Found::Text(bytes) => ValueRef::Text(
            std::str::from_utf8(bytes)
                .map_err(|_| Error::Unreadable(format!("column {column} is not UTF-8")))?,
        ),
        Found::Blob(bytes) => ValueRef::Blob(bytes),
    })
}

pub enum Rows<'s> {
    Sqlite(rusqlite::Rows<'s>),
    #[cfg(feature = "postgres")]
    Postgres {
        rows: Vec<tokio_postgres::Row>,
        next: usize,
    },
}

impl Rows<'_> {
    #[expect(clippy::should_implement_trait, reason = "a row borrows from the statement")]
    pub fn next(&mut self) -> Result<Option<Row<'_>>> {
        match self {
            Self::Sqlite(rows) => Ok(rows.next()?.map(Row::Sqlite)),
            #[cfg(feature = "postgres")]
            Self::Postgres { rows, next } => {
                *next += 1;
                Ok(rows.get(*next - 1).map(Row::Postgres))
            }
        }
    }
}
