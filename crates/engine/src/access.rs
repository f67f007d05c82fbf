//! Access control: API keys, and sessions of users who are signed in to the web page.

pub(crate) mod ended_sessions;
pub(crate) mod key_ring;
pub(crate) mod keys;
pub(crate) mod page_sessions;

use std::sync::Arc;

use crate::access::ended_sessions::EndedSessions;
use crate::access::key_ring::KeyRing;
use crate::core::Core;
use crate::error::EngineError;
use crate::retriable::log_retriable;

/// Owns the API keys and the list of page sessions that were ended early.
pub struct Access {
    pub(crate) core: Arc<Core>,
    pub(crate) keys: KeyRing,
    pub(crate) ended_sessions: EndedSessions,
}

impl Access {
    pub(crate) async fn open(core: Arc<Core>) -> Result<Self, EngineError> {
        let keys = KeyRing::load(&core.store).await?;
        let ended_sessions = EndedSessions::load(&core.store).await?;
        Ok(Self { core, keys, ended_sessions })
    }

    /// Reloads keys and ended sessions, which other nodes change without a log entry. Returns false
    /// when a read failed.
    pub(crate) async fn reload(&self) -> bool {
        let keys = match KeyRing::load(&self.core.store).await {
            Ok(ring) => {
                if self.keys.merge(ring) {
                    self.ended_sessions.notify_watchers();
                }
                Ok(())
            }
            Err(error) => Err((error, "API keys of other nodes could not be reloaded")),
        };
        let ended = match EndedSessions::load(&self.core.store).await {
            Ok(ended) => {
                self.ended_sessions.merge(ended, self.core.clock.now());
                Ok(())
            }
            Err(error) => Err((error, "ended sessions of other nodes could not be reloaded")),
        };
        let is_reloaded = keys.is_ok() && ended.is_ok();
        for (error, what) in [keys.err(), ended.err()].into_iter().flatten() {
            log_retriable(error, what);
        }
        is_reloaded
    }
}
