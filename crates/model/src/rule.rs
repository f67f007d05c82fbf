//! Settings in the log, because they affect what is stored and learnt: the data of (log, engine)
//! events.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::experiment::ExperimentRule;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "rule", rename_all = "snake_case")]
pub enum Rule {
    /// A tenant's redaction and retention settings.
    Privacy {
        settings: Map<String, Value>,
    },
    /// A tenant's targets and webhook.
    Targets {
        settings: Map<String, Value>,
    },
    /// A user was erased. The event does not name the user.
    Erasure {
        /// Number of events that became stubs.
        events: u64,
        /// Number of the user's turns.
        turns: u64,
    },
    /// Calibration of verdict confidences from a project's labels.
    Calibration(Calibration),
    /// A router's definition.
    Router {
        name: String,
        /// Its arms, policy and reward.
        definition: Map<String, Value>,
    },
    /// A router's state is reset.
    RouterReset {
        name: String,
    },
    Experiment(ExperimentRule),
    /// Earlier questions of the event's user no longer count for retry detection.
    HistoryForgotten,
    /// Attributes of the event's user.
    Profile {
        attributes: Map<String, Value>,
    },
}

/// A calibration curve and the labels it was fitted to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Slope of the curve; 1 leaves confidences unchanged.
    pub slope: f64,
    /// Offset of the curve; 0 leaves confidences unchanged.
    pub offset: f64,
    pub labels: u64,
    /// Mean squared error on held-out labels, without and with the curve.
    pub error: (f64, f64),
}
