//! Reports over reactions, conversations, artifacts and turn logs.

use crate::report::{
    ArtifactPage, ArtifactSearch, ConversationReport, ConversationRequest, PeriodReport,
    PeriodRequest, TurnLog,
};
use model::{Scope, Timestamp, TurnId};
use store::{ConversationQuery, StoredReaction, StoredTurn};

use crate::error::EngineError;
use crate::insights::Insights;
use crate::turns::Turns;

const MAX_TURN_REACTIONS: usize = 1000;

impl Insights {
    pub async fn period(&self, request: PeriodRequest) -> Result<PeriodReport, EngineError> {
        Ok(crate::report::report_period(&self.core.store, &self.core.seal, request).await?)
    }

    /// The turns of a conversation that have a reaction.
    pub async fn conversation(
        &self,
        request: ConversationRequest,
    ) -> Result<ConversationReport, EngineError> {
        Ok(crate::report::report_conversation(&self.core.store, request).await?)
    }

    /// A page of the artifact index.
    pub async fn artifacts(&self, search: ArtifactSearch) -> Result<ArtifactPage, EngineError> {
        Ok(crate::report::search_artifacts(&self.core.store, &self.core.seal, search).await?)
    }
}

impl Turns {
    /// Active reactions on a turn, oldest first.
    pub async fn turn_reactions(
        &self,
        scope: &Scope,
        turn: &StoredTurn,
    ) -> Result<Vec<StoredReaction>, EngineError> {
        let Some(conversation) = turn.head.conversation.clone() else { return Ok(Vec::new()) };
        let query = ConversationQuery {
            scope: scope.clone(),
            conversation,
            turns: Some(vec![turn.head.turn.clone()]),
            since: Timestamp::from_micros(0),
            limit: MAX_TURN_REACTIONS,
        };
        Ok(self.core.store.conversation_reactions(query).await?)
    }

    /// The log of a turn, built from stored events.
    pub async fn turn_log(
        &self,
        scope: &Scope,
        turn: TurnId,
    ) -> Result<Option<(StoredTurn, TurnLog)>, EngineError> {
        let Some(turn) = self.core.load_turn(scope, turn).await? else { return Ok(None) };
        let reactions = self.turn_reactions(scope, &turn).await?;
        let log = crate::report::turn_log(&turn, &reactions);
        Ok(Some((turn, log)))
    }
}
