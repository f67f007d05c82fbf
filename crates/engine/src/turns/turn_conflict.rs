//! Explains why a turn id cannot be used.

use model::{ClaimSpace, Event};

use crate::error::EngineError;
use crate::turns::Turns;

impl Turns {
    /// Names the conversation of a turn id that is taken, if it is another one of this project:
    /// some applications number turns per conversation. Other errors stay as they are.
    pub(super) async fn explain_conflict(
        &self,
        opening: &Event,
        error: EngineError,
    ) -> Result<EngineError, EngineError> {
        let (Some(turn), Some(requested), EngineError::Conflict(ClaimSpace::Turn)) =
            (&opening.turn, &opening.conversation, &error)
        else {
            return Ok(error);
        };
        let head = self.core.store.turn_head(&opening.scope, turn).await?;
        let own = head.and_then(|head| head.conversation).filter(|own| own != requested);
        Ok(match own {
            Some(conversation) => EngineError::TurnTaken {
                turn: turn.clone(),
                conversation,
                requested: requested.clone(),
            },
            None => error,
        })
    }
}
