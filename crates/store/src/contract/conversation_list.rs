//! The list of conversations.

use model::{
    Change, ConversationId, ErrorType, Kind, Language, Reaction, Scope, Sentiment, Source, Tenant,
    TurnChange, TurnFact, Type, VerdictStatus, Window,
};
use serde_json::{Value, json};

use crate::contract::scene::{Scene, at, play, user_id};
use crate::{
    ListCursor, ListPage, ListQuery, RankedBy, Store, SummaryCounts, SummaryPage, TurnFilter,
    TurnMark,
};

fn query(mark: TurnMark, limit: usize) -> ListQuery {
    ListQuery {
        tenant: Scope::default().tenant,
        project: None,
        window: Window { start: at(-10), end: at(1000) },
        model: None,
        prompt: None,
        user: None,
        words: None,
        mark,
        filter: TurnFilter::default(),
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

async fn newest(store: &Store, query: ListQuery) -> Vec<(String, String)> {
    names(&store.newest_conversations(query).await.unwrap())
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
}

async fn stage(store: &Store) {
    let answered = |turn: &str, model: &str| {
        let (model, prompt) = (Some(model.to_owned()), Some("shop@3".to_owned()));
        let failed = model.as_deref() == Some("m3");
        let fact = TurnFact::Answered { model, prompt, strategy: None, failed, tokens: 1, cost: 1 };
        Scene::note(&format!("a-{turn}"), turn, fact)
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

pub(crate) async fn conversation_list_matches_turns(store: &Store) {
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

pub(crate) async fn conversation_list_pages_are_complete(store: &Store) {
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
    // A negative reaction, a turn rejected by the machine, and a failed turn.
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

pub(crate) async fn pages_of_a_user_have_shared_conversations(store: &Store) {
    play(
        store,
        [
            asks("t1", "c1", "refund").by("ann").at(1),
            asks("t3", "c2", "refund").by("ann").at(3),
            asks("t5", "c1", "refund").by("bob").at(5),
        ],
    )
    .await;
    for words in [None, Some("refund".to_owned())] {
        let (mut found, mut behind) = (Vec::new(), None);
        loop {
            let user = Some(user_id("ann"));
            let page = ListQuery { user, words: words.clone(), behind, ..query(TurnMark::All, 1) };
            let page = store.newest_conversations(page).await.unwrap();
            found.extend(names(&page));
            behind = page.next;
            if behind.is_none() {
                break;
            }
        }
        assert_eq!(found, pairs(&[("c2", "t3"), ("c1", "t1")]), "{words:?}");
    }
}

/// Adds text to a scene.
pub(crate) fn said(scene: Scene, source: Source, data: &Value) -> Scene {
    let mut scene = scene.saying(data);
    scene.event.kind = Kind { event_type: Type::Query, source };
    scene
}

pub(crate) fn asks(turn: &str, conversation: &str, text: &str) -> Scene {
    said(Scene::open(turn, conversation), Source::Turn, &json!({"phase": "opened", "text": text}))
}

pub(crate) async fn worded(store: &Store, text: &str) -> Vec<(String, String)> {
    newest(store, ListQuery { words: Some(text.to_owned()), ..query(TurnMark::All, 10) }).await
}

/// Messages of two users and of another project.
pub(crate) async fn talk(store: &Store) -> Scope {
    let other = Scope { tenant: Tenant::new("other").unwrap(), ..Scope::default() };
    let answer =
        json!({"phase": "completed", "response": "Refunds take: 3 days.", "status": "success"});
    let comment = Scene::react("a-comment", "t2", Reaction::NotOk).at(4);
    play(
        store,
        [
            asks("t1", "c1", "May I get a Refund, please?").at(1),
            said(Scene::answer("t1"), Source::Turn, &answer).at(1),
            asks("t2", "c2", "Où est ma commande n°17?").by("ann").at(2),
            asks("t3", "c3", "refund-policy of example.com").at(3),
            said(comment, Source::UserComment, &json!({"comment": "I said \"refund\" twice"})),
            asks("t4", "c4", "refund").of(&other).at(5),
            asks("t5", "c1", "Thanks for the refund").at(6),
        ],
    )
    .await;
    other
}

pub(crate) async fn words_are_found_until_erased(store: &Store) {
    let other = talk(store).await;
    for (words, expected) in [
        ("refund", &[("c1", "t5"), ("c2", "t2"), ("c3", "t3")][..]),
        ("REFUND policy", &[("c3", "t3")]),
        ("days refunds", &[("c1", "t1")]),
        ("example.com", &[("c3", "t3")]),
        ("commande 17", &[("c2", "t2")]),
        ("und", &[]),
        ("re", &[]),
        ("refund \" * ' ) OR :", &[]),
        ("refund & | ! <-> \\", &[("c1", "t5"), ("c2", "t2"), ("c3", "t3")]),
        ("p1p p2p p3p NEAR", &[]),
        ("?!", &[]),
    ] {
        assert_eq!(worded(store, words).await, pairs(expected), "{words}");
    }
    let bad = ListQuery { words: Some("refund".into()), ..query(TurnMark::NotOk, 10) };
    assert_eq!(newest(store, bad).await, pairs(&[("c2", "t2")]));
    let early = Window { start: at(-10), end: at(2) };
    let early =
        ListQuery { window: early, words: Some("refund".into()), ..query(TurnMark::All, 10) };
    assert_eq!(newest(store, early).await, pairs(&[("c2", "t2"), ("c1", "t1")]));
    for (user, expected) in [("ann", &[("c2", "t2")][..]), ("nobody", &[])] {
        let (user, words) = (Some(user_id(user)), Some("refund".into()));
        let theirs = ListQuery { user, words, ..query(TurnMark::All, 10) };
        assert_eq!(newest(store, theirs).await, pairs(expected));
    }
    let mut erasure = Scene::new("erasure", "t1", Change::EraseUser(user_id("u1")));
    erasure.event.turn = None;
    play(store, [erasure]).await;
    assert_eq!(worded(store, "refund").await, pairs(&[("c2", "t2")]), "what was said of ann's");
    assert_eq!(worded(store, "commande").await, pairs(&[("c2", "t2")]));
    store.remove_tenant(&other.tenant).await.unwrap();
    let gone = ListQuery {
        tenant: other.tenant,
        words: Some("refund".into()),
        ..query(TurnMark::All, 10)
    };
    assert_eq!(newest(store, gone).await, pairs(&[]));
}

/// Includes scripts with combining vowels.
pub(crate) async fn words_with_marks_are_found(store: &Store) {
    play(
        store,
        [
            asks("t1", "c1", "हिन्दी में नमस्ते").at(1),
            asks("t2", "c2", "สวัสดีครับ").at(2),
            asks("t3", "c3", "שָׁלוֹם").at(3),
        ],
    )
    .await;
    for (words, expected) in [
        ("हिन्दी", ("c1", "t1")),
        ("नमस्ते में", ("c1", "t1")),
        ("สวัสดี", ("c2", "t2")),
        ("שָׁלוֹם", ("c3", "t3")),
    ] {
        assert_eq!(worded(store, words).await, pairs(&[expected]), "{words}");
    }
}

pub(crate) async fn long_conversation_hides_no_other(store: &Store) {
    let long = (1..=450).map(|n| asks(&format!("l{n}"), "long", "another refund").at(n).write());
    let old = asks("o", "old", "the first refund").at(0).write();
    store.commit(std::iter::once(old).chain(long).collect()).await.unwrap();
    let both = pairs(&[("long", "l450"), ("old", "o")]);
    assert_eq!(newest(store, query(TurnMark::All, 10)).await, both);
    assert_eq!(worded(store, "refund").await, both);
}

pub(crate) async fn worst_turn_represents_its_conversation(store: &Store) {
    stage(store).await;
    let failed = TurnFact::Shown { failed: true, millis: None };
    play(
        store,
        [
            Scene::open("t6", "c1").at(9),
            Scene::note("failed", "t6", failed),
            Scene::open("t7", "c4").at(10),
            Scene::note("fixed", "t7", TurnFact::Corrected),
        ],
    )
    .await;
    let worst = async |model: Option<&str>, prompt: Option<&str>| {
        let (model, prompt) = (model.map(str::to_owned), prompt.map(str::to_owned));
        let asked = ListQuery { model, prompt, ..query(TurnMark::All, 10) };
        names(&store.worst_conversations(asked).await.unwrap())
    };
    assert_eq!(worst(None, None).await[..2], pairs(&[("c1", "t1"), ("c4", "t7")]));
    assert_eq!(worst(Some("m2"), None).await, pairs(&[("c2", "t2")]));
    for (prompt, found) in [("shop", 3), ("shop@3", 3), ("sho", 0), ("shop@", 0)] {
        assert_eq!(worst(None, Some(prompt)).await.len(), found, "{prompt}");
    }
}

pub(crate) async fn word_search_pages_are_complete(store: &Store) {
    talk(store).await;
    let (mut found, mut behind) = (Vec::new(), None::<ListCursor>);
    loop {
        let words = Some("refund".to_owned());
        let page = ListQuery { behind, words, ..query(TurnMark::All, 1) };
        let page = store.newest_conversations(page).await.unwrap();
        found.extend(names(&page));
        behind = page.next;
        if behind.is_none() {
            break;
        }
    }
    assert_eq!(found, pairs(&[("c1", "t5"), ("c2", "t2"), ("c3", "t3")]), "page by page");
    // A turn is listed once, also when its question and its answer have the word.
    let (mut turns, mut behind) = (Vec::new(), None::<ListCursor>);
    loop {
        let words = Some("refund".to_owned());
        let page = ListQuery { behind, words, ..query(TurnMark::All, 1) };
        let page = store.newest_turns(page).await.unwrap();
        turns.extend(page.items.into_iter().map(|one| one.turn.to_string()));
        behind = page.next;
        if behind.is_none() {
            break;
        }
    }
    assert_eq!(turns, ["t5", "t2", "t3", "t1"]);
}

/// The turns that a filter selects, newest first.
async fn filtered(store: &Store, filter: TurnFilter) -> Vec<String> {
    let query = ListQuery { filter, ..query(TurnMark::All, 10) };
    let page = store.newest_turns(query).await.unwrap();
    page.items.iter().map(|one| one.turn.to_string()).collect()
}

pub(crate) async fn turn_filters_select_turns(store: &Store) {
    stage(store).await;
    let none = TurnFilter::default;
    let word = || Some("w".to_owned());
    let conversation = |id: &str| Some(ConversationId::new(id).unwrap());
    let error_types = vec![ErrorType::ModelRefusal, ErrorType::ErrorText];
    for (filter, expected) in [
        (none(), &["t5", "t4", "t3", "t2", "t1"][..]),
        (TurnFilter { status: Some(VerdictStatus::Rejected), ..none() }, &["t2", "t1"]),
        (TurnFilter { status: Some(VerdictStatus::Accepted), ..none() }, &["t3"]),
        (TurnFilter { status: Some(VerdictStatus::Neutral), ..none() }, &["t5", "t4"]),
        (TurnFilter { reaction: Some(Reaction::NotOk), ..none() }, &["t1"]),
        (TurnFilter { conversation: conversation("c1"), ..none() }, &["t3", "t1"]),
        (TurnFilter { conversation: conversation("c9"), ..none() }, &[]),
        (TurnFilter { strategy: word(), ..none() }, &[]),
        (TurnFilter { intent: word(), ..none() }, &[]),
        (TurnFilter { tag: word(), ..none() }, &[]),
        (TurnFilter { error_types, ..none() }, &[]),
    ] {
        assert_eq!(filtered(store, filter.clone()).await, expected, "{filter:?}");
    }
    let mut german = Scene::open("t6", "c6").by("u6").at(9);
    if let Change::Turn(TurnChange::Open { language, .. }) = &mut german.change {
        *language = Some(Language::German);
    }
    play(store, [german]).await;
    for (language, expected) in [(Language::German, &["t6"][..]), (Language::English, &[])] {
        let filter = TurnFilter { language: Some(language), ..none() };
        assert_eq!(filtered(store, filter).await, expected, "{language:?}");
    }
    let filter = TurnFilter { conversation: conversation("c2"), ..none() };
    let theirs = ListQuery { user: Some(user_id("u2")), filter, ..query(TurnMark::All, 1) };
    let page = store.newest_turns(theirs.clone()).await.unwrap();
    assert_eq!((page.items[0].turn.as_str(), page.next.is_some()), ("t5", true));
    let page = store.newest_turns(ListQuery { behind: page.next, ..theirs }).await.unwrap();
    assert_eq!((page.items[0].turn.as_str(), page.next), ("t2", None));
}

pub(crate) async fn conversation_summaries_are_counted_and_ranked(store: &Store) {
    stage(store).await;
    let names = |page: &SummaryPage| -> Vec<String> {
        page.items.iter().map(|one| one.conversation.to_string()).collect()
    };
    let first = store.conversation_summaries(query(TurnMark::All, 2), None).await.unwrap();
    assert_eq!(
        (names(&first), first.total, first.total_is_capped),
        (vec!["c2".into(), "c3".into()], 3, false)
    );
    let rest = ListQuery { behind: first.next, ..query(TurnMark::All, 2) };
    let rest = store.conversation_summaries(rest, None).await.unwrap();
    let [c1] = &rest.items[..] else { panic!("{rest:?}") };
    let expected = SummaryCounts {
        turns: 2,
        rejected: 1,
        accepted: 1,
        ok: 1,
        not_ok: 1,
        cost: 2e-9,
        ..SummaryCounts::default()
    };
    assert_eq!((c1.counts, c1.first, c1.last), (expected, at(1), at(3)));
    for (rank, expected) in [
        (RankedBy::Problems, &["c1", "c3", "c2"][..]),
        (RankedBy::Cost, &["c1", "c3", "c2"]),
        (RankedBy::Latency, &[]),
    ] {
        let page = store.conversation_summaries(query(TurnMark::All, 9), Some(rank)).await.unwrap();
        assert_eq!(names(&page), expected, "{rank:?}");
    }
    let criticism = TurnFact::Commented(Sentiment::Negative);
    play(store, [Scene::open("t6", "c6").at(9), Scene::note("criticism", "t6", criticism)]).await;
    let worst = query(TurnMark::All, 9);
    let worst = store.conversation_summaries(worst, Some(RankedBy::Problems)).await.unwrap();
    assert_eq!((names(&worst).len(), worst.total), (4, 4), "all that are counted are listed");
}
