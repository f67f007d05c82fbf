//! One way to speak SQL to the two databases, so that every statement is written once.
//!
//! The statements are SQLite's, kept to what both understand; `dialect` puts in the few words
//! that differ. What a statement is given and gives back are [`ValueRef`]s of five sorts.

mod connection;
#[cfg(feature = "scaled")]
mod dialect;
mod error;
mod memory;
mod params;
#[cfg(feature = "scaled")]
mod postgres;
mod row;
#[cfg(test)]
mod seen;
mod statement;
mod transaction;
mod value;

pub(crate) use connection::Connection;
pub use error::Error;
pub(crate) use error::{OptionalExtension, Result};
pub(crate) use memory::Remembered;
pub(crate) use params::params_from_iter;
#[cfg(feature = "scaled")]
pub(crate) use postgres::{Question, Session};
pub(crate) use row::Row;
#[cfg(test)]
pub(crate) use seen::seen;
pub(crate) use statement::Together;
pub(crate) use transaction::Transaction;
pub(crate) use value::{ToSql, Value, ValueRef};
