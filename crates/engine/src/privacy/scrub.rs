//! Nothing of what was erased or dropped stays in the store's files: they are cleared at once where that is
//! possible, else as soon as it is, and after a restart.

use std::sync::Arc;
use std::time::Duration;

use store::{Store, StoreError};

use crate::error::EngineError;
use crate::privacy::Privacy;
use crate::retriable::put_off;

/// How long whoever asked waits for readers of what was.
const SCRUB_TIMEOUT: Duration = Duration::from_secs(20);

/// How long writers are left alone between two tries, once somebody reads for long.
const BUSY_RETRY_INTERVAL: Duration = Duration::from_millis(300);

/// How long it is left alone when it cannot be done, as on a full disk.
const ERROR_RETRY_INTERVAL: Duration = Duration::from_secs(5);

pub(crate) const READERS_PENDING: &str = "it is erased from the store; somebody still reads what was, which is not \
    gone from its files yet: ask again to hear that it is";

impl Privacy {
    /// Starts clearing the files whenever that could not be done at once, and now: whoever had them before may
    /// have died over it. Call it once, before serving.
    pub fn spawn_scrubbing(&self) {
        let (store, scrub_signal) = (Arc::clone(&self.core.store), self.scrub_signal.clone());
        self.core.tasks.start(|mut stop| async move {
            loop {
                tokio::select! {
                    _ = stop.changed() => return,
                    () = scrub_with_retries(&*store) => {}
                }
                tokio::select! {
                    _ = stop.changed() => return,
                    () = scrub_signal.wait() => {}
                }
            }
        });
    }

    /// Until nobody reads any more what was. If that takes too long, or fails, it is done beside requests, whether
    /// anybody asks again or not.
    pub(crate) async fn scrub(&self) -> Result<(), EngineError> {
        self.scrub_with_timeout(SCRUB_TIMEOUT).await
    }

    async fn scrub_with_timeout(&self, wait: Duration) -> Result<(), EngineError> {
        let scrubbed = tokio::time::timeout(wait, scrub_when_free(&*self.core.store)).await;
        if !matches!(scrubbed, Ok(Ok(()))) {
            self.scrub_signal.notify();
        }
        match scrubbed {
            Ok(result) => Ok(result?),
            Err(_) => {
                tracing::warn!(
                    "somebody still reads what was erased; it is cleared away when they are gone"
                );
                Err(EngineError::Incomplete(READERS_PENDING))
            }
        }
    }

    /// The last thing before the store is closed. What somebody reads just then is left to the next start.
    pub(crate) async fn scrub_on_close(&self) {
        match self.core.store.scrub_if_free().await {
            Ok(true) => {}
            Ok(false) => {
                tracing::info!("somebody reads the store; its log is cleared at the next start")
            }
            Err(error) => put_off(error, "the store's log is not cleared; the next start does it"),
        }
    }
}

/// However often it fails.
async fn scrub_with_retries(store: &Store) {
    while let Err(error) = scrub_when_free(store).await {
        put_off(error, "what was erased may not be overwritten yet; trying again");
        tokio::time::sleep(ERROR_RETRY_INTERVAL).await;
    }
}

/// Those who read a little are gone in a moment. Whoever still reads then may do so for long, as a backup
/// does, and others want to write meanwhile.
async fn scrub_when_free(store: &Store) -> Result<(), StoreError> {
    let mut is_done = store.scrub().await?;
    while !is_done {
        tokio::time::sleep(BUSY_RETRY_INTERVAL).await;
        is_done = store.scrub_if_free().await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use model::Scope;
    use store::{Stopwatch, back_up};

    use super::*;
    use crate::test_engine::{NOW, TestEngine, engine_in};

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn scrubbing_finishes_in_the_background_after_a_long_read() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let TestEngine { engine, .. } = engine_in(&data).await;
        engine.privacy.spawn_scrubbing();
        // More than a backup copies in one go.
        let large = |n: usize| {
            let mut write = testkit::write(&Scope::default(), &format!("e{n}"), 1);
            write.entry.event.data.insert("text".into(), "x".repeat(1 << 20).into());
            write
        };
        engine.core.store.commit((0..12).map(large).collect()).await.unwrap();
        let (began, has_begun) = std::sync::mpsc::channel();
        let (go_on, may_go_on) = std::sync::mpsc::channel::<()>();
        let (from, to) = (data.clone(), folder.path().join("copy.db"));
        let reader = std::thread::spawn(move || {
            back_up(&from, &to, NOW, |_, _| {
                // Whoever listens hears it once, and then nobody waits for anything any more.
                let _ = began.send(());
                let _ = may_go_on.recv();
            })
        });
        has_begun.recv().unwrap();
        engine.core.store.commit(vec![large(12)]).await.unwrap();
        let early = engine.privacy.scrub_with_timeout(Duration::from_millis(1)).await;
        assert!(matches!(early, Err(EngineError::Incomplete(_))), "{early:?}");
        assert!(!engine.core.store.scrub_if_free().await.unwrap());
        let log = data.join("uptake.db-wal");
        let left = || std::fs::metadata(&log).map_or(0, |file| file.len());
        assert!(left() > 0);
        drop(go_on);
        reader.join().unwrap().unwrap();
        let watch = Stopwatch::start();
        while left() > 0 {
            assert!(watch.elapsed() < Duration::from_secs(60), "nobody does it");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        engine.close().await.unwrap();
    }
}
