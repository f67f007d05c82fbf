use std::collections::BTreeMap;

use model::{
    Category, Event, EventId, Kind, Position, Scope, Source, Timestamp, TurnId, Type, UserId,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::bandit::{Algorithm, RouterState};

fn event(source: Source, event_type: Type, turn: Option<usize>, data: &Value) -> Event {
    let kind = Kind { event_type, source };
    let body = Body::read(kind, data.as_object().unwrap().clone()).unwrap();
    let (id, now) = (EventId::new("e").unwrap(), Timestamp::from_micros(1_800_000_000_000_000));
    let user = Some(UserId::new("ann").unwrap());
    let event = Event::new(Scope::default(), id, (kind, Category::Quality), now, body);
    Event { user, turn: turn.map(turn_id), ..event }
}

fn turn_id(turn: usize) -> TurnId {
    TurnId::new(format!("t{turn}")).unwrap()
}

fn finding(turn: Option<usize>, data: &Value) -> Event {
    event(Source::Engine, Type::Quality, turn, data)
}

fn define(algorithm: &str) -> Event {
    let arms = json!([{"id": "a"}, {"id": "b"}, {"id": "c"}]);
    let definition = json!({"arms": arms, "algorithm": algorithm});
    let data = json!({"rule": "router", "name": "chat", "definition": definition});
    event(Source::Engine, Type::Log, None, &data)
}

fn serve(turn: usize) -> Event {
    let arm = ["a", "b", "c"][turn % 3];
    let features: Vec<f32> =
        (0..32).map(|n| ((turn * 5 + n * 3) % 13) as f32 / 8.0 - 0.75).collect();
    finding(
        Some(turn),
        &json!({"finding": "served", "router": "chat", "arm": arm, "propensity": 0.4,
            "features_version": "e1", "features": features, "shadow": [0.1, -0.2], "cost": 0.5}),
    )
}

fn answer(turn: usize, seconds: f64) -> Event {
    finding(
        Some(turn),
        &json!({"finding": "answer", "detector": "d",
            "error": {"error_type": null, "confidence": 0.0, "evidence": []},
            "latency": {"seconds": seconds, "tolerance": "high", "accepted": true, "skewed": false}}),
    )
}

fn verdict(turn: Option<usize>, message: usize, status: &str, instead_of: Option<usize>) -> Event {
    let mut data = json!({"finding": "verdict", "detector": "d", "detected_in": format!("m{message}"),
        "status": status, "confidence": 0.9, "raw_confidence": 0.9, "moved_on": false,
        "correction_type": null, "user_said": null, "rule": "r", "evidence": [], "contrast": null,
        "dissatisfied": null, "behaviour": null});
    if let Some(before) = instead_of {
        data["instead_of"] = json!(format!("t{before}"));
    }
    finding(turn, &data)
}

fn react(turn: usize, reaction: Option<&str>, origin: &str) -> Event {
    let data = json!({"reaction": reaction, "origin": origin, "confidence": 1.0});
    event(Source::Reaction, Type::Explicit, Some(turn), &data)
}

fn retry(turn: usize) -> Event {
    finding(
        Some(turn),
        &json!({"finding": "retry", "detector": "d", "similarity": 0.9, "intent": "dissatisfied"}),
    )
}

#[derive(Clone, Default)]
struct Learner {
    routers: Routers,
    records: BTreeMap<TurnId, TurnRecord>,
}

fn pseudonym(name: &str) -> u64 {
    name.bytes().fold(7, |hash, byte| hash * 31 + u64::from(byte))
}

impl Learner {
    fn apply(&mut self, at: usize, event: &Event) {
        let mut records: BTreeMap<TurnId, TurnRecord> = Routers::affected_turns(event)
            .into_iter()
            .filter_map(|turn| Some((turn.clone(), self.records.remove(&turn)?)))
            .collect();
        self.routers.apply_event(Position(at as u64), event, &mut records, &pseudonym);
        self.records.extend(records);
    }

    fn replay(log: &[Event]) -> Self {
        let mut learner = Self::default();
        for (at, event) in (1..).zip(log) {
            learner.apply(at, event);
        }
        learner
    }

    /// Round trip of the whole state through its stored form.
    fn round_trip(&self) -> Self {
        let mut routers = Routers::default();
        for (name, router) in self.routers.iter() {
            let (state, _) = RouterState::from_bytes(&router.state.to_bytes(9)).unwrap();
            routers.restore(name.to_owned(), Router { rule: router.rule.clone(), state });
        }
        let read = |(turn, record): (&TurnId, &TurnRecord)| {
            let text = serde_json::to_string(record).unwrap();
            let mut again: TurnRecord = serde_json::from_str(&text).unwrap();
            again.restore_features(&record.feature_bytes());
            (turn.clone(), again)
        };
        Self { routers, records: self.records.iter().map(read).collect() }
    }

    fn bytes(&self) -> Vec<u8> {
        self.routers.get("chat").map_or_else(Vec::new, |router| router.state.to_bytes(0))
    }

    fn mean(&self, arm: &str) -> f64 {
        let router = self.routers.get("chat").unwrap();
        let arms = router.state.summarise_arms(&router.rule);
        arms.iter().find(|known| known.id == arm).unwrap().mean
    }
}

fn any_event() -> impl Strategy<Value = Event> {
    let turn = 0..6usize;
    prop_oneof![
        4 => turn.clone().prop_map(serve),
        3 => (turn.clone(), 0.0..60.0f64).prop_map(|(turn, secs)| answer(turn, secs)),
        4 => (turn.clone(), 0..4usize, any::<bool>()).prop_map(|(turn, message, good)| {
            verdict(Some(turn), message, if good { "accepted" } else { "rejected" }, None)
        }),
        1 => (turn.clone(), turn.clone(), 0..4usize)
            .prop_map(|(turn, before, message)| verdict(Some(turn), message, "rejected", Some(before))),
        2 => (turn.clone(), prop::option::of(any::<bool>())).prop_map(|(turn, good)| {
            react(turn, good.map(|good| if good { "ok" } else { "not_ok" }), "user")
        }),
        1 => turn.prop_map(retry),
        1 => Just(event(Source::Engine, Type::Log, None,
            &json!({"rule": "router_reset", "name": "chat"}))),
    ]
}

const ALGORITHMS: [&str; 3] = ["thompson", "lints", "hybrid"];

proptest! {
    #[test]
    fn replay_from_any_checkpoint_is_bit_identical(
        log in prop::collection::vec(any_event(), 0..60),
        cut in 0..60usize,
        which in 0..ALGORITHMS.len(),
    ) {
        let log: Vec<Event> = std::iter::once(define(ALGORITHMS[which])).chain(log).collect();
        let whole = Learner::replay(&log);
        let cut = cut.min(log.len());
        let mut again = Learner::replay(&log[..cut]).round_trip();
        for (at, event) in (1..).zip(&log).skip(cut) {
            again.apply(at, event);
        }
        prop_assert!(whole.bytes() == again.bytes());
        prop_assert_eq!(whole.records, again.records);
    }

    #[test]
    fn repeated_signal_changes_nothing(
        log in prop::collection::vec(any_event(), 1..40),
        which in 0..ALGORITHMS.len(),
    ) {
        let is_reset = |event: &Event| event.kind.event_type == Type::Log;
        let log: Vec<Event> = log.into_iter().filter(|event| !is_reset(event)).collect();
        let mut learner = Learner::replay(&[define(ALGORITHMS[which])]);
        for (at, event) in (2..).zip(&log) {
            learner.apply(at, event);
            let before = learner.bytes();
            learner.apply(at, event);
            prop_assert!(before == learner.bytes());
        }
    }
}

#[test]
fn signal_updates_only_the_arm_that_served_the_turn() {
    let mut learner = Learner::replay(&[define("thompson"), serve(0), serve(1)]);
    let mut at = 10;
    let mut after = |event: Event| {
        at += 1;
        learner.apply(at, &event);
        [learner.mean("a"), learner.mean("b")]
    };
    assert_eq!(
        after(react(0, Some("ok"), "machine")),
        [0.5, 0.5],
        "machine reactions repeat the verdict"
    );
    assert_eq!(after(verdict(None, 1, "rejected", None)), [0.5, 0.5], "without a turn");
    let [liked, other] = after(verdict(Some(0), 1, "accepted", None));
    assert!(liked > 0.5 && other == 0.5);
    let [blamed, _] = after(verdict(Some(0), 1, "rejected", None));
    assert!(blamed < 0.5, "a new verdict of the same message");
    let [cleared, blamed] = after(verdict(Some(1), 1, "rejected", Some(0)));
    assert!(cleared == 0.5 && blamed < 0.5, "the verdict moved to another turn");
    let [lowered, _] = after(retry(0));
    assert!(lowered < 0.5);
    let [raised, _] = after(react(0, Some("ok"), "user"));
    assert!(raised > 0.5);
    let [back, _] = after(react(0, None, "user"));
    assert_eq!(back, lowered, "a withdrawn reaction");
    let fixed = event(Source::UserCorrection, Type::Explicit, Some(0), &json!({"corrected": "x"}));
    let [corrected, _] = after(fixed);
    let worth = json!({"finding": "reward", "quality_score": 1.0, "user_rating": 5});
    let [praised, _] = after(finding(Some(0), &worth));
    assert!(praised > corrected);
    let rating = json!({"rating": "positive"});
    let [_, rated] = after(event(Source::UserRating, Type::Explicit, Some(1), &rating));
    assert!(rated > 0.5, "a rating outweighs the verdict");
    let review = json!({"finding": "review", "status": "accepted"});
    let [_, reviewed] = after(finding(Some(1), &review));
    assert!(reviewed > rated, "a review overrides the verdict");
}

#[test]
fn interactions_count_as_the_reward_overrides_define() {
    let definition = json!({"arms": [{"id": "a"}, {"id": "b"}, {"id": "c"}],
        "reward": {"overrides": {"export": 1.0, "dwell_ms<2000": 0.0}}});
    let rule = json!({"rule": "router", "name": "chat", "definition": definition});
    let rule = event(Source::Engine, Type::Log, None, &rule);
    let did = |turn: usize, data: Value| {
        event(Source::UserInteraction, Type::Interaction, Some(turn), &data)
    };
    let learner = Learner::replay(&[
        rule,
        serve(0),
        serve(1),
        did(0, json!({"kind": "export"})),
        did(1, json!({"kind": "dwell_time", "dwell_ms": 900})),
    ]);
    assert!(learner.mean("a") > 0.5 && learner.mean("b") < 0.5);
}

#[test]
fn choice_is_counted_for_its_arm() {
    let chosen = |router: &str, arm: &str| {
        let data = json!({"finding": "choice", "router": router, "arm": arm, "propensity": 0.4,
            "features_version": "e1"});
        finding(None, &data)
    };
    let log = [
        define("thompson"),
        chosen("chat", "a"),
        chosen("chat", "a"),
        chosen("chat", "b"),
        chosen("chat", "unknown"),
        chosen("mail", "a"),
    ];
    let learner = Learner::replay(&log);
    let Router { rule, state } = learner.routers.get("chat").unwrap();
    let choices: Vec<u64> = state.summarise_arms(rule).iter().map(|arm| arm.choices).collect();
    assert_eq!((choices, state.total_choices()), (vec![2, 1, 0], 3));
}

#[test]
fn new_definition_keeps_the_state_of_existing_arms() {
    let mut learner =
        Learner::replay(&[define("thompson"), serve(0), react(0, Some("ok"), "user")]);
    let before = learner.mean("a");
    let arms = json!([{"id": "d"}, {"id": "a"}]);
    let data = json!({"rule": "router", "name": "chat", "definition": {"arms": arms}});
    learner.apply(4, &event(Source::Engine, Type::Log, None, &data));
    assert!(before > 0.5);
    assert_eq!((learner.mean("d"), learner.mean("a")), (0.5, before));
    let Router { rule, state } = learner.routers.get("chat").unwrap();
    assert_eq!(state.summarise_arms(rule).len(), 2);
}

/// After erasure the state equals a replay of the anonymised log.
#[test]
fn erased_users_rating_becomes_anonymous() {
    let rated = react(0, Some("not_ok"), "user");
    let mut learner = Learner::replay(&[define("thompson"), serve(0), rated.clone()]);
    let taught = learner.records[&turn_id(0)].observation().unwrap();
    assert_eq!(taught.reward(), 0.0);
    let ann = pseudonym("ann");
    learner.routers.anonymise_rating(&rated, &turn_id(0), ann, &mut learner.records);
    let erased = Event { user: None, ..rated };
    let again = Learner::replay(&[define("thompson"), serve(0), erased]);
    assert_eq!(learner.records, again.records);
    assert_eq!(learner.bytes(), again.bytes());
}

#[test]
fn signals_before_the_served_event_are_counted() {
    let early = Learner::replay(&[define("thompson"), react(0, Some("not_ok"), "user"), serve(0)]);
    let late = Learner::replay(&[define("thompson"), serve(0), react(0, Some("not_ok"), "user")]);
    assert!(early.mean("a") < 0.5);
    assert_eq!(early.bytes(), late.bytes());
    let unserved = Learner::replay(&[define("thompson"), react(5, Some("not_ok"), "user")]);
    assert_eq!(unserved.bytes(), Learner::replay(&[define("thompson")]).bytes());
}

#[test]
fn erased_features_leave_the_reward_sums_unchanged() {
    let mut learner = Learner::replay(&[define("lints"), serve(0), react(0, Some("ok"), "user")]);
    let empty = Learner::replay(&[define("lints"), serve(0)]);
    let before = learner.mean("a");
    let record = learner.records.get_mut(&turn_id(0)).unwrap();
    learner.routers.forget_features(record);
    assert!(record.served.as_ref().unwrap().features().is_empty());
    assert_eq!(learner.mean("a"), before);
    let request = crate::ChoiceRequest { features: &[0.5; 32], random: 3, ..Default::default() };
    let scores = |learner: &Learner| {
        let Router { rule, state } = learner.routers.get("chat").unwrap();
        assert_eq!(rule.algorithm(), Algorithm::LinTs);
        state.choose_arm(rule, &request).scores
    };
    for (now, never) in scores(&learner).iter().zip(&scores(&empty)) {
        assert!((now.mean - never.mean).abs() < 0.2, "{now:?} {never:?}");
    }
    // Later signals update the reward sums only.
    learner.apply(9, &react(0, Some("not_ok"), "user"));
    assert!(learner.mean("a") < before);
}

#[test]
fn invalid_definition_changes_nothing() {
    let mut learner = Learner::replay(&[define("thompson"), serve(0)]);
    let before = learner.bytes();
    let data = json!({"rule": "router", "name": "chat", "definition": {"arms": []}});
    learner.apply(9, &event(Source::Engine, Type::Log, None, &data));
    assert_eq!(learner.bytes(), before);
}
