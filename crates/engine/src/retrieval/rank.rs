//! Reranks items by their past relevance signals.

use learn::{
    CoecRule, Estimator, ItemEvidence, ItemTally, RankTotals, RerankedResult, cluster_query, rerank,
};
use model::Scope;
use store::{Extreme, StoredTally};

use crate::error::EngineError;
use crate::retrieval::Retrieval;

#[derive(Clone, Debug, PartialEq)]
pub struct EntityStats {
    pub entity_id: String,
    pub tally: StoredTally,
}

impl Retrieval {
    /// The item's counters; zeros for an unknown item.
    pub async fn load_entity_stats(
        &self,
        scope: &Scope,
        entity_id: String,
    ) -> Result<EntityStats, EngineError> {
        let found = self.core.store.tallies(scope, None, vec![entity_id.clone()]).await?;
        let tally = found.items.first().and_then(|(tally, _)| *tally).unwrap_or_default();
        Ok(EntityStats { entity_id, tally })
    }

    /// The best or the worst items.
    pub async fn list_extreme_entities(
        &self,
        scope: &Scope,
        which: Extreme,
        limit: usize,
    ) -> Result<Vec<EntityStats>, EngineError> {
        let found = self.core.store.extremes(scope, which, limit).await?;
        let stats = |(entity_id, tally)| EntityStats { entity_id, tally };
        Ok(found.into_iter().map(stats).collect())
    }

    /// Orders results by score and past relevance. `index` refers to `results`.
    pub async fn rerank_results(
        &self,
        scope: &Scope,
        query: Option<&str>,
        results: &[(String, f64)],
        estimator: Estimator,
    ) -> Result<Vec<RerankedResult>, EngineError> {
        let cluster = query.map(|query| cluster_query(query).0);
        let entities = results.iter().map(|(entity, _)| entity.clone()).collect();
        let found = self.core.store.tallies(scope, cluster, entities).await?;
        let mut totals = RankTotals::default();
        for (band, (returned, used)) in found.totals.iter().enumerate() {
            totals.returned[band] = *returned;
            totals.used[band] = *used;
        }
        let known = |index: usize| {
            let (entity, pair) = found.items.get(index).copied().unwrap_or_default();
            ItemEvidence { entity: entity.map(to_tally), pair: pair.map(to_tally) }
        };
        let scores: Vec<f64> = results.iter().map(|(_, score)| *score).collect();
        Ok(rerank(estimator, &CoecRule::default(), &totals.estimate_examination(), &scores, known))
    }
}

fn to_tally(tally: StoredTally) -> ItemTally {
    let StoredTally { used, ignored, positive, negative, returned } = tally;
    ItemTally { used, ignored, positive, negative, returned }
}
