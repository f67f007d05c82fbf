//! Assigns units to variants and records each exposure in the log.

use ingest::FindingPlace;
use learn::experiment::{AssignmentSalt, ExperimentStatus, assign_variant};
use model::{
    BadData, BadId, ConversationId, ExperimentId, ExperimentUnit, Exposure, Finding, Need, Outcome,
    Redacted, Scope, UserId,
};
use serde_json::Value;
use store::StoredExposure;

use super::ExperimentView;
use crate::core::build_redacted_write;
use crate::error::EngineError;
use crate::experiments::Experiments;

/// Attempts to assign a unit while the experiment changes concurrently.
const MAX_ATTEMPTS: u32 = 3;

#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    pub variant: String,
    /// The application's settings for the variant.
    pub payload: Value,
}

#[derive(Clone, Debug)]
struct AssignedUnit {
    user: Option<UserId>,
    conversation: Option<ConversationId>,
}

impl Experiments {
    /// Assigns a user or conversation to a variant. The exposure is in the log before this returns.
    /// A unit that keeps its variant costs one read. Otherwise a write follows, and its
    /// transaction decides if the exposure is still new.
    pub async fn assign(
        &self,
        scope: &Scope,
        id: &ExperimentId,
        unit_id: &str,
    ) -> Result<Assignment, EngineError> {
        for _ in 0..MAX_ATTEMPTS {
            let standing = self.core.store.experiment_standing(scope, id, unit_id).await?;
            let standing = standing.ok_or(EngineError::NotFound("experiment"))?;
            let view = match self.cache.find_current(scope, id, &standing) {
                Some(view) => view,
                None => self.cache.insert_view(scope, self.load_experiment(scope, id).await?),
            };
            let who = parse_unit(view.definition.unit, unit_id)?;
            let (variant, is_news) = choose_variant(&view, standing.exposure, unit_id)?;
            let is_recorded = !is_news || self.record_exposure(scope, &view, who, variant).await?;
            let chosen = view.definition.variants.get(variant).filter(|_| is_recorded);
            if let Some(chosen) = chosen {
                let (variant, payload) = (chosen.name.clone(), chosen.payload.clone());
                return Ok(Assignment { variant, payload });
            }
        }
        Err(EngineError::NotStored)
    }

    /// Records the exposure of a unit. Returns `false` when the experiment changed concurrently.
    async fn record_exposure(
        &self,
        scope: &Scope,
        view: &ExperimentView,
        who: AssignedUnit,
        variant: usize,
    ) -> Result<bool, EngineError> {
        let name = view.definition.variants.get(variant).map(|variant| variant.name.clone());
        let index = variant as u32;
        let exposure = Exposure {
            experiment_id: view.id.clone(),
            variant: name.unwrap_or_default(),
            index,
            moves: view.moves.len() as u32,
        };
        let AssignedUnit { user, conversation } = who;
        let place = FindingPlace { scope: scope.clone(), turn: None, conversation, user };
        let now = self.core.clock.now();
        let finding = Finding::Exposure(exposure);
        let event = ingest::finding_event(place, finding, self.core.ids.event_id(now), now, now);
        let mut write = build_redacted_write(Redacted::assert_no_user_text(event), None, None);
        let statuses = vec![view.status.word().to_owned()];
        write.needs = vec![
            Need::Experiment { id: view.id.clone(), statuses },
            Need::OtherVariant(view.id.clone(), index),
        ];
        match self.core.store_writes(vec![write]).await?.pop().unwrap_or(Outcome::Failed) {
            Outcome::Stored(_)
            | Outcome::StoredElsewhere(_)
            | Outcome::Unchanged
            | Outcome::Replayed { .. } => Ok(true),
            Outcome::Missing(_) => Ok(false),
            Outcome::Conflict(space) => Err(EngineError::Conflict(space)),
            Outcome::SetAside => Err(EngineError::DeadLettered),
            Outcome::Failed => Err(EngineError::NotStored),
        }
    }
}

/// The index of the variant, and `true` when the unit was not served it before.
fn choose_variant(
    view: &ExperimentView,
    known: Option<StoredExposure>,
    unit_id: &str,
) -> Result<(usize, bool), EngineError> {
    let is_news = |variant: usize| known.is_none_or(|known| known.current as usize != variant);
    match (view.status, known) {
        (ExperimentStatus::Running, _) => {
            let stays = known.filter(|_| view.definition.adaptive.is_some());
            let variant = match stays {
                Some(known) => known.first as usize,
                None => {
                    assign_variant(&AssignmentSalt::new(view.id.as_str()), unit_id, &view.shares())
                }
            };
            Ok((variant, is_news(variant)))
        }
        (ExperimentStatus::Paused, None) => Ok((0, false)),
        (ExperimentStatus::Paused, Some(_)) if view.is_rolled_back() => Ok((0, is_news(0))),
        (ExperimentStatus::Paused, Some(known)) => Ok((known.current as usize, false)),
        (ExperimentStatus::Draft | ExperimentStatus::Completed | ExperimentStatus::Archived, _) => {
            let possible = view.status.allowed_actions().iter().map(|(action, _)| action.word());
            let words: Vec<&str> = possible.collect();
            let possible = if words.is_empty() { "none" } else { &words.join(" or ") };
            Err(EngineError::PreconditionFailed(format!(
                "cannot assign units of an experiment in status {}; possible actions: {possible}",
                view.status.word()
            )))
        }
    }
}

fn parse_unit(unit: ExperimentUnit, unit_id: &str) -> Result<AssignedUnit, EngineError> {
    let bad = |bad: BadId| {
        EngineError::InvalidSetting(BadData {
            field: "unit_id".to_owned(),
            got: format!("{:?}", unit_id.chars().take(60).collect::<String>()),
            expected: bad.to_string().replace("expected ", ""),
        })
    };
    Ok(match unit {
        ExperimentUnit::User => {
            AssignedUnit { user: Some(UserId::new(unit_id).map_err(bad)?), conversation: None }
        }
        ExperimentUnit::Conversation => {
            let conversation = ConversationId::new(unit_id).map_err(bad)?;
            AssignedUnit { user: None, conversation: Some(conversation) }
        }
    })
}
