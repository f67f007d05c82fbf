//! Makes what follows from the log again.

use store::{Rebuild, Rebuilt};

use crate::engine::Engine;
use crate::error::FlowError;

impl Engine {
    /// Makes every projection again. `progress` is told events done and events in all.
    pub async fn rebuild(
        &self,
        progress: impl Fn(u64, u64) + Send + 'static,
    ) -> Result<Rebuilt, FlowError> {
        let how = Rebuild { changes_of: crate::changes::changes_of, progress: Box::new(progress) };
        let rebuilt = self.store.rebuild(how).await?;
        // What routers have learnt follows from the log, too.
        self.routing.reload(&*self.store).await?;
        tracing::info!(events = rebuilt.events, changed = rebuilt.changed, "projections rebuilt");
        Ok(rebuilt)
    }
}
