//! Builds the engine from configuration, one small function per step.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use event::{Clock, Timestamp};
use flow::{CopyPlace, Engine};
use store::sqlite::{Limits, SqliteLog, SqliteStore};
use store::{FolderBlobs, Store};

use crate::config::{Config, KeepCopies, StoreSection};

/// The system's clock; the only place that reads it.
struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the clock that everyone else takes")]
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(jiff::Timestamp::now().as_microsecond())
    }
}

/// The clock of the real world.
pub(crate) fn clock() -> Arc<dyn Clock> {
    Arc::new(SystemClock)
}

/// The engine over the store that the configuration names.
pub(crate) fn engine(config: &Config) -> anyhow::Result<Engine> {
    let store = store(&config.store)?;
    Ok(Engine::new(store, clock(), random_bytes()?))
}

/// The engine over a store that is there already and that nobody else uses.
pub(crate) fn existing_engine(config: &Config) -> anyhow::Result<Engine> {
    log(&config.store)?;
    engine(config).context("this command needs the store to itself; stop its server first")
}

/// Where copies of turn logs go, if they are wanted.
pub(crate) fn copies(config: &Config) -> anyhow::Result<Option<CopyPlace>> {
    let section = &config.turn_log;
    if !section.mirror {
        return Ok(None);
    }
    let folder = match section.folder.as_str() {
        "" => Path::new(&config.store.data).join("turn-logs"),
        folder => folder.into(),
    };
    let files = Arc::new(FolderBlobs::new(&folder).context("turn_log.folder cannot be found")?);
    Ok(Some(match section.keep {
        KeepCopies::Table => CopyPlace::Table { not: files },
        KeepCopies::Folder => CopyPlace::Blobs(files),
    }))
}

/// The log alone, for reading, whoever owns the store.
pub(crate) fn log(section: &StoreSection) -> anyhow::Result<SqliteLog> {
    let folder = Path::new(&section.data);
    SqliteLog::open(folder)
        .with_context(|| format!("cannot read the store in {}", folder.display()))
}

fn store(section: &StoreSection) -> anyhow::Result<Arc<dyn Store>> {
    let limits = Limits {
        queue_bytes: section.queue_mib << 20,
        group_writes: section.group_writes,
        readers: section.readers,
    };
    let folder = Path::new(&section.data);
    let store = SqliteStore::open(folder, limits, random_bytes()?)
        .with_context(|| format!("cannot open the store in {}", folder.display()))?;
    Ok(Arc::new(store))
}

fn random_bytes() -> anyhow::Result<[u8; 32]> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).context("the system gives no random numbers")?;
    Ok(bytes)
}
