//! Sums of experiments.

use model::{
    Change, Event, ExperimentChange, ExperimentId, ExperimentRule, ExperimentUnit, Exposure,
    Moments, Need, Outcome, Position, Reaction, Scope, Timestamp, TurnFact, UnitTotals,
};

use crate::contract::scene::{Scene, play};
use crate::{
    ConversationCursor, LabelledTurnReads, Rebuild, ServedBy, Store, StoredExposure,
    StoredStanding, StoredSums, StoredUnit, UnitSums,
};

pub(crate) fn id() -> ExperimentId {
    ExperimentId::new("x").unwrap()
}

fn rule(name: &str, rule: ExperimentRule) -> Scene {
    Scene::new(name, "none", Change::Experiment(ExperimentChange::Rule(rule)))
}

fn status(name: &str, status: &str) -> Scene {
    let (action, status) = (name.to_owned(), status.to_owned());
    rule(name, ExperimentRule::Status { experiment_id: id(), action, status })
}

fn expose(name: &str, index: u32, moves: u32) -> Scene {
    let exposure = Exposure { experiment_id: id(), variant: format!("v{index}"), index, moves };
    let change = Change::Experiment(ExperimentChange::Expose(exposure));
    Scene::new(name, "none", change).by("u1")
}

fn defined() -> Scene {
    defined_for(ExperimentUnit::User)
}

fn defined_for(unit: ExperimentUnit) -> Scene {
    let definition = serde_json::json!({
        "name": "x", "metric": "error_rate", "guardrails": [{"metric": "cost", "limit": 1}],
        "variants": [{"name": "v0"}, {"name": "v1"}],
    });
    let definition = definition.as_object().cloned().unwrap();
    rule("defined", ExperimentRule::Defined { experiment_id: id(), unit, definition })
}

fn moved() -> Scene {
    let step = [("to".to_owned(), 5.into())].into_iter().collect();
    let shares = vec![0.95, 0.05];
    rule("moved", ExperimentRule::Moved { experiment_id: id(), number: 1, shares, step })
}

fn answered(id: &str, turn: &str, failed: bool) -> Scene {
    let (model, prompt, strategy) = (None, None, None);
    let fact = TurnFact::Answered { model, prompt, strategy, failed, tokens: 0, cost: 7 };
    Scene::note(id, turn, fact)
}

pub(crate) fn scenes() -> Vec<Scene> {
    vec![
        Scene::open("early", "c1").at(-10),
        answered("a0", "early", true),
        Scene::answer("early"),
        defined(),
        status("start", "RUNNING"),
        expose("first", 0, 0).at(0),
        Scene::react("late", "early", Reaction::Ok),
        Scene::open("t1", "c1").at(5),
        answered("a1", "t1", true),
        Scene::answer("t1"),
        moved(),
        expose("second", 1, 1).at(10),
        Scene::open("t2", "c1").at(15),
        Scene::open("old", "c1").at(-400),
        answered("a2", "t2", false),
        Scene::react("good", "t1", Reaction::NotOk),
        Scene::react("better", "t1", Reaction::Ok),
        status("complete", "COMPLETED"),
        Scene::react("too-late", "t2", Reaction::Ok),
        Scene::open("t3", "c1").at(20),
    ]
}

pub(crate) fn changes_of(event: &Event) -> Vec<Change> {
    let same = |scene: &Scene| scene.event.id == event.id;
    scenes().into_iter().filter(same).map(|scene| scene.change).collect()
}

pub(crate) async fn play_all(store: &Store) {
    play(store, scenes()).await;
}

async fn rows(store: &Store) -> Vec<StoredUnit> {
    store.experiment_units(&Scope::default(), &id(), None, 10).await.unwrap()
}

/// Checks the exposures after the whole story.
async fn check_standings(store: &Store) {
    let scope = Scope::default();
    let standing =
        async |name: &str| store.experiment_standing(&scope, &id(), name).await.unwrap().unwrap();
    let known = Some(StoredExposure { first: 0, current: 1 });
    let (position, status) = (Position(4), "COMPLETED".to_owned());
    let expected = StoredStanding { position, status, moves: 1, exposure: known };
    assert_eq!(standing("u1").await, expected);
    let nobody = StoredStanding { exposure: None, ..expected };
    assert_eq!(standing("u2").await, nobody);
    assert_eq!(standing("c1").await, nobody, "a conversation is no user");
    let other = ExperimentId::new("y").unwrap();
    assert_eq!(store.experiment_standing(&scope, &other, "u1").await.unwrap(), None);
}

/// A rebuild gives the same sums.
pub(crate) async fn turns_count_for_the_served_variant(store: &Store) {
    let scope = Scope::default();
    play_all(store).await;
    let found = rows(store).await;
    let one = UnitSums { turns: 1, answered: 1, cost: 7, ..UnitSums::default() };
    let scored = UnitSums { scored: 1, score: 900_000_000, failed: 1, ..one };
    let expected = [
        (None, 0, false, scored),
        (Some(0), 0, true, UnitSums { ok: 1, ..scored }),
        (Some(1), 1, false, one),
    ];
    let seen: Vec<_> =
        found.iter().map(|row| (row.variant, row.moves, row.first, row.sums)).collect();
    assert_eq!(seen, expected);
    let behind = store.experiment_units(&scope, &id(), Some(found[1].mark), 10).await.unwrap();
    assert_eq!(behind, found[2..]);
    check_standings(store).await;
    let sums = store.experiment_sums(&scope, &id()).await.unwrap();
    let cost = Moments::from_totals(UnitTotals { value: 7e-9, count: 1.0, before: None });
    let failed = Moments::from_totals(UnitTotals { value: 1.0, count: 1.0, before: Some(1.0) });
    let first = StoredSums { variant: 0, moves: 0, exposed: 1, moments: vec![failed, cost] };
    let later = vec![Moments::default(), cost];
    let second = StoredSums { variant: 1, moves: 1, exposed: 0, moments: later };
    assert_eq!(sums, [first, second], "what it was served later is no comparison");
    let days = store.experiment_days(&scope, &id(), 10).await.unwrap();
    let at_the_end: Vec<&StoredSums> = days.iter().map(|(_, sums)| sums).collect();
    assert_eq!(at_the_end, sums.iter().collect::<Vec<_>>(), "all of it was heard on one day");
    assert_eq!(store.experiment_days(&scope, &id(), 1).await.unwrap(), days[..1]);
    let (talks, _) =
        store.labelled_conversations(&scope, ConversationCursor::default(), 10).await.unwrap();
    let served = |variant: &str| {
        let (name, variant) = ("x".to_owned(), variant.to_owned());
        vec![ServedBy { experiment: id(), name, variant }]
    };
    let arms: Vec<_> = talks[0].turns.iter().map(|t| (t.turn.as_str(), t.arms.clone())).collect();
    let none = Vec::new;
    let expected = [
        ("old", none()),
        ("early", none()),
        ("t1", served("v0")),
        ("t2", served("v1")),
        ("t3", none()),
    ];
    assert_eq!(arms, expected, "and for nothing before, beside or after it");
    let stored = store.experiment(&scope, &id()).await.unwrap().unwrap();
    assert_eq!((stored.status.as_str(), stored.position), ("COMPLETED", Position(4)));
    assert_eq!((stored.moves[0].number, &stored.moves[0].shares[..]), (1, &[0.95, 0.05][..]));
    assert_eq!(store.experiments(&scope, Position(0), 10).await.unwrap(), [stored]);
    assert!(store.experiments(&scope, Position(4), 10).await.unwrap().is_empty());
    let rebuild = Rebuild { changes_of, progress: Box::new(|_, _| {}) };
    assert!(!store.rebuild(rebuild).await.unwrap().changed);
    assert_eq!(rows(store).await, found);
    assert_eq!(store.experiment_sums(&scope, &id()).await.unwrap(), sums);
    assert_eq!(store.experiment_days(&scope, &id(), 10).await.unwrap(), days);
}

/// A unit that returns to a variant continues its sums.
pub(crate) async fn conversation_units_count_separately(store: &Store) {
    let inside = |name: &str, index: u32, secs: i64| {
        let mut scene = expose(name, index, 0).inside("c1").at(secs);
        scene.event.user = None;
        scene
    };
    play(
        store,
        [
            Scene::open("early", "c1").at(-10),
            answered("a0", "early", true),
            Scene::open("elsewhere", "c2").at(-10),
            answered("a1", "elsewhere", true),
            defined_for(ExperimentUnit::Conversation),
            status("start", "RUNNING"),
            inside("first", 0, 0),
            inside("second", 1, 5),
            inside("back", 0, 10),
            expose("no-conversation", 1, 0).at(12),
            Scene::open("t1", "c1").at(15),
            answered("a2", "t1", false),
        ],
    )
    .await;
    let one = UnitSums { turns: 1, answered: 1, cost: 7, ..UnitSums::default() };
    let expected = [
        (None, false, UnitSums { failed: 1, ..one }),
        (Some(0), true, one),
        (Some(1), false, UnitSums::default()),
    ];
    let found = rows(store).await;
    let seen: Vec<_> = found.iter().map(|row| (row.variant, row.first, row.sums)).collect();
    assert_eq!(seen, expected);
    let standing = store.experiment_standing(&Scope::default(), &id(), "c1").await.unwrap();
    let served = standing.and_then(|standing| standing.exposure);
    assert_eq!(served, Some(StoredExposure { first: 0, current: 0 }));
}

/// A write received before midnight, stored after one received later.
fn around_midnight() -> Vec<Scene> {
    const DAY: i64 = 86_400;
    let midnight =
        crate::contract::scene::at(0).as_micros().div_euclid(1_000_000).div_euclid(DAY) * DAY;
    let heard = |mut scene: Scene, secs: i64| {
        scene.event.received_at = Timestamp::from_micros((midnight + secs) * 1_000_000);
        scene
    };
    let by = |name: &str, user: &str| expose(name, 0, 0).by(user);
    vec![
        heard(defined(), -9),
        heard(status("start", "RUNNING"), -8),
        heard(by("evening", "u1"), -7),
        heard(by("morning", "u2"), 1),
        heard(by("late", "u3"), -1),
    ]
}

fn changes_around_midnight(event: &Event) -> Vec<Change> {
    let same = |scene: &Scene| scene.event.id == event.id;
    around_midnight().into_iter().filter(same).map(|scene| scene.change).collect()
}

pub(crate) async fn past_day_keeps_its_sums(store: &Store) {
    play(store, around_midnight()).await;
    let days = async || -> Vec<(i64, u64)> {
        let found = store.experiment_days(&Scope::default(), &id(), 10).await.unwrap();
        found.into_iter().map(|(day, sums)| (day, sums.exposed)).collect()
    };
    let found = days().await;
    let [(evening, 1), (morning, 3)] = found[..] else { panic!("{found:?}") };
    assert_eq!(evening + 1, morning);
    let rebuild = Rebuild { changes_of: changes_around_midnight, progress: Box::new(|_, _| {}) };
    assert!(!store.rebuild(rebuild).await.unwrap().changed);
    assert_eq!(days().await, found);
}

pub(crate) async fn needed_experiment_status_is_checked(store: &Store) {
    let scope = Scope::default();
    let try_it = async |scene: Scene, needs: Vec<Need>| {
        let mut write = scene.write();
        write.needs = needs;
        store.commit(vec![write]).await.unwrap().pop().unwrap()
    };
    let stands = |words: &[&str]| Need::Experiment {
        id: id(),
        statuses: words.iter().map(|word| (*word).to_owned()).collect(),
    };
    let missing = try_it(status("start", "RUNNING"), vec![stands(&["DRAFT"])]).await;
    assert!(matches!(missing, Outcome::Missing(_)), "{missing:?}");
    play(store, [defined()]).await;
    assert!(store.experiments_going_on().await.unwrap().is_empty());
    let started = try_it(status("start", "RUNNING"), vec![stands(&["DRAFT"])]).await;
    assert!(matches!(started, Outcome::Stored(_)), "{started:?}");
    assert_eq!(store.experiments_going_on().await.unwrap(), [(scope, id())]);
    let again = try_it(status("again", "RUNNING"), vec![stands(&["DRAFT", "PAUSED"])]).await;
    assert!(matches!(again, Outcome::Missing(_)), "{again:?}");
    let other = || vec![stands(&["RUNNING"]), Need::OtherVariant(id(), 1)];
    let exposed = try_it(expose("e1", 1, 0), other()).await;
    assert!(matches!(exposed, Outcome::Stored(_)), "{exposed:?}");
    assert_eq!(try_it(expose("e2", 1, 0), other()).await, Outcome::Unchanged);
    let elsewhere = try_it(expose("e3", 1, 0).by("u2"), other()).await;
    assert!(matches!(elsewhere, Outcome::Stored(_)), "{elsewhere:?}");
    assert_eq!(rows(store).await.len(), 2);
}
