//! Verdict examples, counter-examples and threshold boundaries.

use std::time::Duration;

use model::{CorrectionType, VerdictStatus};

use super::{Exchange, Mode, VerdictRule, detect_verdict, infer_correction_type, rules};
use crate::answer::Answer;
use crate::pair::PairScores;
use crate::utterance::Utterance;
use CorrectionType::{Abandonment, Explicit, Rephrased};
use VerdictStatus::{Accepted, Neutral, Rejected};

const QUESTION: &str = "find laptops under $1000";
const ANSWER: &str = "Here are three business laptops under $1000: the Lenovo ThinkPad E14 ($849), \
    the Dell Latitude 3440 ($799) and the HP ProBook 445 ($899). All come with 16 GB of memory.";

fn judge_message(mode: Mode, message: &str, gap: Option<Duration>) -> model::Verdict {
    let (message, question) = (Utterance::read(message), Utterance::read(QUESTION));
    let answer = Answer::read(Some(&question), ANSWER);
    let exchange = Exchange {
        question: Some(&question),
        answer: Some(&answer),
        gap,
        ..Exchange::new(&message)
    };
    detect_verdict(&VerdictRule { mode, ..VerdictRule::default() }, &exchange)
}

#[track_caller]
fn check(message: &str, status: VerdictStatus, correction_type: Option<CorrectionType>) {
    for mode in [Mode::Rules, Mode::Model] {
        let found = judge_message(mode, message, None);
        assert_eq!(
            (found.status, found.correction_type),
            (status, correction_type),
            "{mode:?}: {message} (rule {}, {:?})",
            found.rule,
            found.dissatisfied
        );
        for evidence in &found.evidence {
            assert!(message.get(evidence.start..evidence.end).is_some(), "{message}");
        }
    }
}

#[test]
fn explicit_rejections_are_rejected() {
    for message in [
        "No, I meant gaming laptops",
        "No, I meant gaming laptops not business laptops",
        "That's wrong",
        "Try again",
        "Not what I asked",
        "Not what I wanted",
        "I meant gaming laptops",
        "I want gaming laptops instead of business laptops",
        "I need gaming laptops, not business ones",
        "You misunderstood",
        "That doesn't help",
        "Not helpful",
        "Not useful",
        "Not what I need",
        "no",
        "wrong",
        "that's not what I meant",
        "Actually, I meant gaming laptops",
    ] {
        check(message, Rejected, Some(Explicit));
    }
}

#[test]
fn abandonments_are_rejected() {
    for message in ["Never mind", "Forget that", "Let me rephrase", "Start over"] {
        check(message, Rejected, Some(Abandonment));
    }
}

#[test]
fn repeated_question_rejects() {
    check("find laptops under $1000", Rejected, Some(Rephrased));
    check("Find laptops under $1000!!", Rejected, Some(Rephrased));
}

#[test]
fn continuations_and_thanks_accept() {
    for message in [
        "Tell me more about the first one",
        "Can you explain the difference in weight?",
        "What about the battery of the Dell?",
        "Which one is the lightest?",
        "Compare the Lenovo and the Dell",
        "And how much is shipping?",
        "Also show me a matching mouse",
        "What if I need 32 GB?",
        "I'll go with the Lenovo",
        "Thanks, ordering now",
        "Thanks",
    ] {
        check(message, Accepted, None);
    }
}

#[test]
fn unrelated_question_accepts_below_reaction_threshold() {
    for mode in [Mode::Rules, Mode::Model] {
        let found = judge_message(mode, "What should I feed my hamster?", None);
        assert_eq!(found.status, Accepted);
        assert!(found.confidence.get() < 0.7, "{:?}", found.confidence);
        let rule = VerdictRule { mode, moved_on: false, ..VerdictRule::default() };
        let message = Utterance::read("What should I feed my hamster?");
        let question = Utterance::read(QUESTION);
        let exchange = Exchange { question: Some(&question), ..Exchange::new(&message) };
        assert_eq!(detect_verdict(&rule, &exchange).status, Neutral);
    }
}

#[test]
fn thanks_with_harmless_negation_accept() {
    for message in [
        "No problem, thanks!",
        "Actually that's great",
        "no worries, thank you",
        "No that's all, thanks",
        "not bad at all, thanks",
    ] {
        check(message, Accepted, None);
    }
}

#[test]
fn unrelated_request_does_not_reject() {
    for message in ["I need a recipe for lentil soup", "Actually, what is the weather in Rome?"] {
        for mode in [Mode::Rules, Mode::Model] {
            assert_ne!(judge_message(mode, message, None).status, Rejected, "{mode:?}: {message}");
        }
    }
}

#[test]
fn fillers_are_neutral() {
    for message in ["hmm", "ok?", "", "🙂", "...", "??"] {
        check(message, Neutral, None);
    }
}

#[test]
fn only_explicit_rejections_count_after_the_session() {
    let (just, late) = (Duration::from_secs(30 * 60), Duration::from_secs(30 * 60 + 1));
    for mode in [Mode::Rules, Mode::Model] {
        assert_eq!(judge_message(mode, "Thanks, ordering now", Some(just)).status, Accepted);
        assert_eq!(judge_message(mode, "Thanks, ordering now", Some(late)).status, Neutral);
        assert_eq!(
            judge_message(mode, "That was wrong, I meant gaming laptops", Some(late)).status,
            Rejected
        );
        assert_eq!(judge_message(mode, QUESTION, Some(late)).status, Neutral);
        assert_eq!(judge_message(mode, "Never mind", Some(late)).status, Neutral);
    }
}

#[test]
fn rephrasing_needs_a_score_above_the_threshold() {
    let (message, question) = (Utterance::read("cheap laptops please"), Utterance::read(QUESTION));
    let correction_type_for = |similarity: f64, intents: Option<(&str, &str)>| {
        let exchange = Exchange {
            question: Some(&question),
            intent: intents.map(|i| i.0),
            previous_intent: intents.map(|i| i.1),
            ..Exchange::new(&message)
        };
        let scores = PairScores { similarity, learnt: similarity };
        rules::apply_rules(&VerdictRule::default(), &exchange, scores).correction_type
    };
    let same = Some(("search", "search"));
    assert_eq!(correction_type_for(0.80, same), None);
    assert_eq!(correction_type_for(0.801, same), Some(Rephrased));
    assert_eq!(correction_type_for(0.85, None), None);
    assert_eq!(correction_type_for(0.851, None), Some(Rephrased));
    assert_eq!(correction_type_for(0.99, Some(("search", "buy"))), None);
}

#[test]
fn refinements_of_the_question_accept() {
    for message in
        ["now find laptops under $800", "and find laptops under $1000 with a touch screen"]
    {
        let found = judge_message(Mode::Rules, message, None);
        assert_eq!(found.status, Accepted, "{message}: {}", found.rule);
    }
}

#[test]
fn rejection_carries_the_contrast() {
    let found =
        judge_message(Mode::Model, "No, I meant gaming laptops, not business laptops", None);
    let contrast = found.contrast.unwrap();
    assert_eq!(contrast.wants.as_deref(), Some("gaming laptops"));
    assert_eq!(contrast.instead_of.as_deref(), Some("business laptops"));
    assert_eq!(found.evidence[0].rule, "negation_start");
    assert!(found.dissatisfied.unwrap().get() > 0.9);
}

#[test]
fn seed_mode_uses_the_keyword_baseline() {
    assert_eq!(judge_message(Mode::Seed, "I need a recipe", None).status, Rejected);
    assert_eq!(judge_message(Mode::Seed, "No problem, thanks!", None).status, Neutral);
    assert_eq!(judge_message(Mode::Seed, "Never mind", None).correction_type, Some(Abandonment));
    assert_eq!(judge_message(Mode::Seed, "Tell me more about them", None).status, Accepted);
}

#[test]
fn abandonment_with_thanks_and_praise_accepts() {
    let found = judge_message(Mode::Rules, "Never mind, thanks, that is perfect", None);
    assert_eq!((found.status, found.correction_type), (Accepted, None), "{}", found.rule);
}

#[test]
fn model_only_rejection_has_a_correction_type() {
    let question = Utterance::read(QUESTION);
    let check = |message: &str, expected: CorrectionType| {
        let message = Utterance::read(message);
        let exchange = Exchange { question: Some(&question), ..Exchange::new(&message) };
        assert_eq!(infer_correction_type(&VerdictRule::default(), &exchange), expected);
    };
    check("Never mind", Abandonment);
    check(QUESTION, Rephrased);
    check("These are a bit heavy", Explicit);
}

#[test]
fn complaints_reject_in_nine_languages() {
    for message in [
        "That's wrong, I asked for gaming laptops",
        "Das ist falsch, ich meinte Gaming-Laptops",
        "Eso está mal, me refería a portátiles para juegos",
        "C'est faux, je voulais dire des PC de jeu",
        "Está errado, eu quis dizer notebooks gamer",
        "È sbagliato, intendevo portatili da gioco",
        "Dat is fout, ik bedoelde gaming laptops",
        "違います、ゲーミングノートを聞いています",
        "不对，我问的是游戏本",
    ] {
        check(message, Rejected, Some(Explicit));
    }
}

/// Status and confidence of a message after a question and an answer, in model mode.
fn judge_after(question: &str, answer: &str, message: &str) -> (VerdictStatus, f64) {
    let (message, question) = (Utterance::read(message), Utterance::read(question));
    let answer = Answer::read(Some(&question), answer);
    let exchange =
        Exchange { question: Some(&question), answer: Some(&answer), ..Exchange::new(&message) };
    let found = detect_verdict(&VerdictRule::default(), &exchange);
    (found.status, found.confidence.get())
}

#[test]
fn question_with_substituted_phrase_does_not_reject() {
    // None of these rows is in the training corpus.
    for (question, answer, next) in [
        ("exchange rate EUR USD", "1 EUR is 1.08 USD.", "exchange rate EUR GBP"),
        ("population of Norway", "About 5.5 million.", "population of Sweden"),
        ("unit test for parse_date", "def test_parse_date(): ...", "unit test for format_date"),
        ("Rezept Apfelkuchen", "Äpfel, Mehl, Butter, Zucker.", "Rezept Käsekuchen"),
        ("ticket 8812", "Ticket 8812 is open, assigned to Kim.", "ticket 8813"),
        ("horario tren Madrid Sevilla", "Sale a las 9:00.", "horario tren Madrid Valencia"),
    ] {
        let (status, confidence) = judge_after(question, answer, next);
        assert!(status != Rejected && confidence < 0.7, "{next}: {status:?} {confidence}");
    }
    // A rephrased question still rejects.
    let again = judge_after(
        "reset router password",
        "Routers are devices.",
        "how to reset the password of a router",
    );
    assert_eq!(again.0, Rejected, "{again:?}");
}

#[test]
fn thanks_with_complaint_reject_and_negated_praise_does_not() {
    let after = |message: &str| judge_after("list customers", "SELECT * FROM customers", message);
    for message in [
        "Thanks but that's the wrong table",
        "Danke, aber das ist nicht die richtige Tabelle",
        "merci mais il manque la colonne pays",
        "grazie ma non funziona",
        "Gracias, pero no es eso",
        "谢谢，但是不对",
        "👎",
        "😡",
    ] {
        let (status, confidence) = after(message);
        assert!(status == Rejected && confidence >= 0.7, "{message}: {status:?} {confidence}");
    }
    for message in [
        "nicht übel",
        "nada mal",
        "which jobs failed last night",
        "list users without a phone number",
    ] {
        assert_ne!(after(message).0, Rejected, "{message}");
    }
    for message in ["👍", "👍🏽", "❤️", "great, no errors any more"] {
        let (status, confidence) = after(message);
        assert!(status == Accepted && confidence >= 0.7, "{message}: {status:?} {confidence}");
    }
}
