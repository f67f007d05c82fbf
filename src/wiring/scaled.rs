//! What only a build with the feature `scaled` can do.

use std::path::Path;

use store::sqlite::{Limits, SqliteLog, SqliteStore};

/// The store in a Postgres database.
#[cfg(feature = "scaled")]
pub(super) fn store(
    folder: &Path,
    address: &str,
    limits: Limits,
    fresh_key: [u8; 32],
) -> anyhow::Result<SqliteStore> {
    Ok(SqliteStore::connect(folder, address, limits, fresh_key)?)
}

/// The log in a Postgres database.
#[cfg(feature = "scaled")]
pub(super) fn log(address: &str) -> anyhow::Result<SqliteLog> {
    Ok(SqliteLog::connect(address)?)
}

#[cfg(not(feature = "scaled"))]
const ABSENT: &str = "this program was built without it; build with `--features scaled`, or leave \
    store.postgres empty";

#[cfg(not(feature = "scaled"))]
pub(super) fn store(_: &Path, _: &str, _: Limits, _: [u8; 32]) -> anyhow::Result<SqliteStore> {
    anyhow::bail!(ABSENT)
}

#[cfg(not(feature = "scaled"))]
pub(super) fn log(_: &str) -> anyhow::Result<SqliteLog> {
    anyhow::bail!(ABSENT)
}
