//! Turns: a question comes in, detectors read it, the answer completes it.

pub(crate) mod agreement;
pub(crate) mod background_reading;
pub(crate) mod call_gate;
pub(crate) mod calibration;
pub(crate) mod complete;
pub(crate) mod finding_entries;
pub(crate) mod findings_response;
pub(crate) mod includes;
pub(crate) mod late_answers;
pub(crate) mod llm_opinion;
pub(crate) mod llm_reader;
pub(crate) mod log_copier;
pub(crate) mod low_priority_thread;
pub(crate) mod message_signals;
pub(crate) mod open;
pub(crate) mod planner_context;
pub(crate) mod reader;
pub(crate) mod reading_queue;
pub(crate) mod recent_questions;
pub(crate) mod history_requests;
pub(crate) mod redetect;
pub(crate) mod retry;
pub(crate) mod session;
pub(crate) mod session_sweep;
pub(crate) mod strategies;
pub(crate) mod target;
pub(crate) mod turn_conflict;
pub(crate) mod timeline;

use std::sync::Arc;

use connectors::QueryHistory;
use detect::is_uncertain;
use model::{Scope, TurnId};
use store::StoredTurn;

use crate::cluster::Cluster;
use crate::core::Core;
use crate::core::commit::{CommitObserver, CommitSummary, ObserverFuture};
use crate::dirty_scopes::DirtyScopes;
use crate::error::EngineError;
use crate::retrieval::Retrieval;
use crate::routing::Routing;
use crate::training_data::TrainingData;
use crate::turns::calibration::CalibrationCurves;
use crate::turns::llm_reader::{LlmReader, LlmReaderCounts, LlmReaderOptions};
use crate::turns::reader::{MessageReader, ReaderCounts};
use crate::turns::reading_queue::UnreadMessage;
use crate::turns::recent_questions::RecentQuestions;

/// Owns the recent questions of each user, the calibration of verdicts, the reader and the chat model.
pub struct Turns {
    pub(crate) core: Arc<Core>,
    pub(crate) cluster: Arc<Cluster>,
    pub(crate) routing: Arc<Routing>,
    pub(crate) retrieval: Arc<Retrieval>,
    pub(crate) training_data: Arc<TrainingData>,
    pub(crate) history: RecentQuestions,
    pub(crate) curves: CalibrationCurves,
    pub(crate) reader: MessageReader,
    pub(crate) llm: Option<LlmReader>,
    /// Projects with ratings or reviews since their curve was last fitted.
    pub(crate) new_labels: DirtyScopes,
}

impl Turns {
    /// `history` shares recent questions between nodes. Without it they are in memory. `llm` is asked
    /// about messages that the reader is uncertain about.
    pub(crate) async fn open(
        core: Arc<Core>,
        cluster: Arc<Cluster>,
        routing: Arc<Routing>,
        retrieval: Arc<Retrieval>,
        training_data: Arc<TrainingData>,
        history: Option<Arc<dyn QueryHistory>>,
        llm: Option<LlmReaderOptions>,
    ) -> Result<Self, EngineError> {
        let curves = CalibrationCurves::load(&core.store).await?;
        let (window, most) = (core.detectors.retry.window, core.detectors.retry.max_questions);
        let history = history.map_or_else(
            || RecentQuestions::in_process(window, most),
            RecentQuestions::from_backend,
        );
        history.refill_from_log(&core.store, core.clock.now(), window).await?;
        let new_labels = DirtyScopes::default();
        let reader = MessageReader::new(core.detectors);
        let llm = llm.map(|options| LlmReader::new(options, Arc::clone(&core.clock)));
        Ok(Self {
            core,
            cluster,
            routing,
            retrieval,
            training_data,
            history,
            curves,
            reader,
            llm,
            new_labels,
        })
    }

    /// Loads a turn with all its events.
    pub async fn load_turn(
        &self,
        scope: &Scope,
        turn: TurnId,
    ) -> Result<Option<StoredTurn>, EngineError> {
        self.core.load_turn(scope, turn).await
    }

    /// Number of answers with an end time before their start time.
    pub fn skewed_clocks(&self) -> u64 {
        self.core.counters.skewed_clocks()
    }

    pub fn reader_counts(&self) -> ReaderCounts {
        self.reader.counts()
    }

    /// `None` without a chat model.
    pub fn llm_reader_counts(&self) -> Option<LlmReaderCounts> {
        self.llm.as_ref().map(LlmReader::counts)
    }

    /// Number of failed attempts to copy or remove turn logs. Each is retried.
    pub fn failed_copies(&self) -> u64 {
        self.core.counters.failed_copies()
    }

    /// Queues the messages whose verdict the reader or the chat model may change.
    fn queue_unread_messages(&self, commit: &CommitSummary) {
        let detectors = &self.core.detectors;
        for (scope, found) in &commit.verdicts {
            let is_instant = found.detector == detectors.verdict_version();
            let is_local = is_instant || found.detector == detectors.reader_version();
            let queue = if is_instant && detectors.needs_reading(&found.verdict) {
                &self.reader.queue
            } else if let Some(llm) = &self.llm
                && is_local
                && is_uncertain(&found.verdict)
            {
                &llm.queue
            } else {
                continue;
            };
            let message = found.detected_in.clone();
            queue.add_message(UnreadMessage { scope: scope.clone(), message });
        }
    }

    async fn follow_peers(&self, commit: &CommitSummary) -> Result<(), EngineError> {
        let store = &self.core.store;
        if commit.settings.curves {
            self.curves.update_from(CalibrationCurves::load(store).await?);
        }
        if !commit.erasures.is_empty() {
            let (now, window) = (self.core.clock.now(), self.core.detectors.retry.window);
            self.history.reload_from_log(store, now, window).await?;
        }
        for event in &commit.forgotten_histories {
            self.history.forget_questions_before(event).await?;
        }
        Ok(())
    }
}

impl CommitObserver for Turns {
    fn on_commit<'a>(&'a self, commit: &'a CommitSummary) -> ObserverFuture<'a> {
        if commit.is_peer() {
            // A verdict of another node may complete a label, so every project is checked.
            self.new_labels.mark_dirty(commit.scopes.clone());
            return Box::pin(self.follow_peers(commit));
        }
        self.new_labels.mark_dirty(commit.labelled.iter().cloned().collect());
        self.queue_unread_messages(commit);
        Box::pin(std::future::ready(Ok(())))
    }
}
