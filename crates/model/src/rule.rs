//! Settings that are in the log because they change what is kept and learnt: the data of
//! (log, engine) events.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::experiment::ExperimentRule;

/// One setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "rule", rename_all = "snake_case")]
pub enum Rule {
    /// What a tenant wants removed before anything is kept.
    Privacy {
        /// As the tenant gave it.
        settings: Map<String, Value>,
    },
    /// Where a tenant wants its figures of quality to be, and who is told when they are not.
    Targets {
        /// As the tenant gave it.
        settings: Map<String, Value>,
    },
    /// Somebody was erased; nothing says who.
    Erasure {
        /// How many events became stubs.
        events: u64,
        /// How many turns were theirs.
        turns: u64,
    },
    /// What a project's own labels say about the confidences of verdicts.
    Calibration {
        /// How steep the curve is; 1 leaves confidences as they are.
        slope: f64,
        /// Where its middle is; 0 leaves confidences as they are.
        offset: f64,
        /// Labels it was fitted to.
        labels: u64,
        /// Mean squared error on labels kept aside: without the curve and with it.
        error: (f64, f64),
    },
    /// A router, from now on.
    Router {
        /// Its name.
        name: String,
        /// Its arms, how they are chosen and what a turn is worth.
        definition: Map<String, Value>,
    },
    /// A router forgets what it has learnt.
    RouterReset {
        /// Its name.
        name: String,
    },
    /// About an experiment.
    Experiment(ExperimentRule),
    /// What the event's user asked so far is compared with no more.
    HistoryForgotten,
    /// What is known of the event's user.
    Profile {
        /// By name.
        attributes: Map<String, Value>,
    },
}
