//! Use of retrieved items.

use model::{
    Change, ItemStanding, Opinion, RankBand, RelevanceSignal, RetrievalChange, Scope, Tenant,
    UsageStanding,
};

use crate::contract::scene::{Scene, play};
use crate::{Extreme, Store, StoredTally};

fn weigh(
    id: usize,
    query: &str,
    cluster: Option<u64>,
    entity: &str,
    rank: Option<u32>,
    signal: RelevanceSignal,
) -> Scene {
    let (query, entity, band) = (query.to_owned(), entity.to_owned(), RankBand::from_rank(rank));
    let change = Change::Retrieval(RetrievalChange::Weigh { query, cluster, entity, band, signal });
    Scene::new(&format!("weigh-{id}"), "t1", change)
}

pub(crate) async fn query_counts_once_per_item(store: &Store) {
    use RelevanceSignal::{ExplicitNegative, ExplicitPositive, Ignored, Used};
    let scope = Scope::default();
    assert!(store.returned(&scope, "q1", 9).await.unwrap().is_empty());
    let returned =
        Scene::new("r1", "t1", Change::Retrieval(RetrievalChange::Return { query: "q1".into() }));
    play(store, [Scene::open("t1", "c1"), returned]).await;
    let event = store.returned(&scope, "q1", 9).await.unwrap().remove(0).event;
    assert_eq!(event.id.as_str(), "r1");
    let (one, other) = (Some(u64::MAX), Some(7));
    let steps = [
        ("q1", one, "e1", Some(1), Ignored),
        ("q1", one, "e1", Some(9), Used), // the first rank stands
        ("q1", one, "e1", Some(1), Used),
        ("q1", one, "e1", Some(1), Ignored),
        ("q1", one, "e1", None, ExplicitPositive),
        ("q1", one, "e1", None, ExplicitNegative),
        ("q2", other, "e1", Some(3), Ignored),
        ("q2", None, "e2", None, Ignored),
    ];
    for (n, (query, cluster, entity, rank, signal)) in steps.into_iter().enumerate() {
        play(store, [weigh(n, query, cluster, entity, rank, signal)]).await;
    }
    let mut both = StoredTally { used: 1, ignored: 1, negative: 1, ..StoredTally::default() };
    (both.returned[0], both.returned[2]) = (1, 1);
    let mut first = StoredTally { used: 1, negative: 1, ..StoredTally::default() };
    first.returned[0] = 1;
    let entities = vec!["e1".to_owned(), "e3".to_owned()];
    let found = store.tallies(&scope, one, entities.clone()).await.unwrap();
    assert_eq!(found.items, [(Some(both), Some(first)), (None, None)]);
    assert_eq!((found.totals[0], found.totals[2], found.totals[11]), ((1, 1), (1, 0), (1, 0)));
    let elsewhere = Scope { tenant: Tenant::new("other").unwrap(), ..Scope::default() };
    let nothing = store.tallies(&elsewhere, one, entities).await.unwrap();
    assert_eq!(nothing.items, [(None, None); 2]);
    let names = async |which| -> Vec<String> {
        let found = store.extremes(&scope, which, 9).await.unwrap();
        found.into_iter().map(|(entity, _)| entity).collect()
    };
    play(store, [weigh(20, "q3", None, "e3", Some(1), Used)]).await;
    assert_eq!(names(Extreme::Helpful).await, ["e3"]);
    assert_eq!(names(Extreme::Ignored).await, ["e1", "e2"]);
}

pub(crate) async fn item_standings_are_returned(store: &Store) {
    use RelevanceSignal::{ExplicitNegative, Ignored, Used};
    let here = Scope::default();
    let elsewhere = Scope { tenant: Tenant::new("other").unwrap(), ..Scope::default() };
    let steps = [("e1", Used), ("e1", ExplicitNegative), ("e2", Ignored)];
    for (n, (entity, signal)) in steps.into_iter().enumerate() {
        play(store, [weigh(n, "q1", None, entity, None, signal)]).await;
    }
    let ask = async |scope: &Scope, query: &str| {
        let entities = ["e2", "e9", "e1"].map(str::to_owned).to_vec();
        store.standings(scope, query, entities).await.unwrap()
    };
    let nothing = ItemStanding::default();
    let ignored = ItemStanding { usage: Some(UsageStanding::Ignored), opinion: None };
    let used = ItemStanding { usage: Some(UsageStanding::Used), opinion: Some(Opinion::Negative) };
    assert_eq!(ask(&here, "q1").await, [ignored, nothing, used]);
    assert_eq!(ask(&here, "q2").await, [nothing; 3]);
    assert_eq!(ask(&elsewhere, "q1").await, [nothing; 3]);
}
