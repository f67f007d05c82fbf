//! Quality sums agree with the turns.

use model::{
    Change, DecisionChange, Event, LooseFact, Project, Reaction, Scope, Sentiment, SettingsChange,
    TurnChange, TurnFact, VerdictStatus, Window,
};
use serde_json::json;

use crate::contract::scene::{Scene, at, decision_id, play, user_id};
use crate::{
    QualityBucket, QualityCounts, QualityQuery, QualityUsers, ReactionTime, Rebuild, Store,
};

const HOUR: i64 = 3600;

fn query() -> QualityQuery {
    QualityQuery {
        tenant: Scope::default().tenant,
        project: None,
        window: Window { start: at(-HOUR), end: at(100 * HOUR) },
        model: None,
        prompt: None,
        users: None,
        by: ReactionTime::default(),
        bucket_hours: 1,
        bucket_shift: 0,
    }
}

fn answered(id: &str, turn: &str, model: &str, failed: bool) -> Scene {
    let (model, prompt) = (Some(model.to_owned()), Some("shop@3".to_owned()));
    // The second model plans.
    let strategy = model.as_deref().filter(|model| *model == "m2").map(|_| "plan".to_owned());
    let fact = TurnFact::Answered { model, prompt, strategy, failed, tokens: 10, cost: 5 };
    Scene::note(id, turn, fact)
}

fn shown(id: &str, turn: &str, failed: bool, millis: u64) -> Scene {
    Scene::note(id, turn, TurnFact::Shown { failed, millis: Some(millis) })
}

async fn counts(store: &Store, query: QualityQuery) -> QualityCounts {
    let buckets = store.quality(query).await.unwrap();
    buckets.iter().fold(QualityCounts::default(), |sum, bucket| sum.plus(&bucket.counts))
}

pub(crate) async fn quality_counts_current_turns(store: &Store) {
    let corrected = |id: &str, turn: &str| Scene::note(id, turn, TurnFact::Corrected);
    play(
        store,
        [
            corrected("early", "t1"),
            Scene::open("t1", "c1"),
            answered("a1", "t1", "m1", false),
            shown("s1", "t1", false, 1250),
            corrected("twice", "t1"),
            Scene::react("bad", "t1", Reaction::NotOk).by("u1"),
            Scene::react("other", "t1", Reaction::Ok).by("u2"),
            Scene::react("good", "t1", Reaction::Ok).by("u1"),
            Scene::judge("t1", "t2", VerdictStatus::Rejected, false),
            Scene::open("t2", "c1").at(HOUR).by("u2"),
            answered("a2", "t2", "m2", true),
            shown("s2", "t2", true, 90),
            Scene::new(
                "end",
                "t2",
                Change::Turn(TurnChange::EndSession { last_at: at(HOUR), abandoned: true }),
            ),
            Scene::note("r", "t2", TurnFact::Retried),
            Scene::open("t3", "c2").at(2 * HOUR),
            Scene::new("stars", "t3", Change::Count(LooseFact::Rated(Reaction::NotOk))),
            Scene::new("loose", "t3", Change::Count(LooseFact::Corrected)),
            Scene::note("p1", "t1", TurnFact::Commented(Sentiment::Positive)),
            Scene::note("p2", "t1", TurnFact::Commented(Sentiment::Positive)),
            Scene::note("n1", "t2", TurnFact::Commented(Sentiment::Negative)),
            Scene::new("n2", "t3", Change::Count(LooseFact::Commented(Sentiment::Negative))),
            Scene::note("o1", "t3", TurnFact::Commented(Sentiment::Neutral)),
        ],
    )
    .await;
    let all = QualityCounts {
        turns: 3,
        answered: 2,
        failed: 1,
        ok: 2,
        not_ok: 1,
        accepted: 1,
        wrong: 1,
        corrected: 1,
        retried: 1,
        heard: 1,
        comments_positive: 2,
        comments_negative: 2,
        comments_neutral: 1,
        both: 1,
        ended: 1,
        abandoned: 1,
        tokens: 20,
        cost: 10,
        loose_corrected: 1,
        ..QualityCounts::default()
    };
    assert_eq!(counts(store, query()).await, all);
    by_slices(store).await;
}

/// The same turns, filtered.
async fn by_slices(store: &Store) {
    for (bucket_hours, buckets) in [(1, 3), (24, 1)] {
        let found = store.quality(QualityQuery { bucket_hours, ..query() }).await.unwrap();
        assert_eq!(found.len(), buckets, "{bucket_hours} hours");
    }
    let one = QualityQuery { model: Some("m2".into()), ..query() };
    let found = store.quality(one).await.unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].waits, [(crate::wait_step(90), 1)]);
    assert_eq!((found[0].counts.answered, found[0].counts.failed), (1, 1));
    for (prompt, turns) in [("shop", 2), ("shop@3", 2), ("sho", 0), ("shop@", 0)] {
        let by = QualityQuery { prompt: Some(prompt.into()), ..query() };
        assert_eq!(counts(store, by).await.turns, turns, "{prompt}");
    }
    let users = Some(QualityUsers::One(user_id("u2")));
    let hers = counts(store, QualityQuery { users, ..query() }).await;
    assert_eq!((hers.turns, hers.failed, hers.ok), (1, 1, 0));
    let elsewhere = model::Tenant::new("other").unwrap();
    let elsewhere = QualityQuery { tenant: elsewhere, ..query() };
    assert!(store.quality(elsewhere.clone()).await.unwrap().is_empty());
    let first = Window { start: at(-HOUR), end: at(HOUR) };
    let rows = [
        (query(), Some(1)),
        (QualityQuery { model: Some("m2".into()), ..query() }, Some(1)),
        (QualityQuery { model: Some("m1".into()), ..query() }, None),
        (QualityQuery { prompt: Some("shop".into()), ..query() }, Some(1)),
        (QualityQuery { prompt: Some("sho".into()), ..query() }, None),
        (QualityQuery { window: first, ..query() }, None),
        (elsewhere, None),
    ];
    for (query, count) in rows {
        let expected: Vec<(String, u64)> =
            count.map(|n| ("plan".to_owned(), n)).into_iter().collect();
        assert_eq!(store.answered_by_strategy(query.clone()).await.unwrap(), expected, "{query:?}");
    }
}

/// Turns of two projects, some with problems, some with user profiles.
async fn stage(store: &Store) -> Scope {
    let second = Scope { project: Project::new("second").unwrap(), ..Scope::default() };
    let profile = |id: &str, user: &str, attributes: serde_json::Value| {
        let attributes = attributes.as_object().unwrap().clone();
        Scene::new(id, "t1", Change::Settings(SettingsChange::Profile(attributes))).by(user)
    };
    let pro = json!({"plan": "pro", "seats": 5, "beta": true, "a.b": "x", "none": null});
    play(
        store,
        [
            Scene::open("t1", "c1"),
            answered("a1", "t1", "m1", true),
            Scene::open("t2", "c2").at(HOUR).by("u2"),
            answered("a2", "t2", "m2", false),
            Scene::react("bad", "t2", Reaction::NotOk).by("u2"),
            Scene::open("t3", "c3").at(2 * HOUR),
            answered("a3", "t3", "m1", false),
            Scene::open("t4", "c4").at(3 * HOUR).of(&second),
            answered("a4", "t4", "m1", true).of(&second),
            profile("p1", "u1", pro),
            profile("p2", "u2", json!({"plan": "free", "seats": "5"})),
            Scene::new("refined", "t1", Change::Count(LooseFact::Refined)),
        ],
    )
    .await;
    second
}

fn with(attributes: &[(&str, &str)]) -> Option<QualityUsers> {
    let both = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    Some(QualityUsers::With(attributes.iter().map(both).collect()))
}

pub(crate) async fn turns_with_problems_are_found(store: &Store) {
    let second = stage(store).await;
    let one = |user: &str| Some(QualityUsers::One(user_id(user)));
    let early = Window { start: at(-HOUR), end: at(HOUR - 1) };
    let rows = [
        (query(), &["t4", "t2", "t1"][..]),
        (QualityQuery { project: Some(Scope::default().project), ..query() }, &["t2", "t1"]),
        (QualityQuery { model: Some("m1".into()), ..query() }, &["t4", "t1"]),
        (QualityQuery { prompt: Some("shop".into()), ..query() }, &["t4", "t2", "t1"]),
        (QualityQuery { prompt: Some("sho".into()), ..query() }, &[]),
        (QualityQuery { window: early, ..query() }, &["t1"]),
        (QualityQuery { users: one("u1"), ..query() }, &["t4", "t1"]),
        (QualityQuery { users: one("u2"), model: Some("m1".into()), ..query() }, &[]),
        (QualityQuery { users: with(&[("plan", "pro")]), ..query() }, &["t1"]),
        (QualityQuery { users: with(&[("seats", "5")]), ..query() }, &["t2", "t1"]),
        (QualityQuery { users: with(&[("beta", "true"), ("a.b", "x")]), ..query() }, &["t1"]),
        (QualityQuery { users: with(&[("seats", "5"), ("plan", "free")]), ..query() }, &["t2"]),
        (QualityQuery { users: with(&[("none", "null")]), ..query() }, &[]),
    ];
    for (query, expected) in rows {
        let found = store.negative_turns(query.clone(), 9).await.unwrap();
        let ids: Vec<&str> = found.iter().map(|(_, turn)| turn.as_str()).collect();
        assert_eq!(ids, expected, "{query:?}");
    }
    let newest = store.negative_turns(query(), 1).await.unwrap();
    assert_eq!((newest.len(), &newest[0].0), (1, &second));
}

pub(crate) async fn quality_filters_by_user_profile(store: &Store) {
    stage(store).await;
    assert_eq!(counts(store, query()).await.loose_refined, 1);
    let of = async |attributes: &[(&str, &str)]| {
        let found = counts(store, QualityQuery { users: with(attributes), ..query() }).await;
        (found.turns, found.failed, found.not_ok)
    };
    assert_eq!(of(&[("plan", "pro")]).await, (2, 1, 0));
    assert_eq!(of(&[("seats", "5")]).await, (3, 1, 1));
    let mut erasure = Scene::new("erasure", "t1", Change::EraseUser(user_id("u1")));
    erasure.event.turn = None;
    play(store, [erasure]).await;
    assert_eq!(of(&[("plan", "pro")]).await, (0, 0, 0));
    assert_eq!(of(&[("seats", "5")]).await, (1, 0, 1));
}

pub(crate) async fn sql_statements_count_by_newest_outcome(store: &Store) {
    let made = |id: &str, executed| {
        Scene::new(
            id,
            "t1",
            Change::Decision(DecisionChange::Make { id: decision_id(id), is_sql: true, executed }),
        )
    };
    let settled = |id: &str, decision: &str, executed| {
        Scene::new(
            id,
            "t1",
            Change::Decision(DecisionChange::Settle { id: decision_id(decision), executed }),
        )
        .at(9 * HOUR)
    };
    let (yes, no) = (Some(true), Some(false));
    play(store, [settled("s1", "d1", yes), made("d1", no), made("d2", yes), made("d3", yes)]).await;
    play(store, [settled("s2", "d2", no), settled("s3", "d2", yes), settled("s4", "d3", no)]).await;
    let counts = async || {
        let buckets = store.quality(query()).await.unwrap();
        assert_eq!(buckets.len(), 1);
        (buckets[0].counts.sql_made, buckets[0].counts.sql_executed)
    };
    assert_eq!(counts().await, (3, 2));
    play(store, [made("d4", None), made("d5", None), settled("s5", "d5", no)]).await;
    assert_eq!(counts().await, (4, 2), "an unsettled statement does not count");
    play(store, [settled("s6", "d1", None)]).await;
    assert_eq!(counts().await, (3, 1), "nor one whose outcome was withdrawn");
}

/// A few hundred reproducible random changes of a few turns.
fn anything() -> Vec<Scene> {
    let mut number = 7_u64;
    let mut draw = move |below: u64| {
        number =
            number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (number >> 33) % below
    };
    let mut opened = std::collections::BTreeSet::new();
    (0..400)
        .filter_map(|n| {
            let turn = format!("t{}", draw(9));
            let id = format!("e{n}");
            let scene = match draw(12) {
                0 if opened.insert(turn.clone()) => Scene::open(&turn, "c1"),
                1 => answered(&id, &turn, ["m1", "m2"][draw(2) as usize], draw(2) == 0),
                2 => shown(&id, &turn, draw(2) == 0, draw(5000)),
                3 => Scene::react(&id, &turn, [Reaction::Ok, Reaction::NotOk][draw(2) as usize]),
                4 => Scene::clear(&id, &turn),
                5 => Scene::note(&id, &turn, TurnFact::Corrected),
                6 => Scene::note(&id, &turn, TurnFact::Retried),
                7 => Scene::new(
                    &id,
                    &turn,
                    Change::Turn(TurnChange::Review(VerdictStatus::Accepted)),
                ),
                8 => Scene::new(
                    &id,
                    &turn,
                    Change::Turn(TurnChange::EndSession { last_at: at(0), abandoned: true }),
                ),
                9 => Scene::note(&id, &turn, TurnFact::GotFeedback),
                10 => {
                    let sentiment = [Sentiment::Positive, Sentiment::Negative][draw(2) as usize];
                    Scene::note(&id, &turn, TurnFact::Commented(sentiment))
                }
                11 => {
                    let millis = Some(draw(5000));
                    Scene::note(&id, &turn, TurnFact::Measured { millis, tokens: 10, cost: 10 })
                }
                _ => return None,
            };
            Some(scene.at(draw(50) as i64 * HOUR))
        })
        .collect()
}

/// The changes of an event of [`play_anything`].
pub(crate) fn changes_of(event: &Event) -> Vec<Change> {
    let same = |scene: &Scene| scene.event.id == event.id;
    anything().into_iter().filter(same).map(|scene| scene.change).collect()
}

pub(crate) async fn play_anything(store: &Store) {
    play(store, anything()).await;
}

/// A count turn by turn and a rebuild give the same sums.
pub(crate) async fn quality_sums_equal_the_turns(store: &Store) {
    play_anything(store).await;
    let all = counts(store, query()).await;
    assert!(all.turns == 9 && all.answered > 5 && all.corrected > 5, "{all:?}");
    let planned = store.answered_by_strategy(query()).await.unwrap();
    assert!(planned.len() == 1 && planned[0].1 > 1, "{planned:?}");
    for bucket_hours in [1, 24] {
        let sums = store.quality(QualityQuery { bucket_hours, ..query() }).await.unwrap();
        let users = Some(QualityUsers::One(user_id("u1")));
        let one_by_one =
            store.quality(QualityQuery { bucket_hours, users, ..query() }).await.unwrap();
        let with_turns = |bucket: &QualityBucket| bucket.counts.turns > 0;
        let sums: Vec<QualityBucket> = sums.into_iter().filter(with_turns).collect();
        assert_eq!(sums, one_by_one);
    }
    let rebuilt =
        store.rebuild(Rebuild { changes_of, progress: Box::new(|_, _| {}) }).await.unwrap();
    assert!(!rebuilt.changed);
    assert_eq!(counts(store, query()).await, all);
    assert_eq!(store.answered_by_strategy(query()).await.unwrap(), planned);
}

pub(crate) async fn day_sums_equal_their_hours(store: &Store) {
    play_anything(store).await;
    let total = async |query: QualityQuery| {
        let mut all = QualityBucket::default();
        for bucket in store.quality(query).await.unwrap() {
            all.counts = all.counts.plus(&bucket.counts);
            all.waits.extend(bucket.waits);
        }
        all.waits.sort_unstable();
        let steps: Vec<u32> = all.waits.iter().map(|(step, _)| *step).collect();
        let of = |step: &u32| all.waits.iter().filter(|one| one.0 == *step).map(|one| one.1).sum();
        let waits: std::collections::BTreeMap<u32, i64> =
            steps.iter().map(|step| (*step, of(step))).collect();
        (all.counts, waits)
    };
    let mut most = 0;
    for (start, end) in [(-30, 100), (0, 48), (1, 47), (5, 30), (23, 25), (7, 9)] {
        let window = Window { start: at(start * HOUR), end: at(end * HOUR) };
        for model in [None, Some("m1".to_owned())] {
            let query = QualityQuery { window, model, ..query() };
            let hours = total(query.clone()).await;
            for bucket_hours in [6, 24, 48, 168] {
                let days = total(QualityQuery { bucket_hours, bucket_shift: 72, ..query.clone() });
                assert_eq!(days.await, hours, "{start} to {end} by {bucket_hours}");
            }
            let by =
                store.answered_by(QualityQuery { model: None, ..query.clone() }).await.unwrap();
            let of_model =
                by.iter().filter(|one| query.model.as_ref().is_none_or(|m| *m == one.model));
            let answered: u64 = of_model.map(|one| one.answered).sum();
            assert_eq!(answered, hours.0.answered.unsigned_abs(), "{start} to {end}");
            for bucket_hours in [1, 24] {
                let over_time = QualityQuery { bucket_hours, ..query.clone() };
                let found = store.answers_over_time(over_time).await.unwrap();
                let all: u64 = found.iter().map(|(.., count)| count).sum();
                assert_eq!(all, answered, "{start} to {end} by {bucket_hours}");
                let of = |hour: &i64| hour % i64::from(bucket_hours) == 0;
                assert!(found.iter().all(|(_, hour, _)| of(hour)), "{found:?}");
            }
            most = most.max(answered);
        }
    }
    assert!(most > 3, "{most} answers");
}
