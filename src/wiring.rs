//! Builds the engine and its server from the configuration.

mod detectors;
mod scaled;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use connectors::{BlobStore, FolderBlobStore, QueryHistory};
use engine::{
    ChatClient, CopyPlace, CopySettings, Embedder, Engine, EngineOptions, JobSettings,
    LlmReaderOptions, RemoteEmbedder, RetryRule, Webhook,
};
use http::HeaderMap;
use mcp::{ApiCall, ApiClient, ApiError};
use model::{Clock, Timestamp};
use serde_json::Value;
use store::{Limits, ReadOnlyLog, SimilarityLimits, Store};

use crate::config::{
    Config, DetectSection, EmbedSection, HistorySection, KeepCopies, LlmReaderSwitch, LlmSection,
    StoreSection,
};

pub(crate) use detectors::{build_detectors, convert_mode};
pub(crate) use scaled::{MissingSupport, join_consumer_group, require_support};

struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the only place that reads the system clock")]
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(jiff::Timestamp::now().as_microsecond())
    }
}

pub(crate) fn system_clock() -> Arc<dyn Clock> {
    Arc::new(SystemClock)
}

/// The engine, the configured store below it, and the token of the data folder's owner.
pub(crate) struct OpenEngine {
    pub(crate) engine: Arc<Engine>,
    store: Arc<Store>,
    owner_token: String,
}

impl OpenEngine {
    /// Builds the API router, with the MCP tools at `/mcp`. `run` makes request ids unique per run.
    pub(crate) fn build_router(&self, config: &Config, run: &str) -> anyhow::Result<api::Router> {
        let settings = api::Settings {
            body_bytes: config.server.max_body_kib << 10,
            batch_bytes: config.server.max_batch_mib << 20,
            copies: build_copies(config)?,
            owner_token: self.owner_token.clone(),
            trusted_proxies: config.server.trusted_proxies.clone(),
        };
        let api = api::Api::new(Arc::clone(&self.engine), settings, run);
        let door = Arc::new(InProcessApi(api.clone().into_router()));
        let tools = mcp::http_service(door, config.server.max_body_kib << 10);
        Ok(api.into_router_with("/mcp", tools))
    }

    /// Turns fsync on commit on or off.
    pub(crate) async fn wait_for_disk(&self, wait: bool) -> anyhow::Result<()> {
        Ok(self.store.wait_for_disk(wait).await?)
    }

    pub(crate) async fn spawn_background_jobs(&self, config: &Config) -> anyhow::Result<()> {
        let outlet = if config.kafka.brokers.is_empty() {
            None
        } else {
            let outlet =
                scaled::open_publisher(&config.kafka).context("cannot publish to Kafka")?;
            Some((outlet, api::event_line as engine::EventFormatter))
        };
        let settings = JobSettings {
            copies: build_copies(config)?,
            outlet,
            sweep_interval: Duration::from_secs(config.detect.sweep_secs.max(1)),
        };
        engine::spawn_jobs(&self.engine, settings).await?;
        Ok(())
    }

    /// Writes the server's URL and token into the folder lock, for commands of the folder's owner.
    /// `yields`: the server releases the folder when another process requests it.
    pub(crate) fn announce(&self, url: &str, yields: bool) -> anyhow::Result<()> {
        Ok(self.store.announce(url, &self.owner_token, yields)?)
    }
}

pub(crate) async fn open(config: &Config) -> anyhow::Result<OpenEngine> {
    open_with_clock(config, system_clock(), random_bytes()?).await
}

/// Opens the engine with the given clock; `seed` determines the ids it generates.
pub(crate) async fn open_with_clock(
    config: &Config,
    clock: Arc<dyn Clock>,
    seed: [u8; 32],
) -> anyhow::Result<OpenEngine> {
    let store = Arc::new(open_store(&config.store)?);
    let shared = Arc::clone(&store);
    let detectors = build_detectors(&config.detect)?;
    let embedder = build_embedder(&config.embed)?;
    let writer = build_writer(&config.llm)?;
    let history = open_history(&config.history, &detectors.retry).await?;
    let llm_reader = build_llm_reader(config, writer.as_ref())?;
    let webhook = Webhook::new(config.alerts.allow_private_webhooks);
    let options = EngineOptions { history, writer, webhook, llm_reader };
    let engine = Engine::open_with(shared, clock, seed, detectors, embedder, options).await?;
    let engine = Arc::new(engine);
    let token = random_bytes()?.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(OpenEngine { engine, store, owner_token: token })
}

/// A loopback server in this process, for the folder's owner.
pub(crate) struct OwnerServer {
    pub(crate) url: String,
    pub(crate) token: String,
    stop: tokio::sync::oneshot::Sender<()>,
    serving: tokio::task::JoinHandle<std::io::Result<()>>,
}

impl OwnerServer {
    pub(crate) async fn stop(self) -> anyhow::Result<()> {
        // Sending fails when the server has ended with an error, which `serving` returns.
        let _ = self.stop.send(());
        Ok(self.serving.await??)
    }
}

/// Serves on a free loopback port that is not announced: only this process knows it.
pub(crate) async fn serve_for_owner(config: &Config) -> anyhow::Result<OwnerServer> {
    let opened = open(config).await?;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    serve_on(listener, &opened, config)
}

const MAX_FOLDER_POLLS: u32 = 100;
const FOLDER_POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Asks a holder that yields (`uptake mcp`) to release the folder, and waits up to 10 seconds.
pub(crate) async fn request_folder(config: &Config) -> anyhow::Result<()> {
    let folder = Path::new(&config.store.data);
    for poll in 0..MAX_FOLDER_POLLS {
        let Some(holder) = store::read_lock_holder(folder).filter(|holder| holder.yields) else {
            return Ok(());
        };
        if poll == 0 {
            tracing::info!(
                holder = holder.process,
                "the data folder is held by `uptake mcp`; requesting it"
            );
            store::request_folder(folder)
                .context("cannot request the data folder from its holder")?;
        }
        tokio::time::sleep(FOLDER_POLL_INTERVAL).await;
    }
    Ok(())
}

/// Serves on a free loopback port and announces it in the folder lock. The server releases the
/// folder when another process requests it.
pub(crate) async fn serve_until_requested(config: &Config) -> anyhow::Result<OwnerServer> {
    let opened = open(config).await?;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    opened.spawn_background_jobs(config).await?;
    let served = serve_on(listener, &opened, config)?;
    opened.announce(&served.url, true)?;
    Ok(served)
}

fn serve_on(
    listener: tokio::net::TcpListener,
    opened: &OpenEngine,
    config: &Config,
) -> anyhow::Result<OwnerServer> {
    let url = format!("http://{}", listener.local_addr()?);
    let router = opened.build_router(config, "owner")?;
    let (stop, stopped) = tokio::sync::oneshot::channel();
    let stopped = async {
        // A message and a dropped sender both mean: stop.
        let _ = stopped.await;
    };
    let (engine, token) = (Arc::clone(&opened.engine), opened.owner_token.clone());
    #[expect(clippy::disallowed_methods, reason = "`OwnerServer::stop` joins the task")]
    let serving = tokio::spawn(api::run(
        listener,
        router,
        engine,
        stopped,
        Duration::ZERO,
        api::ConnectionLimits::default(),
    ));
    Ok(OwnerServer { url, token, stop, serving })
}

/// Opens the engine over a store that must exist and must not be in use by another process.
pub(crate) async fn open_existing(config: &Config) -> anyhow::Result<OpenEngine> {
    open_log(&config.store)?;
    open(config).await.context("this command needs the store to itself; stop its server first")
}

/// Opens the log for reading, also while another process holds the store.
pub(crate) fn open_log(section: &StoreSection) -> anyhow::Result<ReadOnlyLog> {
    if !section.postgres.is_empty() {
        return scaled::connect_log(&section.postgres).context("cannot read the store in Postgres");
    }
    let folder = Path::new(&section.data);
    ReadOnlyLog::open(folder)
        .with_context(|| format!("cannot read the store in {}", folder.display()))
}

/// Connects to the shared history of recent questions. `None`: the engine keeps it in memory.
async fn open_history(
    section: &HistorySection,
    rule: &RetryRule,
) -> anyhow::Result<Option<Arc<dyn QueryHistory>>> {
    if section.redis.is_empty() {
        return Ok(None);
    }
    let timeout = Duration::from_millis(section.timeout_ms.max(1));
    let opened = scaled::connect_history(&section.redis, timeout, rule).await;
    opened.map(Some).context("cannot use history.redis")
}

fn open_store(section: &StoreSection) -> anyhow::Result<Store> {
    let limits = Limits {
        queue_bytes: section.queue_mib << 20,
        group_writes: section.group_writes,
        readers: section.readers,
        similar: SimilarityLimits {
            project_turns: section.similar_turns_per_project,
            turns: section.similar_turns,
        },
    };
    let folder = Path::new(&section.data);
    if !section.postgres.is_empty() {
        return scaled::connect_store(folder, &section.postgres, limits, random_bytes()?)
            .context("cannot open the store in Postgres");
    }
    Store::open(folder, limits, random_bytes()?)
        .with_context(|| format!("cannot open the store in {}", folder.display()))
}

fn random_bytes() -> anyhow::Result<[u8; 32]> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).context("cannot read random numbers from the system")?;
    Ok(bytes)
}

/// The API of this process for the MCP tools at `/mcp`. Calls have the headers, and so the rights,
/// of the MCP request.
struct InProcessApi(api::Router);

impl ApiClient for InProcessApi {
    async fn post(&self, headers: Option<&HeaderMap>, call: ApiCall) -> Result<Value, ApiError> {
        let no_headers = HeaderMap::new();
        api::post_loopback(&self.0, headers.unwrap_or(&no_headers), call.path, &call.body)
            .await
            .map_err(|(status, detail)| ApiError { status: Some(status), detail })
    }
}

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

/// The built-in model, or the configured remote one.
pub(crate) fn build_embedder(section: &EmbedSection) -> anyhow::Result<Embedder> {
    if section.url.is_empty() {
        return Ok(Embedder::default());
    }
    let key = check_and_read_key("embed", &section.url, &section.model, &section.key_file)?;
    let timeout = Duration::from_millis(section.timeout_ms);
    Ok(Embedder::with_remote(RemoteEmbedder::new(&section.url, &section.model, key, timeout)))
}

/// The remote model that drafts suggestions, if one is configured.
fn build_writer(section: &LlmSection) -> anyhow::Result<Option<ChatClient>> {
    if section.url.is_empty() {
        return Ok(None);
    }
    let key = check_and_read_key("llm", &section.url, &section.model, &section.key_file)?;
    let timeout = Duration::from_millis(section.timeout_ms);
    let LlmSection { url, model, max_tokens, .. } = section;
    Ok(Some(ChatClient::new(url, model, key, timeout, *max_tokens)))
}

/// The chat model that judges messages, if `detect.llm_reader` is on.
fn build_llm_reader(
    config: &Config,
    client: Option<&ChatClient>,
) -> anyhow::Result<Option<LlmReaderOptions>> {
    let DetectSection { llm_reader, llm_reader_budget_ms, llm_reader_calls_per_minute, .. } =
        &config.detect;
    if *llm_reader == LlmReaderSwitch::Off {
        return Ok(None);
    }
    let client = client.context(
        "detect.llm_reader is \"uncertain\", so llm.url must name an OpenAI-compatible chat API",
    )?;
    Ok(Some(LlmReaderOptions {
        client: client.clone(),
        budget: Duration::from_millis(*llm_reader_budget_ms),
        calls_per_minute: *llm_reader_calls_per_minute,
    }))
}

/// Checks the URL and model name, and reads the API key.
fn check_and_read_key(
    section: &str,
    url: &str,
    model: &str,
    key_file: &str,
) -> anyhow::Result<Option<String>> {
    let known = url.starts_with("http://") || url.starts_with("https://");
    ensure!(known, "{section}.url is {url:?}, expected http://… or https://…");
    ensure!(!model.is_empty(), "{section}.model is empty, expected the remote model's name");
    let key = (!key_file.is_empty())
        .then(|| std::fs::read_to_string(key_file))
        .transpose()
        .with_context(|| format!("cannot read {section}.key_file {key_file}"))?;
    Ok(key.map(|key| key.trim().to_owned()))
}
