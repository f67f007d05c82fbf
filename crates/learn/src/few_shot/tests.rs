use std::collections::BTreeMap;

use model::{Timestamp, UnitInterval};
use proptest::prelude::*;

use super::*;
use crate::question::QuestionKey;
use ExampleSource::{Accepted, Correction, Rating};

type TestOffer = ExampleOffer<'static, String>;

fn key(question: &str) -> QuestionKey {
    QuestionKey::from_text(question).unwrap()
}

/// The payload is the id of the offer.
fn offer(question: &str, source: ExampleSource, id: &'static str, secs: i64) -> TestOffer {
    ExampleOffer {
        question: key(question),
        source,
        turn: id,
        id,
        rating: None,
        when: Timestamp::from_micros(0).plus_secs(secs),
        tokens: 10,
        payload: id.to_owned(),
    }
}

fn rated(question: &str, id: &'static str, rating: f64, secs: i64) -> TestOffer {
    ExampleOffer { rating: UnitInterval::new(rating), ..offer(question, Rating, id, secs) }
}

fn pool(offers: Vec<TestOffer>) -> ExamplePool<String> {
    let mut pool = ExamplePool::default();
    for offer in offers {
        pool.insert(offer);
    }
    pool
}

fn best(pool: &ExamplePool<String>, question: &str) -> Option<String> {
    pool.find_best(key(question)).map(|(_, best)| best.payload.clone())
}

#[test]
fn best_example_is_latest_correction_then_best_rating_then_newest() {
    let rows: [(Vec<TestOffer>, &str); 5] = [
        (vec![offer("q", Correction, "c", 1), rated("q", "r", 1.0, 9)], "c"),
        (vec![offer("q", Correction, "old", 1), offer("Q?", Correction, "new", 2)], "new"),
        (vec![rated("q", "good", 0.9, 1), rated("q", "fair", 0.7, 9)], "good"),
        (vec![rated("q", "old", 0.9, 1), rated("q", "new", 0.9, 2)], "new"),
        (vec![offer("q", Accepted, "a", 9), rated("q", "r", 0.7, 1)], "r"),
    ];
    for (mut offers, expected) in rows {
        assert_eq!(best(&pool(offers.clone()), "q").as_deref(), Some(expected));
        offers.reverse();
        assert_eq!(best(&pool(offers), "q").as_deref(), Some(expected), "in the other order");
    }
}

#[test]
fn rating_does_not_rank_corrections() {
    let scored =
        ExampleOffer { rating: UnitInterval::new(1.0), ..offer("q", Correction, "old", 1) };
    assert_eq!(best(&pool(vec![scored, offer("q", Correction, "new", 2)]), "q").unwrap(), "new");
}

#[test]
fn removing_the_best_example_promotes_the_next() {
    let mut pool = pool(vec![
        offer("q", Correction, "c", 3),
        rated("q", "r", 0.8, 2),
        offer("q", Accepted, "a", 1),
    ]);
    for (turn, next) in [("c", Some("r")), ("r", Some("a")), ("a", None)] {
        let effect = pool.remove_turn(turn);
        assert_eq!(best(&pool, "q").as_deref(), next);
        let left = if next.is_none() { vec![key("q")] } else { vec![] };
        assert_eq!(effect, IndexChange { added: None, removed: left });
    }
    assert!(pool.is_empty());
}

#[test]
fn removing_a_turn_removes_its_corrections() {
    let correction = ExampleOffer { turn: "t", ..offer("q", Correction, "event", 3) };
    let mut pool =
        pool(vec![rated("q", "t", 1.0, 1), correction, offer("other", Accepted, "u", 1)]);
    assert_eq!(pool.remove_turn("t").removed, [key("q")]);
    assert_eq!((best(&pool, "q"), pool.len()), (None, 1));
}

#[test]
fn second_rating_of_a_turn_replaces_the_first() {
    let mut pool = pool(vec![rated("q", "t", 1.0, 1), rated("q", "u", 0.8, 1)]);
    assert_eq!(pool.insert(rated("q", "t", 0.7, 2)), IndexChange::default());
    assert_eq!(best(&pool, "q").unwrap(), "u");
}

#[test]
fn only_the_first_offer_of_a_question_changes_the_index() {
    let mut pool = ExamplePool::default();
    assert_eq!(pool.insert(offer("q", Accepted, "a", 1)).added, Some(key("q")));
    assert_eq!(pool.insert(offer("Q!", Correction, "c", 1)), IndexChange::default());
    assert_eq!(pool.insert(offer("q", Accepted, "a", 2)), IndexChange::default(), "put again");
    let moved = pool.insert(offer("p", Correction, "c", 1));
    assert_eq!(moved, IndexChange { added: Some(key("p")), removed: vec![] });
    let moved = pool.insert(offer("p", Accepted, "a", 1));
    assert_eq!(moved, IndexChange { added: None, removed: vec![key("q")] });
    assert_eq!(pool.len(), 1);
}

fn near(question: &str, similarity: f32, vector: &[f32]) -> NearQuestion {
    NearQuestion { question: key(question), similarity, vector: vector.to_vec() }
}

fn query<'a>(k: usize, diversity: f64) -> ExampleQuery<'a> {
    ExampleQuery { query: "", vector: &[], k, max_tokens: None, diversity, excluded: &[] }
}

fn names(selected: &[SelectedExample<String>]) -> Vec<&str> {
    selected.iter().map(|example| example.payload.as_str()).collect()
}

/// Two near-duplicates close to the query, and a different question slightly further away.
fn make_twins() -> (ExamplePool<String>, Vec<NearQuestion>) {
    let pool = pool(vec![
        offer("twin one", Accepted, "one", 1),
        offer("twin two", Accepted, "two", 1),
        offer("other", Accepted, "other", 1),
    ]);
    let near = vec![
        near("twin one", 0.90, &[1.0, 0.0]),
        near("twin two", 0.89, &[0.999, 0.045]),
        near("other", 0.70, &[0.0, 1.0]),
    ];
    (pool, near)
}

#[test]
fn diversity_avoids_near_duplicates() {
    let (pool, near) = make_twins();
    assert_eq!(names(&select_examples(&pool, &query(2, 0.3), near.clone())), ["one", "other"]);
    assert_eq!(names(&select_examples(&pool, &query(2, 0.0), near.clone())), ["one", "two"]);
    assert_eq!(names(&select_examples(&pool, &query(3, 0.3), near)), ["one", "other", "two"]);
}

#[test]
fn examples_over_the_token_budget_are_skipped() {
    let (mut pool, near) = make_twins();
    pool.insert(ExampleOffer { tokens: 91, ..offer("twin two", Correction, "long", 2) });
    let budget = |max_tokens| ExampleQuery { max_tokens: Some(max_tokens), ..query(3, 0.0) };
    assert_eq!(
        names(&select_examples(&pool, &budget(111), near.clone())),
        ["one", "long", "other"]
    );
    assert_eq!(names(&select_examples(&pool, &budget(100), near.clone())), ["one", "other"]);
    assert_eq!(names(&select_examples(&pool, &budget(9), near)), [""; 0]);
}

#[test]
fn examples_below_the_similarity_floor_are_dropped() {
    let pool = pool(vec![offer("far", Accepted, "far", 1), offer("odd", Accepted, "odd", 1)]);
    let near = vec![
        near("far", SIMILARITY_FLOOR - 0.001, &[1.0]),
        near("odd", f32::NAN, &[1.0]),
        near("never in the pool", 0.9, &[1.0]),
    ];
    assert!(select_examples(&pool, &query(3, 0.3), near).is_empty());
}

#[test]
fn similarity_ties_go_to_the_newer_example() {
    // Each question is the newest once, so no other order passes.
    for [a, b, c] in
        [["old", "newest", "newer"], ["newest", "newer", "old"], ["newer", "old", "newest"]]
    {
        let secs = |id| ["old", "newer", "newest"].iter().position(|known| *known == id).unwrap();
        let given = |question, id| offer(question, Accepted, id, secs(id) as i64);
        let pool = pool(vec![given("a", a), given("b", b), given("c", c)]);
        let found = ["a", "b", "c"].map(|question| near(question, 0.8, &[0.0]));
        let selected = select_examples(&pool, &query(3, 0.3), found.to_vec());
        assert_eq!(names(&selected), ["newest", "newer", "old"]);
    }
}

#[test]
fn identical_question_is_found_without_the_index() {
    let pool = pool(vec![offer("Reset my password", Correction, "c", 1)]);
    let same = ExampleQuery { query: "reset my PASSWORD?", ..query(3, 0.3) };
    let selected = select_examples(&pool, &same, Vec::new());
    assert_eq!((names(&selected), selected[0].similarity), (vec!["c"], 1.0));
    let twice = vec![near("reset my password", 0.99, &[1.0])];
    assert_eq!(select_examples(&pool, &same, twice).len(), 1, "and once only");
}

#[test]
fn excluded_turns_are_not_selected() {
    let (pool, near) = make_twins();
    let without = ExampleQuery { excluded: &["one"], ..query(2, 0.0) };
    assert_eq!(names(&select_examples(&pool, &without, near)), ["two", "other"]);
}

/// Naive model of the pool: every offer by its key.
type Model = BTreeMap<(usize, u8), (usize, i64, u32)>;

proptest! {
    #[test]
    fn pool_matches_a_naive_model(
        steps in prop::collection::vec((0..3u8, 0..5usize, 0..3u8, 0..4usize, 0..3i64, 0..3u32), 0..40),
    ) {
        const TURNS: [&str; 5] = ["t0", "t1", "t2", "t3", "t4"];
        const QUESTIONS: [&str; 4] = ["who", "what", "when", "why"];
        const SOURCES: [ExampleSource; 3] = [Accepted, Rating, Correction];
        let mut pool: ExamplePool<(usize, u8)> = ExamplePool::default();
        let mut model = Model::new();
        let mut indexed = std::collections::BTreeSet::new();
        for (step, turn, source, question, secs, rating) in steps {
            let (name, reason) = (TURNS[turn], SOURCES[usize::from(source)]);
            let effect = match step {
                0 | 1 => {
                    model.insert((turn, source), (question, secs, rating));
                    pool.insert(ExampleOffer {
                        question: key(QUESTIONS[question]),
                        source: reason,
                        turn: name,
                        id: name,
                        rating: UnitInterval::new(f64::from(rating) / 2.0),
                        when: Timestamp::from_micros(secs),
                        tokens: 0,
                        payload: (turn, source),
                    })
                }
                _ => {
                    model.retain(|(of, _), _| *of != turn);
                    pool.remove_turn(name)
                }
            };
            for left in &effect.removed {
                prop_assert!(indexed.remove(left));
            }
            if let Some(entered) = effect.added {
                prop_assert!(indexed.insert(entered));
            }
            for (at, question) in QUESTIONS.iter().enumerate() {
                let merit = |source: u8, secs: i64, rating: u32| {
                    (source, if source == 1 { rating } else { 0 }, secs)
                };
                let offers = model.iter().filter(|(_, (of, _, _))| *of == at);
                let top = offers.map(|((_, source), (_, secs, rating))| merit(*source, *secs, *rating)).max();
                let found = pool.find_best(key(question)).map(|(_, best)| {
                    let (_, secs, rating) = model[&best.payload];
                    merit(best.payload.1, secs, rating)
                });
                prop_assert_eq!(found, top);
                prop_assert_eq!(indexed.contains(&key(question)), top.is_some());
            }
            prop_assert_eq!(pool.len(), indexed.len());
        }
    }

    #[test]
    fn selection_respects_limits_for_any_input(
        rows in prop::collection::vec((-1.0f32..=1.0, 1..60u32, 0..3i64, prop::array::uniform3(-1.0f32..=1.0)), 0..12),
        k in 0..6usize,
        max_tokens in prop::option::of(0..200u32),
        diversity in -0.5f64..=1.5,
        turn_around in any::<bool>(),
    ) {
        let mut pool = ExamplePool::default();
        let mut found = Vec::new();
        for (at, (similarity, tokens, secs, vector)) in rows.iter().enumerate() {
            let id = format!("t{at}");
            pool.insert(ExampleOffer { tokens: *tokens, payload: at, turn: &id, id: &id, question: key(&id),
                source: Accepted, rating: None, when: Timestamp::from_micros(*secs) });
            found.push(near(&id, *similarity, vector));
        }
        let asked = ExampleQuery { max_tokens, ..query(k, diversity) };
        let selected = select_examples(&pool, &asked, found.clone());
        if turn_around { found.reverse(); }
        prop_assert_eq!(&select_examples(&pool, &asked, found), &selected, "the order of candidates matters");
        prop_assert!(selected.len() <= k);
        let mut seen: Vec<usize> = selected.iter().map(|example| example.payload).collect();
        seen.sort_unstable();
        seen.dedup();
        prop_assert_eq!(seen.len(), selected.len());
        let total: u32 = selected.iter().map(|example| example.tokens).sum();
        prop_assert!(max_tokens.is_none_or(|most| total <= most));
        for example in &selected {
            prop_assert!(example.similarity >= f64::from(SIMILARITY_FLOOR));
        }
        let all = rows.iter().filter(|row| row.0 >= SIMILARITY_FLOOR).count();
        prop_assert!(max_tokens.is_some() || selected.len() == k.min(all));
    }
}
