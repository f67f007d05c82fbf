//! Which questions are corrected most.

use std::collections::{BTreeMap, BTreeSet};

use crate::ranking::{QueryCluster, cluster_query};

/// A question in all its wordings, and how often its answers were corrected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CorrectedQuery {
    /// The wording that was used most.
    pub query: String,
    /// Corrections of its answers.
    pub corrections: u32,
    /// The turns they are of, each once, in order.
    pub turns: Vec<String>,
}

/// Corrections, each with its turn and question, by question: most corrections first. Wordings
/// that differ in order, endings and little words are one question.
pub fn most_corrected<'a>(
    corrections: impl IntoIterator<Item = (&'a str, &'a str)>,
    most: usize,
) -> Vec<CorrectedQuery> {
    #[derive(Default)]
    struct Found<'a> {
        corrections: u32,
        turns: BTreeSet<&'a str>,
        wordings: BTreeMap<&'a str, u32>,
    }
    let mut by_question: BTreeMap<QueryCluster, Found<'a>> = BTreeMap::new();
    for (turn, question) in corrections {
        let question = question.trim();
        if question.is_empty() {
            continue;
        }
        let found = by_question.entry(cluster_query(question)).or_default();
        found.corrections += 1;
        found.turns.insert(turn);
        *found.wordings.entry(question).or_default() += 1;
    }
    let mut queries: Vec<CorrectedQuery> = by_question
        .into_values()
        .filter_map(|found| {
            let (query, _) =
                found.wordings.into_iter().max_by(|a, b| a.1.cmp(&b.1).then(b.0.cmp(a.0)))?;
            let turns = found.turns.into_iter().map(str::to_owned).collect();
            Some(CorrectedQuery { query: query.to_owned(), corrections: found.corrections, turns })
        })
        .collect();
    queries.sort_by(|a, b| b.corrections.cmp(&a.corrections).then_with(|| a.query.cmp(&b.query)));
    queries.truncate(most);
    queries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wordings_of_a_question_count_together_and_a_turn_once() {
        let corrections = [
            ("t1", "Total sales?"),
            ("t2", "total sales"),
            ("t3", "Show the total sales"),
            ("t3", "Show the total sales"),
            ("t4", "orders by region"),
            ("t5", "  "),
        ];
        let found = most_corrected(corrections, 5);
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].query.as_str(), found[0].corrections), ("Show the total sales", 4));
        assert_eq!(found[0].turns, ["t1", "t2", "t3"]);
        assert_eq!(most_corrected(corrections, 1).len(), 1);
    }
}
