//! `Engine`: the services of Uptake without a server. Opens, closes and holds them.
//!
//! A service calls only services above it in this list:
//!
//! ```text
//! core          store, clock, ids, redaction, commit
//! access        API keys and page sessions
//! cluster       leadership, following other nodes, publishing
//! routing, experiments, retrieval, training_data
//! turns         questions, answers, verdicts, sessions
//! traces        spans, and their assembly into turns
//! insights      figures, alerts, failure patterns, suggestions
//! privacy       redaction settings, erasure, retention
//! feedback      events, reactions, decisions, imports
//! ```

use std::fmt;
use std::sync::{Arc, Weak};

use connectors::QueryHistory;
use model::{Clock, Mac, Position, Timestamp};
use outbound::{ChatClient, Webhook};
use serde_json::Value;
use store::{LogStats, Rebuild, Rebuilt, SimilarityStats, Store};

use crate::access::Access;
use crate::changes::changes_of;
use crate::cluster::Cluster;
use crate::core::Core;
use crate::core::commit::CommitObserver;
use crate::detectors::Detectors;
use crate::embedder::Embedder;
use crate::error::EngineError;
use crate::experiments::Experiments;
use crate::feedback::Feedback;
use crate::insights::Insights;
use crate::privacy::Privacy;
use crate::retrieval::Retrieval;
use crate::routing::Routing;
use crate::traces::Traces;
use crate::training_data::TrainingData;
use crate::turns::Turns;
use crate::turns::llm_reader::LlmReaderOptions;
use crate::warning::{Warning, WarningCode};

/// All services over one store. Time and randomness are arguments of `open`.
pub struct Engine {
    pub(crate) core: Arc<Core>,
    /// API keys and page sessions.
    pub access: Arc<Access>,
    /// This node's part in a cluster.
    pub cluster: Arc<Cluster>,
    /// Routers and their choices.
    pub routing: Arc<Routing>,
    /// A/B tests and adaptive experiments.
    pub experiments: Arc<Experiments>,
    /// Retrieved items, their use, and reranking.
    pub retrieval: Arc<Retrieval>,
    /// Few-shot examples and preference data.
    pub training_data: Arc<TrainingData>,
    /// Questions and answers.
    pub turns: Arc<Turns>,
    /// Spans of other instrumentations.
    pub traces: Arc<Traces>,
    /// Figures, alerts, failure patterns and suggestions.
    pub insights: Arc<Insights>,
    /// Redaction settings, erasure and retention.
    pub privacy: Arc<Privacy>,
    /// Events, reactions, decisions and imports.
    pub feedback: Arc<Feedback>,
}

/// Parts that an engine can do without.
#[derive(Default)]
pub struct EngineOptions {
    /// Recent questions shared between nodes. Without it they are kept in memory.
    pub history: Option<Arc<dyn QueryHistory>>,
    /// A model that drafts suggestions.
    pub writer: Option<ChatClient>,
    /// Delivers alerts. By default to public addresses only.
    pub webhook: Webhook,
    /// A model that is asked about messages that the reader is uncertain about.
    pub llm_reader: Option<LlmReaderOptions>,
}

impl Engine {
    /// Opens an engine over a store. `seed` feeds ids and key secrets.
    pub async fn open(
        store: Arc<Store>,
        clock: Arc<dyn Clock>,
        seed: [u8; 32],
        detectors: Detectors,
        embedder: Embedder,
    ) -> Result<Self, EngineError> {
        Self::open_with(store, clock, seed, detectors, embedder, EngineOptions::default()).await
    }

    /// Opens an engine with optional parts.
    pub async fn open_with(
        store: Arc<Store>,
        clock: Arc<dyn Clock>,
        seed: [u8; 32],
        detectors: Detectors,
        embedder: Embedder,
        options: EngineOptions,
    ) -> Result<Self, EngineError> {
        rebuild_stale_projections(&store).await?;
        // Read before any state is loaded. Following starts here and may deliver an entry twice,
        // but never misses one.
        let opened_at = store.head();
        let core = Arc::new(Core::open(store, clock, seed, detectors, embedder).await?);
        let access = Arc::new(Access::open(Arc::clone(&core)).await?);
        let cluster = Arc::new(Cluster::new(Arc::clone(&core), Arc::clone(&access), opened_at));
        let routing = Arc::new(Routing::open(Arc::clone(&core)).await?);
        let experiments = Arc::new(Experiments::new(Arc::clone(&core), Arc::clone(&cluster)));
        let retrieval = Arc::new(Retrieval::new(Arc::clone(&core)));
        let training_data = Arc::new(TrainingData::new(Arc::clone(&core)));
        let turns = Turns::open(
            Arc::clone(&core),
            Arc::clone(&cluster),
            Arc::clone(&routing),
            Arc::clone(&retrieval),
            Arc::clone(&training_data),
            options.history,
            options.llm_reader,
        );
        let turns = Arc::new(turns.await?);
        let traces = Arc::new(Traces::new(&core, &cluster, &turns));
        let insights = Insights::open(
            Arc::clone(&core),
            Arc::clone(&cluster),
            Arc::clone(&experiments),
            options.writer,
            options.webhook,
        );
        let insights = Arc::new(insights.await?);
        let privacy = Arc::new(Privacy {
            core: Arc::clone(&core),
            cluster: Arc::clone(&cluster),
            routing: Arc::clone(&routing),
            training_data: Arc::clone(&training_data),
            turns: Arc::clone(&turns),
            insights: Arc::clone(&insights),
            scrub_signal: Default::default(),
        });
        let feedback = Arc::new(Feedback {
            core: Arc::clone(&core),
            access: Arc::clone(&access),
            privacy: Arc::clone(&privacy),
        });
        let engine = Self {
            core,
            access,
            cluster,
            routing,
            experiments,
            retrieval,
            training_data,
            turns,
            traces,
            insights,
            privacy,
            feedback,
        };
        engine.observe_commits();
        Ok(engine)
    }

    /// Registers the services that follow the log, in the order in which they are notified.
    fn observe_commits(&self) {
        fn weak<T: CommitObserver + 'static>(service: &Arc<T>) -> Weak<dyn CommitObserver> {
            let service: Weak<T> = Arc::downgrade(service);
            service
        }
        // Caches that are cleared without I/O come before services that reload from the store: an
        // error stops the notification, and no cache may keep the text of an erased user.
        let observers = vec![
            weak(&self.training_data),
            weak(&self.experiments),
            weak(&self.insights),
            weak(&self.privacy),
            weak(&self.turns),
            weak(&self.traces),
            weak(&self.routing),
        ];
        // Set once per engine.
        let _ = self.core.observers.set(observers);
    }

    /// The position of the newest event.
    pub fn head(&self) -> Position {
        self.core.head()
    }

    /// The time by the engine's clock.
    pub fn now(&self) -> Timestamp {
        self.core.clock.now()
    }

    /// The MAC that identifies a repeat of this body at this endpoint.
    pub fn fingerprint(&self, door: &str, body: &Value) -> Mac {
        self.core.fingerprint(door, body)
    }

    /// True when the store could commit.
    pub async fn is_ready(&self) -> bool {
        self.core.store.is_ready().await.unwrap_or(false)
    }

    /// Statistics of the log's writer.
    pub fn similarity_stats(&self) -> SimilarityStats {
        self.core.store.similarity_stats()
    }

    pub fn stats(&self) -> LogStats {
        self.core.store.stats()
    }

    /// Number of warnings by code since the start.
    pub fn warning_counts(&self) -> Vec<(WarningCode, u64)> {
        self.core.counters.warnings.list()
    }

    /// Counts a warning that the caller raised itself.
    pub fn count_warning(&self, warning: &Warning) {
        self.core.count_warnings(std::slice::from_ref(warning));
    }

    /// Rebuilds every projection from the log, and routers from the projections.
    /// `progress` is called with events done and events in all.
    pub async fn rebuild(
        &self,
        progress: impl Fn(u64, u64) + Send + 'static,
    ) -> Result<Rebuilt, EngineError> {
        let how = Rebuild { changes_of, progress: Box::new(progress) };
        let rebuilt = self.core.store.rebuild(how).await?;
        self.routing.states.reload(&self.core.store).await?;
        tracing::info!(events = rebuilt.events, changed = rebuilt.changed, "projections rebuilt");
        Ok(rebuilt)
    }

    /// Runs the periodic jobs once, for a caller that sets the clock.
    pub async fn run_jobs_once(&self) -> Result<(), EngineError> {
        self.routing.store_choices().await;
        self.traces.assemble_due().await?;
        self.turns.sweep_sessions().await?;
        for scope in self.insights.dirty_scopes.take_all() {
            self.insights.check_targets(&scope).await?;
        }
        let scopes = self.experiments.dirty_scopes.take_all();
        self.experiments.update_all_shares(Some(&scopes)).await.map(drop)
    }

    /// Ends long-lived reads. Writes continue.
    pub fn begin_shutdown(&self) {
        self.core.tasks.signal_stop();
    }

    /// Commits accepted writes and closes the store. Later writes are refused.
    pub async fn close(&self) -> Result<(), EngineError> {
        self.core.tasks.stop_all().await;
        self.cluster.release_leadership().await;
        if self.cluster.is_outdated() {
            // Routers have learnt from entries that the log lost, so their state must not be
            // stored.
            return Ok(self.core.store.close().await?);
        }
        self.routing.store_choices().await;
        self.routing.states.save_checkpoints(&self.core.store).await?;
        self.privacy.scrub_on_close().await;
        Ok(self.core.store.close().await?)
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("head", &self.head()).finish_non_exhaustive()
    }
}

async fn rebuild_stale_projections(store: &Store) -> Result<(), EngineError> {
    if store.is_stale().await? {
        tracing::info!("rebuilding projections after an update");
        store.rebuild(Rebuild { changes_of, progress: Box::new(|_, _| {}) }).await?;
    }
    Ok(())
}
