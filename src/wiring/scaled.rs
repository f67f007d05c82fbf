//! What only a build with the feature `scaled` can do.

use std::path::Path;
use std::sync::Arc;

use store::Blobs;
use store::sqlite::{Limits, SqliteLog, SqliteStore};

use crate::config::TurnLogSection;

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

/// Documents in a bucket. Credentials come from a file, or from the environment as AWS names them.
#[cfg(feature = "scaled")]
pub(super) fn bucket(section: &TurnLogSection) -> anyhow::Result<Arc<dyn Blobs>> {
    let options = crate::config::aws_options(&section.credentials_file)?;
    let place = store::S3Place {
        bucket: section.bucket.clone(),
        prefix: section.prefix.clone(),
        endpoint: section.endpoint.clone(),
        region: section.region.clone(),
        options,
    };
    Ok(Arc::new(store::S3Blobs::new(&place)?))
}

#[cfg(not(feature = "scaled"))]
pub(super) fn bucket(_: &TurnLogSection) -> anyhow::Result<Arc<dyn Blobs>> {
    anyhow::bail!(ABSENT)
}

#[cfg(not(feature = "scaled"))]
const ABSENT: &str = "this program was built without it; build with `--features scaled`, or leave \
    this setting empty";

#[cfg(not(feature = "scaled"))]
pub(super) fn store(_: &Path, _: &str, _: Limits, _: [u8; 32]) -> anyhow::Result<SqliteStore> {
    anyhow::bail!(ABSENT)
}

#[cfg(not(feature = "scaled"))]
pub(super) fn log(_: &str) -> anyhow::Result<SqliteLog> {
    anyhow::bail!(ABSENT)
}
