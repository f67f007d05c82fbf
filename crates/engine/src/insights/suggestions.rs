//! Instructions that might help, kept so that one of them can be tried later.

use std::sync::Arc;

use ingest::FindingPlace;
use learn::experiment::ExperimentDefinition;
use learn::{FailurePattern, Suggestion};
use model::{BadData, Body, EventId, ExperimentId, Finding, FoundSuggestion, Mac, Scope};
use serde_json::{Map, Value, json};
use store::QualityQuery;

use crate::error::FlowError;
use crate::experiments::ExperimentView;
use crate::insights::Insights;
use crate::insights::drafts::Draft;
use crate::receipt::RequestKey;

/// A suggestion that is in the log.
#[derive(Clone, Debug)]
pub struct KeptSuggestion {
    /// By which it is found again.
    pub id: EventId,
    /// What it says.
    pub found: FoundSuggestion,
    /// How many turns agree, of how many that could have.
    pub support: (u32, u32),
    /// The pattern it is for.
    pub pattern: FailurePattern,
}

impl Insights {
    /// Suggestions out of what went wrong in a window. Each is kept in the project, once.
    pub async fn suggest(
        self: &Arc<Self>,
        scope: &Scope,
        query: QualityQuery,
    ) -> Result<Vec<KeptSuggestion>, FlowError> {
        let prompt = query.prompt.clone();
        let report = self.failures(query).await?;
        let drafts =
            self.drafts.of(scope, &report.patterns, &report.shared, &report.suggestions).await;
        let mut kept = Vec::new();
        for pattern in &report.patterns {
            let by_template = report.suggestions.iter().filter(|one| one.pattern_id == pattern.id);
            let by_template = by_template
                .map(|one| (found(one, pattern, prompt.clone()), (one.agree, one.total)));
            let by_model = drafts.iter().filter(|draft| draft.pattern_id == pattern.id);
            let by_model = by_model.map(|draft| {
                (drafted(draft, pattern, prompt.clone()), (pattern.count, pattern.count))
            });
            for (found, support) in by_model.chain(by_template) {
                let id = self.keep_suggestion(scope, &found).await?;
                kept.push(KeptSuggestion { id, found, support, pattern: pattern.clone() });
            }
        }
        Ok(kept)
    }

    /// A suggestion that was made before.
    pub async fn suggestion(
        &self,
        scope: &Scope,
        id: &EventId,
    ) -> Result<Option<FoundSuggestion>, FlowError> {
        let stored = self.core.store.event(scope, id).await?;
        let body = stored.map(|stored| Body::read(stored.event.kind, &stored.event.data));
        match body {
            // One whose words went with somebody who was erased is one no longer.
            Some(Ok(Body::Finding(Finding::Suggestion(found)))) => {
                Ok(Some(found).filter(|found| !found.instruction.is_empty()))
            }
            Some(_) | None => Ok(None),
        }
    }

    /// Defines an experiment that tries a suggestion: the control as it is, the treatment with the
    /// instruction. A suggestion has one experiment, under its own id. `wishes` take the place of what
    /// is usual.
    pub async fn try_suggestion(
        &self,
        scope: &Scope,
        id: &EventId,
        wishes: Map<String, Value>,
        mac: Mac,
        key: Option<RequestKey>,
    ) -> Result<(ExperimentView, bool), FlowError> {
        let found = self.suggestion(scope, id).await?.ok_or(FlowError::Unknown("suggestion"))?;
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
            fields.extend(wishes);
        }
        let definition: ExperimentDefinition =
            serde_json::from_value(written).map_err(|error| {
                FlowError::Setting(BadData {
                    field: "body".to_owned(),
                    got: error.to_string(),
                    expected: "fields of an experiment".to_owned(),
                })
            })?;
        let own = ExperimentId::new(id.as_str()).map_err(|_| FlowError::Unknown("suggestion"))?;
        self.experiments.create_experiment(scope, Some(own), &definition, mac, key).await
    }

    async fn keep_suggestion(
        &self,
        scope: &Scope,
        found: &FoundSuggestion,
    ) -> Result<EventId, FlowError> {
        // The same instruction for the same pattern is the same suggestion, whoever asks.
        let same = json!([found.pattern_id, found.instruction, found.prompt]);
        let id = self.core.derive_event_id("suggestion", &same)?;
        if self.core.store.event(scope, &id).await?.is_none() {
            let (turn, conversation, user) = (None, None, None);
            let place = FindingPlace { scope: scope.clone(), turn, conversation, user };
            let now = self.core.clock.now();
            let finding = Finding::Suggestion(found.clone());
            let event = ingest::finding_event(place, &finding, id.clone(), now, now);
            self.core.commit_one(self.core.build_write(event, None, None)).await?;
        }
        Ok(id)
    }
}

fn found(
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

fn drafted(draft: &Draft, pattern: &FailurePattern, prompt: Option<String>) -> FoundSuggestion {
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
