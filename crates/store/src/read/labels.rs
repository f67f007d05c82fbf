//! Reading what people said where the machine had said something too.

use model::{Position, Scope, UnitInterval};
use serde_json::{Map, Value};

/// A confidence that a verdict was given, before calibration, and whether people agreed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Label {
    /// How sure the machine was.
    pub confidence: UnitInterval,
    /// Whether it was right.
    pub right: bool,
}

/// The curve in force of a project.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredCalibration {
    /// Whose.
    pub scope: Scope,
    /// Where it stands in the log.
    pub position: Position,
    /// As the log has it.
    pub settings: Map<String, Value>,
}
