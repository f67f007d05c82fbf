//! Finds failure patterns among failed turns.

use std::collections::{BTreeMap, BTreeSet};

use model::dot;

use super::complaints::group_by_complaint;
use super::label::{PatternIdentity, TermCounts, Terms, assign_ids, build_label};
use super::pattern::{
    FailureExample, FailurePattern, FailureTrend, MAX_LABEL_CHARS, MAX_QUOTE_CHARS, compute_lifts,
    count_contrasts,
};
use super::topic::QuestionPool;
use super::turn::{AnsweredTotals, FailedTurn, FailureKind, FailureWindow};
use super::turn_vector::{add_vector, compute_turn_vector, to_unit_length};
use super::vector_groups::group_vectors;
use crate::ranking::cluster_query;
use crate::text::truncate_chars;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PatternRule {
    /// Minimum similarity of two turns in a group. The default fits the built-in embedding model.
    pub min_similarity: f32,
    /// Minimum size of a pattern, at least 2.
    pub min_turns: u32,
    /// Maximum number of turns, newest first. Run time grows with the square.
    pub max_turns: usize,
    pub max_examples: usize,
}

impl Default for PatternRule {
    fn default() -> Self {
        Self { min_similarity: 0.35, min_turns: 2, max_turns: 20_000, max_examples: 5 }
    }
}

struct PreparedTurn<'a> {
    turn: &'a FailedTurn<'a>,
    vector: Option<Vec<f32>>,
    terms: Terms,
    question_terms: Terms,
}

/// Finds the patterns of two windows, largest first. The result does not depend on input order.
///
/// Both windows are clustered together, so a pattern means the same in both. A pattern without
/// turns in the current window is dropped.
pub fn find_failure_patterns(
    turns: &[FailedTurn<'_>],
    totals: &AnsweredTotals,
    rule: &PatternRule,
) -> Vec<FailurePattern> {
    let (prepared, dims) = prepare_turns(turns, rule);
    let counts = TermCounts::from_turns(prepared.iter().map(|turn| &turn.terms));
    let passed: Vec<Terms> =
        totals.passed.iter().map(|question| Terms::from_texts([question.as_str()])).collect();
    let failed = prepared.iter().map(|turn| &turn.question_terms);
    let pool = QuestionPool::new(failed.chain(&passed).collect::<Vec<_>>());
    let failed_now =
        prepared.iter().filter(|turn| turn.turn.window == FailureWindow::Current).count();
    let mut found: Vec<(PatternIdentity, FailurePattern)> = Vec::new();
    for (error_type, members) in cluster_turns(&prepared, dims, rule) {
        let members = sort_by_typicality(members);
        let turns = members.iter().map(|member| member.turn);
        let now: Vec<&FailedTurn<'_>> =
            turns.filter(|turn| turn.window == FailureWindow::Current).collect();
        if (now.len() as u32) < rule.min_turns.max(2) {
            continue;
        }
        let label = build_label(&TermCounts::from_turns(members.iter().map(|m| &m.terms)), &counts);
        let topic = pool.find_topic(members.iter().map(|member| &member.question_terms));
        let before = members.len() - now.len();
        let text = format_label(&label.terms, error_type.as_deref(), now[0].question);
        let identity = PatternIdentity {
            error_type: error_type.clone(),
            stems: label.stems,
            size: members.len(),
        };
        let pattern = FailurePattern {
            id: String::new(),
            label: text,
            topic,
            count: now.len() as u32,
            share: now.len() as f64 / failed_now.max(1) as f64,
            trend: FailureTrend::compute(now.len() as u32, before as u32, totals),
            examples: pick_examples(&now, rule.max_examples),
            lifts: compute_lifts(&now, totals),
            contrasts: count_contrasts(&now),
            error_type: error_type.map(|name| truncate_chars(&name, MAX_LABEL_CHARS)),
            turns: now.iter().map(|turn| turn.turn_id.to_owned()).collect(),
        };
        found.push((identity, pattern));
    }
    found.sort_by(|a, b| {
        let size = b.1.count.cmp(&a.1.count).then(b.0.size.cmp(&a.0.size));
        size.then_with(|| a.1.label.cmp(&b.1.label)).then_with(|| a.1.turns.cmp(&b.1.turns))
    });
    let ids = assign_ids(found.iter().map(|(identity, _)| identity));
    found.into_iter().zip(ids).map(|((_, p), id)| FailurePattern { id, ..p }).collect()
}

/// Sorts, deduplicates and truncates the turns; also returns the vector dimension.
fn prepare_turns<'a>(
    turns: &'a [FailedTurn<'a>],
    rule: &PatternRule,
) -> (Vec<PreparedTurn<'a>>, usize) {
    let mut sorted: Vec<&FailedTurn<'_>> = turns.iter().collect();
    sorted.sort_by_key(|t| (t.turn_id, t.window, t.kind, t.remark, t.question, t.when_ms));
    sorted.dedup_by_key(|t| t.turn_id);
    if sorted.len() > rule.max_turns {
        sorted.sort_by_key(|t| (std::cmp::Reverse(t.when_ms), t.turn_id));
        sorted.truncate(rule.max_turns);
        sorted.sort_by_key(|t| t.turn_id);
    }
    let dims =
        sorted.iter().find_map(|t| t.question_vector.or(t.remark_vector)).map_or(0, <[f32]>::len);
    let prepare = |turn: &'a FailedTurn<'a>| {
        let wants = turn.contrast.and_then(|contrast| contrast.wants.as_deref());
        let question_terms = Terms::from_texts([turn.question]);
        let terms = question_terms.with_texts(turn.remark.into_iter().chain(wants));
        PreparedTurn { turn, vector: compute_turn_vector(turn, dims), terms, question_terms }
    };
    (sorted.into_iter().map(prepare).collect(), dims)
}

/// Groups errors by type, then turns by complaint, and the rest by meaning.
fn cluster_turns<'t, 'a>(
    prepared: &'t [PreparedTurn<'a>],
    dims: usize,
    rule: &PatternRule,
) -> Vec<(Option<String>, Vec<&'t PreparedTurn<'a>>)> {
    let error_type = |turn: &FailedTurn<'_>| {
        let named = turn.error_type.map(str::trim).filter(|name| !name.is_empty());
        named.filter(|_| turn.kind == FailureKind::Error).map(str::to_lowercase)
    };
    let mut errors: BTreeMap<String, Vec<&PreparedTurn<'_>>> = BTreeMap::new();
    let mut others: Vec<&PreparedTurn<'_>> = Vec::new();
    for turn in prepared {
        match error_type(turn.turn) {
            Some(name) => errors.entry(name).or_default().push(turn),
            None => others.push(turn),
        }
    }
    let turns: Vec<&FailedTurn<'_>> = others.iter().map(|prepared| prepared.turn).collect();
    let complaints = group_by_complaint(&turns, dims);
    let mut is_free = vec![true; others.len()];
    complaints.iter().flatten().for_each(|at| is_free[*at] = false);
    let free = others.iter().zip(is_free).filter(|(_, free)| *free).map(|(turn, _)| *turn);
    let embedded = free.filter_map(|turn| Some((turn, turn.vector.clone()?)));
    let (embedded, vectors): (Vec<&PreparedTurn<'_>>, Vec<Vec<f32>>) = embedded.unzip();
    let mut by_meaning: BTreeMap<u32, Vec<&PreparedTurn<'_>>> = BTreeMap::new();
    for (turn, group) in embedded.into_iter().zip(group_vectors(&vectors, rule.min_similarity)) {
        if let Some(group) = group {
            by_meaning.entry(group).or_default().push(turn);
        }
    }
    let errors = errors.into_iter().map(|(name, turns)| (Some(name), turns));
    let by_complaint = complaints
        .into_iter()
        .map(|members| (None, members.into_iter().map(|at| others[at]).collect()));
    errors.chain(by_complaint).chain(by_meaning.into_values().map(|turns| (None, turns))).collect()
}

/// Sorts by similarity to the centroid, then newest first.
fn sort_by_typicality<'t, 'a>(mut members: Vec<&'t PreparedTurn<'a>>) -> Vec<&'t PreparedTurn<'a>> {
    let vectors = members.iter().filter_map(|member| member.vector.as_ref());
    let mut sum = Vec::new();
    vectors.for_each(|vector| add_vector(&mut sum, vector));
    let centroid = to_unit_length(sum).unwrap_or_default();
    let similarity =
        |m: &PreparedTurn<'_>| m.vector.as_ref().map_or(-1.0, |vector| dot(vector, &centroid));
    members.sort_by(|a, b| {
        let newest = (b.turn.when_ms, a.turn.turn_id).cmp(&(a.turn.when_ms, b.turn.turn_id));
        similarity(b).total_cmp(&similarity(a)).then(newest)
    });
    members
}

fn pick_examples(turns: &[&FailedTurn<'_>], max: usize) -> Vec<FailureExample> {
    let mut seen = BTreeSet::new();
    turns
        .iter()
        .filter(|turn| seen.insert(cluster_query(turn.question)))
        .take(max)
        .map(|turn| FailureExample {
            turn_id: turn.turn_id.to_owned(),
            question: truncate_chars(turn.question, MAX_QUOTE_CHARS),
            remark: turn.remark.map(|remark| truncate_chars(remark, MAX_QUOTE_CHARS)),
        })
        .collect()
}

/// A pattern without shared terms is labelled with its most typical question.
fn format_label(terms: &[String], error_type: Option<&str>, question: &str) -> String {
    const MAX_QUESTION_CHARS: usize = 60;
    let terms = terms.join(", ");
    let label = match error_type {
        Some(error_type) if terms.is_empty() => error_type.to_owned(),
        Some(error_type) => format!("{error_type}: {terms}"),
        None if terms.is_empty() => truncate_chars(question.trim(), MAX_QUESTION_CHARS),
        None => terms,
    };
    truncate_chars(&label, MAX_LABEL_CHARS)
}
