//! Scrubbing: truncates the write-ahead log, so that erased and dropped data is in no file of the
//! store. Runs at once if possible, otherwise in the background and after a restart.

use std::sync::Arc;
use std::time::Duration;

use store::{Store, StoreError};

use crate::error::EngineError;
use crate::privacy::Privacy;
use crate::retriable::log_retriable;

/// Time that a request waits for readers of old data.
const SCRUB_TIMEOUT: Duration = Duration::from_secs(20);

/// Pause between attempts while a long read is running, so that writers can proceed.
const BUSY_RETRY_INTERVAL: Duration = Duration::from_millis(300);

/// Pause after an error such as a full disk.
const ERROR_RETRY_INTERVAL: Duration = Duration::from_secs(5);

pub(crate) const READERS_PENDING: &str = "the data is erased from the store; a running read still holds it, so \
    the store's files are not scrubbed yet. Repeat the request to confirm";

impl Privacy {
    /// Starts background scrubbing. It also runs once at the start, because an earlier process may
    /// have stopped in between. Call it once, before serving.
    pub fn spawn_scrubbing(&self) {
        let (store, scrub_signal) = (Arc::clone(&self.core.store), self.scrub_signal.clone());
        self.core.tasks.spawn_task(|mut stop| async move {
            loop {
                tokio::select! {
                    _ = stop.changed() => return,
                    () = scrub_with_retries(&store) => {}
                }
                tokio::select! {
                    _ = stop.changed() => return,
                    () = scrub_signal.wait() => {}
                }
            }
        });
    }

    /// Waits until no reader holds old data and scrubs. On a timeout or an error, the background
    /// task takes over.
    pub(crate) async fn scrub(&self) -> Result<(), EngineError> {
        self.scrub_with_timeout(SCRUB_TIMEOUT).await
    }

    async fn scrub_with_timeout(&self, wait: Duration) -> Result<(), EngineError> {
        let scrubbed = tokio::time::timeout(wait, scrub_when_free(&self.core.store)).await;
        if !matches!(scrubbed, Ok(Ok(()))) {
            self.scrub_signal.notify();
        }
        match scrubbed {
            Ok(result) => Ok(result?),
            Err(_) => {
                tracing::warn!(
                    "erasure pending: a running read holds erased data; scrubbing continues after it"
                );
                Err(EngineError::Incomplete(READERS_PENDING))
            }
        }
    }

    /// Last step before the store is closed. The next start scrubs what a running read still
    /// holds.
    pub(crate) async fn scrub_on_close(&self) {
        match self.core.store.scrub_if_free().await {
            Ok(true) => {}
            Ok(false) => {
                tracing::info!(
                    "a read is running; the write-ahead log is scrubbed at the next start"
                )
            }
            Err(error) => {
                log_retriable(error, "scrubbing at shutdown failed; the next start scrubs")
            }
        }
    }
}

/// Retries after every error.
async fn scrub_with_retries(store: &Store) {
    while let Err(error) = scrub_when_free(store).await {
        log_retriable(error, "scrubbing failed, erased data may remain in the files; retrying");
        tokio::time::sleep(ERROR_RETRY_INTERVAL).await;
    }
}

/// Short reads end within one attempt. A longer one, such as a backup, can take a while, so later
/// attempts do not block writers.
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
    use crate::test_engine::{NOW, TestEngine, open_test_engine};

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn scrubbing_finishes_in_the_background_after_a_long_read() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let TestEngine { engine, .. } = open_test_engine(&data).await;
        engine.privacy.spawn_scrubbing();
        // More than a backup copies in one step.
        let large = |n: usize| {
            let mut write = testkit::write(&Scope::default(), &format!("e{n}"), 1);
            let body = testkit::other_body(&serde_json::json!({"text": "x".repeat(1 << 20)}));
            testkit::edit_event(&mut write.entry.event, |event| event.body = body);
            write
        };
        engine.core.store.commit((0..12).map(large).collect()).await.unwrap();
        let (began, has_begun) = std::sync::mpsc::channel();
        let (go_on, may_go_on) = std::sync::mpsc::channel::<()>();
        let (from, to) = (data.clone(), folder.path().join("copy.db"));
        let reader = std::thread::spawn(move || {
            back_up(&from, &to, NOW, |_, _| {
                // Reported once; afterwards the channel is closed.
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
            assert!(watch.elapsed() < Duration::from_secs(60), "scrubbing did not run");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        engine.close().await.unwrap();
    }
}
