//! An engine for tests with its own store and a fixed clock.

use std::path::Path;
use std::sync::Arc;

use model::{Body, Event, Kind, Opening, Scope, Source, Timestamp, TurnHalf, TurnId, Type, UserId};
use store::{Limits, Store};
use testkit::TestClock;

use crate::{Detectors, Embedder, Engine};

pub(crate) const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

pub(crate) struct TestEngine {
    pub(crate) engine: Engine,
    pub(crate) store: Arc<Store>,
    pub(crate) clock: Arc<TestClock>,
}

pub(crate) async fn open_test_engine(folder: &Path) -> TestEngine {
    let store = Arc::new(Store::open(folder, Limits::default(), [7; 32]).unwrap());
    let clock = Arc::new(TestClock::new(NOW));
    let engine = open_engine(Arc::clone(&store), Arc::clone(&clock)).await;
    TestEngine { engine, store, clock }
}

pub(crate) async fn open_engine(store: Arc<Store>, clock: Arc<TestClock>) -> Engine {
    let (detectors, embedder) = (Detectors::default(), Embedder::default());
    Engine::open(store, clock, [1; 32], detectors, embedder).await.unwrap()
}

/// The opening of a turn by a user, `secs` after `NOW`. Its text is the turn's id.
pub(crate) fn question_event(turn: &str, user: &str, secs: i64) -> Event {
    let half = TurnHalf::Opened(Opening { text: turn.into(), ..Opening::default() });
    Event {
        user: UserId::new(user).ok(),
        turn: TurnId::new(turn).ok(),
        ts: NOW.plus_secs(secs),
        kind: Kind { event_type: Type::Query, source: Source::Turn },
        body: Body::Turn(half),
        ..testkit::event(&Scope::default(), turn)
    }
}
