//! Builds the engine from configuration, one small function per step.

mod agents;
mod connections;
mod copies;
mod detectors;
mod models;
mod scaled;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use engine::{Engine, EngineOptions, JobSettings, RetryRule};
use model::{Clock, Timestamp};
use store::{Limits, QueryHistory, SqlLog, Store};

use crate::config::{Config, HistorySection, StoreSection};

pub(crate) use connections::connection_limits;
pub(crate) use copies::copies;
pub(crate) use detectors::{detectors, mode};
pub(crate) use models::embedder;
pub(crate) use scaled::inlet;

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

/// The store that the configuration names, and the engine over it.
pub(crate) struct Opened {
    pub(crate) engine: Arc<Engine>,
    store: Arc<Store>,
    owner_token: String,
}

impl Opened {
    /// The API over it, with the tools for agents at `/mcp`. `run` tells this run from others in
    /// request ids.
    pub(crate) fn router(&self, config: &Config, run: &str) -> anyhow::Result<api::Router> {
        let settings = api::Settings {
            body_bytes: config.server.max_body_kib << 10,
            batch_bytes: config.server.max_batch_mib << 20,
            copies: copies(config)?,
            owner_token: self.owner_token.clone(),
        };
        let api = api::Api::new(Arc::clone(&self.engine), settings, run);
        let door = Arc::new(agents::Within(api.clone().into_router()));
        let tools = mcp::over_http(door, config.server.max_body_kib << 10);
        Ok(api.with_face("/mcp", tools))
    }

    /// Whether commits wait until they are on disk.
    pub(crate) async fn wait_for_disk(&self, wait: bool) -> anyhow::Result<()> {
        Ok(self.store.wait_for_disk(wait).await?)
    }

    /// Starts what goes on beside the requests.
    pub(crate) async fn keep_going(&self, config: &Config) -> anyhow::Result<()> {
        let outlet = if config.kafka.brokers.is_empty() {
            None
        } else {
            let outlet = scaled::outlet(&config.kafka).context("cannot publish to Kafka")?;
            Some((outlet, api::event_line as engine::EventFormatter))
        };
        let settings = JobSettings {
            copies: copies(config)?,
            outlet,
            sweep_interval: Duration::from_secs(config.detect.sweep_secs.max(1)),
        };
        self.engine.spawn_jobs(settings).await?;
        Ok(())
    }

    /// Tells commands of the folder's owner where the server is, and whether it would let go of the folder.
    pub(crate) fn announce(&self, url: &str, yields: bool) -> anyhow::Result<()> {
        Ok(self.store.announce(url, &self.owner_token, yields)?)
    }
}

/// Opens everything.
pub(crate) async fn open(config: &Config) -> anyhow::Result<Opened> {
    open_at(config, clock(), random_bytes()?).await
}

/// Opens everything with another clock, and with ids that follow from a seed.
pub(crate) async fn open_at(
    config: &Config,
    clock: Arc<dyn Clock>,
    seed: [u8; 32],
) -> anyhow::Result<Opened> {
    let store = Arc::new(store(&config.store)?);
    let shared = Arc::clone(&store);
    let detectors = detectors(&config.detect)?;
    let embedder = embedder(&config.embed)?;
    let writer = models::writer(&config.llm)?;
    let history = history(&config.history, &detectors.retry).await?;
    let options = EngineOptions { history, writer };
    let engine = Engine::open_with(shared, clock, seed, detectors, embedder, options).await?;
    let engine = Arc::new(engine);
    let token = random_bytes()?.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(Opened { engine, store, owner_token: token })
}

/// A server of this process for the folder's owner.
pub(crate) struct Served {
    pub(crate) url: String,
    pub(crate) token: String,
    stop: tokio::sync::oneshot::Sender<()>,
    serving: tokio::task::JoinHandle<std::io::Result<()>>,
}

impl Served {
    /// Ends it.
    pub(crate) async fn stop(self) -> anyhow::Result<()> {
        // It may have ended by itself, with an error that comes next.
        let _ = self.stop.send(());
        Ok(self.serving.await??)
    }
}

/// Serves on this machine alone, to whoever has the token, and does not say where.
pub(crate) async fn serve_for_owner(config: &Config) -> anyhow::Result<Served> {
    let opened = open(config).await?;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    serve_on(listener, &opened, config)
}

/// How often it is looked whether whoever was asked for the folder has let go of it.
const LOOKS: u32 = 100;
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// Has whoever serves the folder only by the way let go of it.
pub(crate) async fn ask_for_folder(config: &Config) -> anyhow::Result<()> {
    let folder = Path::new(&config.store.data);
    for look in 0..LOOKS {
        let Some(holder) = store::holder_of(folder).filter(|holder| holder.yields) else {
            return Ok(());
        };
        if look == 0 {
            tracing::info!(holder = holder.process, "an agent has the data folder; asking for it");
            store::ask_for(folder).context("the data folder cannot be asked for")?;
        }
        tokio::time::sleep(BETWEEN_LOOKS).await;
    }
    Ok(())
}

/// Serves on this machine alone, at a free port that the folder's lock tells its owner's commands.
pub(crate) async fn serve_here(config: &Config) -> anyhow::Result<Served> {
    let opened = open(config).await?;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    opened.keep_going(config).await?;
    let served = serve_on(listener, &opened, config)?;
    opened.announce(&served.url, true)?;
    Ok(served)
}

fn serve_on(
    listener: tokio::net::TcpListener,
    opened: &Opened,
    config: &Config,
) -> anyhow::Result<Served> {
    let url = format!("http://{}", listener.local_addr()?);
    let router = opened.router(config, "owner")?;
    let (stop, stopped) = tokio::sync::oneshot::channel();
    let stopped = async {
        // Told, or forgotten: both mean the end.
        let _ = stopped.await;
    };
    let (engine, token) = (Arc::clone(&opened.engine), opened.owner_token.clone());
    #[expect(clippy::disallowed_methods, reason = "`Served::stop` waits for it")]
    let serving = tokio::spawn(api::run(
        listener,
        router,
        engine,
        stopped,
        Duration::ZERO,
        api::ConnectionLimits::default(),
    ));
    Ok(Served { url, token, stop, serving })
}

/// The engine over a store that is there already and that nobody else uses.
pub(crate) async fn open_existing(config: &Config) -> anyhow::Result<Opened> {
    log(&config.store)?;
    open(config).await.context("this command needs the store to itself; stop its server first")
}

/// The log alone, for reading, whoever owns the store.
pub(crate) fn log(section: &StoreSection) -> anyhow::Result<SqlLog> {
    if !section.postgres.is_empty() {
        return scaled::log(&section.postgres).context("cannot read the store in Postgres");
    }
    let folder = Path::new(&section.data);
    SqlLog::open(folder).with_context(|| format!("cannot read the store in {}", folder.display()))
}

/// Where the latest questions are, unless in this process.
async fn history(
    section: &HistorySection,
    rule: &RetryRule,
) -> anyhow::Result<Option<Arc<dyn QueryHistory>>> {
    if section.redis.is_empty() {
        return Ok(None);
    }
    let timeout = Duration::from_millis(section.timeout_ms.max(1));
    let opened = scaled::history(&section.redis, timeout, rule).await;
    opened.map(Some).context("cannot keep the history of questions in Redis")
}

fn store(section: &StoreSection) -> anyhow::Result<Store> {
    let limits = Limits {
        queue_bytes: section.queue_mib << 20,
        group_writes: section.group_writes,
        readers: section.readers,
    };
    let folder = Path::new(&section.data);
    if !section.postgres.is_empty() {
        return scaled::store(folder, &section.postgres, limits, random_bytes()?)
            .context("cannot open the store in Postgres");
    }
    Store::open(folder, limits, random_bytes()?)
        .with_context(|| format!("cannot open the store in {}", folder.display()))
}

fn random_bytes() -> anyhow::Result<[u8; 32]> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).context("the system gives no random numbers")?;
    Ok(bytes)
}
