//! Optional sections of an opening's response: planner context, strategies, examples.

use learn::PlannerContext;
use model::{CorrectionType, Event, Position, Scope, TurnId, VerdictStatus};

use super::open::{Include, question_text};
use crate::error::EngineError;
use crate::training_data::examples::FoundExample;
use crate::turns::Turns;
use crate::turns::findings_response::PreviousVerdict;
use crate::turns::strategies::{Strategies, StrategySearch};

impl Turns {
    pub(super) async fn include_context(
        &self,
        include: Include,
        opening: &Event,
        position: Position,
        previous: Option<&PreviousVerdict>,
    ) -> Result<Option<PlannerContext>, EngineError> {
        if !include.context {
            return Ok(None);
        }
        let format = include.context_format;
        self.build_context(opening, position, previous, format).await.map(Some)
    }

    pub(super) async fn include_strategies(
        &self,
        include: Include,
        opening: &Event,
        previous: Option<&PreviousVerdict>,
    ) -> Result<Option<Strategies>, EngineError> {
        let Some(turn) = opening.turn.as_ref().filter(|_| include.strategies) else {
            return Ok(None);
        };
        let query = self.expand_question(&opening.scope, opening, previous).await?;
        let rejected =
            previous.filter(|previous| previous.verdict.status == VerdictStatus::Rejected);
        let search = StrategySearch {
            rejected_turn: rejected.map(|previous| previous.turn.clone()),
            ..similar_turns_search(query, turn)
        };
        self.find_strategies(&opening.scope, search).await.map(Some)
    }

    pub(super) async fn include_examples(
        &self,
        include: Include,
        opening: &Event,
        previous: Option<&PreviousVerdict>,
    ) -> Result<Option<Vec<FoundExample>>, EngineError> {
        let Some(turn) = opening.turn.as_ref().filter(|_| include.examples) else {
            return Ok(None);
        };
        let query = self.expand_question(&opening.scope, opening, previous).await?;
        self.training_data.examples_excluding(&opening.scope, query, turn).await.map(Some)
    }

    /// The question to search for. A correction is combined with the question that it corrects.
    async fn expand_question(
        &self,
        scope: &Scope,
        opening: &Event,
        previous: Option<&PreviousVerdict>,
    ) -> Result<String, EngineError> {
        let own = question_text(opening);
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

/// Search for turns similar to the opened one, including rejected ones.
fn similar_turns_search(query: String, turn: &TurnId) -> StrategySearch {
    StrategySearch {
        query,
        include_rejected: true,
        exclude_turn: Some(turn.clone()),
        ..StrategySearch::default()
    }
}
