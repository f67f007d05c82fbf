//! Nothing of what was erased or dropped stays in the store's files: they are cleared at once where that is
//! possible, else as soon as it is, and after a restart.

use std::sync::Arc;
use std::time::Duration;

use store::{Store, StoreError};

use crate::error::FlowError;
use crate::privacy::Privacy;
use crate::retriable::log_retriable;

/// How long whoever asked waits for readers of what was.
const WAIT: Duration = Duration::from_secs(20);

/// How long writers are left alone between two tries, once somebody reads for long.
const REST: Duration = Duration::from_millis(300);

/// How long it is left alone when it cannot be done, as on a full disk.
const PAUSE: Duration = Duration::from_secs(5);

pub(crate) const READERS_LEFT: &str = "it is erased from the store; somebody still reads what was, which is not \
    gone from its files yet: ask again to hear that it is";

impl Privacy {
    /// Starts clearing the files whenever that could not be done at once, and now: whoever had them before may
    /// have died over it. Call it once, before serving.
    pub fn keep_files_clean(&self) {
        let (store, unclean) = (Arc::clone(&self.core.store), self.unclean.clone());
        self.core.tasks.spawn_task(|mut stop| async move {
            loop {
                tokio::select! {
                    _ = stop.changed() => return,
                    () = until_clean(&*store) => {}
                }
                tokio::select! {
                    _ = stop.changed() => return,
                    () = unclean.told() => {}
                }
            }
        });
    }

    /// Until nobody reads any more what was. If that takes too long, or fails, it is done beside requests, whether
    /// anybody asks again or not.
    pub(crate) async fn scrub(&self) -> Result<(), FlowError> {
        self.scrub_within(WAIT).await
    }

    async fn scrub_within(&self, wait: Duration) -> Result<(), FlowError> {
        let scrubbed = tokio::time::timeout(wait, until_scrubbed(&*self.core.store)).await;
        if !matches!(scrubbed, Ok(Ok(()))) {
            self.unclean.tell();
        }
        match scrubbed {
            Ok(result) => Ok(result?),
            Err(_) => {
                tracing::warn!(
                    "somebody still reads what was erased; it is cleared away when they are gone"
                );
                Err(FlowError::Unfinished(READERS_LEFT))
            }
        }
    }

    /// The last thing before the store is closed. What somebody reads just then is left to the next start.
    pub(crate) async fn leave_clean(&self) {
        match self.core.store.scrub_if_free().await {
            Ok(true) => {}
            Ok(false) => {
                tracing::info!("somebody reads the store; its log is cleared at the next start")
            }
            Err(error) => {
                log_retriable(error, "the store's log is not cleared; the next start does it")
            }
        }
    }
}

/// However often it fails.
async fn until_clean(store: &Store) {
    while let Err(error) = until_scrubbed(store).await {
        log_retriable(error, "what was erased may not be overwritten yet; trying again");
        tokio::time::sleep(PAUSE).await;
    }
}

/// Those who read a little are gone in a moment. Whoever still reads then may do so for long, as a backup
/// does, and others want to write meanwhile.
async fn until_scrubbed(store: &Store) -> Result<(), StoreError> {
    let mut is_done = store.scrub().await?;
    while !is_done {
        tokio::time::sleep(REST).await;
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
    async fn what_a_long_reader_kept_goes_by_itself_when_they_are_done() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let TestEngine { engine, .. } = open_test_engine(&data).await;
        engine.privacy.keep_files_clean();
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
        let early = engine.privacy.scrub_within(Duration::from_millis(1)).await;
        assert!(matches!(early, Err(FlowError::Unfinished(_))), "{early:?}");
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
