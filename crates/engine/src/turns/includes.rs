//! What an opening brings back if it asks for it: what a planner should know, strategies, examples.

use learn::PlannerContext;
use model::{CorrectionType, Event, Position, Scope, TurnId};

use super::open::{Include, question_of};
use crate::error::EngineError;
use crate::training_data::examples::FoundExample;
use crate::turns::Turns;
use crate::turns::findings_response::Previous;
use crate::turns::strategies::{Strategies, StrategySearch};

impl Turns {
    pub(super) async fn context_for(
        &self,
        include: Include,
        opening: &Event,
        position: Position,
        previous: Option<&Previous>,
    ) -> Result<Option<PlannerContext>, EngineError> {
        if !include.context {
            return Ok(None);
        }
        self.context_of(opening, position, previous).await.map(Some)
    }

    pub(super) async fn strategies_for(
        &self,
        include: Include,
        opening: &Event,
        previous: Option<&Previous>,
    ) -> Result<Option<Strategies>, EngineError> {
        let Some(turn) = opening.turn.as_ref().filter(|_| include.strategies) else {
            return Ok(None);
        };
        let query = self.whole_question(&opening.scope, opening, previous).await?;
        self.strategies(&opening.scope, like(query, turn)).await.map(Some)
    }

    pub(super) async fn examples_of(
        &self,
        include: Include,
        opening: &Event,
        previous: Option<&Previous>,
    ) -> Result<Option<Vec<FoundExample>>, EngineError> {
        let Some(turn) = opening.turn.as_ref().filter(|_| include.examples) else {
            return Ok(None);
        };
        let query = self.whole_question(&opening.scope, opening, previous).await?;
        self.training_data.examples_excluding(&opening.scope, query, turn).await.map(Some)
    }

    /// What a message asks for: a correction is about what it corrects, too.
    async fn whole_question(
        &self,
        scope: &Scope,
        opening: &Event,
        previous: Option<&Previous>,
    ) -> Result<String, EngineError> {
        let own = question_of(opening);
        let corrected = previous.filter(|previous| {
            let kind = previous.verdict.correction_type;
            matches!(kind, Some(CorrectionType::Explicit | CorrectionType::Rephrased))
        });
        let Some(corrected) = corrected else { return Ok(own) };
        let found =
            self.core.store.exchanges_by_id(scope, vec![corrected.turn.clone()]).await?.pop();
        Ok(found.map_or(own.clone(), |found| format!("{} {own}", found.opening.text)))
    }
}

/// Turns like the one that is being opened, with those to avoid.
fn like(query: String, turn: &TurnId) -> StrategySearch {
    StrategySearch {
        query,
        include_rejected: true,
        not: Some(turn.clone()),
        ..StrategySearch::default()
    }
}
