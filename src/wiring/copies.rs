//! Where copies of turn logs go, and where they may have gone before.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, bail};
use engine::{CopyPlace, CopySettings};
use store::{Blobs, FolderBlobs};

use super::scaled;
use crate::config::{Config, KeepCopies};

/// The place of copies, if they are wanted, and the other places that the configuration names.
pub(crate) fn copies(config: &Config) -> anyhow::Result<CopySettings> {
    let section = &config.turn_log;
    let folder = match section.folder.as_str() {
        "" => Path::new(&config.store.data).join("turn-logs"),
        folder => folder.into(),
    };
    let folder = FolderBlobs::new(&folder).context("turn_log.folder cannot be found")?;
    let folder: Arc<dyn Blobs> = Arc::new(folder);
    let bucket = match section.bucket.as_str() {
        "" => None,
        _ => Some(scaled::bucket(section).context("turn_log.bucket cannot be used")?),
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
