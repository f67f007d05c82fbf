//! Failure patterns: clusters of negative turns.
//!
//! ```text
//! negative turns of two windows --> question, remark on the answer --> learn: patterns
//!     cached, since many turns take seconds --> reports, suggestions
//! ```

mod centroids;
mod report_cache;
mod reporters;
mod negative_turn;
mod cached;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use learn::{
    AnsweredTotals, Author, CorrectedAnswer, CorrectedQuery, FailedTurn, FailureKind,
    FailurePattern, FailureWindow, LiftDimension, PatternEvidence, PatternRule, Remark, Suggestion,
    find_failure_patterns, rank_corrected_queries, suggest_instructions,
};
use model::{Scope, Timestamp, TurnId, Window};
use store::{QualityQuery, Stopwatch, StoreError};

pub use cached::CachedReport;
pub(crate) use centroids::{PatternCentroids, TurnVectors};
pub(crate) use negative_turn::{AnswerSource, Complaint, NegativeTurn};
pub(crate) use report_cache::PatternCache;
pub use report_cache::{CommentTopic, FailureReport};

use crate::error::EngineError;
use crate::insights::Insights;

/// Turns read per query.
const PAGE_TURNS: usize = 500;
const MAX_CORRECTED_QUERIES: usize = 10;
/// Newest turns without a failure that topics are tested against.
const MAX_PASSED: usize = 500;
/// Users who must agree before comments alone count as failures.
const MIN_COMMENT_AUTHORS: usize = 3;

impl Insights {
    /// Failure patterns of a window, compared with the window before. Reports over few turns are
    /// recomputed for new events. Those over many turns are cached for a minute.
    pub async fn failure_report(
        self: &Arc<Self>,
        query: QualityQuery,
    ) -> Result<Arc<FailureReport>, EngineError> {
        let (head, now) = (self.core.head(), self.core.clock.now());
        if let Some(known) = self.patterns.find_fresh(&query, head, now) {
            return Ok(known);
        }
        let (watch, began) = (Stopwatch::start(), self.patterns.generation());
        let report = Arc::new(self.compute_failure_report(&query, now).await?);
        self.patterns.insert(query, head, now, watch.elapsed(), began, &report);
        Ok(report)
    }

    async fn compute_failure_report(
        &self,
        query: &QualityQuery,
        now: Timestamp,
    ) -> Result<FailureReport, EngineError> {
        let (rule, start) = (PatternRule::default(), query.window.start);
        let turns =
            self.core.store.negative_turns(with_previous_window(query), rule.max_turns + 1).await?;
        let truncated = turns.len() > rule.max_turns;
        let mut negatives = Vec::with_capacity(turns.len());
        for (scope, turns) in group_by_scope(turns) {
            for page in turns.chunks(PAGE_TURNS) {
                let found = self.core.store.turns(&scope, page.to_vec()).await?;
                negatives
                    .extend(found.iter().filter_map(|turn| NegativeTurn::from_turn(turn, start)));
            }
        }
        let totals = self.answered_totals(query).await?;
        let patterns = move || find_patterns(&negatives, &totals, &rule);
        let panicked = |_| StoreError::Corrupt("the analysis of failure patterns panicked".into());
        let found = tokio::task::spawn_blocking(patterns).await.map_err(panicked)?;
        Ok(FailureReport {
            at: now,
            negatives: found.count,
            truncated,
            patterns: found.patterns,
            suggestions: found.suggestions,
            most_corrected: found.most_corrected,
            centroids: found.centroids,
        })
    }

    async fn answered_totals(&self, query: &QualityQuery) -> Result<AnsweredTotals, EngineError> {
        let [now, before] = self.quality_now_and_before(query.clone()).await?;
        let mut totals = AnsweredTotals {
            now: now.counts.answered.unsigned_abs(),
            before: before.counts.answered.unsigned_abs(),
            by_dimension: Vec::new(),
            passed: self.core.store.passed_questions(query.clone(), MAX_PASSED).await?,
        };
        for found in self.core.store.answered_by(query.clone()).await? {
            for (by, value) in
                [(LiftDimension::Model, found.model), (LiftDimension::Prompt, found.prompt)]
            {
                match totals.by_dimension.iter_mut().find(|(b, v, _)| *b == by && *v == value) {
                    Some((.., count)) => *count += found.answered,
                    None => totals.by_dimension.push((by, value, found.answered)),
                }
            }
        }
        let by_strategy = self.core.store.answered_by_strategy(query.clone()).await?.into_iter();
        totals
            .by_dimension
            .extend(by_strategy.map(|(name, count)| (LiftDimension::Strategy, name, count)));
        Ok(totals)
    }
}

/// Extends the window by the one before it.
fn with_previous_window(query: &QualityQuery) -> QualityQuery {
    let Window { start, end } = query.window;
    let length = end.as_micros() - start.as_micros();
    let window = Window { start: start.plus_secs(-(length / 1_000_000)), end };
    QualityQuery { window, ..query.clone() }
}

fn group_by_scope(turns: Vec<(Scope, TurnId)>) -> Vec<(Scope, Vec<TurnId>)> {
    let mut found: Vec<(Scope, Vec<TurnId>)> = Vec::new();
    for (scope, turn) in turns {
        match found.iter_mut().find(|(known, _)| *known == scope) {
            Some((_, turns)) => turns.push(turn),
            None => found.push((scope, vec![turn])),
        }
    }
    found
}

/// Patterns among negative turns, with their suggestions.
pub(crate) struct FailureFindings {
    /// Negative turns in the current window.
    pub(crate) count: usize,
    pub(crate) patterns: Vec<FailurePattern>,
    pub(crate) suggestions: Vec<Suggestion>,
    most_corrected: Vec<CorrectedQuery>,
    centroids: PatternCentroids,
}

/// Finds patterns among negative turns, and suggestions for them. Turns with nothing but a negative
/// comment count if at least three users share the pattern.
pub(crate) fn find_patterns(
    negatives: &[NegativeTurn],
    totals: &AnsweredTotals,
    rule: &PatternRule,
) -> FailureFindings {
    let is_comment = |one: &NegativeTurn| one.complaint.kind == FailureKind::Comment;
    if !negatives.iter().any(is_comment) {
        return find_patterns_among(negatives, totals, rule);
    }
    let vectors = embed_turns(negatives);
    let patterns = find_failure_patterns(&failed_turns(negatives, &vectors), totals, rule);
    let of: BTreeMap<&str, &NegativeTurn> =
        negatives.iter().map(|one| (one.turn.as_str(), one)).collect();
    let is_supported = |pattern: &&FailurePattern| {
        let turns = pattern.turns.iter().filter_map(|turn| of.get(turn.as_str()));
        let authors: BTreeSet<Author<'_>> = turns.flat_map(|one| one.authors()).collect();
        authors.len() >= MIN_COMMENT_AUTHORS
    };
    let supported: BTreeSet<&str> = patterns
        .iter()
        .filter(is_supported)
        .flat_map(|pattern| pattern.turns.iter().map(String::as_str))
        .collect();
    let counts = |one: &&NegativeTurn| !is_comment(one) || supported.contains(one.turn.as_str());
    let kept: Vec<NegativeTurn> = negatives.iter().filter(counts).cloned().collect();
    find_patterns_among(&kept, totals, rule)
}

fn embed_turns(negatives: &[NegativeTurn]) -> Vec<TurnVectors> {
    let model = embed::built_in();
    let embed = |one: &NegativeTurn| {
        let remark = one.complaint.remark.as_deref().map(|said| model.embed(said));
        (model.embed(&one.question), remark)
    };
    negatives.iter().map(embed).collect()
}

fn failed_turns<'a>(
    negatives: &'a [NegativeTurn],
    vectors: &'a [TurnVectors],
) -> Vec<FailedTurn<'a>> {
    negatives
        .iter()
        .zip(vectors)
        .map(|(one, (question, said))| FailedTurn {
            turn_id: &one.turn,
            question: &one.question,
            question_vector: Some(question.values()),
            remark: one.complaint.remark.as_deref(),
            remark_vector: said.as_ref().map(|said| said.values()),
            contrast: one.complaint.contrast.as_ref(),
            changes: &one.changes,
            kind: one.complaint.kind,
            error_type: one.error_type.as_deref(),
            model: one.source.model.as_deref(),
            prompt: one.source.prompt.as_deref(),
            strategy: one.source.strategy.as_deref(),
            when_ms: one.at.as_micros() / 1000,
            window: one.period,
        })
        .collect()
}

fn find_patterns_among(
    negatives: &[NegativeTurn],
    totals: &AnsweredTotals,
    rule: &PatternRule,
) -> FailureFindings {
    let vectors = embed_turns(negatives);
    let patterns = find_failure_patterns(&failed_turns(negatives, &vectors), totals, rule);
    let now = || negatives.iter().filter(|one| one.period == FailureWindow::Current);
    let of: BTreeMap<&str, &NegativeTurn> = now().map(|one| (one.turn.as_str(), one)).collect();
    let evidence: Vec<PatternEvidence<'_>> =
        patterns.iter().map(|pattern| collect_evidence(pattern, &of)).collect();
    let suggestions = suggest_instructions(&evidence);
    drop(evidence);
    let corrections = now()
        .flat_map(|one| (0..one.corrections).map(|_| (one.turn.as_str(), one.question.as_str())));
    let most_corrected = rank_corrected_queries(corrections, MAX_CORRECTED_QUERIES);
    let ids = negatives.iter().map(|one| one.turn.as_str());
    let centroids = PatternCentroids::compute(&patterns, &ids.zip(vectors).collect());
    FailureFindings { count: now().count(), patterns, suggestions, most_corrected, centroids }
}

fn collect_evidence<'a>(
    pattern: &'a FailurePattern,
    negatives: &BTreeMap<&str, &'a NegativeTurn>,
) -> PatternEvidence<'a> {
    let mut evidence = PatternEvidence {
        pattern,
        corrections: Vec::new(),
        remarks: Vec::new(),
        authors: BTreeMap::new(),
    };
    for one in pattern.turns.iter().filter_map(|turn| negatives.get(turn.as_str())) {
        let turn_id = one.turn.as_str();
        evidence.authors.insert(turn_id, one.author());
        for reporter in &one.reporters {
            let by = one.author_for(reporter.user.as_deref());
            if let Some((original, corrected)) = &reporter.correction {
                evidence.corrections.push(CorrectedAnswer {
                    turn_id,
                    original,
                    corrected,
                    author: by,
                });
            }
            if let Some(said) = reporter.remark.as_deref() {
                evidence.remarks.push(Remark { turn_id, text: said, author: by });
            }
        }
    }
    evidence
}
