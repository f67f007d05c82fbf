//! Runs the demo: replays all events into an engine in order of simulated time.

use engine::{Arrived, Copies, Engine, FlowError, demo_scope};
use model::{Mac, Timestamp, TurnId, VerdictStatus};
use serde_json::json;

use crate::actions::{send_gesture, send_message};
use crate::client::{DemoClient, checked_id};
use crate::clock::DemoClock;
use crate::conversation::{Conversation, MessageKind};
use crate::experiments::{
    self, SHORT_STEPS_DAYS, SHORT_STEPS_ID, TABLE_HINTS_ID, TABLE_HINTS_START_DAY,
};
use crate::models::{self, ROUTER_NAME, UPGRADE_DAY};
use crate::people::generate_people;
use crate::rng::DemoRng;
use crate::schedule::{DEMO_DAYS, start_times};
use crate::timeline::{DemoEvent, DemoRun, EventQueue};

pub const DEFAULT_CONVERSATIONS: usize = 1000;
/// Seed of all random choices.
const DEMO_SEED: u64 = 0x5eed_0fde;
/// Simulated interval between runs of the background jobs.
const JOB_INTERVAL_HOURS: i64 = 6;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DemoSummary {
    pub conversations: u64,
    pub turns: u64,
}

/// Loads a month of conversations that ends at `now`. The engine must use `clock`. The same `now`
/// produces the same log.
pub async fn load_demo(
    engine: &Engine,
    clock: &DemoClock,
    now: Timestamp,
    conversations: usize,
    progress: impl Fn(u64, u64),
) -> Result<DemoSummary, FlowError> {
    let first = demo_start(now);
    clock.advance_to(first);
    engine.mark_demo(false).await?;
    let mut telling = prepare_run(engine, now, conversations);
    apply_settings(&telling).await?;
    while let Some((at, beat)) = telling.agenda.pop_next() {
        clock.advance_to(at);
        if matches!(beat, DemoEvent::Round) {
            let (done, all) =
                (at.as_micros() - first.as_micros(), now.as_micros() - first.as_micros());
            progress((done / 86_400_000_000) as u64, (all / 86_400_000_000) as u64);
        }
        telling.run_event(at, beat).await?;
    }
    clock.advance_to(now);
    telling.doors.flush_events().await?;
    engine.do_rounds().await?;
    engine.mark_demo(true).await?;
    progress(DEMO_DAYS as u64, DEMO_DAYS as u64);
    Ok(DemoSummary { conversations: conversations as u64, turns: telling.turns })
}

/// The simulated start time.
pub fn demo_start(now: Timestamp) -> Timestamp {
    now.plus_secs(-DEMO_DAYS * 86_400 - 60)
}

fn prepare_run(engine: &Engine, now: Timestamp, conversations: usize) -> DemoRun<'_> {
    let dice = DemoRng::new(DEMO_SEED);
    let people = generate_people(&mut dice.fork(1));
    let weights: Vec<f64> = people.iter().map(|person| person.busy).collect();
    let mut agenda = EventQueue::ending_at(now);
    let mut talks = Vec::with_capacity(conversations);
    let (mut whose, mut when) = (dice.fork(2), dice.fork(3));
    for (number, at) in start_times(now, conversations, &mut when).into_iter().enumerate() {
        let place = whose.pick_weighted(&weights);
        let name = format!("demo-conversation-{:04}", number + 1);
        talks.push(Conversation::new(name, place, &people[place], dice.fork(1000 + number as u64)));
        agenda.schedule(at, DemoEvent::Says { talk: number, message: MessageKind::Ask });
    }
    let day = |day: f64| now.plus_secs(((day - DEMO_DAYS as f64) * 86_400.0) as i64);
    for round in 1..=DEMO_DAYS * 24 / JOB_INTERVAL_HOURS {
        agenda.schedule(
            now.plus_secs((round * JOB_INTERVAL_HOURS - DEMO_DAYS * 24) * 3600),
            DemoEvent::Round,
        );
    }
    agenda.schedule(day(SHORT_STEPS_DAYS.0), DemoEvent::Start(SHORT_STEPS_ID));
    agenda.schedule(day(SHORT_STEPS_DAYS.1), DemoEvent::Complete(SHORT_STEPS_ID));
    agenda.schedule(day(TABLE_HINTS_START_DAY), DemoEvent::Start(TABLE_HINTS_ID));
    agenda.schedule(day(UPGRADE_DAY), DemoEvent::Upgrade);
    agenda.schedule(day(8.4), DemoEvent::Garbled(2));
    agenda.schedule(day(21.6), DemoEvent::Garbled(3));
    agenda.schedule(day(26.5), DemoEvent::Reviews);
    let doors = DemoClient::new(engine, demo_scope());
    DemoRun { doors, now, people, talks, agenda, turns: 0, disliked: Vec::new() }
}

/// Sets targets, the router and user profiles before the first conversation.
async fn apply_settings(telling: &DemoRun<'_>) -> Result<(), FlowError> {
    let DemoClient { engine, scope, .. } = &telling.doors;
    let targets = json!({"error_rate": {"max": 0.05}, "satisfaction": {"min": 0.6},
        "window_hours": 24, "min_count": 20});
    let targets = targets.as_object().cloned().unwrap_or_default();
    engine.set_targets(&scope.tenant, targets).await?;
    telling.set_router(false).await?;
    for person in &telling.people {
        telling.doors.set_profile(&person.id, person.profile_attributes()).await?;
    }
    Ok(())
}

impl DemoRun<'_> {
    async fn run_event(&mut self, at: Timestamp, beat: DemoEvent) -> Result<(), FlowError> {
        match beat {
            DemoEvent::Says { talk, message } => send_message(self, at, talk, message).await,
            DemoEvent::Does { place, gesture, answer } => {
                send_gesture(self, &place, gesture, &answer).await
            }
            DemoEvent::Round => {
                self.doors.flush_events().await?;
                self.doors.engine.do_rounds().await
            }
            DemoEvent::Upgrade => self.set_router(true).await,
            DemoEvent::Start(trial) => experiments::start_experiment(&self.doors, trial).await,
            DemoEvent::Complete(trial) => {
                experiments::complete_experiment(&self.doors, trial).await
            }
            DemoEvent::Garbled(count) => self.send_invalid_messages(count).await,
            DemoEvent::Reviews => self.review_verdicts().await,
        }
    }

    async fn set_router(&self, upgraded: bool) -> Result<(), FlowError> {
        let DemoClient { engine, scope, .. } = &self.doors;
        let definition =
            models::router_definition(DEMO_SEED, upgraded).ok_or(FlowError::NotStored)?;
        engine.set_router(scope, ROUTER_NAME, definition).await.map(drop)
    }

    /// Consumes Kafka messages that are no valid events, to fill the dead letters.
    async fn send_invalid_messages(&self, count: u32) -> Result<(), FlowError> {
        let message = |number: u32| {
            let value = json!({"tenant_id": engine::DEMO_TENANT, "type": "explicit",
                "source": "user_ratings", "category": "quality",
                "data": {"rating": "thumbs-up", "build": 118 + number, "demo": true}});
            Arrived {
                topic: "feedback-in".to_owned(),
                partition: 0,
                offset: i64::from(4000 + 13 * number + count),
                key: None,
                value: Some(value.to_string().into_bytes()),
                headers: Vec::new(),
            }
        };
        let messages: Vec<Arrived> = (0..count).map(message).collect();
        let copies = Copies { place: None, others: Vec::new() };
        self.doors.engine.consume(&messages, &copies).await.map(drop)
    }

    /// Reviews a sample of the detected rejections; one in six is changed to neutral.
    async fn review_verdicts(&self) -> Result<(), FlowError> {
        let newest = self.disliked.iter().rev().step_by(7).take(24);
        for (number, turn) in newest.enumerate() {
            let status = match number % 6 {
                5 => VerdictStatus::Neutral,
                _ => VerdictStatus::Rejected,
            };
            let turn = checked_id(TurnId::new(turn.clone()))?;
            self.doors.engine.review(&self.doors.scope, turn, status, Mac([0; 16]), None).await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use engine::{DemoState, Detectors, Embedder};
    use model::{Clock, Position};
    use store::tables::{Limits, SqlStore};
    use store::{EventReads, Store};

    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

    /// The whole log as text, and the demo state.
    async fn load_log(now: Timestamp) -> (Vec<String>, DemoState) {
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(SqlStore::open(folder.path(), Limits::default(), [7; 32]).unwrap());
        let clock = Arc::new(DemoClock::new(demo_start(now)));
        let shared = Arc::clone(&store) as Arc<dyn Store>;
        let told_by = Arc::clone(&clock) as Arc<dyn Clock>;
        let (detectors, embedder) = (Detectors::default(), Embedder::default());
        let engine = Engine::open(shared, told_by, [1; 32], detectors, embedder).await.unwrap();
        assert_eq!(engine.demo_state().await.unwrap(), DemoState::Absent);
        load_demo(&engine, &clock, now, 40, |_, _| {}).await.unwrap();
        let events = store.tail(Position(0), 100_000).await.unwrap();
        let log = events.iter().map(|stored| format!("{stored:?}")).collect();
        (log, engine.demo_state().await.unwrap())
    }

    #[tokio::test]
    async fn the_same_moment_gives_the_same_log_and_another_one_does_not() {
        let (first, state) = load_log(NOW).await;
        assert_eq!(state, DemoState::Loaded);
        let (again, _) = load_log(NOW).await;
        assert_eq!(first.len(), again.len());
        for (one, other) in first.iter().zip(&again) {
            assert_eq!(one, other);
        }
        assert_ne!(load_log(NOW.plus_secs(86_400)).await.0, first);
    }
}
