//! The period report.

use model::{Origin, Reaction, Scope, Window};

use crate::contract::scene::{Scene, at, play, user_id};
use crate::{PeriodQuery, ReactionCounts, ReactionFilter, Store};

const DAY: i64 = 86_400;

fn query(start: i64, end: i64, filter: ReactionFilter) -> PeriodQuery {
    PeriodQuery {
        scope: Scope::default(),
        window: Window { start: at(start), end: at(end) },
        filter,
        after: None,
        limit: 100,
        with_reactions: true,
    }
}

/// Compares pages with a full count, for many windows and filters.
pub(crate) async fn period_pages_match_a_full_count(store: &Store) {
    let given = given();
    let turns = (0..6).flat_map(|c| {
        (0..4).map(move |t| Scene::open(&format!("c{c}t{t}"), &format!("c{c}")).at(c))
    });
    play(store, turns).await;
    let scenes = given.iter().enumerate().map(|(n, row)| {
        let turn = format!("c{}t{}", row.conversation, n % 4);
        let scene = match row.origin {
            Origin::User => Scene::react(&format!("e{n}"), &turn, row.reaction),
            Origin::Machine => Scene::infer(&format!("e{n}"), &turn, row.reaction),
        };
        scene.by(row.user).at(row.secs)
    });
    play(store, scenes).await;
    // A user's later reaction replaces the earlier one.
    let left = last_of_each(&given);
    let origins = [None, Some(Origin::User), Some(Origin::Machine)];
    let reactions = [None, Some(Reaction::Ok), Some(Reaction::Neutral)];
    let users = [None, Some("u1"), Some("u2"), Some("nobody")];
    let windows =
        [(-9 * DAY, 9 * DAY), (0, 2 * DAY), (DAY / 2, DAY), (3 * DAY / 2, 9 * DAY), (5, 5)];
    for (start, end) in windows {
        for (origin, reaction) in origins.iter().flat_map(|o| reactions.map(|r| (*o, r))) {
            for user in users {
                let filter = ReactionFilter { user: user.map(user_id), origin, reaction };
                let matches = |row: &&Row| {
                    (start..=end).contains(&row.secs)
                        && user.is_none_or(|user| user == row.user)
                        && origin.is_none_or(|origin| origin == row.origin)
                        && reaction.is_none_or(|reaction| reaction == row.reaction)
                };
                let rows: Vec<&Row> = left.iter().filter(matches).collect();
                check_pages(store, &query(start, end, filter), &rows).await;
            }
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Row {
    conversation: usize,
    turn: usize,
    user: &'static str,
    origin: Origin,
    reaction: Reaction,
    secs: i64,
}

/// Reactions of every kind over four days, with many ties.
fn given() -> Vec<Row> {
    (0..120_usize)
        .map(|n| Row {
            conversation: (n * 7) % 6,
            turn: n % 4,
            user: ["u1", "u2", "u3"][(n * 5) % 3],
            origin: if n % 5 == 0 { Origin::Machine } else { Origin::User },
            reaction: [Reaction::Ok, Reaction::NotOk, Reaction::Neutral][(n / 3) % 3],
            secs: ((n * 13) % 17) as i64 * DAY / 4,
        })
        .collect()
}

fn last_of_each(given: &[Row]) -> Vec<Row> {
    let replaced = |row: &Row, by: &Row| {
        row.origin == Origin::User
            && by.origin == Origin::User
            && (row.conversation, row.turn, row.user) == (by.conversation, by.turn, by.user)
    };
    let stays = |(n, row): &(usize, &Row)| !given[n + 1..].iter().any(|later| replaced(row, later));
    given.iter().enumerate().filter(stays).map(|(_, row)| *row).collect()
}

/// Reads the pages two by two and compares each conversation.
async fn check_pages(store: &Store, query: &PeriodQuery, rows: &[&Row]) {
    let mut expected: Vec<(i64, usize, ReactionCounts)> = Vec::new();
    for conversation in 0..6 {
        let own = rows.iter().filter(|row| row.conversation == conversation);
        let Some(newest) = own.clone().map(|row| row.secs).max() else { continue };
        let mut counts = ReactionCounts::default();
        own.for_each(|row| counts.add(row.origin, row.reaction, 1));
        expected.push((newest, conversation, counts));
    }
    // The order of ties is the backend's, but stable.
    expected.sort_by_key(|(newest, conversation, _)| (-newest, *conversation));
    let mut found = Vec::new();
    let mut query = PeriodQuery { limit: 2, ..query.clone() };
    loop {
        let page = store.active_conversations(query.clone()).await.unwrap();
        query.after = page.next;
        found.extend(page.items.iter().map(|active| {
            let number: usize = active.conversation.as_str()[1..].parse().unwrap();
            assert_eq!(active.counts.total(), active.reactions.len() as u64, "{query:?}");
            assert_eq!(active.started_at, Some(at(number as i64)));
            let newest = active.reactions.iter().map(|reaction| reaction.ts).max();
            assert_eq!(newest, Some(active.mark.last_activity));
            let secs = (active.mark.last_activity.as_micros() - at(0).as_micros()) / 1_000_000;
            (secs, number, active.counts)
        }));
        if page.next.is_none() {
            break;
        }
    }
    assert!(found.is_sorted_by_key(|(secs, ..)| -secs), "{found:?}");
    found.sort_by_key(|(newest, conversation, _)| (-newest, *conversation));
    assert_eq!(found, expected, "{query:?}");
}
