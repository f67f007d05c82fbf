//! Groups turns by complaint, whatever the question was.
//!
//! "Completed orders only" is one failure, whether it is about revenue or regions. Remarks are
//! therefore grouped first, with fixed thresholds that do not depend on the number of turns.
//!
//! - Identical remarks start as one cluster: the same change by a correction, or the same words
//!   without the topic words of the questions.
//! - Clusters merge by the mean similarity of their turns. A shared majority word lowers the
//!   threshold.
//! - Corrections that set the same columns to different values never merge.

use std::collections::{BTreeMap, BTreeSet};

use super::neighbours::{find_neighbours, plan_merges};
use super::turn::FailedTurn;
use super::turn_vector::add_vector;
use super::words::extract_stems;

/// Minimum mean similarity of two clusters, for the built-in embedding model.
const MIN_MERGE_SIMILARITY: f32 = 0.55;
/// Minimum mean similarity when both clusters share a majority word.
const MIN_SHARED_WORD_SIMILARITY: f32 = 0.3;
const NEIGHBOURS_PER_CLUSTER: usize = 12;
/// Later rounds merge almost nothing.
const MAX_MERGE_ROUNDS: usize = 40;
/// Smaller complaints are clustered together with their questions instead.
const MIN_COMPLAINT_TURNS: usize = 3;
/// Content words a remark needs to describe a problem.
const MIN_REMARK_WORDS: usize = 2;
/// A word in at least 1/20 of the questions, and in at least three, is a topic word.
const TOPIC_WORD_DIVISOR: usize = 20;
const MIN_TOPIC_WORD_COUNT: usize = 3;

#[derive(Debug, Default)]
struct ComplaintCluster {
    members: Vec<usize>,
    sum: Vec<f32>,
    words: BTreeMap<String, usize>,
    /// Turn counts by columns and change.
    changes: BTreeMap<(String, String), usize>,
    descriptive: usize,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum ComplaintKey {
    Change(String),
    Words(BTreeSet<String>),
}

/// Returns groups of turn indexes with the same complaint. Turns in no group are left out.
pub(super) fn group_by_complaint(turns: &[&FailedTurn<'_>], dims: usize) -> Vec<Vec<usize>> {
    if turns.iter().all(|turn| turn.remark.is_none() && turn.changes.is_empty()) {
        return Vec::new();
    }
    let mut clusters = group_identical(turns, dims);
    for _ in 0..MAX_MERGE_ROUNDS {
        let means: Vec<Vec<f32>> = clusters.iter().map(ComplaintCluster::mean_vector).collect();
        let near = find_neighbours(&means, NEIGHBOURS_PER_CLUSTER, MIN_SHARED_WORD_SIMILARITY);
        let majority: Vec<MajorityTerms<'_>> =
            clusters.iter().map(ComplaintCluster::find_majority).collect();
        let sizes: Vec<usize> = clusters.iter().map(|cluster| cluster.members.len()).collect();
        let targets = plan_merges(&near, &sizes, |at, neighbour| {
            majority[at].can_merge(&majority[neighbour.index as usize], neighbour.similarity)
        });
        if targets.iter().enumerate().all(|(at, to)| at == *to) {
            break;
        }
        clusters = merge_clusters(clusters, &targets);
    }
    let complaints = clusters.into_iter().filter(ComplaintCluster::is_complaint);
    let mut groups: Vec<Vec<usize>> = complaints.map(|cluster| cluster.members).collect();
    groups.iter_mut().for_each(|members| members.sort_unstable());
    groups
}

fn group_identical(turns: &[&FailedTurn<'_>], dims: usize) -> Vec<ComplaintCluster> {
    let remarks: Vec<BTreeSet<String>> =
        turns.iter().map(|turn| turn.remark.map(extract_stems).unwrap_or_default()).collect();
    let question_counts = count_occurrences(turns.iter().map(|turn| extract_stems(turn.question)));
    let topic_count = (turns.len() / TOPIC_WORD_DIVISOR).max(MIN_TOPIC_WORD_COUNT);
    let changes = count_occurrences(
        turns.iter().map(|turn| turn.changes.iter().map(|c| c.text.clone()).collect()),
    );
    let mut clusters: BTreeMap<ComplaintKey, ComplaintCluster> = BTreeMap::new();
    for (at, turn) in turns.iter().enumerate() {
        let times = |change: &str| changes.get(change).copied().unwrap_or_default();
        let shared = turn.changes.iter().filter(|change| times(&change.text) > 1);
        let change = shared
            .max_by(|a, b| times(&a.text).cmp(&times(&b.text)).then_with(|| b.text.cmp(&a.text)));
        let is_specific =
            |word: &&String| question_counts.get(*word).is_none_or(|times| *times < topic_count);
        let specific: BTreeSet<String> = remarks[at].iter().filter(is_specific).cloned().collect();
        let words = if specific.is_empty() { remarks[at].clone() } else { specific };
        let key = match change {
            Some(change) => ComplaintKey::Change(change.text.clone()),
            None if words.is_empty() => continue,
            None => ComplaintKey::Words(words.clone()),
        };
        let cluster = clusters.entry(key).or_default();
        cluster.members.push(at);
        cluster.descriptive += usize::from(remarks[at].len() >= MIN_REMARK_WORDS);
        words.into_iter().for_each(|word| *cluster.words.entry(word).or_default() += 1);
        if let Some(change) = change {
            let change = (change.about.clone(), change.text.clone());
            *cluster.changes.entry(change).or_default() += 1;
        }
        cluster.sum.resize(dims, 0.0);
        if let Some(vector) = turn.remark_vector.filter(|vector| vector.len() == dims) {
            add_vector(&mut cluster.sum, vector);
        }
    }
    clusters.into_values().collect()
}

fn count_occurrences(sets: impl Iterator<Item = BTreeSet<String>>) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for text in sets.flatten() {
        *counts.entry(text).or_default() += 1;
    }
    counts
}

fn merge_clusters(clusters: Vec<ComplaintCluster>, targets: &[usize]) -> Vec<ComplaintCluster> {
    let mut merged: BTreeMap<usize, ComplaintCluster> = BTreeMap::new();
    for (cluster, to) in clusters.into_iter().zip(targets) {
        let target = merged.entry(*to).or_default();
        target.members.extend(cluster.members);
        add_vector(&mut target.sum, &cluster.sum);
        target.descriptive += cluster.descriptive;
        cluster.words.into_iter().for_each(|(word, n)| *target.words.entry(word).or_default() += n);
        for (change, times) in cluster.changes {
            *target.changes.entry(change).or_default() += times;
        }
    }
    merged.into_values().collect()
}

impl ComplaintCluster {
    /// The mean, not a unit vector: the product of two means is their mean similarity.
    fn mean_vector(&self) -> Vec<f32> {
        let size = self.members.len().max(1) as f32;
        self.sum.iter().map(|sum| sum / size).collect()
    }

    fn find_majority(&self) -> MajorityTerms<'_> {
        let half = |times: &usize| *times * 2 >= self.members.len();
        let words = self.words.iter().filter(|(_, times)| half(times));
        let changes = self.changes.iter().filter(|(_, times)| half(times));
        MajorityTerms {
            words: words.map(|(word, _)| word.as_str()).collect(),
            changes: changes.map(|((about, text), _)| (about.as_str(), text.as_str())).collect(),
        }
    }

    fn is_complaint(&self) -> bool {
        let is_descriptive =
            self.descriptive * 2 >= self.members.len() || !self.find_majority().changes.is_empty();
        is_descriptive && self.members.len() >= MIN_COMPLAINT_TURNS
    }
}

/// Words and changes shared by at least half of a cluster's turns.
struct MajorityTerms<'p> {
    words: BTreeSet<&'p str>,
    changes: Vec<(&'p str, &'p str)>,
}

impl MajorityTerms<'_> {
    fn can_merge(&self, other: &Self, similarity: f32) -> bool {
        let conflicts = |own: &(&str, &str)| {
            let same_columns = |their: &(&str, &str)| own.0 == their.0 && own.1 != their.1;
            !own.0.is_empty() && other.changes.iter().any(same_columns)
        };
        let agree = similarity >= MIN_MERGE_SIMILARITY || !self.words.is_disjoint(&other.words);
        agree && !self.changes.iter().any(conflicts)
    }
}
