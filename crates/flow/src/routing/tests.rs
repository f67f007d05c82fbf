use std::sync::Arc;

use event::{GivenReward, Mac, Scope, Timestamp, TurnId};
use learn::{Algorithm, RouterDefinition};
use store::sqlite::{Limits, SqliteStore};
use store::{Log, RouterTurn, RoutingStore, StoredRouter};
use testkit::TestClock;

use crate::{
    Detectors, Embedder, Engine, Include, IncomingHalf, IncomingTurn, RawCompletion, RawOpening,
    RouteRequest,
};

const START: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

async fn open(store: Arc<SqliteStore>) -> Arc<Engine> {
    // Every start makes other ids.
    let mut seed = [0; 32];
    seed[..8].copy_from_slice(&store.head().0.to_be_bytes());
    let clock = Arc::new(TestClock::at(START));
    let (detectors, embedder) = (Detectors::default(), Embedder::default());
    Arc::new(Engine::open(store, clock, seed, detectors, embedder).await.unwrap())
}

fn half<T>(raw: T, n: u8) -> IncomingHalf<T> {
    IncomingHalf { raw, mac: Mac([n; 16]) }
}

/// A turn that the router's arm serves, all in one call.
async fn serve(engine: &Engine, n: u8) {
    let scope = Scope::default();
    let request = RouteRequest {
        router: "chat".into(),
        text: format!("question {n}"),
        ..RouteRequest::default()
    };
    let route = engine.route(&scope, &request).unwrap();
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
        opening: half(opening, n),
        completion: Some(half(completion, n)),
        key: None,
        include: Include::default(),
        router: None,
    };
    engine.open_turn(&scope, incoming).await.unwrap();
}

fn definition(algorithm: Algorithm) -> RouterDefinition {
    RouterDefinition { algorithm, seed: Some(3), ..RouterDefinition::of(&["a", "b", "c"]) }
}

/// What every router has learnt, bit for bit.
fn bits(engine: &Engine) -> Vec<Vec<u8>> {
    let project = engine.routing.of(&Scope::default()).unwrap();
    project.with(|routers| routers.iter().map(|(_, router)| router.state.to_bytes(0)).collect())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_lost_is_learnt_again_from_the_log_bit_for_bit() {
    for algorithm in [Algorithm::Thompson, Algorithm::LinTs, Algorithm::Hybrid] {
        let folder = tempfile::tempdir().unwrap();
        let scope = Scope::default();
        let store = Arc::new(SqliteStore::open(folder.path(), Limits::default(), [7; 32]).unwrap());
        let engine = open(Arc::clone(&store)).await;
        engine.set_router(&scope, "chat", definition(algorithm)).await.unwrap();
        // Many at once: whoever comes first brings the routers up to date for all.
        let mut serving = tokio::task::JoinSet::new();
        for n in 0..24 {
            let engine = Arc::clone(&engine);
            serving.spawn(async move { serve(&engine, n).await });
        }
        while serving.join_next().await.is_some() {}
        engine.router(&scope, "chat").await.unwrap();
        let learnt = bits(&engine);
        let seen = engine.router(&scope, "chat").await.unwrap().arms;
        assert_eq!(seen.iter().map(|arm| arm.observations).sum::<u64>(), 24);
        assert_eq!(seen.iter().map(|arm| arm.choices).sum::<u64>(), 24);
        // From what was kept, after some more, as after a crash.
        engine.routing.keep(&*store).await.unwrap();
        for n in 24..30 {
            serve(&engine, n).await;
        }
        engine.router(&scope, "chat").await.unwrap();
        let more = bits(&engine);
        assert_ne!(learnt, more);
        assert_eq!(bits(&*open(Arc::clone(&store)).await), more, "{algorithm:?} from a checkpoint");
        // From the beginning, when what was kept cannot be read.
        let mut kept = store.router_checkpoint(&scope).await.unwrap().unwrap();
        kept.routers = kept
            .routers
            .into_iter()
            .map(|router| StoredRouter { state: vec![1, 2, 3], ..router })
            .collect();
        store.save_routers(&scope, kept, Vec::new()).await.unwrap();
        assert_eq!(bits(&*open(Arc::clone(&store)).await), more, "{algorithm:?} from the log");
        // When what is kept of one turn cannot be read, and somebody speaks of it.
        let engine = open(Arc::clone(&store)).await;
        engine.routing.keep(&*store).await.unwrap();
        let kept = store.router_checkpoint(&scope).await.unwrap().unwrap();
        let turn = TurnId::new("t1").unwrap();
        let record = RouterTurn {
            turn: turn.clone(),
            router: Some("chat".into()),
            ts: START,
            record: "{\"x".into(),
            features: Vec::new(),
        };
        store.save_routers(&scope, kept, vec![record]).await.unwrap();
        let engine = open(Arc::clone(&store)).await;
        assert_eq!(bits(&engine), more);
        let given = GivenReward { user_rating: Some(1), ..GivenReward::default() };
        engine.reward(&scope, turn.clone(), None, given, Mac([9; 16]), None).await.unwrap();
        let rated = bits(&engine);
        assert_ne!(rated, more, "{algorithm:?}: it is learnt from");
        let more = rated;
        // And when there is nothing.
        store.forget_routers(&scope).await.unwrap();
        assert!(store.router_turn(&scope, &turn).await.unwrap().is_none());
        assert_eq!(bits(&*open(Arc::clone(&store)).await), more);
    }
}
