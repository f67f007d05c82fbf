//! Property tests: for any text, detectors stay in range and evidence points at valid spans.

use std::time::Duration;

use model::{TurnId, TurnStatus, Vector, Verdict, VerdictStatus};
use proptest::prelude::*;

use crate::{
    Answer, CompletedAnswer, Exchange, FailureRule, Mode, PastQuestion, PastTurn, RetryRule,
    Target, TargetCandidate, TargetRule, Utterance, VerdictRule, detect_failure, detect_retry,
    detect_verdict, extract_contrast, find_target, is_bare_remark, may_target_earlier_turn,
    pair_score, rank_candidates, recalibrate,
};

fn arbitrary_text() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("no".to_owned()),
        Just("that's wrong".to_owned()),
        Just("the first ".to_owned()),
        Just("the one before was fine, my mistake".to_owned()),
        Just("I can't help with that.".to_owned()),
        Just("Error: ".to_owned()),
        Just("```rust\nfn x() {}\n```".to_owned()),
        Just("not X but Y instead of Z".to_owned()),
        Just("\u{202e}שלום עולם".to_owned()),
        Just("不是这个，谢谢".to_owned()),
        Just("🙂🙂🙂".to_owned()),
        Just("\"quoted".to_owned()),
        Just("1,299.50 €".to_owned()),
        "\\PC{0,40}",
        "[a-zA-Z' ,.!?]{0,60}",
        any::<String>(),
    ];
    prop::collection::vec(part, 0..6).prop_map(|parts| parts.join(" "))
}

fn check_detectors(message: &str, question: &str, answer: &str) {
    let (parsed_message, parsed_question) = (Utterance::read(message), Utterance::read(question));
    let parsed_answer = Answer::read(Some(&parsed_question), answer);
    for mode in [Mode::Seed, Mode::Rules, Mode::Model] {
        let exchange = Exchange {
            question: Some(&parsed_question),
            answer: Some(&parsed_answer),
            gap: Some(Duration::from_secs(5)),
            ..Exchange::new(&parsed_message)
        };
        let rule = VerdictRule { mode, ..VerdictRule::default() };
        for exchange in [exchange, Exchange::new(&parsed_message)] {
            let verdict = detect_verdict(&rule, &exchange);
            assert!(verdict.evidence.iter().all(|e| message.get(e.start..e.end).is_some()));
            assert_eq!(verdict.user_said.is_some(), verdict.correction_type.is_some());
            let contrast = extract_contrast(&exchange).unwrap_or_default();
            let mut sides = [contrast.wants, contrast.instead_of].into_iter().flatten();
            assert!(sides.all(|side| message.contains(&side)));
            check_target(&verdict, &parsed_message, question, answer);
        }
    }
    let completed = CompletedAnswer {
        status: TurnStatus::Success,
        error: None,
        question: Some(&parsed_question),
        response: answer,
        answer: &parsed_answer,
    };
    let failure = detect_failure(&FailureRule::default(), &completed);
    assert!(failure.evidence.iter().all(|e| answer.get(e.start..e.end).is_some()));
    let (one, other) = (
        pair_score(&parsed_message, &parsed_question),
        pair_score(&parsed_question, &parsed_message),
    );
    assert!((one.get() - other.get()).abs() < 1e-4, "{one:?} {other:?}");
    assert!((pair_score(&parsed_message, &parsed_message).get() - 1.0).abs() < 1e-9);
    let turn = TurnId::new("t").unwrap();
    let past = PastQuestion {
        turn: &turn,
        question: &parsed_question,
        age: Some(Duration::from_secs(10)),
    };
    detect_retry(&RetryRule::default(), &parsed_message, &[past]);
    let candidate = TargetCandidate {
        turn: &turn,
        question: parsed_question.vector(),
        answer: None,
        age: Duration::ZERO,
    };
    let found = rank_candidates(&TargetRule::default(), parsed_message.vector(), &[candidate]);
    assert!(found.iter().all(|l| (0.0..=1.0).contains(&l.score)));
    is_bare_remark(&parsed_message);
}

fn check_target(verdict: &Verdict, said: &Utterance, question: &str, answer: &str) {
    let turn = TurnId::new("t").unwrap();
    let status = VerdictStatus::Rejected;
    let past = PastTurn { turn: &turn, question, answer, age: Duration::from_secs(9), status };
    let older = PastTurn { question: answer, answer: question, ..past };
    let found = find_target(&TargetRule::default(), verdict, said, &[past, older]);
    if !may_target_earlier_turn(verdict, said, &past) {
        assert_eq!(found, Target::Previous);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn detectors_accept_any_text(message in arbitrary_text(), question in arbitrary_text(), answer in arbitrary_text()) {
        check_detectors(&message, &question, &answer);
    }

    #[test]
    fn calibration_stays_in_range_for_any_labels(labels in prop::collection::vec((any::<f64>(), any::<bool>()), 0..400)) {
        if let Some(found) = recalibrate(&labels) {
            for p in [0.0, 0.3, 0.7, 1.0] {
                prop_assert!((0.0..=1.0).contains(&found.curve.adjust_probability(p)));
            }
        }
    }

    #[test]
    fn cosine_of_any_vectors_is_in_range(a in prop::collection::vec(any::<f32>(), 0..9), b in prop::collection::vec(any::<f32>(), 0..9)) {
        let (a, b) = (Vector::new("m".into(), a), Vector::new("m".into(), b));
        if let Some(cosine) = a.cosine(&b) {
            prop_assert!((-1.0..=1.0).contains(&cosine));
        }
    }
}

/// A feature added without `make models` would silently be dropped from every sum.
#[test]
fn committed_models_match_the_feature_counts() {
    let (a, b) = (Utterance::read("what is it"), Utterance::read("no, the other one"));
    let answer = Answer::read(Some(&a), "It is a lamp.");
    let exchange = Exchange { question: Some(&a), answer: Some(&answer), ..Exchange::new(&b) };
    for exchange in [exchange, Exchange::new(&b)] {
        let count = crate::verdict_features(&exchange, 0.5).dense.len();
        assert_eq!(crate::verdict::REJECTION_MODEL.inputs, count);
        assert_eq!(crate::verdict::ACCEPTANCE_MODEL.inputs, count);
    }
    assert_eq!(crate::pair::PAIR_MODEL.inputs, crate::pair_features(&a, &b).dense.len());
    let restatement = crate::restatement_features(&a, &b).dense.len();
    assert_eq!(crate::pair::RESTATEMENT_MODEL.inputs, restatement);
    assert_eq!(crate::answer::REFUSAL_MODEL.inputs, answer.refusal_features.dense.len());
    let alone = Answer::read(None, "It is a lamp.");
    assert_eq!(crate::answer::REFUSAL_MODEL.inputs, alone.refusal_features.dense.len());
}

#[test]
fn huge_and_unusual_texts_are_handled() {
    let huge = [
        "x".repeat(100_000),
        "no wrong ".repeat(11_200),
        "é".repeat(50_000),
        "\n".repeat(100_000),
        "`\"".repeat(40_000),
        "不".repeat(33_000),
    ];
    for text in &huge {
        check_detectors(text, "what is it", text);
        check_detectors("that's wrong", text, text);
    }
    for odd in
        ["", " ", "\u{feff}", "\u{0}", "\u{301}", "🙂", "```", "\"", "?", "العربية", "a\u{202e}b"]
    {
        check_detectors(odd, odd, odd);
    }
}
