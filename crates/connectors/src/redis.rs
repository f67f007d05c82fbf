//! A query history in Redis, shared by all nodes.
//!
//! One list per user, one round trip per read or write. Calls fail at once while Redis is
//! unavailable: see `link.rs`.

mod key;
mod entry;
mod link;
#[cfg(test)]
mod tests;

use std::time::Duration;

use model::Timestamp;

use crate::error::{ConnectorError, ConnectorFuture};
use crate::query_history::{HistoryHealth, HistoryKey, QueryHistory, RecentQuestion};

use link::Link;

/// The tolerated clock difference between nodes. A question from the near future counts as just
/// asked.
const SKEW_MICROS: i64 = 60_000_000;

#[derive(Clone)]
pub struct RedisSettings {
    /// Such as `redis://:password@host:6379/0`, or `rediss://` with TLS.
    pub address: String,
    pub timeout: Duration,
    pub window: Duration,
    /// The maximum of questions per user.
    pub most: usize,
}

pub struct RedisHistory {
    link: Link,
    prefix: String,
    window: Duration,
    most: usize,
}

impl RedisHistory {
    /// Connects, or keeps trying in the background. Fails only for an invalid address.
    pub async fn open(settings: RedisSettings) -> Result<Self, ConnectorError> {
        let RedisSettings { address, timeout, window, most } = settings;
        let link = Link::open(&address, timeout).await?;
        Ok(Self { link, prefix: key::PREFIX.to_owned(), window, most })
    }

    fn key(&self, asker: &HistoryKey) -> String {
        key::history_key(&self.prefix, asker)
    }

    /// The questions in the window, newest first.
    fn in_window(&self, entries: Vec<Vec<u8>>, at: Timestamp) -> Vec<(RecentQuestion, Duration)> {
        let aged = |bytes: Vec<u8>| {
            let asked = entry::read(&bytes)?;
            let micros = at.as_micros().saturating_sub(asked.ts.as_micros());
            let micros = if micros >= -SKEW_MICROS { micros.max(0) } else { micros };
            let age = Duration::from_micros(u64::try_from(micros).ok()?);
            (age <= self.window).then_some((asked, age))
        };
        entries.into_iter().filter_map(aged).collect()
    }
}

impl QueryHistory for RedisHistory {
    fn recent(
        &self,
        asker: &HistoryKey,
        at: Timestamp,
    ) -> ConnectorFuture<'_, Vec<(RecentQuestion, Duration)>> {
        let mut read = redis::cmd("LRANGE");
        read.arg(self.key(asker)).arg(0).arg(-1);
        Box::pin(async move {
            let ask = async |mut redis| read.query_async(&mut redis).await;
            Ok(self.in_window(self.link.ask(ask).await?, at))
        })
    }

    fn add(&self, asker: &HistoryKey, asked: &RecentQuestion) -> ConnectorFuture<'_, ()> {
        let key = self.key(asker);
        let last = self.most.max(1) - 1;
        let millis = u64::try_from(self.window.as_millis()).unwrap_or(u64::MAX).max(1);
        let mut add = redis::pipe();
        add.atomic().cmd("LPUSH").arg(&key).arg(entry::write(asked)).ignore();
        add.cmd("LTRIM").arg(&key).arg(0).arg(last).ignore();
        add.cmd("PEXPIRE").arg(&key).arg(millis).ignore();
        Box::pin(async move {
            let ask = async |mut redis| add.query_async::<()>(&mut redis).await;
            self.link.ask(ask).await
        })
    }

    fn take_back(&self, asker: &HistoryKey, asked: &RecentQuestion) -> ConnectorFuture<'_, ()> {
        let mut remove = redis::cmd("LREM");
        remove.arg(self.key(asker)).arg(1).arg(entry::write(asked));
        Box::pin(async move {
            let ask = async |mut redis| remove.query_async::<()>(&mut redis).await;
            self.link.ask(ask).await
        })
    }

    fn forget(&self, asker: &HistoryKey) -> ConnectorFuture<'_, usize> {
        let key = self.key(asker);
        let mut forget = redis::pipe();
        forget.atomic().cmd("LLEN").arg(&key).cmd("DEL").arg(&key).ignore();
        Box::pin(async move {
            let ask = async |mut redis| forget.query_async::<(usize,)>(&mut redis).await;
            let forgotten = self.link.ask(ask).await;
            if forgotten.is_err() {
                self.link.delete_later(key);
            }
            forgotten.map(|(number,)| number)
        })
    }

    fn is_shared(&self) -> bool {
        true
    }

    fn health(&self) -> HistoryHealth {
        self.link.health()
    }
}
