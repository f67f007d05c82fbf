//! Who may call the API: keys, and sessions of people at the page.

pub(crate) mod ended_sessions;
pub(crate) mod key_ring;
pub(crate) mod keys;
pub(crate) mod page_sessions;

use std::sync::Arc;

use crate::access::ended_sessions::EndedVisits;
use crate::access::key_ring::KeyRing;
use crate::core::Core;
use crate::error::FlowError;
use crate::retriable::log_retriable;

/// Owns the API keys and the list of page sessions that were ended early.
pub struct Access {
    pub(crate) core: Arc<Core>,
    pub(crate) keys: KeyRing,
    pub(crate) ended_visits: EndedVisits,
}

impl Access {
    pub(crate) async fn open(core: Arc<Core>) -> Result<Self, FlowError> {
        let keys = KeyRing::load(&core.store).await?;
        let ended_visits = EndedVisits::load(&core.store).await?;
        Ok(Self { core, keys, ended_visits })
    }

    /// Reloads keys and ended sessions, which other nodes change without a log entry.
    pub(crate) async fn reload(&self) {
        match KeyRing::load(&self.core.store).await {
            Ok(ring) => {
                if self.keys.take_over(ring) {
                    self.ended_visits.wake();
                }
            }
            Err(error) => log_retriable(error, "API keys of other nodes could not be reloaded"),
        }
        match EndedVisits::load(&self.core.store).await {
            Ok(ended) => self.ended_visits.take_over(ended, self.core.clock.now()),
            Err(error) => {
                log_retriable(error, "ended sessions of other nodes could not be reloaded")
            }
        }
    }
}
