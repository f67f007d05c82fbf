//! Tells the whole story to an engine, moment by moment.

use engine::{Arrived, CopySettings, Engine, FlowError, demo_scope};
use model::{Mac, Timestamp, TurnId, VerdictStatus};
use serde_json::json;

use crate::act::{does, says};
use crate::cast::people;
use crate::clock::StoryClock;
use crate::dice::Dice;
use crate::doors::{Doors, id};
use crate::models::{self, ROUTER, UPGRADE};
use crate::rhythm::{DAYS, moments};
use crate::story::{Message, Talk};
use crate::telling::{Agenda, Beat, Telling};
use crate::trials::{self, HINTS, HINTS_FROM, STEPS, STEPS_DAYS};

/// Conversations in the month, unless somebody wants another number.
pub const CONVERSATIONS: usize = 1000;
/// What everything but the time follows from.
const SEED: u64 = 0x5eed_0fde;
/// How often what happens by itself is done.
const ROUND_HOURS: i64 = 6;

/// How much was told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    /// Conversations.
    pub conversations: u64,
    /// Turns in them.
    pub turns: u64,
}

/// Tells a month that ends `now`, with so many conversations, to an engine that goes by this clock. The same
/// `now` gives the same month.
pub async fn load(
    engine: &Engine,
    clock: &StoryClock,
    now: Timestamp,
    conversations: usize,
    progress: impl Fn(u64, u64),
) -> Result<Loaded, FlowError> {
    let first = first_moment(now);
    clock.reach(first);
    engine.privacy.mark_demo(false).await?;
    let mut telling = begin(engine, now, conversations);
    settings(&telling).await?;
    while let Some((at, beat)) = telling.agenda.next() {
        clock.reach(at);
        if matches!(beat, Beat::Round) {
            let (done, all) =
                (at.as_micros() - first.as_micros(), now.as_micros() - first.as_micros());
            progress((done / 86_400_000_000) as u64, (all / 86_400_000_000) as u64);
        }
        telling.tell(at, beat).await?;
    }
    clock.reach(now);
    telling.doors.send().await?;
    engine.run_jobs_once().await?;
    engine.privacy.mark_demo(true).await?;
    progress(DAYS as u64, DAYS as u64);
    Ok(Loaded { conversations: conversations as u64, turns: telling.turns })
}

/// When the story begins.
pub fn first_moment(now: Timestamp) -> Timestamp {
    now.plus_secs(-DAYS * 86_400 - 60)
}

fn begin(engine: &Engine, now: Timestamp, conversations: usize) -> Telling<'_> {
    let dice = Dice::new(SEED);
    let people = people(&mut dice.apart(1));
    let weights: Vec<f64> = people.iter().map(|person| person.busy).collect();
    let mut agenda = Agenda::until(now);
    let mut talks = Vec::with_capacity(conversations);
    let (mut whose, mut when) = (dice.apart(2), dice.apart(3));
    for (number, at) in moments(now, conversations, &mut when).into_iter().enumerate() {
        let place = whose.weighted(&weights);
        let name = format!("demo-conversation-{:04}", number + 1);
        talks.push(Talk::begin(name, place, &people[place], dice.apart(1000 + number as u64)));
        agenda.put(at, Beat::Says { talk: number, message: Message::Ask });
    }
    let day = |day: f64| now.plus_secs(((day - DAYS as f64) * 86_400.0) as i64);
    for round in 1..=DAYS * 24 / ROUND_HOURS {
        agenda.put(now.plus_secs((round * ROUND_HOURS - DAYS * 24) * 3600), Beat::Round);
    }
    agenda.put(day(STEPS_DAYS.0), Beat::Start(STEPS));
    agenda.put(day(STEPS_DAYS.1), Beat::Complete(STEPS));
    agenda.put(day(HINTS_FROM), Beat::Start(HINTS));
    agenda.put(day(UPGRADE), Beat::Upgrade);
    agenda.put(day(8.4), Beat::Garbled(2));
    agenda.put(day(21.6), Beat::Garbled(3));
    agenda.put(day(26.5), Beat::Reviews);
    let doors = Doors::of(engine, demo_scope());
    Telling { doors, now, people, talks, agenda, turns: 0, disliked: Vec::new() }
}

/// What was set before anybody came.
async fn settings(telling: &Telling<'_>) -> Result<(), FlowError> {
    let Doors { engine, scope, .. } = &telling.doors;
    let targets = json!({"error_rate": {"max": 0.05}, "satisfaction": {"min": 0.6},
        "window_hours": 24, "min_count": 20});
    let targets = targets.as_object().cloned().unwrap_or_default();
    engine.insights.set_targets(&scope.tenant, targets).await?;
    telling.set_router(false).await?;
    for person in &telling.people {
        telling.doors.profile(&person.id, person.attributes()).await?;
    }
    Ok(())
}

impl Telling<'_> {
    async fn tell(&mut self, at: Timestamp, beat: Beat) -> Result<(), FlowError> {
        match beat {
            Beat::Says { talk, message } => says(self, at, talk, message).await,
            Beat::Does { place, gesture, answer } => does(self, &place, gesture, &answer).await,
            Beat::Round => {
                self.doors.send().await?;
                self.doors.engine.run_jobs_once().await
            }
            Beat::Upgrade => self.set_router(true).await,
            Beat::Start(trial) => trials::start(&self.doors, trial).await,
            Beat::Complete(trial) => trials::complete(&self.doors, trial).await,
            Beat::Garbled(count) => self.garble(count).await,
            Beat::Reviews => self.review().await,
        }
    }

    async fn set_router(&self, upgraded: bool) -> Result<(), FlowError> {
        let Doors { engine, scope, .. } = &self.doors;
        let definition = models::router(SEED, upgraded).ok_or(FlowError::NotStored)?;
        engine.routing.set_router(scope, ROUTER, definition).await.map(drop)
    }

    /// An application sent what is no event.
    async fn garble(&self, count: u32) -> Result<(), FlowError> {
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
        let copies = CopySettings { place: None, previous_places: Vec::new() };
        self.doors.engine.feedback.consume(&messages, &copies).await.map(drop)
    }

    /// Somebody confirms most of what the machine thought, and takes some of it back.
    async fn review(&self) -> Result<(), FlowError> {
        let newest = self.disliked.iter().rev().step_by(7).take(24);
        for (number, turn) in newest.enumerate() {
            let status = match number % 6 {
                5 => VerdictStatus::Neutral,
                _ => VerdictStatus::Rejected,
            };
            let turn = id(TurnId::new(turn.clone()))?;
            self.doors
                .engine
                .feedback
                .review(&self.doors.scope, turn, status, Mac([0; 16]), None)
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
    use store::{Limits, Store};

    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

    /// The whole log, as it reads, and what there is of demo data.
    async fn log_of(now: Timestamp) -> (Vec<String>, DemoState) {
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(Store::open(folder.path(), Limits::default(), [7; 32]).unwrap());
        let clock = Arc::new(StoryClock::at(first_moment(now)));
        let shared = Arc::clone(&store) as Arc<Store>;
        let told_by = Arc::clone(&clock) as Arc<dyn Clock>;
        let (detectors, embedder) = (Detectors::default(), Embedder::default());
        let engine = Engine::open(shared, told_by, [1; 32], detectors, embedder).await.unwrap();
        assert_eq!(engine.privacy.demo_state().await.unwrap(), DemoState::Absent);
        load(&engine, &clock, now, 40, |_, _| {}).await.unwrap();
        let events = store.tail(Position(0), 100_000).await.unwrap();
        let log = events.iter().map(|stored| format!("{stored:?}")).collect();
        (log, engine.privacy.demo_state().await.unwrap())
    }

    #[tokio::test]
    async fn the_same_moment_gives_the_same_log_and_another_one_does_not() {
        let (first, state) = log_of(NOW).await;
        assert_eq!(state, DemoState::Loaded);
        let (again, _) = log_of(NOW).await;
        assert_eq!(first.len(), again.len());
        for (one, other) in first.iter().zip(&again) {
            assert_eq!(one, other);
        }
        assert_ne!(log_of(NOW.plus_secs(86_400)).await.0, first);
    }
}
