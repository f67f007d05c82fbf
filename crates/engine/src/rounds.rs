//! What otherwise happens by itself, once and now: for whoever sets the clock.

use crate::engine::Engine;
use crate::error::FlowError;

impl Engine {
    /// Stores the choices that wait, ends the sessions that went silent, calibrates, compares figures with
    /// targets, and moves the shares of experiments.
    pub async fn do_rounds(&self) -> Result<(), FlowError> {
        self.store_choices().await;
        self.sweep().await?;
        for scope in self.for_targets.take() {
            self.check_targets(&scope).await?;
        }
        let scopes = self.for_experiments.take();
        self.move_experiments(Some(&scopes)).await.map(drop)
    }
}
