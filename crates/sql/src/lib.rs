//! One statement set for SQLite and Postgres.
//!
//! Statements are written for SQLite in the subset both understand. `dialect` translates the few
//! differences. Parameters and results are [`ValueRef`]s.

mod connection;
mod current_read;
#[cfg(feature = "postgres")]
mod dialect;
mod error;
mod memory;
mod params;
mod prefix;
#[cfg(feature = "postgres")]
mod postgres;
mod row;
mod statement_count;
#[cfg(feature = "statement_log")]
mod statement_log;
mod statement;
mod transaction;
mod value;

pub use connection::Connection;
pub use current_read::CurrentRead;
pub use error::{Error, Result};
pub use memory::CachedFact;
pub use params::{Params, RowBatch, RowPart, params_from_iter};
#[cfg(feature = "postgres")]
pub use postgres::{Question, Session};
pub use prefix::{TablePrefix, is_prefixed};
pub use row::{Row, Rows};
pub use statement_count::executed_statements;
#[cfg(feature = "statement_log")]
pub use statement_log::recorded_statements;
pub use transaction::Transaction;
pub use value::{ToSql, Value, ValueRef};
