//! Properties that hold for any conversations.

use std::collections::{BTreeMap, BTreeSet};

use model::{CorrectionType, TurnId, UnitInterval, VerdictStatus};
use proptest::prelude::*;
use serde_json::Value;

use super::{as_json, conversation, correction_at, export_all, train_only, turn, unit};
use crate::preferences::*;

fn any_turn() -> impl Strategy<Value = PreferenceTurn> {
    use CorrectionType::{Abandonment, Explicit, Rephrased};
    use VerdictStatus::{Accepted, Neutral, Rejected};
    let text =
        prop_oneof![Just("show total sales"), Just("yes"), Just("no, all of them"), Just("")];
    let answer = prop_oneof![Just("one"), Just("two"), Just("three"), Just("")];
    let verdict = prop::option::of((
        prop_oneof![Just(Accepted), Just(Neutral), Just(Rejected)],
        prop::option::of(prop_oneof![Just(Explicit), Just(Rephrased), Just(Abandonment)]),
        0.0..=1.0f64,
    ));
    let correction = prop::option::of(prop_oneof![Just("fixed"), Just("")]);
    let rating = prop::option::of(0.0..=1.0f64);
    let arm = prop::option::of(any::<bool>());
    let parts = (text, answer, verdict, correction, rating, arm, any::<bool>(), any::<bool>());
    parts.prop_map(|(question, answer, verdict, correction, rating, arm, failed, regenerated)| {
        PreferenceTurn {
            failed,
            regenerated,
            verdict: verdict.map(|(status, correction_type, confidence)| TurnVerdict {
                status,
                correction_type,
                confidence: unit(confidence),
            }),
            rating: rating
                .map(|value| TurnRating { value: unit(value), confidence: UnitInterval::ONE }),
            corrections: correction.iter().map(|text| correction_at(text, 1)).collect(),
            arms: Vec::from_iter(arm.map(|treated| ServedVariant {
                experiment: "e".to_owned(),
                name: "E".to_owned(),
                variant: if treated { "t" } else { "c" }.to_owned(),
            })),
            ..turn("t", question, answer)
        }
    })
}

fn any_conversations() -> impl Strategy<Value = Vec<PreferenceConversation>> {
    let turns = prop::collection::vec(any_turn(), 0..6);
    prop::collection::vec(turns, 0..12).prop_map(|all| {
        let numbered = all.into_iter().enumerate();
        let named = |(at, turns): (usize, Vec<PreferenceTurn>)| {
            let mut turns = turns;
            for (number, turn) in turns.iter_mut().enumerate() {
                turn.id = TurnId::new(format!("t{at}-{number}")).unwrap();
            }
            conversation(&format!("c{at}"), turns)
        };
        numbered.map(named).collect()
    })
}

fn columns(row: &Value) -> Vec<(String, &'static str)> {
    let kind = |value: &Value| match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float",
        Value::Number(_) => "int",
        Value::String(_) => "text",
        Value::Array(items) if items.is_empty() => "empty",
        Value::Array(_) => "list",
        Value::Object(_) => "object",
    };
    row.as_object().unwrap().iter().map(|(name, value)| (name.clone(), kind(value))).collect()
}

proptest! {
    #[test]
    fn splits_are_disjoint_and_rows_unique(talks in any_conversations()) {
        // Half is held out, so that a pair across splits would be noticed.
        let shares = SplitShares { validation: 25, test: 25 };
        for format in ExportFormat::ALL_FORMATS {
            let rule = ExportRule { shares, ..ExportRule::new(format) };
            let rows = export_all(&rule, &talks);
            let mut parts: BTreeMap<String, &str> = BTreeMap::new();
            let mut ids = BTreeSet::new();
            for row in &rows {
                let from = &row.provenance;
                prop_assert!(ids.insert(from.id.clone()));
                prop_assert!(from.confidence >= 0.7 && (0.0..=1.0).contains(&from.margin));
                for conversation in &from.conversation_ids {
                    let part = parts.entry(conversation.clone()).or_insert(from.split);
                    prop_assert_eq!(*part, from.split);
                }
            }
            let mut by_part: Vec<String> = Vec::new();
            for split in Split::ALL_SPLITS {
                let only = ExportRule { split: Some(split), ..rule.clone() };
                by_part.extend(export_all(&only, &talks).iter().map(|r| r.provenance.id.clone()));
            }
            prop_assert_eq!(by_part.len(), ids.len(), "the parts together are all, without repeats");
            prop_assert!(by_part.iter().all(|id| ids.contains(id)));
            prop_assert_eq!(rows, export_all(&rule, &talks));
        }
    }

    #[test]
    fn all_rows_share_the_same_columns(talks in any_conversations()) {
        for format in ExportFormat::ALL_FORMATS {
            let rows = as_json(&export_all(&train_only(format), &talks));
            for row in &rows {
                prop_assert_eq!(columns(row), columns(&rows[0]));
                prop_assert!(columns(row).iter().all(|(_, kind)| !["null", "empty"].contains(kind)));
                let messages = ["prompt", "messages"].into_iter().find_map(|name| row.get(name));
                for pair in messages.and_then(Value::as_array).into_iter().flat_map(|m| m.windows(2)) {
                    prop_assert_ne!(&pair[0]["role"], &pair[1]["role"], "roles take turns");
                }
            }
        }
    }
}
