//! Runs the demo: replays all events into an engine in order of simulated time.

use engine::experiment::LifecycleAction;
use engine::{CopySettings, Engine, EngineError, ReceivedMessage, demo_scope};
use model::{Mac, Timestamp, TurnId, VerdictStatus};
use serde_json::json;

use crate::actions::{send_gesture, send_message};
use crate::client::{DemoClient, checked_id};
use crate::conversation::{Conversation, MessageKind};
use crate::experiments::{
    self, SHORT_STEPS_DAYS, SHORT_STEPS_ID, TABLE_HINTS_ID, TABLE_HINTS_START_DAY,
};
use crate::models::{self, ROUTER_NAME, UPGRADE_DAY};
use crate::people::generate_people;
use crate::rng::DemoRng;
use crate::schedule::{DEMO_DAYS, start_times};
use crate::timeline::{DemoClock, DemoEvent, DemoRun, EventQueue};

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
/// produces the same log; another `now` shifts its times.
pub async fn load_demo(
    engine: &Engine,
    clock: &DemoClock,
    now: Timestamp,
    conversations: usize,
    progress: impl Fn(u64, u64),
) -> Result<DemoSummary, EngineError> {
    let first = demo_start(now);
    clock.advance_to(first);
    engine.privacy.write_demo_marker(false).await?;
    let mut run = prepare_run(engine, now, conversations);
    apply_settings(&run).await?;
    while let Some((at, event)) = run.queue.pop_next() {
        clock.advance_to(at);
        if matches!(event, DemoEvent::Jobs) {
            let (done, all) =
                (at.as_micros() - first.as_micros(), now.as_micros() - first.as_micros());
            progress((done / 86_400_000_000) as u64, (all / 86_400_000_000) as u64);
        }
        run.run_event(at, event).await?;
    }
    clock.advance_to(now);
    run.client.flush_events().await?;
    engine.run_jobs_once().await?;
    engine.privacy.write_demo_marker(true).await?;
    progress(DEMO_DAYS as u64, DEMO_DAYS as u64);
    Ok(DemoSummary { conversations: conversations as u64, turns: run.turns })
}

/// The simulated start time.
pub fn demo_start(now: Timestamp) -> Timestamp {
    now.plus_secs(-DEMO_DAYS * 86_400 - 60)
}

fn prepare_run(engine: &Engine, now: Timestamp, count: usize) -> DemoRun<'_> {
    let rng = DemoRng::new(DEMO_SEED);
    let people = generate_people(&mut rng.fork(1));
    let weights: Vec<f64> = people.iter().map(|person| person.busy).collect();
    let mut queue = EventQueue::ending_at(now);
    let mut conversations = Vec::with_capacity(count);
    let (mut person_rng, mut time_rng) = (rng.fork(2), rng.fork(3));
    for (number, at) in start_times(now, count, &mut time_rng).into_iter().enumerate() {
        let person = person_rng.pick_weighted(&weights);
        let name = format!("demo-conversation-{:04}", number + 1);
        conversations.push(Conversation::new(
            name,
            person,
            &people[person],
            rng.fork(1000 + number as u64),
        ));
        queue.schedule(at, DemoEvent::Message { conversation: number, message: MessageKind::Ask });
    }
    let day = |day: f64| now.plus_secs(((day - DEMO_DAYS as f64) * 86_400.0) as i64);
    for round in 1..=DEMO_DAYS * 24 / JOB_INTERVAL_HOURS {
        queue.schedule(
            now.plus_secs((round * JOB_INTERVAL_HOURS - DEMO_DAYS * 24) * 3600),
            DemoEvent::Jobs,
        );
    }
    queue.schedule(day(SHORT_STEPS_DAYS.0), DemoEvent::StartExperiment(SHORT_STEPS_ID));
    queue.schedule(day(SHORT_STEPS_DAYS.1), DemoEvent::CompleteExperiment(SHORT_STEPS_ID));
    queue.schedule(day(TABLE_HINTS_START_DAY), DemoEvent::StartExperiment(TABLE_HINTS_ID));
    queue.schedule(day(UPGRADE_DAY), DemoEvent::Upgrade);
    queue.schedule(day(8.4), DemoEvent::InvalidMessages(2));
    queue.schedule(day(21.6), DemoEvent::InvalidMessages(3));
    queue.schedule(day(26.5), DemoEvent::Reviews);
    let client = DemoClient::new(engine, demo_scope());
    DemoRun { client, now, people, conversations, queue, turns: 0, complained_turns: Vec::new() }
}

/// Sets targets, the router and user profiles before the first conversation.
async fn apply_settings(run: &DemoRun<'_>) -> Result<(), EngineError> {
    let DemoClient { engine, scope, .. } = &run.client;
    let targets = json!({"error_rate": {"max": 0.05}, "satisfaction": {"min": 0.6},
        "window_hours": 24, "min_count": 20});
    let targets = targets.as_object().cloned().unwrap_or_default();
    engine.insights.set_targets(&scope.tenant, targets).await?;
    run.set_router(false).await?;
    for person in &run.people {
        run.client.set_profile(&person.id, person.profile_attributes()).await?;
    }
    Ok(())
}

impl DemoRun<'_> {
    async fn run_event(&mut self, at: Timestamp, event: DemoEvent) -> Result<(), EngineError> {
        match event {
            DemoEvent::Message { conversation, message } => {
                send_message(self, at, conversation, message).await
            }
            DemoEvent::Gesture { turn, gesture, answer } => {
                send_gesture(self, &turn, gesture, &answer).await
            }
            DemoEvent::Jobs => {
                self.client.flush_events().await?;
                self.client.engine.run_jobs_once().await
            }
            DemoEvent::Upgrade => self.set_router(true).await,
            DemoEvent::StartExperiment(experiment) => {
                experiments::start_experiment(&self.client, experiment).await
            }
            DemoEvent::CompleteExperiment(experiment) => {
                experiments::change_status(&self.client, experiment, LifecycleAction::Complete)
                    .await
            }
            DemoEvent::InvalidMessages(count) => self.send_invalid_messages(count).await,
            DemoEvent::Reviews => self.review_verdicts().await,
        }
    }

    async fn set_router(&self, upgraded: bool) -> Result<(), EngineError> {
        let DemoClient { engine, scope, .. } = &self.client;
        let definition =
            models::router_definition(DEMO_SEED, upgraded).ok_or(EngineError::NotStored)?;
        engine.routing.set_router(scope, ROUTER_NAME, definition).await.map(drop)
    }

    /// Consumes Kafka messages that are no valid events, to fill the dead letters.
    async fn send_invalid_messages(&self, count: u32) -> Result<(), EngineError> {
        let message = |number: u32| {
            let value = json!({"tenant_id": engine::DEMO_TENANT, "type": "explicit",
                "source": "user_ratings", "category": "quality",
                "data": {"rating": "thumbs-up", "build": 118 + number, "demo": true}});
            ReceivedMessage {
                topic: "feedback-in".to_owned(),
                partition: 0,
                offset: i64::from(4000 + 13 * number + count),
                key: None,
                value: Some(value.to_string().into_bytes()),
                headers: Vec::new(),
            }
        };
        let messages: Vec<ReceivedMessage> = (0..count).map(message).collect();
        let copies = CopySettings { place: None, previous_places: Vec::new() };
        self.client.engine.feedback.consume(&messages, &copies).await.map(drop)
    }

    /// Reviews a sample of the detected rejections; one in six is changed to neutral.
    async fn review_verdicts(&self) -> Result<(), EngineError> {
        let newest = self.complained_turns.iter().rev().step_by(7).take(24);
        for (number, turn) in newest.enumerate() {
            let status = match number % 6 {
                5 => VerdictStatus::Neutral,
                _ => VerdictStatus::Rejected,
            };
            let turn = checked_id(TurnId::new(turn.clone()))?;
            self.client
                .engine
                .feedback
                .review(&self.client.scope, turn, status, Mac([0; 16]), None)
                .await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use engine::{DemoState, Detectors, Embedder};
    use model::{Clock, Position};
    use store::{Limits, Store, StoredEvent};

    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

    /// The whole log, and the demo state.
    async fn load_log(now: Timestamp) -> (Vec<StoredEvent>, DemoState) {
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(Store::open(folder.path(), Limits::default(), [7; 32]).unwrap());
        let clock = Arc::new(DemoClock::new(demo_start(now)));
        let shared = Arc::clone(&store) as Arc<Store>;
        let told_by = Arc::clone(&clock) as Arc<dyn Clock>;
        let (detectors, embedder) = (Detectors::default(), Embedder::default());
        let engine = Engine::open(shared, told_by, [1; 32], detectors, embedder).await.unwrap();
        assert_eq!(engine.privacy.demo_state().await.unwrap(), DemoState::Absent);
        load_demo(&engine, &clock, now, 40, |_, _| {}).await.unwrap();
        let log = store.tail(Position(0), 100_000).await.unwrap();
        (log, engine.privacy.demo_state().await.unwrap())
    }

    #[tokio::test]
    async fn same_time_produces_the_same_log() {
        let (first, state) = load_log(NOW).await;
        assert_eq!(state, DemoState::Loaded);
        let (again, _) = load_log(NOW).await;
        assert_eq!(first.len(), again.len());
        for (one, other) in first.iter().zip(&again) {
            assert_eq!(format!("{one:?}"), format!("{other:?}"));
        }
    }

    /// The content of an event without absolute times and generated ids.
    fn shifted_event(stored: &StoredEvent, now: Timestamp) -> impl PartialEq + std::fmt::Debug {
        let event = &stored.event;
        let age = now.as_micros() - event.received_at.as_micros();
        let body: serde_json::Value = serde_json::from_str(&event.body.to_json()).unwrap();
        let arm = body.get("model").cloned();
        (event.kind, event.conversation.clone(), event.turn.clone(), age, arm)
    }

    #[tokio::test]
    async fn another_time_shifts_the_log() {
        let later = NOW.plus_secs(5 * 86_400 + 7 * 3600 + 1234);
        let ((first, _), (second, _)) = (load_log(NOW).await, load_log(later).await);
        assert_eq!(first.len(), second.len());
        for (one, other) in first.iter().zip(&second) {
            assert_eq!(shifted_event(one, NOW), shifted_event(other, later));
        }
    }
}
