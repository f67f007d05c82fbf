//! What users asked lately, for those who ask or want it forgotten.

use std::sync::Arc;

use event::{Scope, Timestamp, TurnId, UserId};
use store::{Asker, HistoryHealth};

use crate::engine::Engine;
use crate::error::FlowError;

impl Engine {
    /// What a user asked lately, the newest first.
    pub async fn question_history(
        &self,
        scope: &Scope,
        user: &UserId,
    ) -> Result<Vec<(TurnId, Arc<str>, Timestamp)>, FlowError> {
        let asker = Asker::User(scope.clone(), user.clone());
        let recent = self.history.place().recent(&asker, self.clock.now()).await?;
        Ok(recent.into_iter().map(|(asked, _)| (asked.turn, asked.text, asked.ts)).collect())
    }

    /// Forgets what a user asked lately, and says how much that was.
    pub async fn forget_questions(&self, scope: &Scope, user: &UserId) -> Result<usize, FlowError> {
        Ok(self.history.place().forget(&Asker::User(scope.clone(), user.clone())).await?)
    }

    /// How the place that keeps the latest questions is doing.
    pub fn history_health(&self) -> HistoryHealth {
        self.history.place().health()
    }
}
