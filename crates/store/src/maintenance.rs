//! Maintenance of a store: locks, migrations, backups, retention, scrubbing, tenant removal.

pub(crate) mod backup;
mod baseline_tables;
pub(crate) mod checkpoint;
pub(crate) mod folder_lock;
#[cfg(feature = "scaled")]
pub(crate) mod migrate_store;
pub(crate) mod migrations;
pub(crate) mod rebuild;
pub(crate) mod retention;
pub(crate) mod scrub;
pub(crate) mod tenant_removal;
