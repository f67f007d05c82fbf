//! The two demo experiments: one completed, one running.

use engine::EngineError;
use engine::experiment::{ExperimentDefinition, LifecycleAction};
use model::ExperimentId;
use serde_json::json;

use crate::client::{DemoClient, checked_id};
use crate::topics::Assistant;

/// Tests answers in short steps.
pub(crate) const SHORT_STEPS_ID: &str = "demo-short-steps";
/// Tests hints on which table to read.
pub(crate) const TABLE_HINTS_ID: &str = "demo-table-hints";
/// Start and end day.
pub(crate) const SHORT_STEPS_DAYS: (f64, f64) = (1.0, 20.5);
pub(crate) const TABLE_HINTS_START_DAY: f64 = 12.0;

/// The prompt version used for an answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PromptVersion {
    pub(crate) id: &'static str,
    pub(crate) version: &'static str,
    /// Factor on the probability of a wrong answer; below 1 is better.
    pub(crate) care: f64,
}

const OLD_SUPPORT: PromptVersion = PromptVersion { id: "support", version: "3", care: 1.0 };
const NEW_SUPPORT: PromptVersion = PromptVersion { id: "support", version: "4", care: 0.45 };
const DOCS: PromptVersion = PromptVersion { id: "docs", version: "2", care: 1.0 };
const OLD_SQL: PromptVersion = PromptVersion { id: "sql", version: "5", care: 1.0 };
const NEW_SQL: PromptVersion = PromptVersion { id: "sql", version: "6", care: 0.4 };

/// The prompt of a conversation, by day and experiment assignment.
pub(crate) async fn choose_prompt(
    client: &DemoClient<'_>,
    app: Assistant,
    conversation: &str,
    day: f64,
) -> Result<PromptVersion, EngineError> {
    Ok(match app {
        Assistant::Docs => DOCS,
        Assistant::Support => {
            let (start, end) = SHORT_STEPS_DAYS;
            let is_new = day >= end
                || day >= start && is_treated(client, SHORT_STEPS_ID, conversation).await?;
            if is_new { NEW_SUPPORT } else { OLD_SUPPORT }
        }
        Assistant::Sql => {
            let is_new = day >= TABLE_HINTS_START_DAY
                && is_treated(client, TABLE_HINTS_ID, conversation).await?;
            if is_new { NEW_SQL } else { OLD_SQL }
        }
    })
}

async fn is_treated(
    client: &DemoClient<'_>,
    experiment: &str,
    unit: &str,
) -> Result<bool, EngineError> {
    let experiment = checked_id(ExperimentId::new(experiment))?;
    let assigned = client.engine.experiments.assign(&client.scope, &experiment, unit).await?;
    Ok(assigned.variant == "treatment")
}

pub(crate) async fn start_experiment(
    client: &DemoClient<'_>,
    experiment: &str,
) -> Result<(), EngineError> {
    let (name, metric, before, after) = match experiment {
        SHORT_STEPS_ID => ("Answers in short steps", "quality_score", "support@3", "support@4"),
        _ => ("Hints on which table to read", "rejection_rate", "sql@5", "sql@6"),
    };
    let written = json!({"name": name, "unit": "conversation", "metric": metric, "alpha": 0.05,
        "variants": [{"name": "control", "payload": {"prompt": before}},
            {"name": "treatment", "payload": {"prompt": after}}],
        "guardrails": [{"metric": "error_rate", "limit": 0.5}]});
    let definition: ExperimentDefinition =
        serde_json::from_value(written).map_err(|_| EngineError::NotStored)?;
    let id = checked_id(ExperimentId::new(experiment))?;
    let mac = client.engine.fingerprint("experiment", &json!(experiment));
    client
        .engine
        .experiments
        .create_experiment(&client.scope, Some(id), &definition, mac, None)
        .await?;
    change_status(client, experiment, LifecycleAction::Start).await
}

pub(crate) async fn change_status(
    client: &DemoClient<'_>,
    experiment: &str,
    action: LifecycleAction,
) -> Result<(), EngineError> {
    let experiment = checked_id(ExperimentId::new(experiment))?;
    client.engine.experiments.apply_action(&client.scope, &experiment, action, None).await.map(drop)
}
