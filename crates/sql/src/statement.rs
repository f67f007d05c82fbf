//! A statement, ready to run as often as one likes.

use super::error::{Error, Result};
use super::params::Params;
use super::row::{Row, Rows};
use super::value::ValueRef;

/// A prepared statement.
pub enum Statement<'c> {
    Cached(rusqlite::CachedStatement<'c>),
    Once(rusqlite::Statement<'c>),
    #[cfg(feature = "postgres")]
    Postgres(super::postgres::Prepared<'c>),
}

/// How rows of one table go together: by a statement that takes an array for each value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowBatch {
    /// Rows that are new and that others change or refer to: before all others.
    #[cfg_attr(
        not(feature = "postgres"),
        expect(dead_code, reason = "only Postgres numbers keys so")
    )]
    New(&'static str),
    /// What makes rows complete: behind those that are new, before all others.
    First(&'static str),
    /// All others. Nothing is said about the order of rows: what depends on it numbers them.
    Each(&'static str),
}

impl Statement<'_> {
    /// Runs it. Answers how many rows it changed.
    pub fn execute(&mut self, params: impl Params) -> Result<usize> {
        params.with(|values| match self {
            Self::Cached(statement) => Ok(statement.execute(bound(values))?),
            Self::Once(statement) => Ok(statement.execute(bound(values))?),
            #[cfg(feature = "postgres")]
            Self::Postgres(prepared) => prepared.execute(values),
        })
    }

    /// Runs it; nobody needs to know how many rows it changed. Postgres hears of it together with
    /// the next question, and a failure is told then.
    pub fn run(&mut self, params: impl Params) -> Result<()> {
        params.with(|values| match self {
            Self::Cached(statement) => Ok(statement.execute(bound(values)).map(drop)?),
            Self::Once(statement) => Ok(statement.execute(bound(values)).map(drop)?),
            #[cfg(feature = "postgres")]
            Self::Postgres(prepared) => {
                prepared.queue_statement(values);
                Ok(())
            }
        })
    }

    /// Writes a row; nobody needs to know more. Where a question costs a round trip, rows of one table go
    /// together, and ahead of other statements that wait behind the last
    /// [`super::Connection::in_order`]: those must not mind.
    #[cfg_attr(
        not(feature = "postgres"),
        expect(unused_variables, reason = "a call costs nothing")
    )]
    pub fn add(&mut self, together: RowBatch, params: impl Params) -> Result<()> {
        params.with(|values| match self {
            Self::Cached(statement) => Ok(statement.execute(bound(values)).map(drop)?),
            Self::Once(statement) => Ok(statement.execute(bound(values)).map(drop)?),
            #[cfg(feature = "postgres")]
            Self::Postgres(prepared) => {
                prepared.queue_row(together, values);
                Ok(())
            }
        })
    }

    /// Runs it and gives what it finds.
    pub fn query(&mut self, params: impl Params) -> Result<Rows<'_>> {
        params.with(|values| match self {
            Self::Cached(statement) => Ok(Rows::Sqlite(statement.query(bound(values))?)),
            Self::Once(statement) => Ok(Rows::Sqlite(statement.query(bound(values))?)),
            #[cfg(feature = "postgres")]
            Self::Postgres(prepared) => {
                Ok(Rows::Postgres { rows: prepared.query(values)?, next: 0 })
            }
        })
    }

    pub fn query_row<T>(
        &mut self,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> Result<T>,
    ) -> Result<T> {
        let mut rows = self.query(params)?;
        let row = rows.next()?.ok_or(Error::NoRows)?;
        read(&row)
    }

    pub fn query_map<T>(
        &mut self,
        params: impl Params,
        mut read: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<std::vec::IntoIter<Result<T>>> {
        let mut rows = self.query(params)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            found.push(read(&row));
        }
        Ok(found.into_iter())
    }

    /// Whether it finds anything.
    pub fn exists(&mut self, params: impl Params) -> Result<bool> {
        Ok(self.query(params)?.next()?.is_some())
    }

    /// How many columns its rows have.
    pub fn column_count(&self) -> usize {
        match self {
            Self::Cached(statement) => statement.column_count(),
            Self::Once(statement) => statement.column_count(),
            #[cfg(feature = "postgres")]
            Self::Postgres(prepared) => prepared.column_count(),
        }
    }
}

fn bound<'a>(values: &'a [ValueRef<'a>]) -> impl rusqlite::Params + 'a {
    rusqlite::params_from_iter(values)
}

impl rusqlite::ToSql for ValueRef<'_> {
    fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
        use rusqlite::types::{ToSqlOutput, ValueRef as Given};
        Ok(ToSqlOutput::Borrowed(match *self {
            ValueRef::Null => Given::Null,
            ValueRef::Integer(number) => Given::Integer(number),
            ValueRef::Real(number) => Given::Real(number),
            ValueRef::Text(text) => Given::Text(text.as_bytes()),
            ValueRef::Blob(bytes) => Given::Blob(bytes),
            ValueRef::Uuid(bytes) => Given::Blob(&bytes[..]),
        }))
    }
}
