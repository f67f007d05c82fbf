//! Facts of a statement that no dialect parses, by its keywords alone.

use std::collections::BTreeSet;

use super::facts::{Fact, Part};

const CLAUSES: &[(&str, Part)] = &[
    (" where ", Part::Filter),
    (" group by ", Part::Group),
    (" having ", Part::Having),
    (" order by ", Part::Order),
    (" limit ", Part::Limit),
];

/// Clauses from a keyword to the next, conditions apart at AND.
pub(super) fn rough_facts(sql: &str) -> BTreeSet<Fact> {
    let text = plain(sql);
    let lower = text.to_ascii_lowercase();
    let mut starts: Vec<(usize, &str, Part)> = CLAUSES
        .iter()
        .filter_map(|(word, part)| lower.find(word).map(|at| (at, *word, *part)))
        .collect();
    starts.sort_unstable();
    let mut facts = BTreeSet::new();
    for (index, (at, word, part)) in starts.iter().enumerate() {
        let end = starts.get(index + 1).map_or(text.len(), |next| next.0);
        let from = (at + word.len()).min(end);
        let clause = text.get(from..end).unwrap_or_default();
        let conditions = *part == Part::Filter || *part == Part::Having;
        let pieces = if conditions { at_and(clause) } else { vec![clause.to_owned()] };
        for piece in pieces {
            let text = piece.trim().trim_end_matches(';').trim().to_owned();
            let about = match conditions {
                true => text.split([' ', '=', '<', '>', '!']).next().unwrap_or_default(),
                false => "",
            };
            let about = about.to_lowercase();
            if !text.is_empty() {
                facts.insert(Fact { part: *part, text, about });
            }
        }
    }
    facts
}

/// Without comments, on one line.
fn plain(sql: &str) -> String {
    let lines = sql.lines().map(|line| line.split("--").next().unwrap_or_default());
    let joined = lines.collect::<Vec<_>>().join(" ");
    let words = joined.split_whitespace().collect::<Vec<_>>().join(" ");
    format!(" {words} ")
}

fn at_and(clause: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for word in clause.split(' ') {
        if word.eq_ignore_ascii_case("and") {
            pieces.push(String::new());
        } else if let Some(piece) = pieces.last_mut() {
            piece.push_str(word);
            piece.push(' ');
        }
    }
    pieces
}
