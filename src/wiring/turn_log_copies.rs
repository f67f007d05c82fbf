//! Storage of turn log copies.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, bail};
use connectors::{BlobStore, FolderBlobStore};
use engine::{CopyPlace, CopySettings};

use super::scaled;
use crate::config::{Config, KeepCopies};

/// The configured storage, if copies are on, and the other places that may hold earlier copies.
/// Erasure covers both.
pub(crate) fn build_copies(config: &Config) -> anyhow::Result<CopySettings> {
    let section = &config.turn_log;
    let folder = match section.folder.as_str() {
        "" => Path::new(&config.store.data).join("turn-logs"),
        folder => folder.into(),
    };
    let folder = FolderBlobStore::new(&folder).context("cannot use turn_log.folder")?;
    let folder: Arc<dyn BlobStore> = Arc::new(folder);
    let bucket = match section.bucket.as_str() {
        "" => None,
        _ => Some(scaled::open_bucket(section).context("cannot use turn_log.bucket")?),
    };
    let (place, others) = match (section.mirror, section.keep) {
        (false, _) => (None, [Some(folder), bucket]),
        (true, KeepCopies::Table) => (Some(CopyPlace::Table), [Some(folder), bucket]),
        (true, KeepCopies::Folder) => (Some(CopyPlace::Blobs(folder)), [bucket, None]),
        (true, KeepCopies::S3) => match bucket {
            Some(bucket) => (Some(CopyPlace::Blobs(bucket)), [Some(folder), None]),
            None => bail!("turn_log.keep is \"s3\", so turn_log.bucket must name a bucket"),
        },
    };
    Ok(CopySettings { place, previous_places: others.into_iter().flatten().collect() })
}
