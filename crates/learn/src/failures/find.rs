//! Finds the patterns among failed turns.

use std::collections::{BTreeMap, BTreeSet};

use model::dot;

use super::blend::{direction, unit};
use super::clip::{NAME, QUOTE, clipped};
use super::complaint::complaints;
use super::group::group;
use super::label::{TermCounts, Terms, label};
use super::name::{Known, ids_of};
use super::pattern::{FailureExample, FailurePattern, FailureTrend, contrasts, lifts};
use super::turn::{AnsweredTotals, FailedTurn, FailureKind, Period};
use crate::ranking::cluster_query;

/// When turns are alike, and how much is told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PatternRule {
    /// Similarity from which two turns can belong together. For the built-in model; others have
    /// other scales.
    pub alike: f32,
    /// Turns that make a pattern, at least 2.
    pub least_turns: u32,
    /// Turns that are read, the newest: the time taken grows with the square.
    pub most_turns: usize,
    /// Examples of a pattern.
    pub examples: usize,
}

impl Default for PatternRule {
    fn default() -> Self {
        Self { alike: 0.35, least_turns: 2, most_turns: 20_000, examples: 5 }
    }
}

/// A turn that is looked at, with what is computed of it once.
struct Looked<'a> {
    turn: &'a FailedTurn<'a>,
    vector: Option<Vec<f32>>,
    terms: Terms,
    question_terms: Terms,
}

/// The patterns of failed turns of two windows, largest first. The same turns give the same
/// patterns in whatever order they come. Both windows are grouped together, so that a pattern is
/// the same thing in both; one that is not in the window any more is not told.
pub fn failure_patterns(
    turns: &[FailedTurn<'_>],
    totals: &AnsweredTotals,
    rule: &PatternRule,
) -> Vec<FailurePattern> {
    let (looked, dims) = look(turns, rule);
    let counts = TermCounts::of(looked.iter().map(|turn| &turn.terms));
    let question_counts = TermCounts::of(looked.iter().map(|turn| &turn.question_terms));
    let all_now = looked.iter().filter(|turn| turn.turn.period == Period::Now).count();
    let mut found: Vec<(Known, FailurePattern)> = Vec::new();
    for (error_type, members) in groups_of(&looked, dims, rule) {
        let members = by_typicality(members);
        let now: Vec<&FailedTurn<'_>> =
            members.iter().map(|m| m.turn).filter(|turn| turn.period == Period::Now).collect();
        if (now.len() as u32) < rule.least_turns.max(2) {
            continue;
        }
        let own = label(&TermCounts::of(members.iter().map(|m| &m.terms)), &counts);
        let asked = TermCounts::of(members.iter().map(|m| &m.question_terms));
        let topic = topic(&asked, &question_counts);
        let before = members.len() - now.len();
        let written = written(&own.terms, error_type.as_deref(), now[0].question);
        let known = Known { error_type: error_type.clone(), stems: own.stems, size: members.len() };
        let pattern = FailurePattern {
            id: String::new(),
            label: written,
            topic,
            count: now.len() as u32,
            share: now.len() as f64 / all_now.max(1) as f64,
            trend: FailureTrend::of(now.len() as u32, before as u32, totals),
            examples: examples(&now, rule.examples),
            lifts: lifts(&now, totals),
            contrasts: contrasts(&now),
            error_type: error_type.map(|name| clipped(&name, NAME)),
            turns: now.iter().map(|turn| turn.turn_id.to_owned()).collect(),
        };
        found.push((known, pattern));
    }
    found.sort_by(|a, b| {
        let size = b.1.count.cmp(&a.1.count).then(b.0.size.cmp(&a.0.size));
        size.then_with(|| a.1.label.cmp(&b.1.label)).then_with(|| a.1.turns.cmp(&b.1.turns))
    });
    let ids = ids_of(found.iter().map(|(known, _)| known));
    found.into_iter().zip(ids).map(|((_, p), id)| FailurePattern { id, ..p }).collect()
}

/// In one order, whatever the order they came in; each turn once, the newest if there are too many.
/// With the length of their vectors.
fn look<'a>(turns: &'a [FailedTurn<'a>], rule: &PatternRule) -> (Vec<Looked<'a>>, usize) {
    let mut sorted: Vec<&FailedTurn<'_>> = turns.iter().collect();
    sorted.sort_by_key(|t| (t.turn_id, t.period, t.kind, t.said, t.question, t.when_ms));
    sorted.dedup_by_key(|t| t.turn_id);
    if sorted.len() > rule.most_turns {
        sorted.sort_by_key(|t| (std::cmp::Reverse(t.when_ms), t.turn_id));
        sorted.truncate(rule.most_turns);
        sorted.sort_by_key(|t| t.turn_id);
    }
    let dims =
        sorted.iter().find_map(|t| t.question_vector.or(t.said_vector)).map_or(0, <[f32]>::len);
    let looked = |turn: &'a FailedTurn<'a>| {
        let wants = turn.contrast.and_then(|contrast| contrast.wants.as_deref());
        let question_terms = Terms::of([turn.question]);
        let terms = question_terms.with(turn.said.into_iter().chain(wants));
        Looked { turn, vector: direction(turn, dims), terms, question_terms }
    };
    (sorted.into_iter().map(looked).collect(), dims)
}

/// Errors by their type, then those of which the same was said, everything else by meaning.
fn groups_of<'t, 'a>(
    looked: &'t [Looked<'a>],
    dims: usize,
    rule: &PatternRule,
) -> Vec<(Option<String>, Vec<&'t Looked<'a>>)> {
    let error_type = |turn: &FailedTurn<'_>| {
        let named = turn.error_type.map(str::trim).filter(|name| !name.is_empty());
        named.filter(|_| turn.kind == FailureKind::Error).map(str::to_lowercase)
    };
    let mut errors: BTreeMap<String, Vec<&Looked<'_>>> = BTreeMap::new();
    let mut others: Vec<&Looked<'_>> = Vec::new();
    for turn in looked {
        match error_type(turn.turn) {
            Some(name) => errors.entry(name).or_default().push(turn),
            None => others.push(turn),
        }
    }
    let turns: Vec<&FailedTurn<'_>> = others.iter().map(|looked| looked.turn).collect();
    let complaints = complaints(&turns, dims);
    let mut is_left = vec![true; others.len()];
    complaints.iter().flatten().for_each(|at| is_left[*at] = false);
    let left = others.iter().zip(is_left).filter(|(_, left)| *left).map(|(turn, _)| *turn);
    let meant = left.filter_map(|turn| Some((turn, turn.vector.clone()?)));
    let (meant, vectors): (Vec<&Looked<'_>>, Vec<Vec<f32>>) = meant.unzip();
    let mut by_meaning: BTreeMap<u32, Vec<&Looked<'_>>> = BTreeMap::new();
    for (turn, found) in meant.into_iter().zip(group(&vectors, rule.alike)) {
        if let Some(found) = found {
            by_meaning.entry(found).or_default().push(turn);
        }
    }
    let errors = errors.into_iter().map(|(name, turns)| (Some(name), turns));
    let said =
        complaints.into_iter().map(|of| (None, of.into_iter().map(|at| others[at]).collect()));
    errors.chain(said).chain(by_meaning.into_values().map(|turns| (None, turns))).collect()
}

/// Those nearest to the middle first; of equals the newest.
fn by_typicality<'t, 'a>(mut members: Vec<&'t Looked<'a>>) -> Vec<&'t Looked<'a>> {
    let vectors = members.iter().filter_map(|member| member.vector.as_ref());
    let sum = vectors.fold(Vec::new(), |mut sum: Vec<f32>, vector| {
        sum.resize(vector.len(), 0.0);
        sum.iter_mut().zip(vector).for_each(|(sum, value)| *sum += value);
        sum
    });
    let middle = unit(sum).unwrap_or_default();
    let nearness = |m: &Looked<'_>| m.vector.as_ref().map_or(-1.0, |vector| dot(vector, &middle));
    members.sort_by(|a, b| {
        let newest = (b.turn.when_ms, a.turn.turn_id).cmp(&(a.turn.when_ms, b.turn.turn_id));
        nearness(b).total_cmp(&nearness(a)).then(newest)
    });
    members
}

fn examples(turns: &[&FailedTurn<'_>], most: usize) -> Vec<FailureExample> {
    let mut seen = BTreeSet::new();
    turns
        .iter()
        .filter(|turn| seen.insert(cluster_query(turn.question)))
        .take(most)
        .map(|turn| FailureExample {
            turn_id: turn.turn_id.to_owned(),
            question: clipped(turn.question, QUOTE),
            said: turn.said.map(|said| clipped(said, QUOTE)),
        })
        .collect()
}

/// Without terms that turns share, the most typical question speaks for them.
fn written(terms: &[String], error_type: Option<&str>, question: &str) -> String {
    const LONGEST: usize = 60;
    let terms = terms.join(", ");
    let label = match error_type {
        Some(error_type) if terms.is_empty() => error_type.to_owned(),
        Some(error_type) => format!("{error_type}: {terms}"),
        None if terms.is_empty() => clipped(question.trim(), LONGEST),
        None => terms,
    };
    clipped(&label, NAME)
}

/// What most of the questions are about; empty when they are about this and that.
fn topic(asked: &TermCounts, all: &TermCounts) -> String {
    let terms = label(asked, all).terms.into_iter();
    let mut common = terms.filter(|term| asked.is_in_a_third(term));
    common.next().map(|term| clipped(&term, NAME)).unwrap_or_default()
}
