//! A person confirms or flips what the machine thinks of a turn.

use ingest::FindingPlace;
use model::{Finding, Mac, Need, Scope, TurnId, UserId, VerdictStatus};

use crate::core::Core;
use crate::error::FlowError;
use crate::feedback::Feedback;
use crate::receipt::{Receipt, RequestKey};

impl Feedback {
    /// Takes in a review. The newest one counts.
    pub async fn review(
        &self,
        scope: &Scope,
        turn: TurnId,
        status: VerdictStatus,
        mac: Mac,
        key: Option<RequestKey>,
    ) -> Result<Receipt, FlowError> {
        let now = self.core.clock.now();
        // About the user's turn, but not by them; it goes with the turn when they are erased.
        let place = self.core.place_on(scope, turn, None).await?;
        let finding = Finding::Review { status };
        let event = ingest::finding_event(place, &finding, self.core.ids.event_id(now), now, now);
        let mut write = self.core.build_write(event, mac, key);
        write.needs.push(Need::Turn(None));
        self.core.commit_one(write).await
    }
}

impl Core {
    /// Where something that somebody says about a turn goes: it is theirs, else the turn's user's.
    pub(crate) async fn place_on(
        &self,
        scope: &Scope,
        turn: TurnId,
        user: Option<UserId>,
    ) -> Result<FindingPlace, FlowError> {
        let head = self.store.turn_head(scope, &turn).await?.ok_or(FlowError::Unknown("turn"))?;
        Ok(FindingPlace {
            scope: scope.clone(),
            turn: Some(turn),
            conversation: head.conversation,
            user: user.or(head.user),
        })
    }
}
