//! Prepared and cached statements.

use super::error::{Error, Result};
use super::params::{Params, RowBatch};
use super::row::{Row, Rows};
use super::statement_count::count_statements;
use super::value::ValueRef;

pub enum Statement<'c> {
    Cached(rusqlite::CachedStatement<'c>),
    Once(rusqlite::Statement<'c>),
    #[cfg(feature = "postgres")]
    Postgres(super::postgres::Prepared<'c>),
}

impl Statement<'_> {
    /// Returns the number of changed rows.
    pub fn execute(&mut self, params: impl Params) -> Result<usize> {
        params.bind(|values| match self {
            Self::Cached(statement) => execute(statement, values),
            Self::Once(statement) => execute(statement, values),
            #[cfg(feature = "postgres")]
            Self::Postgres(prepared) => prepared.execute(values),
        })
    }

    /// Runs the statement without a result. Postgres receives it with the next query, which also
    /// returns its error.
    pub fn run(&mut self, params: impl Params) -> Result<()> {
        self.queue(None, params)
    }

    /// Writes a row without a result. On Postgres, rows of one table are batched and sent before
    /// other statements queued since the last [`super::Connection::fence_pending`].
    pub fn add(&mut self, together: RowBatch, params: impl Params) -> Result<()> {
        self.queue(Some(together), params)
    }

    #[cfg_attr(
        not(feature = "postgres"),
        expect(unused_variables, reason = "SQLite does not batch rows")
    )]
    fn queue(&mut self, together: Option<RowBatch>, params: impl Params) -> Result<()> {
        #[cfg(feature = "postgres")]
        if let Self::Postgres(prepared) = self {
            // A batch has statements of its own, which name the tables without a prefix.
            let together = together.filter(|_| !super::prefix::is_prefixed());
            params.bind(|values| prepared.queue(together, values));
            return Ok(());
        }
        self.execute(params).map(drop)
    }

    pub fn query(&mut self, params: impl Params) -> Result<Rows<'_>> {
        params.bind(|values| match self {
            Self::Cached(statement) => query(statement, values),
            Self::Once(statement) => query(statement, values),
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

    /// All rows, read by `read`.
    pub fn read_rows_with<T, E: From<Error>>(
        &mut self,
        params: impl Params,
        mut read: impl FnMut(&Row<'_>) -> Result<T, E>,
    ) -> Result<Vec<T>, E> {
        let mut rows = self.query(params)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            found.push(read(&row)?);
        }
        Ok(found)
    }

    /// The first row, if any, read by `read`.
    pub fn find_row_with<T, E: From<Error>>(
        &mut self,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> Result<T, E>,
    ) -> Result<Option<T>, E> {
        self.query(params)?.next()?.map(|row| read(&row)).transpose()
    }

    /// True when it returns a row.
    pub fn exists(&mut self, params: impl Params) -> Result<bool> {
        Ok(self.query(params)?.next()?.is_some())
    }

    pub fn column_count(&self) -> usize {
        match self {
            Self::Cached(statement) => statement.column_count(),
            Self::Once(statement) => statement.column_count(),
            #[cfg(feature = "postgres")]
            Self::Postgres(prepared) => prepared.column_count(),
        }
    }
}

fn execute(statement: &mut rusqlite::Statement<'_>, values: &[ValueRef<'_>]) -> Result<usize> {
    count_statements(1);
    Ok(statement.execute(bound(values))?)
}

fn query<'s>(
    statement: &'s mut rusqlite::Statement<'_>,
    values: &[ValueRef<'_>],
) -> Result<Rows<'s>> {
    count_statements(1);
    Ok(Rows::Sqlite(statement.query(bound(values))?))
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
