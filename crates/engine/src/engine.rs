//! `Engine`: what an application embeds, and what the server serves.

use std::fmt;
use std::sync::Arc;

use connectors::QueryHistory;
use ingest::{Fingerprint, SealKey};
use model::{Clock, Position};
use outbound::RemoteWriter;
use report::Seal;
use store::{LogStats, Rebuild, Store};
use tokio::sync::watch;

use crate::attention::Attention;
use crate::calibrate::{Curves, NewLabels};
use crate::changes::changes_of;
use crate::counters::Counters;
use crate::detectors::Detectors;
use crate::drafts::Drafts;
use crate::duty::Duty;
use crate::embedder::Embedder;
use crate::ended_visits::EndedVisits;
use crate::error::FlowError;
use crate::example_pool::ExampleShelf;
use crate::experiment_views::KeptViews;
use crate::history::History;
use crate::key_ring::KeyRing;
use crate::mint::Mint;
use crate::patterns::KeptPatterns;
use crate::published::Published;
use crate::redactors::Redactors;
use crate::routing::{ChoiceQueue, Routing};
use crate::targets::AllTargets;
use crate::tasks::Tasks;
use crate::unclean::Unclean;

/// The whole of Uptake without a server. Time and randomness come in from outside.
pub struct Engine {
    /// How far the log went when the rest was read.
    pub(crate) opened_at: Position,
    pub(crate) store: Arc<Store>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) mint: Mint,
    pub(crate) fingerprint: Fingerprint,
    pub(crate) seal: Seal,
    pub(crate) tasks: Tasks,
    pub(crate) keys: KeyRing,
    pub(crate) ended_visits: EndedVisits,
    pub(crate) privacy: Redactors,
    pub(crate) detectors: Detectors,
    pub(crate) embedder: Embedder,
    pub(crate) history: History,
    pub(crate) curves: Curves,
    pub(crate) labels: NewLabels,
    pub(crate) counters: Arc<Counters>,
    pub(crate) routing: Arc<Routing>,
    pub(crate) choices: ChoiceQueue,
    pub(crate) targets: AllTargets,
    pub(crate) patterns: KeptPatterns,
    pub(crate) drafts: Drafts,
    pub(crate) for_targets: Attention,
    pub(crate) for_experiments: Attention,
    pub(crate) experiment_views: KeptViews,
    pub(crate) examples: Arc<ExampleShelf>,
    pub(crate) published: Arc<Published>,
    pub(crate) duty: Arc<Duty>,
    pub(crate) unclean: Unclean,
    /// The log lost something that this engine knows.
    pub(crate) outdated: watch::Sender<bool>,
}

impl Engine {
    /// An engine over a store, with the latest questions in this process. `seed` is where its ids and the
    /// secrets of keys come from.
    pub async fn open(
        store: Arc<Store>,
        clock: Arc<dyn Clock>,
        seed: [u8; 32],
        detectors: Detectors,
        embedder: Embedder,
    ) -> Result<Self, FlowError> {
        Self::open_with_history(store, clock, seed, detectors, embedder, None).await
    }

    /// The same with the latest questions elsewhere.
    pub async fn open_with_history(
        store: Arc<Store>,
        clock: Arc<dyn Clock>,
        seed: [u8; 32],
        detectors: Detectors,
        embedder: Embedder,
        history: Option<Arc<dyn QueryHistory>>,
    ) -> Result<Self, FlowError> {
        if store.is_stale().await? {
            tracing::info!("an update: what follows from the log is made again, once");
            store.rebuild(Rebuild { changes_of, progress: Box::new(|_, _| {}) }).await?;
        }
        let opened_at = store.head();
        let keys = KeyRing::load(&*store).await?;
        let ended_visits = EndedVisits::load(&*store).await?;
        let privacy = Redactors::load(&*store).await?;
        let curves = Curves::load(&*store).await?;
        let targets = AllTargets::load(&*store).await?;
        let (window, most) = (detectors.retry.window, detectors.retry.most);
        let history = history.map_or_else(|| History::in_process(window, most), History::at);
        history.refill(&*store, clock.now(), window).await?;
        let fingerprint = Fingerprint::new(&SealKey::new(store.seal_key()));
        let seal = Seal::new(&store.seal_key());
        let (mint, tasks) = (Mint::new(seed), Tasks::new());
        let counters = Arc::default();
        let routing = Arc::new(Routing::load(&*store).await?);
        let duty = Arc::new(Duty::new(store.is_shared()));
        Ok(Self {
            opened_at,
            store,
            clock,
            mint,
            fingerprint,
            seal,
            tasks,
            keys,
            ended_visits,
            privacy,
            detectors,
            embedder,
            history,
            curves,
            labels: NewLabels::default(),
            counters,
            routing,
            choices: ChoiceQueue::default(),
            targets,
            patterns: KeptPatterns::default(),
            drafts: Drafts::default(),
            for_targets: Attention::default(),
            for_experiments: Attention::default(),
            experiment_views: KeptViews::default(),
            examples: Arc::default(),
            published: Arc::default(),
            duty,
            unclean: Unclean::default(),
            outdated: watch::channel(false).0,
        })
    }

    /// The same engine, whose suggestions this model drafts too.
    #[must_use]
    pub fn with_writer(self, writer: RemoteWriter) -> Self {
        Self { drafts: Drafts::by(writer), ..self }
    }

    /// How far the log goes.
    pub fn head(&self) -> Position {
        self.store.head()
    }

    /// Whether something could be stored now.
    pub async fn is_ready(&self) -> bool {
        self.store.is_ready().await.unwrap_or(false)
    }

    /// How the log is doing.
    pub fn stats(&self) -> LogStats {
        self.store.stats()
    }

    /// How many answers seemed to end before they began.
    pub fn skewed_clocks(&self) -> u64 {
        self.counters.skewed()
    }

    /// How often copies of turn logs could not be made or taken away; each time it is tried again.
    pub fn failed_copies(&self) -> u64 {
        self.counters.failed_copies()
    }

    /// How often a router's numbers went wrong, and how often `exclude`, `max_cost` or a budget had to
    /// be given up.
    pub fn route_troubles(&self) -> (u64, u64) {
        self.counters.routes()
    }

    /// Waits until the log is shorter than it was: a database that others share was set back, as by a
    /// failover to a copy that was behind. What this engine has learnt is then of no use.
    pub fn until_outdated(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut outdated = self.outdated.subscribe();
        async move {
            if outdated.wait_for(|is_so| *is_so).await.is_err() {
                std::future::pending::<()>().await; // the engine is gone
            }
        }
    }

    /// Whether that happened.
    pub fn is_outdated(&self) -> bool {
        *self.outdated.borrow()
    }

    /// Lets those who read along end; what is being written goes on.
    pub fn begin_to_stop(&self) {
        self.tasks.begin_to_stop();
    }

    /// Finishes and commits what was accepted. Nothing is taken in afterwards.
    pub async fn close(&self) -> Result<(), FlowError> {
        self.tasks.stop().await;
        self.give_duty_back().await;
        if self.is_outdated() {
            // Routers learnt from what is gone; nothing of that may be kept.
            return Ok(self.store.close().await?);
        }
        self.store_choices().await;
        self.routing.keep(&*self.store).await?;
        self.leave_clean().await;
        Ok(self.store.close().await?)
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("head", &self.head()).finish_non_exhaustive()
    }
}
