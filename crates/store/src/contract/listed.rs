//! The list of conversations.

use event::{Change, Reaction, Scope, Tenant, TurnFact, VerdictStatus, Window};

use super::scene::{Scene, at, play, user_id};
use crate::{ListPage, ListQuery, Store, TurnMark};

fn query(mark: TurnMark, limit: usize) -> ListQuery {
    ListQuery {
        tenant: Scope::default().tenant,
        project: None,
        window: Window { start: at(-10), end: at(1000) },
        model: None,
        prompt: None,
        user: None,
        mark,
        behind: None,
        limit,
    }
}

fn names(page: &ListPage) -> Vec<(String, String)> {
    let both = page.items.iter().map(|item| {
        let conversation = item.shown.conversation.as_ref().unwrap();
        (conversation.to_string(), item.shown.turn.to_string())
    });
    both.collect()
}

async fn newest(store: &dyn Store, query: ListQuery) -> Vec<(String, String)> {
    names(&store.newest_conversations(query).await.unwrap())
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
}

async fn stage(store: &dyn Store) {
    let answered = |turn: &str, model: &str| {
        let (model, prompt) = (Some(model.to_owned()), Some("shop@3".to_owned()));
        let failed = model.as_deref() == Some("m3");
        let fact = TurnFact::Answered { model, prompt, strategy: None, failed, tokens: 1, cost: 1 };
        Scene::new(&format!("a-{turn}"), turn, Change::Note(fact))
    };
    play(
        store,
        [
            Scene::open("t1", "c1").at(1),
            Scene::open("t2", "c2").at(2).by("u2"),
            Scene::open("t3", "c1").at(3),
            Scene::open("t4", "c3").at(4),
            Scene::open("t5", "c2").at(5).by("u2"),
            answered("t1", "m1"),
            answered("t2", "m2"),
            answered("t3", "m1"),
            answered("t4", "m3"),
            Scene::react("bad", "t1", Reaction::NotOk).by("u1").at(6),
            Scene::judge("t2", "t5", VerdictStatus::Rejected, false).at(7),
            Scene::react("good", "t3", Reaction::Ok).by("u1").at(8),
        ],
    )
    .await;
}

/// A conversation is there once, by its newest turn that is like what is wanted.
pub(crate) async fn conversations_are_listed_by_what_their_turns_were_like(store: &dyn Store) {
    stage(store).await;
    let all = newest(store, query(TurnMark::All, 10)).await;
    assert_eq!(all, pairs(&[("c2", "t5"), ("c3", "t4"), ("c1", "t3")]));
    for (mark, expected) in [
        (TurnMark::Trouble, &[("c3", "t4"), ("c2", "t2"), ("c1", "t1")][..]),
        (TurnMark::NotOk, &[("c1", "t1")]),
        (TurnMark::Ok, &[("c1", "t3")]),
        (TurnMark::Rejected, &[("c2", "t2"), ("c1", "t1")]),
        (TurnMark::Failed, &[("c3", "t4")]),
        (TurnMark::ToReview, &[("c2", "t2")]),
        (TurnMark::Corrected, &[]),
    ] {
        assert_eq!(newest(store, query(mark, 10)).await, pairs(expected), "{mark:?}");
    }
    let of_model = ListQuery { model: Some("m2".into()), ..query(TurnMark::All, 10) };
    assert_eq!(newest(store, of_model).await, pairs(&[("c2", "t2")]));
    let of_prompt = ListQuery { prompt: Some("shop".into()), ..query(TurnMark::All, 10) };
    assert_eq!(newest(store, of_prompt).await.len(), 3);
    let other = ListQuery { prompt: Some("sho".into()), ..query(TurnMark::All, 10) };
    assert!(newest(store, other).await.is_empty());
    let theirs = ListQuery { user: Some(user_id("u2")), ..query(TurnMark::All, 10) };
    assert_eq!(newest(store, theirs).await, pairs(&[("c2", "t5")]));
    let early =
        ListQuery { window: Window { start: at(-10), end: at(2) }, ..query(TurnMark::All, 10) };
    assert_eq!(newest(store, early).await, pairs(&[("c2", "t2"), ("c1", "t1")]));
    let tenant = Tenant::new("other").unwrap();
    assert!(newest(store, ListQuery { tenant, ..query(TurnMark::All, 10) }).await.is_empty());
}

/// Pages neither repeat nor skip, in either order.
pub(crate) async fn pages_of_the_list_are_the_whole_list(store: &dyn Store) {
    stage(store).await;
    let whole = newest(store, query(TurnMark::All, 10)).await;
    let (mut found, mut behind) = (Vec::new(), None);
    loop {
        let wanted = ListQuery { behind, ..query(TurnMark::All, 1) };
        let page = store.newest_conversations(wanted).await.unwrap();
        found.extend(names(&page));
        behind = page.next;
        if behind.is_none() {
            break;
        }
    }
    assert_eq!(found, whole);
    let worst = store.worst_conversations(query(TurnMark::All, 10)).await.unwrap();
    // A bad reaction of a user, which also makes it rejected; then one that the machine thinks is rejected,
    // and one that failed by itself.
    assert_eq!(names(&worst)[0], ("c1".to_owned(), "t1".to_owned()));
    let tally = worst.items[0].tally;
    assert_eq!((tally.turns, tally.ok, tally.not_ok, tally.rejected), (2, 1, 1, 1));
    assert_eq!((worst.items[0].first, worst.items[0].last), (at(1), at(3)));
    let (mut found, mut behind) = (Vec::new(), None);
    loop {
        let wanted = ListQuery { behind, ..query(TurnMark::All, 1) };
        let page = store.worst_conversations(wanted).await.unwrap();
        found.extend(names(&page));
        behind = page.next;
        if behind.is_none() {
            break;
        }
    }
    assert_eq!(found, names(&worst));
    assert_eq!(found.len(), 3);
}
