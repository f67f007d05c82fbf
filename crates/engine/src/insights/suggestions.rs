//! Suggested instructions, stored so that an experiment can try them later.

use std::sync::Arc;

use ingest::FindingPlace;
use learn::experiment::ExperimentDefinition;
use learn::{FailurePattern, Suggestion};
use model::{BadData, Body, EventId, ExperimentId, Finding, FoundSuggestion, Mac, Scope};
use serde_json::{Map, Value, json};
use store::QualityQuery;

use crate::error::EngineError;
use crate::experiments::ExperimentView;
use crate::insights::Insights;
use crate::insights::drafts::Draft;
use crate::receipt::RequestKey;

#[derive(Clone, Debug)]
pub struct StoredSuggestion {
    pub id: EventId,
    pub found: FoundSuggestion,
    /// Agreeing turns, and turns that could have agreed.
    pub support: (u32, u32),
    /// Lower 95% bound of the agreement; `None` for a draft of a model.
    pub strength: Option<f64>,
    pub pattern: FailurePattern,
}

impl Insights {
    /// Suggestions for the failures of a window. Each is stored in the project once.
    pub async fn suggest(
        self: &Arc<Self>,
        scope: &Scope,
        query: QualityQuery,
    ) -> Result<Vec<StoredSuggestion>, EngineError> {
        let prompt = query.prompt.clone();
        let report = self.failure_report(query).await?;
        let drafts = self
            .drafts
            .draft_instructions(scope, &report.patterns, &report.shared, &report.suggestions)
            .await;
        let mut stored = Vec::new();
        for pattern in &report.patterns {
            let templates = report.suggestions.iter().filter(|one| one.pattern_id == pattern.id);
            let templates = templates.map(|one| {
                let found = from_template(one, pattern, prompt.clone());
                (found, (one.agree, one.total), Some(one.strength))
            });
            let drafted = drafts.iter().filter(|draft| draft.pattern_id == pattern.id);
            let drafted = drafted.map(|draft| {
                let found = from_draft(draft, pattern, prompt.clone());
                (found, (pattern.count, pattern.count), None)
            });
            for (found, support, strength) in drafted.chain(templates) {
                let (id, pattern) = (self.store_suggestion(scope, &found).await?, pattern.clone());
                stored.push(StoredSuggestion { id, found, support, strength, pattern });
            }
        }
        Ok(stored)
    }

    /// A stored suggestion by its id.
    pub async fn suggestion(
        &self,
        scope: &Scope,
        id: &EventId,
    ) -> Result<Option<FoundSuggestion>, EngineError> {
        let stored = self.core.store.event(scope, id).await?;
        match stored.map(|stored| stored.event.into_inner().body) {
            // Erasing a user can empty the instruction; the suggestion then no longer exists.
            Some(Body::Finding(Finding::Suggestion(found))) => {
                Ok(Some(found).filter(|found| !found.instruction.is_empty()))
            }
            Some(_) | None => Ok(None),
        }
    }

    /// Defines an experiment for a suggestion: the control is unchanged, the treatment adds the
    /// instruction. The experiment has the suggestion's id, so there is one at most. `overrides`
    /// replace fields of the default definition.
    pub async fn try_suggestion(
        &self,
        scope: &Scope,
        id: &EventId,
        overrides: Map<String, Value>,
        mac: Mac,
        key: Option<RequestKey>,
    ) -> Result<(ExperimentView, bool), EngineError> {
        let found = self.suggestion(scope, id).await?.ok_or(EngineError::NotFound("suggestion"))?;
        let payload = |instruction: Option<&str>| json!({"prompt": found.prompt, "instruction": instruction, "suggestion_id": id.as_str()});
        let mut written = json!({
            "name": format!("Suggestion for {}", found.label),
            "unit": "user",
            "metric": "satisfaction",
            "variants": [
                {"name": "control", "payload": payload(None)},
                {"name": "treatment", "payload": payload(Some(&found.instruction))},
            ],
        });
        if let Some(fields) = written.as_object_mut() {
            fields.extend(overrides);
        }
        let definition: ExperimentDefinition =
            serde_json::from_value(written).map_err(|error| {
                EngineError::InvalidSetting(BadData {
                    field: "body".to_owned(),
                    got: error.to_string(),
                    expected: "fields of an experiment".to_owned(),
                })
            })?;
        let own =
            ExperimentId::new(id.as_str()).map_err(|_| EngineError::NotFound("suggestion"))?;
        self.experiments.create_experiment(scope, Some(own), &definition, mac, key).await
    }

    async fn store_suggestion(
        &self,
        scope: &Scope,
        found: &FoundSuggestion,
    ) -> Result<EventId, EngineError> {
        // The same instruction for the same pattern and prompt is one suggestion.
        let same = json!([found.pattern_id, found.instruction, found.prompt]);
        let id = self.core.derive_event_id("suggestion", &same)?;
        if self.core.store.event(scope, &id).await?.is_none() {
            let (turn, conversation, user) = (None, None, None);
            let place = FindingPlace { scope: scope.clone(), turn, conversation, user };
            let now = self.core.clock.now();
            let finding = Finding::Suggestion(found.clone());
            let event = ingest::finding_event(place, finding, id.clone(), now, now);
            self.core.commit_one(self.core.build_write(event, None, None)).await?;
        }
        Ok(id)
    }
}

fn from_template(
    suggestion: &Suggestion,
    pattern: &FailurePattern,
    prompt: Option<String>,
) -> FoundSuggestion {
    FoundSuggestion {
        pattern_id: suggestion.pattern_id.clone(),
        label: pattern.label.clone(),
        instruction: suggestion.instruction.clone(),
        why: suggestion.why.clone(),
        reach: suggestion.reach,
        evidence: suggestion.evidence.clone(),
        source: "template".to_owned(),
        model: None,
        prompt,
    }
}

fn from_draft(draft: &Draft, pattern: &FailurePattern, prompt: Option<String>) -> FoundSuggestion {
    FoundSuggestion {
        pattern_id: pattern.id.clone(),
        label: pattern.label.clone(),
        instruction: draft.instruction.clone(),
        why: format!("drafted by a model from {} turns of this pattern", pattern.count),
        reach: pattern.share,
        evidence: pattern.turns.clone(),
        source: "llm".to_owned(),
        model: Some(draft.model.clone()),
        prompt,
    }
}
