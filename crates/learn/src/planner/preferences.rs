//! Strategies that a user accepts and rejects.
//!
//! Uses of one name are counted together. Where a name was both accepted and rejected, the
//! parameters that made the difference are named: a bar chart accepted, a pie chart rejected.

use model::Strategy;
use serde_json::{Map, Value};

use super::feedback::{QUERY_PARAMS, describe_strategy};

/// Parameters that are named when several made the difference.
const MAX_SHOWN_PARAMS: usize = 2;

/// A strategy of an answer that the user accepted or rejected.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedStrategy {
    pub strategy: Strategy,
    pub accepted: bool,
}

/// Descriptions of strategies with the number of answers, most frequent first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ComparedStrategies {
    pub accepted: Vec<(String, u32)>,
    pub rejected: Vec<(String, u32)>,
}

/// Counts accepted and rejected strategies. A strategy is on the side with more answers, and on
/// none after as many rejections as acceptances.
pub fn compare_strategies(judged: &[JudgedStrategy]) -> ComparedStrategies {
    let mut counts: Vec<(String, [u32; 2])> = Vec::new();
    for one in judged {
        let label = describe_use(&one.strategy, judged);
        let at = counts.iter().position(|(known, _)| *known == label).unwrap_or_else(|| {
            counts.push((label, [0, 0]));
            counts.len() - 1
        });
        counts[at].1[usize::from(one.accepted)] += 1;
    }
    let mut compared = ComparedStrategies::default();
    for (label, [rejected, accepted]) in counts {
        if accepted > rejected {
            compared.accepted.push((label, accepted));
        } else if rejected > accepted {
            compared.rejected.push((label, rejected));
        }
    }
    // The sorts are stable: ties keep the order of first occurrence.
    compared.accepted.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    compared.rejected.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    compared
}

fn describe_use(strategy: &Strategy, judged: &[JudgedStrategy]) -> String {
    let names = find_deciding_params(&strategy.name, judged);
    let named = |name: &&String| Some(((*name).clone(), strategy.params.get(*name)?.clone()));
    let params: Map<String, Value> = names.iter().filter_map(named).collect();
    describe_strategy(&Strategy { name: strategy.name.clone(), params })
}

/// Parameters of a strategy with no value in common between accepted and rejected answers. Empty
/// for a strategy that was only accepted or only rejected. Query texts differ in every answer, so
/// they count only when nothing else does.
fn find_deciding_params<'a>(name: &str, judged: &'a [JudgedStrategy]) -> Vec<&'a String> {
    let uses = |accepted: bool| {
        let same =
            move |one: &&JudgedStrategy| one.strategy.name == name && one.accepted == accepted;
        judged.iter().filter(same).map(|one| &one.strategy.params).collect::<Vec<_>>()
    };
    let (accepted, rejected) = (uses(true), uses(false));
    if accepted.is_empty() || rejected.is_empty() {
        return Vec::new();
    }
    let decides = |name: &&String| {
        let has = |value: Option<&Value>| rejected.iter().any(|params| params.get(*name) == value);
        !accepted.iter().any(|params| has(params.get(*name)))
    };
    let mut names: Vec<&String> =
        accepted.iter().chain(&rejected).flat_map(|params| params.keys()).collect();
    names.sort();
    names.dedup();
    names.retain(decides);
    let is_query = |name: &&String| QUERY_PARAMS.contains(&name.as_str());
    if !names.iter().all(is_query) {
        names.retain(|name| !is_query(name));
    }
    names.truncate(MAX_SHOWN_PARAMS);
    names
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn judged(rows: &[(&str, Value, bool)]) -> Vec<JudgedStrategy> {
        let read = |(name, params, accepted): &(&str, Value, bool)| JudgedStrategy {
            strategy: Strategy {
                name: (*name).to_owned(),
                params: params.as_object().cloned().unwrap_or_default(),
            },
            accepted: *accepted,
        };
        rows.iter().map(read).collect()
    }

    #[test]
    fn deciding_parameters_are_named() {
        let chart = |kind: &str, size: u32| json!({"kind": kind, "size": size, "query": kind});
        let rows = [
            (
                vec![("chart", chart("bar", 1), true), ("chart", chart("pie", 1), false)],
                "chart with kind \"bar\" 1",
                "chart with kind \"pie\" 1",
            ),
            (
                vec![("sql", json!({"query": "a"}), true), ("sql", json!({"query": "b"}), true)],
                "sql 2",
                "",
            ),
            (
                vec![("sql", json!({"query": "a"}), true), ("sql", json!({"query": "b"}), false)],
                "sql with query \"a\" 1",
                "sql with query \"b\" 1",
            ),
            (
                vec![("web", json!({"deep": true}), true), ("web", json!({}), false)],
                "web with deep true 1",
                "web 1",
            ),
            (
                vec![
                    ("web", json!({}), true),
                    ("web", json!({}), true),
                    ("web", json!({}), false),
                    ("faq", json!({}), true),
                    ("faq", json!({}), false),
                ],
                "web 2",
                "",
            ),
        ];
        for (rows, accepted, rejected) in rows {
            let found = compare_strategies(&judged(&rows));
            let show = |side: &[(String, u32)]| {
                let one = |(label, count): &(String, u32)| format!("{label} {count}");
                side.iter().map(one).collect::<Vec<_>>().join(", ")
            };
            assert_eq!(
                (show(&found.accepted), show(&found.rejected)),
                (accepted.into(), rejected.into())
            );
        }
    }
}
