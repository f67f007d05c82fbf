//! Who answers: three made-up models, one of which is replaced by a better one half way.

use engine::RouterDefinition;
use serde_json::json;

use crate::topics::{App, Trap};

/// The day on which `atlas-2` is replaced by `atlas-3`.
pub(crate) const UPGRADE: f64 = 16.0;
/// From when to when the search over the documents is down.
pub(crate) const OUTAGE: (f64, f64) = (11.3, 12.7);
/// The router's name.
pub(crate) const ROUTER: &str = "assistant";

/// One model, as it really is. Nobody tells the router.
#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) id: &'static str,
    /// How often its answers are wrong.
    wrong: f64,
    /// How often it falls for each trap.
    time_zone: f64,
    old_api: f64,
    wrong_table: f64,
    /// How often the call itself fails.
    fails: f64,
    /// How long it takes, in the middle.
    pub(crate) secs: f64,
    /// What a million tokens cost.
    price_in: f64,
    price_out: f64,
}

const MODELS: [Model; 4] = [
    Model {
        id: "swift-1",
        wrong: 0.17,
        time_zone: 0.75,
        old_api: 0.45,
        wrong_table: 0.62,
        fails: 0.02,
        secs: 0.9,
        price_in: 0.3,
        price_out: 1.2,
    },
    Model {
        id: "atlas-2",
        wrong: 0.11,
        time_zone: 0.55,
        old_api: 0.72,
        wrong_table: 0.42,
        fails: 0.015,
        secs: 2.0,
        price_in: 1.0,
        price_out: 4.0,
    },
    Model {
        id: "atlas-3",
        wrong: 0.05,
        time_zone: 0.18,
        old_api: 0.18,
        wrong_table: 0.2,
        fails: 0.006,
        secs: 1.3,
        price_in: 1.0,
        price_out: 4.0,
    },
    Model {
        id: "sage-1",
        wrong: 0.07,
        time_zone: 0.4,
        old_api: 0.35,
        wrong_table: 0.25,
        fails: 0.01,
        secs: 3.6,
        price_in: 5.0,
        price_out: 20.0,
    },
];

/// The model of an arm.
pub(crate) fn model(arm: &str) -> &'static Model {
    MODELS.iter().find(|model| model.id == arm).unwrap_or(&MODELS[0])
}

impl Model {
    /// How likely an answer is wrong.
    pub(crate) fn wrong(&self, trap: Option<Trap>) -> f64 {
        match trap {
            None => self.wrong,
            Some(Trap::TimeZone) => self.time_zone,
            Some(Trap::OldApi) => self.old_api,
            Some(Trap::WrongTable) => self.wrong_table,
        }
    }

    /// How likely the call fails on a day.
    pub(crate) fn fails(&self, app: App, day: f64) -> f64 {
        let is_out = (OUTAGE.0..OUTAGE.1).contains(&day);
        match (is_out, app) {
            (true, App::Docs) => 0.75,
            (true, App::Support | App::Sql) => 0.3,
            (false, App::Sql) => self.fails + 0.03,
            (false, App::Support | App::Docs) => self.fails,
        }
    }

    /// What a call costs.
    pub(crate) fn cost(&self, tokens_in: u64, tokens_out: u64) -> f64 {
        (self.price_in * tokens_in as f64 + self.price_out * tokens_out as f64) / 1e6
    }
}

/// The router before the upgrade, or after it.
pub(crate) fn router(seed: u64, upgraded: bool) -> Option<RouterDefinition> {
    let arm = |model: &Model| {
        let enabled = match model.id {
            "atlas-2" => !upgraded,
            "atlas-3" => upgraded,
            _ => true,
        };
        json!({"id": model.id, "price_in": model.price_in, "price_out": model.price_out,
            "enabled": enabled})
    };
    let there = |model: &&Model| upgraded || model.id != "atlas-3";
    let arms: Vec<_> = MODELS.iter().filter(there).map(arm).collect();
    let written = json!({"arms": arms, "algorithm": "thompson", "seed": seed % (1 << 50),
        "min_propensity": 0.05});
    serde_json::from_value(written).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_upgrade_adds_an_arm_and_switches_another_off() {
        let on = |upgraded| -> Vec<String> {
            let arms = router(7, upgraded).unwrap().arms.into_iter();
            arms.filter(|arm| arm.enabled).map(|arm| arm.id).collect()
        };
        assert_eq!(on(false), ["swift-1", "atlas-2", "sage-1"]);
        assert_eq!(on(true), ["swift-1", "atlas-3", "sage-1"]);
        assert_eq!(model("atlas-3").id, "atlas-3");
    }
}
