//! Reviews: a person confirms or overrides the detected verdict of a turn.

use ingest::FindingPlace;
use model::{Finding, Mac, Need, Scope, TurnId, UserId, VerdictStatus};

use crate::core::Core;
use crate::error::EngineError;
use crate::feedback::Feedback;
use crate::receipt::{Receipt, RequestKey};

impl Feedback {
    /// Stores a review. The newest one counts.
    pub async fn review(
        &self,
        scope: &Scope,
        turn: TurnId,
        status: VerdictStatus,
        mac: Mac,
        key: Option<RequestKey>,
    ) -> Result<Receipt, EngineError> {
        let now = self.core.clock.now();
        // The review is not by the turn's user, but is erased with the turn.
        let place = self.core.finding_place(scope, turn, None).await?;
        let finding = Finding::Review { status };
        let event = ingest::finding_event(place, finding, self.core.ids.event_id(now), now, now);
        let mut write = self.core.build_write(event, mac, key);
        write.needs.push(Need::Turn(None));
        self.core.commit_one(write).await
    }
}

impl Core {
    /// The scope and owner of feedback on a turn: `user`, otherwise the turn's user.
    pub(crate) async fn finding_place(
        &self,
        scope: &Scope,
        turn: TurnId,
        user: Option<UserId>,
    ) -> Result<FindingPlace, EngineError> {
        let head =
            self.store.turn_head(scope, &turn).await?.ok_or(EngineError::NotFound("turn"))?;
        Ok(FindingPlace {
            scope: scope.clone(),
            turn: Some(turn),
            conversation: head.conversation,
            user: user.or(head.user),
        })
    }
}
