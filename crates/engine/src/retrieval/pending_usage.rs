//! Answers that are reported before the results of their query.
//!
//! The report is stored with its query. The write that brings the results also brings the signals.

use detect::AnswerKind;
use model::{Body, Finding, FoundRelevance, Mac, PendingUsage, Retrieved, Scope, TurnId};

use super::query::{MAX_REPORTS, RetrievalQuery};
use super::{RequestMark, Retrieval, finding_place};
use crate::error::EngineError;

impl Retrieval {
    /// Stores an answer whose query is unknown. A repeat is stored once.
    pub(super) async fn store_pending_usage(
        &self,
        scope: &Scope,
        pending: PendingUsage,
        mark: RequestMark,
    ) -> Result<(), EngineError> {
        let known = self.load_pending_usage(scope, &pending.query_id).await?;
        if mark.key.is_none() && known.contains(&pending) {
            return Ok(());
        }
        let turn = TurnId::new(pending.query_id.as_str()).ok();
        let place = finding_place(scope, turn, None);
        self.store_findings(vec![(place, Finding::PendingUsage(pending))], mark).await.map(drop)
    }

    async fn load_pending_usage(
        &self,
        scope: &Scope,
        query_id: &str,
    ) -> Result<Vec<PendingUsage>, EngineError> {
        let stored = self.core.store.returned(scope, query_id, MAX_REPORTS).await?;
        let pending = stored.into_iter().filter_map(|stored| {
            let body = stored.event.into_inner().body;
            if let Body::Finding(Finding::PendingUsage(pending)) = body {
                Some(pending)
            } else {
                None
            }
        });
        Ok(pending.collect())
    }

    /// A query whose results are reported.
    pub(super) async fn load_results(
        &self,
        scope: &Scope,
        query_id: &str,
    ) -> Result<Option<RetrievalQuery>, EngineError> {
        let query = self.load_query(scope, query_id).await?;
        Ok(query.filter(|query| !query.items.is_empty()))
    }

    /// Joins answers that were stored while the results of their query were committed. The report of
    /// such an answer looks for results after its commit, this one looks for answers after its own, so
    /// the later of the two finds the other.
    pub(crate) async fn join_concurrent_usage(
        &self,
        scope: &Scope,
        query_id: String,
    ) -> Result<(), EngineError> {
        for pending in self.load_pending_usage(scope, &query_id).await? {
            let Some(query) = self.load_results(scope, &query_id).await? else { return Ok(()) };
            let kind = if pending.is_code { AnswerKind::Code } else { AnswerKind::Response };
            let signals = self.detect_usage(&pending.response, kind, &query.items);
            let unkeyed = RequestMark { mac: Mac([0; 16]), key: None };
            self.store_usage(scope, (query_id.clone(), query), signals, unkeyed).await?;
        }
        Ok(())
    }

    /// The signals of waiting answers about the results of their query.
    pub(crate) async fn join_pending_usage(
        &self,
        scope: &Scope,
        query_id: &str,
        cluster: Option<u64>,
        items: &[Retrieved],
    ) -> Result<Vec<Finding>, EngineError> {
        if items.is_empty() {
            return Ok(Vec::new());
        }
        let waiting = self.load_pending_usage(scope, query_id).await?;
        let detect = |pending: PendingUsage| {
            let kind = if pending.is_code { AnswerKind::Code } else { AnswerKind::Response };
            let signals = self.detect_usage(&pending.response, kind, items);
            let query_id = pending.query_id;
            let found = FoundRelevance { query_id, cluster, signals };
            (!found.signals.is_empty()).then_some(Finding::Relevance(found))
        };
        Ok(waiting.into_iter().filter_map(detect).collect())
    }
}
