use std::collections::{BTreeMap, BTreeSet};

use model::{
    ConversationId, CorrectionType, Timestamp, TurnId, UnitInterval, Vector, VerdictStatus,
};
use serde_json::{Value, json};

use super::*;
use crate::reward::TurnReward;

mod properties;
mod rejection_chain;
mod votes;

fn unit(value: f64) -> UnitInterval {
    UnitInterval::new(value).unwrap()
}

fn turn(id: &str, question: &str, answer: &str) -> PreferenceTurn {
    PreferenceTurn {
        id: TurnId::new(id).unwrap(),
        question: question.to_owned(),
        answer: answer.to_owned(),
        failed: false,
        asked_at: Timestamp::from_micros(0),
        verdict: None,
        rating: None,
        corrections: Vec::new(),
        regenerated: false,
        context_only: false,
        arms: Vec::new(),
        reward: TurnReward::default(),
    }
}

fn verdict(status: VerdictStatus, kind: Option<CorrectionType>) -> Option<TurnVerdict> {
    Some(TurnVerdict { status, correction_type: kind, confidence: unit(0.9) })
}

fn rating(value: f64) -> Option<TurnRating> {
    Some(TurnRating { value: unit(value), confidence: UnitInterval::ONE })
}

fn correction_at(text: &str, secs: i64) -> TurnCorrection {
    TurnCorrection {
        corrected: text.to_owned(),
        original: None,
        when: Timestamp::from_micros(0).plus_secs(secs),
        confidence: UnitInterval::ONE,
    }
}

fn conversation(id: &str, turns: Vec<PreferenceTurn>) -> PreferenceConversation {
    PreferenceConversation { id: ConversationId::new(id).unwrap(), turns }
}

/// Everything is in the training split, so that no pair is lost.
fn train_only(format: ExportFormat) -> ExportRule {
    ExportRule { shares: SplitShares { validation: 0, test: 0 }, ..ExportRule::new(format) }
}

#[test]
fn format_and_source_words_round_trip() {
    for format in ExportFormat::ALL_FORMATS {
        assert_eq!(ExportFormat::from_word(format.as_word()), Some(format));
    }
    for source in PairSource::ALL_SOURCES {
        assert_eq!(PairSource::from_word(source.as_word()), Some(source));
    }
    assert_eq!((ExportFormat::from_word("DPO"), PairSource::from_word("")), (None, None));
}

fn rows(format: ExportFormat, conversation: &PreferenceConversation) -> Vec<Value> {
    as_json(&Exporter::new(train_only(format)).export_conversation(conversation))
}

fn as_json(rows: &[PreferenceRow]) -> Vec<Value> {
    rows.iter().map(|row| serde_json::to_value(row).unwrap()).collect()
}

fn answers_of(conversations: &[PreferenceConversation]) -> Vec<GroupedAnswer<'_>> {
    let mut all = Vec::new();
    for PreferenceConversation { id, turns } in conversations {
        all.extend(turns.iter().enumerate().map(|(at, turn)| GroupedAnswer {
            conversation: id,
            before: &turns[..at],
            turn,
            vector: None,
        }));
    }
    all
}

fn group_rows(conversations: &[PreferenceConversation]) -> Vec<Value> {
    as_json(&Exporter::new(train_only(ExportFormat::Dpo)).export_group(&answers_of(conversations)))
}

fn summary(row: &Value) -> (&str, &str, &str) {
    let content = |column: &str| row[column][0]["content"].as_str().unwrap();
    (row["source"].as_str().unwrap(), content("chosen"), content("rejected"))
}

#[test]
fn correction_is_preferred_over_the_corrected_answer() {
    let mut wrong = turn("t2", "total sales", "SELECT 1");
    wrong.corrections =
        vec![correction_at("SELECT 3", 2), correction_at("SELECT 2", 1), correction_at("  ", 9)];
    let talk = conversation("c", vec![turn("t1", "hello", "hi"), wrong]);
    let rows = rows(ExportFormat::Dpo, &talk);
    assert_eq!(
        rows,
        [json!({
            "prompt": [
                {"role": "user", "content": "hello"},
                {"role": "assistant", "content": "hi"},
                {"role": "user", "content": "total sales"},
            ],
            "chosen": [{"role": "assistant", "content": "SELECT 3"}],
            "rejected": [{"role": "assistant", "content": "SELECT 1"}],
            "id": rows[0]["id"],
            "source": "correction",
            "margin": 1.0,
            "confidence": 1.0,
            "split": "train",
            "turn_ids": ["t2", "t2"],
            "conversation_ids": ["c", "c"],
            "experiment": "",
            "rewards": [0.7, 0.7],
            "reward_weights": [0.0, 0.0],
        })]
    );
}

#[test]
fn correction_may_name_its_original_text() {
    let mut wrong = turn("t", "q", "long answer around SELECT 1");
    let original = Some("SELECT 1".to_owned());
    wrong.corrections = vec![TurnCorrection { original, ..correction_at("SELECT 2", 1) }];
    let rows = rows(ExportFormat::Dpo, &conversation("c", vec![wrong]));
    assert_eq!(summary(&rows[0]), ("correction", "SELECT 2", "SELECT 1"));
}

#[test]
fn accepted_rephrase_is_preferred_over_the_rejected_answer() {
    use CorrectionType::{Abandonment, Rephrased};
    use VerdictStatus::{Accepted, Rejected};
    let bad = |kind| PreferenceTurn {
        verdict: verdict(Rejected, Some(kind)),
        ..turn("t1", "sales per region", "bad")
    };
    let good = PreferenceTurn {
        verdict: verdict(Accepted, None),
        ..turn("t2", "sales by region please", "good")
    };
    let talk = conversation("c", vec![bad(Rephrased), good.clone()]);
    let found = rows(ExportFormat::Dpo, &talk);
    assert_eq!(summary(&found[0]), ("rephrase", "good", "bad"));
    assert_eq!(found[0]["turn_ids"], json!(["t2", "t1"]));
    let rated_down = PreferenceTurn { rating: rating(0.0), ..good.clone() };
    for turns in [
        vec![bad(Abandonment), good.clone()],
        vec![bad(Rephrased), rated_down],
        vec![PreferenceTurn { rating: rating(1.0), ..bad(Rephrased) }, good.clone()],
        vec![PreferenceTurn { failed: true, ..bad(Rephrased) }, good],
    ] {
        assert!(rows(ExportFormat::Dpo, &conversation("c", turns)).is_empty());
    }
}

#[test]
fn kept_answer_is_preferred_over_regenerated_ones() {
    let thrown = |id: &str, answer: &str| PreferenceTurn {
        regenerated: true,
        ..turn(id, "write a poem", answer)
    };
    let kept = turn("t3", "Write a poem", "third");
    let talk = |kept: PreferenceTurn| {
        let turns = vec![turn("t0", "hi", "hello"), thrown("t1", "first"), thrown("t2", "second")];
        conversation("c", turns.into_iter().chain([kept]).collect())
    };
    let found = rows(ExportFormat::Dpo, &talk(kept.clone()));
    let pairs: Vec<_> = found.iter().map(summary).collect();
    assert_eq!(pairs, [("regeneration", "third", "first"), ("regeneration", "third", "second")]);
    for row in &found {
        assert_eq!(row["prompt"].as_array().unwrap().len(), 3, "no answer that was thrown away");
    }
    let mut later = talk(kept.clone());
    later.turns[..2].iter_mut().for_each(|turn| turn.context_only = true);
    let found = rows(ExportFormat::Dpo, &later);
    let pairs: Vec<_> = found.iter().map(summary).collect();
    assert_eq!(pairs, [("regeneration", "third", "second")], "the first was before");
    assert_eq!(found[0]["prompt"].as_array().unwrap().len(), 3, "and is no context either");
    let rejected = verdict(VerdictStatus::Rejected, Some(CorrectionType::Explicit));
    for unkept in [
        PreferenceTurn { verdict: rejected, ..kept.clone() },
        PreferenceTurn { rating: rating(0.2), ..kept.clone() },
        PreferenceTurn { failed: true, ..kept.clone() },
        PreferenceTurn { question: "something else".to_owned(), ..kept },
    ] {
        assert!(rows(ExportFormat::Dpo, &talk(unkept)).is_empty());
    }
}

fn rated(id: &str, question: &str, answer: &str, value: f64) -> PreferenceConversation {
    let turn = PreferenceTurn { rating: rating(value), ..turn(id, question, answer) };
    conversation(&format!("c-{id}"), vec![turn])
}

#[test]
fn same_question_rated_up_and_down_makes_a_pair() {
    let found = group_rows(&[
        rated("up", "Show total sales", "good", 1.0),
        rated("down", "show total sales?", "bad", 0.25),
        rated("so", "show total sales", "fair", 0.5),
        rated("else", "show all customers", "other", 0.0),
    ]);
    assert_eq!(found.iter().map(summary).collect::<Vec<_>>(), [("rating", "good", "bad")]);
    assert_eq!(found[0]["margin"], 0.75);
    assert_eq!(found[0]["conversation_ids"], json!(["c-up", "c-down"]));
}

#[test]
fn context_dependent_question_needs_the_same_context() {
    let after = |id: &str, before: &str, question: &str, answer: &str, value: f64| {
        let mut talk = rated(id, question, answer, value);
        talk.turns.insert(0, turn(&format!("{id}-0"), before, "Shall I?"));
        talk
    };
    let count = |question: &str, before: [&str; 2]| {
        let up = after("up", before[0], question, "good", 1.0);
        let found = group_rows(&[up, after("down", before[1], question, "bad", 0.0)]);
        found.first().map(|row| row["prompt"].as_array().unwrap().len())
    };
    assert_eq!(count("yes please", ["delete it?", "print it?"]), None);
    assert_eq!(count("yes please", ["delete it?", "Delete it"]), Some(3));
    assert_eq!(count("show total sales", ["delete it?", "print it?"]), Some(1));
}

#[test]
fn similar_question_is_paired_by_vector() {
    let talks = [
        rated("up", "total sales by region", "good", 1.0),
        rated("down", "total sales per region", "bad", 0.0),
    ];
    let vector = |y: f32| Vector::new("m".into(), vec![1.0, y]);
    for (near, expected) in [(vector(0.1), 1), (vector(1.0), 0)] {
        let vectors = [vector(0.0), near];
        let mut answers = answers_of(&talks);
        answers.iter_mut().zip(&vectors).for_each(|(answer, v)| answer.vector = Some(v));
        let found = Exporter::new(train_only(ExportFormat::Dpo)).export_group(&answers);
        assert_eq!(found.len(), expected);
    }
}

/// A conversation with one turn of an experiment, its rating and its verdict.
fn variant(
    id: &str,
    (experiment, variant): (&str, &str),
    rated_as: Option<f64>,
    said: Option<VerdictStatus>,
) -> PreferenceConversation {
    let arm = ServedVariant {
        experiment: experiment.to_owned(),
        name: format!("Trial {experiment}"),
        variant: variant.to_owned(),
    };
    let turn = PreferenceTurn {
        rating: rated_as.and_then(rating),
        verdict: said.and_then(|status| verdict(status, None)),
        arms: vec![arm],
        ..turn(id, "show total sales", id)
    };
    conversation(&format!("c-{id}"), vec![turn])
}

#[test]
fn experiment_pairs_prefer_the_variant_judged_good() {
    use VerdictStatus::{Accepted, Neutral, Rejected};
    let (new, old) = (("e", "treatment"), ("e", "control"));
    let found = group_rows(&[
        variant("high", new, Some(1.0), None),
        variant("low", old, Some(0.25), None),
        variant("fair", old, Some(0.5), None),
        variant("unsaid", old, None, None),
        variant("shrugged", old, None, Some(Neutral)),
        variant("contested", old, Some(0.0), Some(Accepted)),
        variant("elsewhere", ("f", "control"), None, Some(Rejected)),
    ]);
    let told: Vec<_> = found.iter().map(summary).collect();
    // Two ratings within one experiment are an experiment pair; others stay rating pairs.
    assert_eq!(told[0], ("experiment", "high", "low"));
    assert!(told[1..].iter().all(|(source, ..)| *source == "rating"), "{told:?}");
    assert_eq!((&found[0]["margin"], &found[0]["experiment"]), (&json!(0.75), &json!("Trial e")));
    assert!(found[1..].iter().all(|row| row["experiment"] == ""));

    let heard =
        [variant("kept", new, None, Some(Accepted)), variant("lost", old, None, Some(Rejected))];
    let found = group_rows(&heard);
    assert_eq!(found.len(), 1, "what the next messages said is enough");
    assert_eq!((&found[0]["margin"], &found[0]["confidence"]), (&json!(1.0), &json!(0.9)));
    let same =
        [variant("kept", old, None, Some(Accepted)), variant("lost", old, None, Some(Rejected))];
    assert!(group_rows(&same).is_empty(), "one variant against itself");
    let apart = [
        variant("kept", new, None, Some(Accepted)),
        variant("lost", ("f", "control"), None, Some(Rejected)),
    ];
    assert!(group_rows(&apart).is_empty(), "two experiments");
}

#[test]
fn popular_question_makes_a_bounded_number_of_pairs() {
    let talks: Vec<PreferenceConversation> = (0..200)
        .map(|at| {
            rated(&format!("t{at}"), "show total sales", &format!("a{at}"), f64::from(at % 2))
        })
        .collect();
    let found = group_rows(&talks);
    let distinct = |column: &str| {
        found.iter().map(|row| row[column].to_string()).collect::<BTreeSet<String>>().len()
    };
    assert_eq!((found.len(), distinct("chosen"), distinct("rejected")), (16, 16, 16));
}

#[test]
fn unpaired_formats_include_single_answers() {
    let mut wrong = turn("t1", "q one", "bad");
    wrong.corrections = vec![correction_at("good", 1)];
    let mut liked = turn("t2", "q two", "liked");
    liked.rating = rating(1.0);
    let talk = conversation("c", vec![wrong, liked]);
    let kto = rows(ExportFormat::Kto, &talk);
    let labels: Vec<_> = kto
        .iter()
        .map(|row| (row["completion"][0]["content"].as_str().unwrap(), row["label"].as_bool()))
        .collect();
    assert_eq!(labels, [("good", Some(true)), ("bad", Some(false)), ("liked", Some(true))]);
    assert_eq!(kto[1]["turn_ids"], json!(["t1"]));
    let sft = rows(ExportFormat::Sft, &talk);
    let last: Vec<&str> = sft
        .iter()
        .map(|row| row["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap())
        .collect();
    assert_eq!(last, ["good", "liked"]);
}

#[test]
fn correction_of_a_failed_turn_makes_no_pair() {
    let mut failed = PreferenceTurn { failed: true, ..turn("t1", "q", "") };
    failed.corrections = vec![correction_at("good", 1)];
    let talk = conversation("c", vec![failed]);
    for (format, count) in [(ExportFormat::Dpo, 0), (ExportFormat::Kto, 1), (ExportFormat::Sft, 1)]
    {
        assert_eq!(rows(format, &talk).len(), count, "{format:?}");
    }
}

#[test]
fn unpaired_rated_answer_is_exported_once() {
    let mut talks = [
        rated("up", "show total sales", "good", 1.0),
        rated("down", "show total sales", "bad", 0.0),
    ];
    talks[0].turns.insert(0, turn("before", "hello", "hi"));
    let rows = export_all(&train_only(ExportFormat::Kto), &talks);
    assert_eq!(rows.len(), 2, "with what was said before, and not again without it");
}

#[test]
fn openai_format_uses_its_field_names() {
    let mut wrong = turn("t1", "q", "bad");
    wrong.corrections = vec![correction_at("good", 1)];
    let row = &rows(ExportFormat::OpenAiDpo, &conversation("c", vec![wrong]))[0];
    assert_eq!(row["input"]["messages"], json!([{"role": "user", "content": "q"}]));
    assert_eq!(row["preferred_output"], json!([{"role": "assistant", "content": "good"}]));
    assert_eq!(row["non_preferred_output"], json!([{"role": "assistant", "content": "bad"}]));
}

#[test]
fn tally_counts_repeated_unsure_and_capped_rows() {
    let talk = |id: &str, answer: &str, confidence: f64| {
        let mut wrong = turn(id, "q", "bad");
        let sure = unit(confidence);
        wrong.corrections = vec![TurnCorrection { confidence: sure, ..correction_at(answer, 1) }];
        conversation(id, vec![wrong])
    };
    let caps = BTreeMap::from([(PairSource::Correction, 2)]);
    let mut exporter = Exporter::new(ExportRule { caps, ..train_only(ExportFormat::Dpo) });
    let talks = [("a", "one", 1.0), ("b", "one", 1.0), ("c", "two", 0.69), ("d", "two", 0.7)];
    let counts: Vec<usize> = talks
        .into_iter()
        .chain([("e", "three", 1.0)])
        .map(|(id, answer, sure)| exporter.export_conversation(&talk(id, answer, sure)).len())
        .collect();
    assert_eq!(counts, [1, 0, 0, 1, 0]);
    let rows = BTreeMap::from([(PairSource::Correction, 2)]);
    let expected = ExportTally { rows, repeated: 1, unsure: 1, capped: 1 };
    assert_eq!(exporter.tally(), &expected);
}

#[test]
fn export_filters_by_source_and_split() {
    let mut wrong = turn("t", "q", "bad");
    wrong.corrections = vec![correction_at("good", 1)];
    let talk = conversation("c", vec![wrong]);
    let none =
        ExportRule { sources: [PairSource::Rephrase].into(), ..train_only(ExportFormat::Dpo) };
    assert!(Exporter::new(none).export_conversation(&talk).is_empty());
    for (split, expected) in [(Split::Train, 1), (Split::Test, 0)] {
        let rule = ExportRule { split: Some(split), ..train_only(ExportFormat::Dpo) };
        assert_eq!(Exporter::new(rule).export_conversation(&talk).len(), expected);
    }
}

#[test]
fn prompt_is_limited_to_the_latest_turns() {
    let mut turns: Vec<PreferenceTurn> =
        (0..5).map(|at| turn(&format!("t{at}"), &format!("q{at}"), "a")).collect();
    turns[4].corrections = vec![correction_at("good", 1)];
    let rule = ExportRule { context_turns: 2, ..train_only(ExportFormat::Dpo) };
    let found = as_json(&Exporter::new(rule).export_conversation(&conversation("c", turns)));
    let asked: Vec<&Value> = found[0]["prompt"].as_array().unwrap().iter().collect();
    assert_eq!((asked.len(), &asked[0]["content"]), (5, &json!("q2")));
}

#[test]
fn question_groups_collect_turns_of_merged_questions() {
    let liked = |question: &str| PreferenceTurn { rating: rating(1.0), ..turn("t", question, "a") };
    let mut groups = QuestionGroups::default();
    let one = groups.add_turn(&liked("total sales"), 1).unwrap();
    let two = groups.add_turn(&liked("sales in total"), 2).unwrap();
    groups.add_turn(&liked("Total sales!"), 3);
    let four = groups.add_turn(&liked("all sales"), 4).unwrap();
    groups.add_turn(&liked("alone"), 5);
    assert_eq!(groups.add_turn(&turn("t", "total sales", "unrated"), 6), None);
    assert_eq!(groups.clone().into_groups().collect::<Vec<_>>(), [[1, 3]]);
    groups.merge_questions(two, four);
    groups.merge_questions(one, two);
    assert_eq!(groups.into_groups().collect::<Vec<_>>(), [[1, 2, 3, 4]]);
}

fn export_all(rule: &ExportRule, talks: &[PreferenceConversation]) -> Vec<PreferenceRow> {
    let mut exporter = Exporter::new(rule.clone());
    let mut rows: Vec<PreferenceRow> =
        talks.iter().flat_map(|talk| exporter.export_conversation(talk)).collect();
    rows.extend(exporter.export_group(&answers_of(talks)));
    assert_eq!(exporter.tally().rows.values().sum::<u64>(), rows.len() as u64);
    rows
}

#[test]
fn blank_question_makes_no_row() {
    for blank in ["", " \n\t "] {
        let fixed = PreferenceTurn {
            corrections: vec![correction_at("better", 1)],
            rating: rating(0.0),
            ..turn("t1", blank, "worse")
        };
        let talk = conversation("c", vec![turn("t0", "hi", "hello"), fixed]);
        for format in ExportFormat::ALL_FORMATS {
            assert!(rows(format, &talk).is_empty(), "{format:?} {blank:?}");
        }
    }
}
