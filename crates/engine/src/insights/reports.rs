//! Reports out.

use model::{Scope, Timestamp, TurnId};
use report::{
    ArtifactPage, ArtifactSearch, ConversationReport, ConversationRequest, PeriodReport,
    PeriodRequest, TurnLog,
};
use store::{ConversationQuery, StoredReaction, StoredTurn};

use crate::error::FlowError;
use crate::insights::Insights;
use crate::turns::Turns;

/// Reactions of one turn that are looked at.
const MOST_OF_A_TURN: usize = 1000;

impl Insights {
    /// Reactions by conversation in a period.
    pub async fn period(&self, request: PeriodRequest) -> Result<PeriodReport, FlowError> {
        Ok(report::period(&*self.core.store, &self.core.seal, request).await?)
    }

    /// The turns of a conversation that somebody reacted to.
    pub async fn conversation(
        &self,
        request: ConversationRequest,
    ) -> Result<ConversationReport, FlowError> {
        Ok(report::conversation(&*self.core.store, request).await?)
    }

    /// The index of artifacts.
    pub async fn artifacts(&self, search: ArtifactSearch) -> Result<ArtifactPage, FlowError> {
        Ok(report::search(&*self.core.store, &self.core.seal, search).await?)
    }
}

impl Turns {
    /// Active reactions on a turn, oldest first.
    pub async fn reactions_on(
        &self,
        scope: &Scope,
        turn: &StoredTurn,
    ) -> Result<Vec<StoredReaction>, FlowError> {
        let Some(conversation) = turn.head.conversation.clone() else { return Ok(Vec::new()) };
        let query = ConversationQuery {
            scope: scope.clone(),
            conversation,
            turns: Some(vec![turn.head.turn.clone()]),
            since: Timestamp::from_micros(0),
            limit: MOST_OF_A_TURN,
        };
        Ok(self.core.store.conversation_reactions(query).await?)
    }

    /// The log of a turn, made from what is stored.
    pub async fn turn_log(
        &self,
        scope: &Scope,
        turn: TurnId,
    ) -> Result<Option<(StoredTurn, TurnLog)>, FlowError> {
        let Some(turn) = self.core.load_turn(scope, turn).await? else { return Ok(None) };
        let reactions = self.reactions_on(scope, &turn).await?;
        let log = report::turn_log(&turn, &reactions);
        Ok(Some((turn, log)))
    }
}
