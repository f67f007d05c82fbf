//! What users asked lately, for those who ask or want it forgotten.

use std::sync::Arc;

use event::{Scope, Timestamp, TurnId, UserId};

use crate::engine::Engine;
use crate::history::Asker;

impl Engine {
    /// What a user asked lately, the newest first.
    pub fn question_history(
        &self,
        scope: &Scope,
        user: &UserId,
    ) -> Vec<(TurnId, Arc<str>, Timestamp)> {
        let asker = Asker::User(scope.clone(), user.clone());
        let recent = self.history.recent(&asker, self.clock.now());
        recent.into_iter().map(|(asked, _)| (asked.turn, asked.text, asked.ts)).collect()
    }

    /// Forgets what a user asked lately, and says how much that was.
    pub fn forget_questions(&self, scope: &Scope, user: &UserId) -> usize {
        self.history.forget(&Asker::User(scope.clone(), user.clone()))
    }
}
