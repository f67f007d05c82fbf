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
    /// Lower 95% bound of the agreement.
    pub strength: f64,
    pub pattern: FailurePattern,
}

impl Insights {
    /// Suggestions for the failures of a window, one per idea. Each is stored in the project once.
    pub async fn suggest(
        self: &Arc<Self>,
        scope: &Scope,
        query: QualityQuery,
    ) -> Result<Vec<StoredSuggestion>, EngineError> {
        let prompt = query.prompt.clone();
        let report = self.failure_report(query).await?;
        let drafts =
            self.drafts.draft_instructions(scope, &report.patterns, &report.suggestions).await;
        let mut stored = Vec::new();
        for pattern in &report.patterns {
            for one in report.suggestions.iter().filter(|one| one.pattern_id == pattern.id) {
                let mut found = build_finding(one, pattern, prompt.clone());
                if let Some(draft) = drafts.iter().find(|draft| draft.rewords(one)) {
                    found = reword_finding(found, draft);
                }
                let (id, pattern) = (self.store_suggestion(scope, &found).await?, pattern.clone());
                let (support, strength) = ((one.agree, one.total), one.strength);
                stored.push(StoredSuggestion { id, found, support, strength, pattern });
            }
        }
        Ok(stored)
    }

    /// Stores a suggestion in the words of its template, without calling a model. `None` when the
    /// failures no longer lead to it.
    pub async fn store_template(
        self: &Arc<Self>,
        scope: &Scope,
        query: QualityQuery,
        (pattern_id, instruction): (&str, &str),
    ) -> Result<Option<EventId>, EngineError> {
        let prompt = query.prompt.clone();
        let report = self.failure_report(query).await?;
        let is_wanted =
            |one: &&Suggestion| one.pattern_id == pattern_id && one.instruction == instruction;
        let pattern = report.patterns.iter().find(|pattern| pattern.id == pattern_id);
        let Some((one, pattern)) = report.suggestions.iter().find(is_wanted).zip(pattern) else {
            return Ok(None);
        };
        let found = build_finding(one, pattern, prompt);
        Ok(Some(self.store_suggestion(scope, &found).await?))
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

fn build_finding(
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

/// Replaces the words and keeps the evidence.
fn reword_finding(template: FoundSuggestion, draft: &Draft) -> FoundSuggestion {
    FoundSuggestion {
        instruction: draft.instruction.clone(),
        why: format!("{}; worded by a model", template.why),
        source: "llm".to_owned(),
        model: Some(draft.model.clone()),
        ..template
    }
}
