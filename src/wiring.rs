//! Builds the engine from configuration, one small function per step.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use event::{Clock, Timestamp};
use flow::Engine;
use store::Store;
use store::sqlite::{Limits, SqliteStore};

use crate::config::{Config, StoreSection};

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
