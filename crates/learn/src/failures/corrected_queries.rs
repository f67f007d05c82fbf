//! The questions whose answers are corrected most often.

use std::collections::{BTreeMap, BTreeSet};

use crate::ranking::{QueryCluster, cluster_query};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CorrectedQuery {
    /// The most frequent wording.
    pub query: String,
    pub corrections: u32,
    /// Ids of the corrected turns, sorted and unique.
    pub turns: Vec<String>,
}

/// Counts corrections, given as turn and question, per question; most corrected first. Wordings
/// that differ only in order, endings and stop words are one question.
pub fn rank_corrected_queries<'a>(
    corrections: impl IntoIterator<Item = (&'a str, &'a str)>,
    max: usize,
) -> Vec<CorrectedQuery> {
    #[derive(Default)]
    struct QueryCorrections<'a> {
        corrections: u32,
        turns: BTreeSet<&'a str>,
        wordings: BTreeMap<&'a str, u32>,
    }
    let mut by_question: BTreeMap<QueryCluster, QueryCorrections<'a>> = BTreeMap::new();
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
    queries.truncate(max);
    queries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corrected_queries_merge_wordings_and_list_each_turn_once() {
        let corrections = [
            ("t1", "Total sales?"),
            ("t2", "total sales"),
            ("t3", "Show the total sales"),
            ("t3", "Show the total sales"),
            ("t4", "orders by region"),
            ("t5", "  "),
        ];
        let found = rank_corrected_queries(corrections, 5);
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].query.as_str(), found[0].corrections), ("Show the total sales", 4));
        assert_eq!(found[0].turns, ["t1", "t2", "t3"]);
        assert_eq!(rank_corrected_queries(corrections, 1).len(), 1);
    }
}
