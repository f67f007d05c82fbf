//! A column of many rows, sent as one array.

use std::error::Error as StdError;

use bytes::BytesMut;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

use super::super::value::Value;

#[derive(Debug)]
pub(super) struct Column(Vec<Value>);

/// Transposes rows into columns.
pub(super) fn columns(rows: &[Vec<Value>]) -> Vec<Column> {
    let width = rows.first().map_or(0, Vec::len);
    (0..width).map(|at| Column(rows.iter().map(|row| row[at].clone()).collect())).collect()
}

impl ToSql for Column {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn StdError + Sync + Send>> {
        ToSql::to_sql(&self.0, kind, out)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}
