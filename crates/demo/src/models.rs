//! The made-up models behind the router; `atlas-3` replaces `atlas-2` on the upgrade day.

use std::sync::LazyLock;

use engine::RouterDefinition;
use serde::Deserialize;
use serde_json::json;

use crate::data::parse_embedded;
use crate::topics::{Assistant, KnownError};

pub(crate) const UPGRADE_DAY: f64 = 16.0;
/// Start and end day of the document search outage.
pub(crate) const OUTAGE_DAYS: (f64, f64) = (11.3, 12.7);
pub(crate) const ROUTER_NAME: &str = "assistant";

/// The true properties of a model, unknown to the router.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DemoModel {
    pub(crate) id: String,
    /// Probability of a wrong answer without a known error.
    error_probability: f64,
    /// Probability of each known error.
    time_zone: f64,
    old_api: f64,
    wrong_table: f64,
    /// Probability that the call fails.
    failure_probability: f64,
    /// Median latency in seconds.
    pub(crate) secs: f64,
    /// Price per million tokens.
    price_in: f64,
    price_out: f64,
}

static DEMO_MODELS: LazyLock<Vec<DemoModel>> =
    LazyLock::new(|| parse_embedded(include_str!("models.json")));

pub(crate) fn find_model(arm: &str) -> &'static DemoModel {
    DEMO_MODELS.iter().find(|model| model.id == arm).unwrap_or(&DEMO_MODELS[0])
}

impl DemoModel {
    /// Probability of a wrong answer.
    pub(crate) fn error_probability(&self, known_error: Option<KnownError>) -> f64 {
        match known_error {
            None => self.error_probability,
            Some(KnownError::TimeZone) => self.time_zone,
            Some(KnownError::OldApi) => self.old_api,
            Some(KnownError::WrongTable) => self.wrong_table,
        }
    }

    /// Probability that the call fails on a day.
    pub(crate) fn failure_probability(&self, app: Assistant, day: f64) -> f64 {
        let is_out = (OUTAGE_DAYS.0..OUTAGE_DAYS.1).contains(&day);
        match (is_out, app) {
            (true, Assistant::Docs) => 0.75,
            (true, Assistant::Support | Assistant::Sql) => 0.3,
            (false, Assistant::Sql) => self.failure_probability + 0.03,
            (false, Assistant::Support | Assistant::Docs) => self.failure_probability,
        }
    }

    pub(crate) fn call_cost(&self, tokens_in: u64, tokens_out: u64) -> f64 {
        (self.price_in * tokens_in as f64 + self.price_out * tokens_out as f64) / 1e6
    }
}

/// The router before or after the upgrade.
pub(crate) fn router_definition(seed: u64, upgraded: bool) -> Option<RouterDefinition> {
    let arm = |model: &DemoModel| {
        let enabled = match model.id.as_str() {
            "atlas-2" => !upgraded,
            "atlas-3" => upgraded,
            _ => true,
        };
        json!({"id": model.id, "price_in": model.price_in, "price_out": model.price_out,
            "enabled": enabled})
    };
    let there = |model: &&DemoModel| upgraded || model.id != "atlas-3";
    let arms: Vec<_> = DEMO_MODELS.iter().filter(there).map(arm).collect();
    let written = json!({"arms": arms, "algorithm": "thompson", "seed": seed % (1 << 50),
        "min_propensity": 0.05});
    serde_json::from_value(written).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upgrade_adds_one_arm_and_disables_another() {
        let on = |upgraded| -> Vec<String> {
            let arms = router_definition(7, upgraded).unwrap().arms.into_iter();
            arms.filter(|arm| arm.enabled).map(|arm| arm.id).collect()
        };
        assert_eq!(on(false), ["swift-1", "atlas-2", "sage-1"]);
        assert_eq!(on(true), ["swift-1", "atlas-3", "sage-1"]);
        assert_eq!(find_model("atlas-3").id, "atlas-3");
    }
}
