//! Finds strategies of similar turns to reuse, and rejected ones to avoid.
//!
//! ```text
//! question --embed--> similar turns --rank--> the best few, with their strategies
//!                                \-> rejected ones, with the user's words
//! ```

use learn::{RankMode, StrategyCandidate, StrategyUse};
use model::{Scope, Strategy, TurnId, UnitInterval, UserId, Vector, VerdictStatus};
use store::{SimilarQuery, SimilarTurn, SimilarTurns, StoredExchange, TurnNumber};

use crate::changes::truncate_for_embedding;
use crate::core::Core;
use crate::error::EngineError;
use crate::turns::Turns;

/// Candidates of each status that are ranked per requested result.
const CANDIDATES_PER_RESULT: usize = 4;
const MIN_CANDIDATES: usize = 16;
/// Texts per request to a remote model.
const EMBED_BATCH_TEXTS: usize = 64;

#[derive(Clone, Debug)]
pub struct StrategySearch {
    pub query: String,
    /// Number of results.
    pub k: usize,
    /// Minimum cosine similarity.
    pub min_similarity: f64,
    pub mode: RankMode,
    /// True to return rejected turns, too.
    pub include_rejected: bool,
    pub user: Option<UserId>,
    pub intent: Option<String>,
    /// A turn to leave out: the one that asks.
    pub exclude_turn: Option<TurnId>,
    /// A turn that was just rejected. Its strategy is avoided even when others accepted it.
    pub rejected_turn: Option<TurnId>,
}

impl Default for StrategySearch {
    fn default() -> Self {
        Self {
            query: String::new(),
            k: 5,
            min_similarity: 0.5,
            mode: RankMode::Tiered,
            include_rejected: false,
            user: None,
            intent: None,
            exclude_turn: None,
            rejected_turn: None,
        }
    }
}

/// A similar earlier turn.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundStrategy {
    pub turn: TurnId,
    pub question: String,
    pub strategy: Option<Strategy>,
    pub status: VerdictStatus,
    /// Confidence of the status.
    pub confidence: UnitInterval,
    pub quality: Option<UnitInterval>,
    /// Cosine of the two questions.
    pub similarity: f64,
    pub ranking_score: f64,
    /// Quality of the answer, −1 to 1.
    pub satisfaction: f64,
    /// The user's words on rejection.
    pub user_said: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Strategies {
    /// Turns to reuse, best first.
    pub strategies: Vec<FoundStrategy>,
    /// Turns to avoid, most similar first.
    pub avoid: Vec<FoundStrategy>,
    /// True when every turn was compared, false for an approximate search.
    pub exact: bool,
    /// False while the index is still loading after a start.
    pub complete: bool,
}

impl Turns {
    pub async fn find_strategies(
        &self,
        scope: &Scope,
        search: StrategySearch,
    ) -> Result<Strategies, EngineError> {
        let vector = self.core.embed_text(truncate_for_embedding(&search.query)).await;
        let query = SimilarQuery {
            scope: scope.clone(),
            vector,
            most: (search.k * CANDIDATES_PER_RESULT).max(MIN_CANDIDATES),
            floor: search.min_similarity as f32,
            user: search.user,
            intent: search.intent,
        };
        let found = self.core.store.similar(query).await?;
        let mut rejected: Vec<SimilarTurn> = found
            .turns
            .iter()
            .filter(|turn| turn.status == VerdictStatus::Rejected)
            .cloned()
            .collect();
        rejected.sort_by(|a, b| b.similarity.total_cmp(&a.similarity));
        // Without rejected turns there is nothing to avoid, so only the best turns are loaded. One
        // extra, because the turn that asks may be among them.
        let most = match rejected.is_empty() {
            true => search.k + usize::from(search.exclude_turn.is_some()),
            false => usize::MAX,
        };
        let mut all = rank_candidates(search.mode, &found, most);
        all.extend(rejected);
        let mut loaded = self.load_strategies(scope, all).await?;
        loaded.retain(|turn| Some(&turn.turn) != search.exclude_turn.as_ref());
        let (mut strategies, mut avoid) = split_strategies(loaded, search.rejected_turn.as_ref());
        strategies.truncate(search.k);
        avoid.truncate(if search.include_rejected { search.k } else { 0 });
        Ok(Strategies { strategies, avoid, exact: found.exact, complete: found.complete })
    }

    /// Loads questions and strategies of the found turns.
    async fn load_strategies(
        &self,
        scope: &Scope,
        turns: Vec<SimilarTurn>,
    ) -> Result<Vec<FoundStrategy>, EngineError> {
        if turns.is_empty() {
            return Ok(Vec::new());
        }
        let numbers = turns.iter().map(|turn| turn.number).collect();
        let words = self.core.store.found(scope, numbers).await?;
        let load = |(turn, exchange): (SimilarTurn, Option<StoredExchange>)| {
            let exchange = exchange?;
            // Retention dropped the turn's content.
            let empty = exchange.opening.text.is_empty() && exchange.completion.is_none();
            (!empty).then(|| found_strategy(&turn, exchange))
        };
        Ok(turns.into_iter().zip(words).filter_map(load).collect())
    }
}

impl Core {
    /// Embeds one text. A remote model is called on a blocking thread.
    pub(crate) async fn embed_text(&self, text: &str) -> Vector {
        if !self.embedder.is_remote() {
            return embed::built_in().embed(text);
        }
        let (embedder, owned) = (self.embedder.clone(), text.to_owned());
        let task = move || embedder.embed(&[&owned]).pop();
        match tokio::task::spawn_blocking(task).await {
            Ok(Some(vector)) => vector,
            Ok(None) | Err(_) => embed::built_in().embed(text),
        }
    }

    pub(crate) async fn embed_texts(&self, texts: Vec<String>) -> Vec<Vector> {
        if !self.embedder.is_remote() {
            return texts.iter().map(|text| embed::built_in().embed(text)).collect();
        }
        let embedder = self.embedder.clone();
        let task = move || {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            texts.chunks(EMBED_BATCH_TEXTS).flat_map(|batch| embedder.embed(batch)).collect()
        };
        tokio::task::spawn_blocking(task).await.unwrap_or_default()
    }
}

/// Splits turns into those to reuse and those to avoid. A strategy, by name and parameters, is on one
/// side only: it is avoided after as many rejections as acceptances, or when it was just rejected.
fn split_strategies(
    turns: Vec<FoundStrategy>,
    just_rejected: Option<&TurnId>,
) -> (Vec<FoundStrategy>, Vec<FoundStrategy>) {
    let uses: Vec<StrategyUse<'_>> = turns
        .iter()
        .map(|turn| StrategyUse {
            strategy: turn.strategy.as_ref(),
            status: turn.status,
            confidence: turn.confidence,
        })
        .collect();
    let refused = turns.iter().find(|turn| Some(&turn.turn) == just_rejected);
    let refused = refused.and_then(|turn| turn.strategy.as_ref());
    let is_avoided = |turn: &FoundStrategy| {
        let strategy = turn.strategy.as_ref();
        strategy.map(|strategy| {
            refused == Some(strategy) || learn::is_rejected_strategy(strategy, &uses)
        })
    };
    let sides: Vec<Option<bool>> = turns.iter().map(is_avoided).collect();
    let (mut strategies, mut avoid) = (Vec::new(), Vec::new());
    for (turn, avoided) in turns.into_iter().zip(sides) {
        let rejected = turn.status == VerdictStatus::Rejected;
        // A turn without a strategy counts by its own status.
        match (rejected, avoided.unwrap_or(rejected)) {
            (true, true) => avoid.push(turn),
            (false, false) => strategies.push(turn),
            (true, false) | (false, true) => {}
        }
    }
    (strategies, avoid)
}

/// Uses the stored standing, which may be newer than the index in memory.
fn found_strategy(turn: &SimilarTurn, exchange: StoredExchange) -> FoundStrategy {
    let standing = exchange.standing;
    FoundStrategy {
        ranking_score: learn::compute_ranking_score(standing.quality, standing.status),
        satisfaction: learn::compute_satisfaction(standing.validation_outcome, standing.status),
        question: exchange.opening.text,
        strategy: exchange.completion.and_then(|done| done.strategy),
        user_said: standing.user_said,
        status: standing.status,
        confidence: standing.confidence,
        quality: standing.quality,
        similarity: turn.similarity,
        turn: exchange.turn,
    }
}

fn rank_candidates(mode: RankMode, found: &SimilarTurns, k: usize) -> Vec<SimilarTurn> {
    let candidates = found.turns.iter().map(|turn| StrategyCandidate {
        turn: turn.number,
        status: turn.status,
        quality: turn.quality,
        similarity: turn.similarity,
        silent: turn.silent,
        ts: turn.ts,
        has_strategy: turn.has_strategy,
    });
    let ranked = learn::rank_strategies(mode, candidates.collect());
    let to_turn = |ranked: StrategyCandidate<TurnNumber>| {
        found.turns.iter().find(|turn| turn.number == ranked.turn).cloned()
    };
    ranked.into_iter().take(k).filter_map(to_turn).collect()
}
