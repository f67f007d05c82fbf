//! Turns of which the same was said, whatever was asked.
//!
//! "Completed orders only" is one failure, whether it was said of revenue or of regions, and however
//! many say it. So what was said is grouped by itself first, by fixed measures that do not change
//! with the number of turns. What is equal is one piece to begin with: the same change by a
//! correction, or the same words once those are left out that the questions are about. Pieces join
//! by the mean similarity of their turns; less of it is enough for pieces that most of all say the
//! same word, and none for corrections that put different values to the same columns.

use std::collections::{BTreeMap, BTreeSet};

use super::agglomeration::absorbed;
use super::neighbours::neighbours;
use super::turn::FailedTurn;
use super::words::stems;

/// Mean similarity from which two pieces say the same. For the built-in model.
const SAME: f32 = 0.55;
/// The same for pieces that share a word that half of each say.
const SAME_WITH_A_WORD: f32 = 0.3;
/// Neighbours that are looked at.
const NEAREST: usize = 12;
/// More rounds join next to nobody.
const ROUNDS: usize = 40;
/// Turns that make a complaint of their own. Two who happen to say the same about the same are
/// found with what they asked.
const LEAST: usize = 3;
/// Words that a remark needs, so that it tells what is wrong.
const TELLING: usize = 2;
/// A word in this part of the questions, and in so many, is what the questions are about.
const ASKED_PART: usize = 20;
const ASKED_LEAST: usize = 3;

/// Turns that say the same, and what decides whether others do too.
#[derive(Debug, Default)]
struct Piece {
    members: Vec<usize>,
    /// The sum of what was said, by direction.
    sum: Vec<f32>,
    words: BTreeMap<String, usize>,
    /// By what it is about: columns and change.
    changes: BTreeMap<(String, String), usize>,
    telling: usize,
}

/// What a piece is known by before anything is joined.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Change(String),
    Words(BTreeSet<String>),
}

/// Groups of turns (by index) of which the same was said; turns in none of them are left out.
pub(super) fn complaints(turns: &[&FailedTurn<'_>], dims: usize) -> Vec<Vec<usize>> {
    if turns.iter().all(|turn| turn.said.is_none() && turn.changes.is_empty()) {
        return Vec::new();
    }
    let mut pieces = equal(turns, dims);
    for _ in 0..ROUNDS {
        let means: Vec<Vec<f32>> = pieces.iter().map(Piece::mean).collect();
        let near = neighbours(&means, NEAREST, SAME_WITH_A_WORD);
        let leading: Vec<Leading<'_>> = pieces.iter().map(Piece::leading).collect();
        let sizes: Vec<usize> = pieces.iter().map(|piece| piece.members.len()).collect();
        let joins = absorbed(&near, &sizes, |at, neighbour| {
            leading[at].may_join(&leading[neighbour.of as usize], neighbour.similarity)
        });
        if joins.iter().enumerate().all(|(at, to)| at == *to) {
            break;
        }
        pieces = joined(pieces, &joins);
    }
    let mut groups: Vec<Vec<usize>> =
        pieces.into_iter().filter(Piece::is_a_complaint).map(|piece| piece.members).collect();
    groups.iter_mut().for_each(|members| members.sort_unstable());
    groups
}

/// Turns by what they have exactly in common.
fn equal(turns: &[&FailedTurn<'_>], dims: usize) -> Vec<Piece> {
    let said: Vec<BTreeSet<String>> =
        turns.iter().map(|turn| turn.said.map(stems).unwrap_or_default()).collect();
    let asked = counted(turns.iter().map(|turn| stems(turn.question)));
    let often = (turns.len() / ASKED_PART).max(ASKED_LEAST);
    let changes =
        counted(turns.iter().map(|turn| turn.changes.iter().map(|c| c.text.clone()).collect()));
    let mut pieces: BTreeMap<Key, Piece> = BTreeMap::new();
    for (at, turn) in turns.iter().enumerate() {
        let times = |change: &str| changes.get(change).copied().unwrap_or_default();
        let shared = turn.changes.iter().filter(|change| times(&change.text) > 1);
        let change = shared
            .max_by(|a, b| times(&a.text).cmp(&times(&b.text)).then_with(|| b.text.cmp(&a.text)));
        let is_new = |word: &&String| asked.get(*word).is_none_or(|times| *times < often);
        let new: BTreeSet<String> = said[at].iter().filter(is_new).cloned().collect();
        let words = if new.is_empty() { said[at].clone() } else { new };
        let key = match change {
            Some(change) => Key::Change(change.text.clone()),
            None if words.is_empty() => continue,
            None => Key::Words(words.clone()),
        };
        let piece = pieces.entry(key).or_default();
        piece.members.push(at);
        piece.telling += usize::from(said[at].len() >= TELLING);
        words.into_iter().for_each(|word| *piece.words.entry(word).or_default() += 1);
        if let Some(change) = change {
            let change = (change.about.clone(), change.text.clone());
            *piece.changes.entry(change).or_default() += 1;
        }
        piece.sum.resize(dims, 0.0);
        if let Some(vector) = turn.said_vector.filter(|vector| vector.len() == dims) {
            piece.sum.iter_mut().zip(vector).for_each(|(sum, value)| *sum += value);
        }
    }
    pieces.into_values().collect()
}

/// In how many sets each text is.
fn counted(sets: impl Iterator<Item = BTreeSet<String>>) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for text in sets.flatten() {
        *counts.entry(text).or_default() += 1;
    }
    counts
}

fn joined(pieces: Vec<Piece>, joins: &[usize]) -> Vec<Piece> {
    let mut kept: BTreeMap<usize, Piece> = BTreeMap::new();
    for (piece, to) in pieces.into_iter().zip(joins) {
        let into = kept.entry(*to).or_default();
        into.members.extend(piece.members);
        into.sum.resize(piece.sum.len(), 0.0);
        into.sum.iter_mut().zip(&piece.sum).for_each(|(sum, value)| *sum += value);
        into.telling += piece.telling;
        piece.words.into_iter().for_each(|(word, n)| *into.words.entry(word).or_default() += n);
        for (change, times) in piece.changes {
            *into.changes.entry(change).or_default() += times;
        }
    }
    kept.into_values().collect()
}

impl Piece {
    /// The mean and not the direction of the sum: products of means are mean similarities.
    fn mean(&self) -> Vec<f32> {
        let size = self.members.len().max(1) as f32;
        self.sum.iter().map(|sum| sum / size).collect()
    }

    fn leading(&self) -> Leading<'_> {
        let half = |times: &usize| *times * 2 >= self.members.len();
        let words = self.words.iter().filter(|(_, times)| half(times));
        let changes = self.changes.iter().filter(|(_, times)| half(times));
        Leading {
            words: words.map(|(word, _)| word.as_str()).collect(),
            changes: changes.map(|((about, text), _)| (about.as_str(), text.as_str())).collect(),
        }
    }

    fn is_a_complaint(&self) -> bool {
        let tells = self.telling * 2 >= self.members.len() || !self.leading().changes.is_empty();
        tells && self.members.len() >= LEAST
    }
}

/// What at least half of a piece's turns say or change.
struct Leading<'p> {
    words: BTreeSet<&'p str>,
    changes: Vec<(&'p str, &'p str)>,
}

impl Leading<'_> {
    fn may_join(&self, other: &Self, similarity: f32) -> bool {
        let against = |own: &(&str, &str)| {
            let same_place = |their: &(&str, &str)| own.0 == their.0 && own.1 != their.1;
            !own.0.is_empty() && other.changes.iter().any(same_place)
        };
        let agree = similarity >= SAME || !self.words.is_disjoint(&other.words);
        agree && !self.changes.iter().any(against)
    }
}
