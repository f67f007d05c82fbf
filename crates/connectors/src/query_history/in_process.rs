//! A query history in memory: sharded and bounded.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use model::Timestamp;
use parking_lot::{Mutex, MutexGuard};

use super::{HistoryHealth, HistoryKey, QueryHistory, RecentQuestion};
use crate::error::ConnectorFuture;

const SHARDS: usize = 16;
/// Approximate bytes per shard. Beyond them the least recent users are evicted.
const MAX_SHARD_BYTES: usize = 2 << 20;
/// Approximate overhead of a question beside its text.
const QUESTION_OVERHEAD_BYTES: usize = 250;

#[derive(Debug, Default)]
struct Shard {
    askers: HashMap<HistoryKey, VecDeque<RecentQuestion>>,
    bytes: usize,
}

fn question_bytes(asked: &RecentQuestion) -> usize {
    asked.text.len() + QUESTION_OVERHEAD_BYTES
}

/// Recent questions in memory. Keeps no vectors: they would double the memory, and embedding a text
/// again is quick.
#[derive(Debug)]
pub struct InProcessHistory {
    shards: Vec<Mutex<Shard>>,
    hasher: RandomState,
    window: Duration,
    most: usize,
}

impl InProcessHistory {
    /// Keeps `most` questions per user for `window`.
    pub fn new(window: Duration, most: usize) -> Self {
        let shards = (0..SHARDS).map(|_| Mutex::default()).collect();
        Self { shards, hasher: RandomState::new(), window, most }
    }

    /// Evicts users outside the window, then half of the rest if that is not enough.
    fn forget_oldest(&self, shard: &mut Shard, now: Timestamp) {
        let window = i64::try_from(self.window.as_micros()).unwrap_or(i64::MAX);
        let newest = |asked: &VecDeque<RecentQuestion>| {
            asked.front().map_or(0, |asked| asked.ts.as_micros())
        };
        let bytes = |askers: &HashMap<HistoryKey, VecDeque<RecentQuestion>>| -> usize {
            askers.values().flatten().map(question_bytes).sum()
        };
        shard.askers.retain(|_, asked| now.as_micros().saturating_sub(newest(asked)) <= window);
        if bytes(&shard.askers) > MAX_SHARD_BYTES / 2 {
            let mut times: Vec<i64> = shard.askers.values().map(newest).collect();
            let middle = times.len() / 2;
            let (_, middle, _) = times.select_nth_unstable(middle);
            let middle = *middle;
            shard.askers.retain(|_, asked| newest(asked) > middle);
        }
        shard.bytes = bytes(&shard.askers);
    }

    fn shard(&self, asker: &HistoryKey) -> MutexGuard<'_, Shard> {
        self.shards[self.hasher.hash_one(asker) as usize % SHARDS].lock()
    }
}

impl QueryHistory for InProcessHistory {
    fn recent(
        &self,
        asker: &HistoryKey,
        at: Timestamp,
    ) -> ConnectorFuture<'_, Vec<(RecentQuestion, Duration)>> {
        let aged = |asked: &RecentQuestion| {
            let micros = u64::try_from(at.as_micros() - asked.ts.as_micros()).ok()?;
            let age = Duration::from_micros(micros);
            (age <= self.window).then(|| (asked.clone(), age))
        };
        let shard = self.shard(asker);
        done(shard.askers.get(asker).into_iter().flatten().filter_map(aged).collect())
    }

    fn add(&self, asker: &HistoryKey, asked: &RecentQuestion) -> ConnectorFuture<'_, ()> {
        let asked = RecentQuestion { vector: None, ..asked.clone() };
        let now = asked.ts;
        let mut shard = self.shard(asker);
        shard.bytes += question_bytes(&asked);
        let latest = shard.askers.entry(asker.clone()).or_default();
        latest.push_front(asked);
        let left_out: usize =
            latest.drain(self.most.min(latest.len())..).map(|gone| question_bytes(&gone)).sum();
        shard.bytes -= left_out;
        if shard.bytes > MAX_SHARD_BYTES {
            self.forget_oldest(&mut shard, now);
        }
        done(())
    }

    fn take_back(&self, asker: &HistoryKey, asked: &RecentQuestion) -> ConnectorFuture<'_, ()> {
        let mut shard = self.shard(asker);
        if let Some(latest) = shard.askers.get_mut(asker) {
            // The newest entry of the turn, because an earlier one may have been stored.
            let found = latest.iter().position(|one| one.turn == asked.turn);
            let gone = found.and_then(|at| latest.remove(at));
            shard.bytes -= gone.map_or(0, |asked| question_bytes(&asked));
        }
        done(())
    }

    fn forget(&self, asker: &HistoryKey) -> ConnectorFuture<'_, usize> {
        let mut shard = self.shard(asker);
        let gone = shard.askers.remove(asker).unwrap_or_default();
        shard.bytes -= gone.iter().map(question_bytes).sum::<usize>();
        done(gone.len())
    }

    fn clear(&self) {
        for shard in &self.shards {
            *shard.lock() = Shard::default();
        }
    }

    fn is_shared(&self) -> bool {
        false
    }

    fn health(&self) -> HistoryHealth {
        HistoryHealth::default()
    }
}

fn done<T: Send + 'static>(value: T) -> ConnectorFuture<'static, T> {
    Box::pin(std::future::ready(Ok(value)))
}

#[cfg(test)]
mod tests {
    use crate::query_history::contract::{asked, user};

    use super::*;

    const WINDOW: Duration = Duration::from_secs(300);

    struct Fresh;

    impl Fresh {
        #[expect(clippy::unused_async, reason = "the Redis implementation awaits")]
        async fn open(window: Duration, most: usize) -> Option<(Self, InProcessHistory)> {
            Some((Self, InProcessHistory::new(window, most)))
        }
    }

    crate::query_history::contract::history_tests!(Fresh);

    fn kept(history: &InProcessHistory) -> usize {
        history.shards.iter().map(|shard| shard.lock().bytes).sum()
    }

    #[tokio::test]
    async fn history_memory_is_bounded() {
        let history = InProcessHistory::new(WINDOW, 10);
        let many = (MAX_SHARD_BYTES * SHARDS / QUESTION_OVERHEAD_BYTES * 2) as i64;
        for number in 0..many {
            let asker = user("acme", &format!("u{number}"));
            history.add(&asker, &asked("t", number / 1_000)).await.unwrap();
        }
        let bytes = kept(&history);
        assert!(bytes <= (MAX_SHARD_BYTES + 1_000) * SHARDS, "{bytes}");
        let last = user("acme", &format!("u{}", many - 1));
        let at = asked("t", many / 1_000).ts;
        assert_eq!(history.recent(&last, at).await.unwrap().len(), 1);
    }

    #[tokio::test]
    async fn cleared_history_is_empty() {
        let history = InProcessHistory::new(WINDOW, 10);
        let askers: Vec<_> = (0..50).map(|number| user("acme", &format!("u{number}"))).collect();
        for asker in &askers {
            history.add(asker, &asked("t1", 0)).await.unwrap();
        }
        history.clear();
        assert_eq!(kept(&history), 0);
        for asker in &askers {
            assert!(history.recent(asker, asked("t1", 1).ts).await.unwrap().is_empty());
        }
        history.add(&askers[0], &asked("t2", 1)).await.unwrap();
        assert_eq!(history.recent(&askers[0], asked("t2", 1).ts).await.unwrap().len(), 1);
        assert!(!history.is_shared());
    }

    #[tokio::test]
    async fn removed_questions_release_memory() {
        let history = InProcessHistory::new(WINDOW, 10);
        let ann = user("acme", "ann");
        history.add(&ann, &asked("t1", 0)).await.unwrap();
        history.add(&ann, &asked("t2", 1)).await.unwrap();
        history.take_back(&ann, &asked("t2", 1)).await.unwrap();
        assert_eq!(history.forget(&ann).await.unwrap(), 1);
        assert_eq!(kept(&history), 0);
    }
}
