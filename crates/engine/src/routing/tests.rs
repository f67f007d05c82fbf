use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use learn::{Algorithm, RouterDefinition};
use model::{GivenReward, Mac, Position, Scope, Timestamp, TurnId, UserId};
use store::{Keeping, Limits, NextCheckpoint, RouterTurn, Store};
use testkit::TestClock;

use crate::{
    Detectors, Embedder, Engine, Include, IncomingHalf, IncomingTurn, RawCompletion, RawOpening,
    RouteRequest,
};

const START: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

async fn open_engine(store: Arc<Store>) -> Arc<Engine> {
    // Each engine gets its own seed, so that ids do not repeat.
    static STARTS: AtomicU64 = AtomicU64::new(0);
    let mut seed = [0; 32];
    seed[..8].copy_from_slice(&STARTS.fetch_add(1, Ordering::Relaxed).to_be_bytes());
    let clock = Arc::new(TestClock::new(START));
    let (detectors, embedder) = (Detectors::default(), Embedder::default());
    Arc::new(Engine::open(store, clock, seed, detectors, embedder).await.unwrap())
}

fn incoming_half<T>(raw: T, n: u8) -> IncomingHalf<T> {
    IncomingHalf { raw, mac: Mac([n; 16]) }
}

/// Routes, opens and completes a turn.
async fn serve_turn(engine: &Engine, n: u8) {
    let scope = Scope::default();
    let request = RouteRequest {
        router: "chat".into(),
        text: format!("question {n}"),
        ..RouteRequest::default()
    };
    let route = engine.routing.choose_route(&scope, &request).unwrap();
    let opening = RawOpening {
        turn_id: Some(format!("t{n}")),
        text: format!("question {n}"),
        ..RawOpening::default()
    };
    let completion = RawCompletion {
        response: Some("an answer".into()),
        model: Some(route.arm),
        decision_id: Some(route.decision_id),
        latency_ms: Some(f64::from(n) * 1500.0),
        ..RawCompletion::default()
    };
    let incoming = IncomingTurn {
        opening: incoming_half(opening, n),
        completion: Some(incoming_half(completion, n)),
        key: None,
        include: Include::default(),
        router: None,
    };
    engine.turns.open_turn(&scope, incoming).await.unwrap();
}

fn definition(algorithm: Algorithm) -> RouterDefinition {
    RouterDefinition {
        algorithm,
        seed: Some(3),
        ..RouterDefinition::from_arm_ids(&["a", "b", "c"])
    }
}

/// Saves the checkpoint again with a modified state or record.
async fn corrupt_checkpoint(store: &Store, turns: Vec<RouterTurn>, how: impl Fn(&mut Vec<u8>)) {
    let scope = Scope::default();
    let (at, kept) = store.router_checkpoint(&scope).await.unwrap();
    let mut checkpoint = kept.unwrap();
    checkpoint.routers.iter_mut().for_each(|router| how(&mut router.state));
    let state = NextCheckpoint { from: at.version, forgets: false, checkpoint, turns };
    assert!(matches!(store.save_routers(&scope, state).await.unwrap(), Keeping::Kept(_)));
}

fn state_bytes(engine: &Engine) -> Vec<Vec<u8>> {
    let project = engine.routing.states.find_project(&Scope::default()).unwrap();
    project.read_routers(|routers| {
        routers.iter().map(|(_, router)| router.state.to_bytes(0)).collect()
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lost_state_is_relearnt_from_the_log_bit_for_bit() {
    for algorithm in [Algorithm::Thompson, Algorithm::LinTs, Algorithm::Hybrid] {
        let folder = tempfile::tempdir().unwrap();
        let scope = Scope::default();
        let store = Arc::new(Store::open(folder.path(), Limits::default(), [7; 32]).unwrap());
        let engine = open_engine(Arc::clone(&store)).await;
        engine.routing.set_router(&scope, "chat", definition(algorithm)).await.unwrap();
        // Concurrent turns: one of them learns for all.
        let mut serving = tokio::task::JoinSet::new();
        for n in 0..24 {
            let engine = Arc::clone(&engine);
            serving.spawn(async move { serve_turn(&engine, n).await });
        }
        while serving.join_next().await.is_some() {}
        engine.routing.load_router(&scope, "chat").await.unwrap();
        let learnt = state_bytes(&engine);
        let seen = engine.routing.load_router(&scope, "chat").await.unwrap().arms;
        assert_eq!(seen.iter().map(|arm| arm.observations).sum::<u64>(), 24);
        assert_eq!(seen.iter().map(|arm| arm.choices).sum::<u64>(), 24);
        // A restart after a crash: the checkpoint, then later events.
        engine.routing.states.save_checkpoints(&store).await.unwrap();
        for n in 24..30 {
            serve_turn(&engine, n).await;
        }
        engine.routing.load_router(&scope, "chat").await.unwrap();
        let more = state_bytes(&engine);
        assert_ne!(learnt, more);
        let restarted = open_engine(Arc::clone(&store)).await;
        assert_eq!(state_bytes(&restarted), more, "{algorithm:?} from a checkpoint");
        // An unreadable checkpoint: relearn from the log.
        corrupt_checkpoint(&store, Vec::new(), |state| *state = vec![1, 2, 3]).await;
        let relearnt = open_engine(Arc::clone(&store)).await;
        assert_eq!(state_bytes(&relearnt), more, "{algorithm:?} from the log");
        // An unreadable turn record, and a new rating of that turn.
        let engine = open_engine(Arc::clone(&store)).await;
        engine.routing.states.save_checkpoints(&store).await.unwrap();
        let turn = TurnId::new("t1").unwrap();
        let record = RouterTurn {
            turn: turn.clone(),
            router: Some("chat".into()),
            ts: START,
            record: "{\"x".into(),
            features: Vec::new(),
        };
        corrupt_checkpoint(&store, vec![record], |_| {}).await;
        let engine = open_engine(Arc::clone(&store)).await;
        assert_eq!(state_bytes(&engine), more);
        let given = GivenReward { user_rating: Some(1), ..GivenReward::default() };
        engine
            .routing
            .record_reward(&scope, turn.clone(), None, given, Mac([9; 16]), None)
            .await
            .unwrap();
        let rated = state_bytes(&engine);
        assert_ne!(rated, more, "{algorithm:?}: the rating changes the state");
        let more = rated;
        // No checkpoint at all.
        let (at, _) = store.router_checkpoint(&scope).await.unwrap();
        store.forget_routers(&scope, at.version).await.unwrap();
        assert!(store.router_turn(&scope, &turn).await.unwrap().1.is_none());
        assert_eq!(state_bytes(&*open_engine(Arc::clone(&store)).await), more);
    }
}

/// Nodes that share a store save checkpoints at random times, lag behind and join late. In the
/// end all have the same state as a node that reads the whole log.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_that_share_a_store_learn_the_same_bits() {
    for algorithm in [Algorithm::Thompson, Algorithm::LinTs, Algorithm::Hybrid] {
        let folder = tempfile::tempdir().unwrap();
        let scope = Scope::default();
        let store = Arc::new(Store::open(folder.path(), Limits::default(), [7; 32]).unwrap());
        let mut nodes =
            vec![open_engine(Arc::clone(&store)).await, open_engine(Arc::clone(&store)).await];
        nodes[0].routing.set_router(&scope, "chat", definition(algorithm)).await.unwrap();
        nodes[1].routing.states.learn_up_to(&store, &scope, store.head()).await;
        let mut dice = 0x9e37_79b9_7f4a_7c15_u64;
        let mut roll = |sides: u64| {
            dice = dice
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (dice >> 33) % sides
        };
        let mut served = 0;
        for _ in 0..160 {
            let which = roll(nodes.len() as u64) as usize;
            match roll(8) {
                0..=2 => {
                    serve_turn(&nodes[which], served).await;
                    served += 1;
                }
                3..=4 if served > 0 => {
                    let turn = TurnId::new(format!("t{}", roll(u64::from(served)))).unwrap();
                    let rating = Some(roll(5) as u8 + 1);
                    let given = GivenReward { user_rating: rating, ..GivenReward::default() };
                    let mac = Mac([roll(250) as u8; 16]);
                    _ = nodes[which]
                        .routing
                        .record_reward(&scope, turn, None, given, mac, None)
                        .await;
                }
                5 => _ = nodes[which].routing.load_router(&scope, "chat").await.unwrap(),
                6 if nodes.len() < 4 => nodes.push(open_engine(Arc::clone(&store)).await),
                _ => nodes[which].routing.states.save_checkpoints(&store).await.unwrap(),
            }
        }
        let mut learnt = Vec::new();
        for node in &nodes {
            node.routing.states.learn_up_to(&store, &scope, store.head()).await;
            learnt.push(state_bytes(node));
        }
        let (at, _) = store.router_checkpoint(&scope).await.unwrap();
        store.forget_routers(&scope, at.version).await.unwrap();
        learnt.push(state_bytes(&*open_engine(Arc::clone(&store)).await));
        assert!(served > 20 && nodes.len() > 2, "{served} turns, {} nodes", nodes.len());
        assert!(learnt.iter().all(|bits| *bits == learnt[0]), "{algorithm:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn erasure_on_one_node_is_not_undone_by_another() {
    let folder = tempfile::tempdir().unwrap();
    let scope = Scope::default();
    let store = Arc::new(Store::open(folder.path(), Limits::default(), [7; 32]).unwrap());
    let (one, other) =
        (open_engine(Arc::clone(&store)).await, open_engine(Arc::clone(&store)).await);
    one.routing.set_router(&scope, "chat", definition(Algorithm::LinTs)).await.unwrap();
    for n in 0..8 {
        serve_turn(&one, n).await;
    }
    other.routing.states.learn_up_to(&store, &scope, store.head()).await;
    one.routing.states.save_checkpoints(&store).await.unwrap();
    // `other` has learnt more than the checkpoint contains, and does not know of the erasure.
    serve_turn(&other, 8).await;
    let project = one.routing.states.find_project(&scope).unwrap();
    let user = UserId::new("ann").unwrap();
    let turns = [TurnId::new("t3").unwrap(), TurnId::new("t8").unwrap()];
    let erasure = store.tail(Position(0), 1).await.unwrap().remove(0).event;
    one.routing.states.learn_up_to(&store, &scope, store.head()).await;
    project.erase_user(&store, &user, &turns, &turns, &erasure).await.unwrap();
    other.routing.states.save_checkpoints(&store).await.unwrap();
    serve_turn(&other, 9).await;
    other.routing.states.save_checkpoints(&store).await.unwrap();
    for turn in turns {
        let (_, kept) = store.router_turn(&scope, &turn).await.unwrap();
        assert_eq!(kept.unwrap().features, Vec::<u8>::new(), "{turn} has no features any more");
    }
    one.routing.states.learn_up_to(&store, &scope, store.head()).await;
    assert_eq!(state_bytes(&one), state_bytes(&other));
}

/// While one node relearns from the log, a node that is far ahead gets a rating of an old turn.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn node_ahead_of_a_partial_checkpoint_keeps_its_ratings() {
    let folder = tempfile::tempdir().unwrap();
    let scope = Scope::default();
    let store = Arc::new(Store::open(folder.path(), Limits::default(), [7; 32]).unwrap());
    let one = open_engine(Arc::clone(&store)).await;
    one.routing.set_router(&scope, "chat", definition(Algorithm::Thompson)).await.unwrap();
    for n in 0..10 {
        serve_turn(&one, n).await;
    }
    one.routing.states.save_checkpoints(&store).await.unwrap();
    let half = store.router_checkpoint(&scope).await.unwrap().1.unwrap();
    let since = Timestamp::from_micros(0);
    let turns = store.router_turns(&scope, "chat", since, 0, 100).await.unwrap();
    for n in 10..20 {
        serve_turn(&one, n).await;
    }
    one.routing.states.save_checkpoints(&store).await.unwrap();
    // `other` has only the checkpoint in memory.
    let other = open_engine(Arc::clone(&store)).await;
    let (at, _) = store.router_checkpoint(&scope).await.unwrap();
    store.forget_routers(&scope, at.version).await.unwrap();
    let (at, _) = store.router_checkpoint(&scope).await.unwrap();
    let state = NextCheckpoint { from: at.version, forgets: false, checkpoint: half, turns };
    assert!(matches!(store.save_routers(&scope, state).await.unwrap(), Keeping::Kept(_)));
    let before = state_bytes(&other);
    let given = GivenReward { user_rating: Some(1), ..GivenReward::default() };
    let turn = TurnId::new("t15").unwrap();
    other.routing.record_reward(&scope, turn, None, given, Mac([9; 16]), None).await.unwrap();
    assert_ne!(state_bytes(&other), before, "the rating changes the state");
    other.routing.states.save_checkpoints(&store).await.unwrap();
    let (at, _) = store.router_checkpoint(&scope).await.unwrap();
    store.forget_routers(&scope, at.version).await.unwrap();
    let fresh = open_engine(Arc::clone(&store)).await;
    assert_eq!(state_bytes(&other), state_bytes(&fresh), "no other learning is lost");
}
