//! The latest questions of each user, in memory: what a new one is compared with to see a retry.
//!
//! By user, else by conversation. Filled again at start from the log's last minutes, so that a
//! restart forgets nothing that still counts.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use event::{Body, ConversationId, Event, Scope, Timestamp, TurnHalf, TurnId, UserId};
use store::{Store, StoreError};

/// Locks, so that users do not wait for each other.
const SHARDS: usize = 16;
/// Bytes that each shard may take, about; beyond that those who asked longest ago are forgotten.
const MOST_BYTES: usize = 2 << 20;
/// What a question takes beside its text, about.
const BESIDE: usize = 250;
/// Characters of a question that are remembered: more than two questions are compared by.
const MOST_CHARS: usize = 500;
/// How far back in the log a restart looks at the most, in events.
const LOOK_BACK: u64 = 300_000;

/// Who asks: the user, or whoever is in the conversation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Asker {
    User(Scope, UserId),
    Conversation(Scope, ConversationId),
}

impl Asker {
    /// Of an event, if it says.
    pub(crate) fn of(event: &Event) -> Option<Self> {
        let scope = event.scope.clone();
        match (&event.user, &event.conversation) {
            (Some(user), _) => Some(Self::User(scope, user.clone())),
            (None, Some(conversation)) => Some(Self::Conversation(scope, conversation.clone())),
            (None, None) => None,
        }
    }
}

/// A question that was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) turn: TurnId,
    pub(crate) text: Arc<str>,
    pub(crate) ts: Timestamp,
}

#[derive(Debug, Default)]
struct Shard {
    askers: HashMap<Asker, VecDeque<Asked>>,
    bytes: usize,
}

impl Asked {
    fn bytes(&self) -> usize {
        self.text.len() + BESIDE
    }
}

/// Everybody's latest questions.
#[derive(Debug)]
pub(crate) struct History {
    shards: Vec<Mutex<Shard>>,
    hasher: RandomState,
    window: Duration,
    most: usize,
}

impl History {
    /// Remembers so many questions of each for so long.
    pub(crate) fn new(window: Duration, most: usize) -> Self {
        let shards = (0..SHARDS).map(|_| Mutex::default()).collect();
        Self { shards, hasher: RandomState::new(), window, most }
    }

    /// What was asked in the log's last minutes.
    pub(crate) async fn refill(&self, store: &dyn Store, now: Timestamp) -> Result<(), StoreError> {
        let window = i64::try_from(self.window.as_secs()).unwrap_or(i64::MAX);
        for stored in store.recent_questions(now.plus_secs(-window), LOOK_BACK).await? {
            self.add(&stored.event);
        }
        Ok(())
    }

    /// The latest questions before a moment, the newest first.
    pub(crate) fn recent(&self, asker: &Asker, at: Timestamp) -> Vec<(Asked, Duration)> {
        let shard = self.shard(asker);
        let Some(asked) = shard.askers.get(asker) else { return Vec::new() };
        let aged = |asked: &Asked| {
            let micros = u64::try_from(at.as_micros() - asked.ts.as_micros()).ok()?;
            let age = Duration::from_micros(micros);
            (age <= self.window).then(|| (asked.clone(), age))
        };
        asked.iter().filter_map(aged).collect()
    }

    /// Remembers the question that an event opens a turn with.
    pub(crate) fn add(&self, event: &Event) {
        let (Some(asker), Some(turn)) = (Asker::of(event), &event.turn) else { return };
        let Ok(Body::Turn(TurnHalf::Opened(opening))) = Body::read(event.kind, &event.data) else {
            return;
        };
        let text: String = opening.text.chars().take(MOST_CHARS).collect();
        let asked = Asked { turn: turn.clone(), text: text.into(), ts: event.ts };
        let mut shard = self.shard(&asker);
        shard.bytes += asked.bytes();
        let latest = shard.askers.entry(asker).or_default();
        latest.push_front(asked);
        let left_out: usize = latest.drain(self.most.min(latest.len())..).map(|a| a.bytes()).sum();
        shard.bytes -= left_out;
        if shard.bytes > MOST_BYTES {
            self.forget_oldest(&mut shard, event.ts);
        }
    }

    /// Forgets one question: it was not stored after all, or had been before.
    pub(crate) fn take_back(&self, event: &Event) {
        let Some(asker) = Asker::of(event) else { return };
        let mut shard = self.shard(&asker);
        let Some(latest) = shard.askers.get_mut(&asker) else { return };
        // The newest of that turn; an earlier one may have been stored.
        let found = latest.iter().position(|asked| Some(&asked.turn) == event.turn.as_ref());
        let gone = found.and_then(|at| latest.remove(at)).map_or(0, |asked| asked.bytes());
        shard.bytes -= gone;
    }

    /// Forgets what somebody asked, and says how much that was.
    pub(crate) fn forget(&self, asker: &Asker) -> usize {
        let mut shard = self.shard(asker);
        let gone = shard.askers.remove(asker).unwrap_or_default();
        shard.bytes -= gone.iter().map(Asked::bytes).sum::<usize>();
        gone.len()
    }

    /// Those whose questions no longer count go; if they are too few, half of the others too.
    fn forget_oldest(&self, shard: &mut Shard, now: Timestamp) {
        let window = i64::try_from(self.window.as_micros()).unwrap_or(i64::MAX);
        let newest =
            |asked: &VecDeque<Asked>| asked.front().map_or(0, |asked| asked.ts.as_micros());
        let bytes = |askers: &HashMap<Asker, VecDeque<Asked>>| -> usize {
            askers.values().flatten().map(Asked::bytes).sum()
        };
        shard.askers.retain(|_, asked| now.as_micros().saturating_sub(newest(asked)) <= window);
        if bytes(&shard.askers) > MOST_BYTES / 2 {
            let mut times: Vec<i64> = shard.askers.values().map(newest).collect();
            let middle = times.len() / 2;
            let (_, middle, _) = times.select_nth_unstable(middle);
            let middle = *middle;
            shard.askers.retain(|_, asked| newest(asked) > middle);
        }
        shard.bytes = bytes(&shard.askers);
    }

    fn shard(&self, asker: &Asker) -> MutexGuard<'_, Shard> {
        let number = self.hasher.hash_one(asker) as usize % SHARDS;
        // A panic elsewhere cannot leave a list half-changed.
        self.shards[number].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use event::{Opening, TurnHalf};

    use super::*;

    const START: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

    fn question(turn: &str, user: &str, secs: i64) -> Event {
        let half = TurnHalf::Opened(Opening { text: turn.into(), ..Opening::default() });
        Event {
            user: UserId::new(user).ok(),
            turn: TurnId::new(turn).ok(),
            ts: START.plus_secs(secs),
            kind: event::Kind { event_type: event::Type::Query, source: event::Source::Turn },
            data: Event::data_of(&half),
            ..testkit::event(&Scope::default(), turn)
        }
    }

    fn turns(history: &History, user: &str, secs: i64) -> Vec<String> {
        let asker = Asker::of(&question("x", user, 0)).unwrap();
        let recent = history.recent(&asker, START.plus_secs(secs));
        recent.into_iter().map(|(asked, _)| asked.turn.to_string()).collect()
    }

    #[test]
    fn the_latest_ten_of_the_last_minutes_count_and_nobody_elses() {
        let history = History::new(Duration::from_secs(300), 10);
        for number in 0..12 {
            history.add(&question(&format!("t{number}"), "ann", number));
        }
        assert_eq!(turns(&history, "ann", 12).len(), 10);
        assert_eq!(turns(&history, "ann", 12)[0], "t11");
        assert_eq!(turns(&history, "ann", 309), ["t11", "t10", "t9"]);
        assert_eq!(turns(&history, "ann", 312), Vec::<String>::new());
        assert_eq!(turns(&history, "bob", 12), Vec::<String>::new());
        history.forget(&Asker::of(&question("x", "ann", 0)).unwrap());
        assert_eq!(turns(&history, "ann", 12), Vec::<String>::new());
    }

    #[test]
    fn memory_is_bounded_and_the_newest_stay() {
        let history = History::new(Duration::from_secs(300), 10);
        let many = (MOST_BYTES * SHARDS / BESIDE * 2) as i64;
        for number in 0..many {
            history.add(&question("t", &format!("u{number}"), number / 1_000));
        }
        let kept: usize = history.shards.iter().map(|shard| shard.lock().unwrap().bytes).sum();
        assert!(kept <= (MOST_BYTES + 1_000) * SHARDS, "{kept}");
        assert_eq!(turns(&history, &format!("u{}", many - 1), many / 1_000).len(), 1);
    }

    #[test]
    fn a_question_that_was_not_stored_is_taken_back() {
        let history = History::new(Duration::from_secs(300), 10);
        history.add(&question("t1", "ann", 0));
        history.add(&question("t2", "ann", 1));
        history.take_back(&question("t2", "ann", 1));
        assert_eq!(turns(&history, "ann", 2), ["t1"]);
        let asker = Asker::of(&question("x", "ann", 0)).unwrap();
        assert_eq!(history.forget(&asker), 1);
        let left: usize = history.shards.iter().map(|shard| shard.lock().unwrap().bytes).sum();
        assert_eq!(left, 0);
    }
}
