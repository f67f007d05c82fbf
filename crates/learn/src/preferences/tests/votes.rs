//! Exports with contradicting evidence.

use super::*;

fn voted_rows(format: ExportFormat, talks: &[PreferenceConversation]) -> Vec<Value> {
    let mut exporter = Exporter::new(train_only(format));
    talks.iter().for_each(|talk| exporter.count_votes(talk));
    let rows: Vec<PreferenceRow> =
        talks.iter().flat_map(|talk| exporter.export_conversation(talk)).collect();
    as_json(&rows)
}

#[test]
fn label_of_a_repeatedly_rated_answer_is_the_mean() {
    let rows = [
        (vec![1.0, 0.0, 0.0, 0.0], Some(false)),
        (vec![0.0, 1.0, 1.0, 1.0], Some(true)),
        (vec![1.0, 0.0], None),
        (vec![1.0, 0.5, 0.5], Some(true)),
        (vec![0.0, 0.5, 0.5], Some(false)),
        (vec![0.5, 1.0, 1.0, 1.0], Some(true)),
        (vec![1.0], Some(true)),
    ];
    for (values, expected) in rows {
        let talks: Vec<PreferenceConversation> = (0..)
            .zip(&values)
            .map(|(at, value): (u32, _)| {
                rated(&format!("c{at}"), "Which colour?", "Black.", *value)
            })
            .collect();
        let mut back = talks.clone();
        back.reverse();
        for talks in [talks, back] {
            let found = voted_rows(ExportFormat::Kto, &talks);
            let labels: Vec<Option<bool>> = found.iter().map(|r| r["label"].as_bool()).collect();
            let one: Vec<Option<bool>> = expected.map(Some).into_iter().collect();
            assert_eq!(labels, one, "{values:?}");
            let good = usize::from(expected == Some(true));
            assert_eq!(voted_rows(ExportFormat::Sft, &talks).len(), good, "{values:?}");
        }
    }
}

/// A conversation in which the second answer corrects the first.
fn corrected(id: &str, before: &str, after: &str) -> PreferenceConversation {
    let mut turn = turn(id, "Which colour for walls?", before);
    turn.corrections = vec![correction_at(after, 0)];
    conversation(id, vec![turn])
}

#[test]
fn contradicting_corrections_keep_the_majority() {
    let (one, other) = (corrected("a", "Black.", "White."), corrected("b", "White.", "Black."));
    let third = corrected("c", "White.", "Black.");
    assert_eq!(voted_rows(ExportFormat::Dpo, &[one.clone(), other.clone()]), Vec::<Value>::new());
    for talks in [[one.clone(), other.clone(), third.clone()], [third, one, other]] {
        let found = voted_rows(ExportFormat::Dpo, &talks);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0]["chosen"][0]["content"], "Black.");
    }
}

#[test]
fn low_confidence_evidence_has_no_vote() {
    let sure = rated("a", "Which colour?", "Black.", 1.0);
    let mut doubtful = rated("b", "Which colour?", "Black.", 0.0);
    doubtful.turns[0].rating = Some(TurnRating { value: unit(0.0), confidence: unit(0.5) });
    let found = voted_rows(ExportFormat::Kto, &[sure, doubtful]);
    assert_eq!((found.len(), &found[0]["label"]), (1, &Value::Bool(true)));
    let sure = corrected("a", "Black.", "White.");
    let mut doubtful = corrected("b", "White.", "Black.");
    doubtful.turns[0].corrections[0].confidence = unit(0.5);
    let found = voted_rows(ExportFormat::Dpo, &[sure, doubtful]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["chosen"][0]["content"], "White.");
}

#[test]
fn contradicting_ratings_make_pairs_in_one_direction() {
    let one = |at: usize, answer: &str, value: f64| {
        rated(&format!("c{at}"), "Which colour for walls?", answer, value)
    };
    let mut talks = vec![one(0, "A", 1.0), one(1, "B", 0.0), one(2, "A", 0.0), one(3, "B", 1.0)];
    assert_eq!(group_rows(&talks), Vec::<Value>::new());
    talks.extend([one(4, "A", 1.0), one(5, "B", 0.0)]);
    let found = group_rows(&talks);
    let chosen: BTreeSet<&str> =
        found.iter().filter_map(|row| row["chosen"][0]["content"].as_str()).collect();
    assert_eq!(chosen, BTreeSet::from(["A"]), "{found:?}");
}
