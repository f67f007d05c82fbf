//! Contract of event queries.

use model::{
    Body, Category, Claim, ClaimSpace, ConversationId, Event, EventId, Kind, Mac, Outcome,
    Position, Scope, Severity, Source, Tenant, Timestamp, TurnId, Type, UserId, Write,
};
use serde_json::json;

use crate::contract::scene::{Scene, at, play};
use crate::{EventPage, KindFilter, Store};

/// An event with every field set and text that would break careless SQL or JSON.
fn full(scope: &Scope, id: &str, event_type: Type, source: Source) -> Event {
    let text = "it's \"quoted\"; DROP TABLE events; -- \u{1F600} \\ <b>";
    let kind = Kind { event_type, source };
    let data = json!({"text": text, "n": [1, 2.5, null, true], "o": {"deep": {}}});
    Event {
        id: EventId::new(id).unwrap(),
        scope: scope.clone(),
        kind,
        severity: Severity::Critical,
        category: Category::Compliance,
        user: Some(UserId::new("u'1").unwrap()),
        conversation: Some(ConversationId::new("c1").unwrap()),
        turn: Some(TurnId::new("t1").unwrap()),
        ts: Timestamp::from_micros(1_700_000_000_123_456),
        received_at: Timestamp::from_micros(1_800_000_000_654_321),
        tags: vec!["a,b".into(), "[\"".into()],
        body: Body::from_stored(kind, data.as_object().unwrap().clone()),
    }
}

async fn put(store: &Store, event: &Event) -> Position {
    let id = event.id.as_str().to_owned();
    let claims = vec![Claim { space: ClaimSpace::Event, id, mac: Some(Mac([1; 16])) }];
    let outcomes = store
        .commit(vec![Write { claims, ..Write::new(testkit::redacted(event.clone()), Vec::new()) }])
        .await
        .unwrap();
    match outcomes.as_slice() {
        [Outcome::Stored(position)] => *position,
        other => panic!("not stored: {other:?}"),
    }
}

/// Includes UUIDs and other ids.
pub(crate) async fn event_round_trips_unchanged(store: &Store) {
    let ids = ["0193a1b2-0000-7000-8000-00000000000f", "0193A1B2-0000-7000-8000-00000000000F", "x"];
    for id in ids {
        let event = full(&Scope::default(), id, Type::Log, Source::Trace);
        let position = put(store, &event).await;
        let found = store.event(&event.scope, &event.id).await.unwrap().unwrap();
        assert_eq!((found.position, found.event.into_inner()), (position, event));
    }
}

/// Another tenant's event looks like an unknown one.
pub(crate) async fn scope_reads_only_its_own_events(store: &Store) {
    let mine = Scope::default();
    let other = Scope { tenant: Tenant::new("other").unwrap(), ..Scope::default() };
    let event = full(&mine, "e1", Type::Log, Source::Trace);
    put(store, &event).await;
    assert_eq!(store.event(&other, &event.id).await.unwrap(), None);
    assert!(page(store, &other, 0, 10, &[], None).await.is_empty());
    assert_eq!(page(store, &mine, 0, 10, &[], None).await, [1]);
}

/// The limit counts matching events.
pub(crate) async fn event_pages_follow_the_log(store: &Store) {
    let scope = Scope::default();
    let kinds = [
        (Type::Log, Source::Trace),
        (Type::Metric, Source::SystemMetric),
        (Type::Explicit, Source::UserRating),
        (Type::UserExplicit, Source::UserRating),
        (Type::Log, Source::Trace),
    ];
    for (n, (event_type, source)) in kinds.into_iter().enumerate() {
        put(store, &full(&scope, &format!("e{n}"), event_type, source)).await;
    }
    assert_eq!(page(store, &scope, 0, 3, &[], None).await, [1, 2, 3]);
    assert_eq!(page(store, &scope, 3, 3, &[], None).await, [4, 5]);
    assert_eq!(page(store, &scope, 5, 3, &[], None).await, [0; 0]);
    assert_eq!(page(store, &scope, 0, 2, &[Type::Log], None).await, [1, 5]);
    let explicit = [Type::Explicit, Type::UserExplicit];
    assert_eq!(page(store, &scope, 0, 9, &explicit, Some(Source::UserRating)).await, [3, 4]);
    assert_eq!(page(store, &scope, 0, 9, &[Type::Log], Some(Source::UserRating)).await, [0; 0]);
}

pub(crate) async fn tail_covers_every_scope(store: &Store) {
    let other = Scope { tenant: Tenant::new("other").unwrap(), ..Scope::default() };
    let events = [
        full(&Scope::default(), "a", Type::Log, Source::Trace),
        full(&other, "a", Type::Log, Source::Trace),
        full(&Scope::default(), "b", Type::Log, Source::Trace),
    ];
    let mut head = store.watch();
    for event in &events {
        put(store, event).await;
    }
    assert!(head.has_changed().unwrap());
    assert_eq!(*head.borrow_and_update(), Position(3));
    let tail = async |after: u64, limit: usize| {
        let found = store.tail(Position(after), limit).await.unwrap();
        found.into_iter().map(|stored| stored.event.into_inner()).collect::<Vec<_>>()
    };
    assert_eq!(tail(0, 10).await, events);
    assert_eq!(tail(1, 1).await, events[1..2]);
    assert_eq!(tail(3, 10).await, []);
    let at = async |positions: &[u64]| {
        let positions = positions.iter().copied().map(Position).collect();
        let found = store.events_at(positions).await.unwrap();
        found.into_iter().map(|stored| stored.event.into_inner()).collect::<Vec<_>>()
    };
    assert_eq!(at(&[2, 9, 1]).await, events[..2]);
    assert_eq!(at(&[]).await, []);
}

async fn page(
    store: &Store,
    scope: &Scope,
    after: u64,
    limit: usize,
    types: &[Type],
    source: Option<Source>,
) -> Vec<u64> {
    let after = Position(after);
    let any_of = vec![KindFilter { types: types.to_vec(), source }];
    let page = EventPage { scope: scope.clone(), after, limit, any_of };
    store.events(page).await.unwrap().iter().map(|found| found.position.0).collect()
}

/// A filter applied to one event and to a page must agree.
pub(crate) async fn event_page_matches_its_filter(store: &Store) {
    let scope = Scope::default();
    let types = [Type::Log, Type::Metric, Type::Explicit, Type::Performance];
    let sources = [Source::Trace, Source::UserRating, Source::Reaction, Source::SystemMetric];
    let mut kinds = Vec::new();
    for event_type in types {
        for source in sources {
            put(store, &full(&scope, &format!("e{}", kinds.len()), event_type, source)).await;
            kinds.push(Kind { event_type, source });
        }
    }
    let some = [Vec::new(), vec![Type::Explicit], vec![Type::Metric, Type::Performance]];
    for types in some {
        for source in [None, Some(Source::UserRating), Some(Source::Reaction)] {
            let filter = KindFilter { types: types.clone(), source };
            let any_of = vec![filter.clone()];
            let after = Position(0);
            let page = EventPage { scope: scope.clone(), after, limit: 99, any_of };
            let found: Vec<Kind> =
                store.events(page).await.unwrap().iter().map(|e| e.event.kind).collect();
            let expected: Vec<Kind> =
                kinds.iter().copied().filter(|kind| filter.holds(*kind)).collect();
            assert_eq!(found, expected, "{filter:?}");
        }
    }
}

pub(crate) async fn newest_events_come_first(store: &Store) {
    let (ours, theirs) =
        (Scope::default(), Scope { tenant: Tenant::new("other").unwrap(), ..Scope::default() });
    for n in 0..3 {
        put(store, &full(&ours, &format!("r{n}"), Type::Explicit, Source::UserRating)).await;
        put(store, &full(&ours, &format!("m{n}"), Type::Metric, Source::SystemMetric)).await;
        put(store, &full(&theirs, &format!("x{n}"), Type::Explicit, Source::UserRating)).await;
    }
    let newest = async |before: u64, limit: usize| -> Vec<String> {
        let kind = KindFilter { types: vec![Type::Explicit], source: None };
        let found = store.newest_events(&ours, kind, Position(before), limit).await.unwrap();
        found.iter().map(|stored| stored.event.id.to_string()).collect()
    };
    assert_eq!(newest(u64::MAX, 9).await, ["r2", "r1", "r0"]);
    assert_eq!(newest(u64::MAX, 2).await, ["r2", "r1"]);
    assert_eq!(newest(7, 9).await, ["r1", "r0"], "before that position");
}

/// Questions asked long ago and sent late are not recent.
pub(crate) async fn recent_questions_are_returned(store: &Store) {
    let other = Scope { tenant: Tenant::new("other").unwrap(), ..Scope::default() };
    let told = |mut scene: Scene, asked: i64, received: i64| {
        (scene.event.ts, scene.event.received_at) = (at(asked), at(received));
        scene.event.kind = Kind { event_type: Type::Query, source: Source::Turn };
        scene
    };
    play(
        store,
        [
            told(Scene::open("old", "c1"), -100, -100),
            told(Scene::open("t1", "c1"), 10, 10),
            told(Scene::open("t2", "c1").of(&other), 20, 20),
            told(Scene::open("imported", "c1"), -100, 30),
            told(Scene::open("ahead", "c1"), 40, -100),
            told(Scene::answer("t1"), 50, 50),
        ],
    )
    .await;
    let recent = async |secs: i64, newest: u64| -> Vec<(Scope, String)> {
        let found = store.recent_questions(at(secs), newest).await.unwrap();
        let one =
            |stored: crate::StoredEvent| (stored.event.scope.clone(), stored.event.id.to_string());
        found.into_iter().map(one).collect()
    };
    let first = (Scope::default(), "open-t1".to_owned());
    let second = (other, "open-t2".to_owned());
    assert_eq!(recent(0, 99).await, [first, second.clone()]);
    assert_eq!(recent(11, 99).await, std::slice::from_ref(&second));
    assert_eq!(recent(0, 4).await, [second], "among the newest four");
}
