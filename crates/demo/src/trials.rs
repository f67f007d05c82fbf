//! Two experiments: one that was finished, one that is running.

use engine::FlowError;
use engine::experiment::{Action, ExperimentDefinition};
use model::ExperimentId;
use serde_json::json;

use crate::doors::{Doors, id};
use crate::topics::App;

/// The one about answers in short steps.
pub(crate) const STEPS: &str = "demo-short-steps";
/// The one about hints on tables.
pub(crate) const HINTS: &str = "demo-table-hints";
/// From when to when the first one ran.
pub(crate) const STEPS_DAYS: (f64, f64) = (1.0, 20.5);
/// Since when the second one runs.
pub(crate) const HINTS_FROM: f64 = 12.0;

/// With which prompt an answer is made.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Prompt {
    pub(crate) id: &'static str,
    pub(crate) version: &'static str,
    /// Below 1, fewer answers are wrong.
    pub(crate) care: f64,
}

const OLD_SUPPORT: Prompt = Prompt { id: "support", version: "3", care: 1.0 };
const NEW_SUPPORT: Prompt = Prompt { id: "support", version: "4", care: 0.45 };
const DOCS: Prompt = Prompt { id: "docs", version: "2", care: 1.0 };
const OLD_SQL: Prompt = Prompt { id: "sql", version: "5", care: 1.0 };
const NEW_SQL: Prompt = Prompt { id: "sql", version: "6", care: 0.4 };

/// The prompt for a conversation on a day.
pub(crate) async fn prompt(
    doors: &Doors<'_>,
    app: App,
    conversation: &str,
    day: f64,
) -> Result<Prompt, FlowError> {
    Ok(match app {
        App::Docs => DOCS,
        App::Support if day >= STEPS_DAYS.1 => NEW_SUPPORT,
        App::Support if day >= STEPS_DAYS.0 && is_treated(doors, STEPS, conversation).await? => {
            NEW_SUPPORT
        }
        App::Support => OLD_SUPPORT,
        App::Sql if day >= HINTS_FROM && is_treated(doors, HINTS, conversation).await? => NEW_SQL,
        App::Sql => OLD_SQL,
    })
}

async fn is_treated(doors: &Doors<'_>, trial: &str, unit: &str) -> Result<bool, FlowError> {
    Ok(doors.variant(trial, unit).await? == "treatment")
}

/// Defines one and starts it.
pub(crate) async fn start(doors: &Doors<'_>, trial: &str) -> Result<(), FlowError> {
    let (name, metric, before, after) = match trial {
        STEPS => ("Answers in short steps", "quality_score", "support@3", "support@4"),
        _ => ("Hints on which table to read", "rejection_rate", "sql@5", "sql@6"),
    };
    let written = json!({"name": name, "unit": "conversation", "metric": metric, "alpha": 0.05,
        "variants": [{"name": "control", "payload": {"prompt": before}},
            {"name": "treatment", "payload": {"prompt": after}}],
        "guardrails": [{"metric": "error_rate", "limit": 0.5}]});
    let definition: ExperimentDefinition =
        serde_json::from_value(written).map_err(|_| FlowError::NotStored)?;
    let made = id(ExperimentId::new(trial))?;
    let mac = doors.engine.fingerprint("experiment", &json!(trial));
    doors
        .engine
        .experiments
        .create_experiment(&doors.scope, Some(made), &definition, mac, None)
        .await?;
    act(doors, trial, Action::Start).await
}

/// Ends one.
pub(crate) async fn complete(doors: &Doors<'_>, trial: &str) -> Result<(), FlowError> {
    act(doors, trial, Action::Complete).await
}

async fn act(doors: &Doors<'_>, trial: &str, action: Action) -> Result<(), FlowError> {
    let trial = id(ExperimentId::new(trial))?;
    doors.engine.experiments.apply_action(&doors.scope, &trial, action, None).await.map(drop)
}
