//! Experiment lifecycle: states and transitions.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum ExperimentStatus {
    #[default]
    Draft,
    Running,
    /// Exposed units keep their variant; no new units are assigned.
    Paused,
    /// Final; the results no longer change.
    Completed,
    Archived,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LifecycleAction {
    Start,
    Pause,
    Resume,
    Complete,
    Archive,
}

impl ExperimentStatus {
    pub fn apply_action(self, action: LifecycleAction) -> Result<Self, InvalidTransition> {
        let allowed = self.allowed_actions().iter().find(|(known, _)| *known == action);
        allowed.map(|(_, next)| *next).ok_or(InvalidTransition { status: self, action })
    }

    /// Allowed actions and the status each leads to.
    pub fn allowed_actions(self) -> &'static [(LifecycleAction, Self)] {
        use LifecycleAction::{Archive, Complete, Pause, Resume, Start};
        match self {
            Self::Draft => &[(Start, Self::Running)],
            Self::Running => &[(Pause, Self::Paused), (Complete, Self::Completed)],
            Self::Paused => &[(Resume, Self::Running), (Complete, Self::Completed)],
            Self::Completed => &[(Archive, Self::Archived)],
            Self::Archived => &[],
        }
    }

    pub const ALL_STATUSES: [Self; 5] =
        [Self::Draft, Self::Running, Self::Paused, Self::Completed, Self::Archived];

    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL_STATUSES.into_iter().find(|status| status.word() == word)
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Draft => "DRAFT",
            Self::Running => "RUNNING",
            Self::Paused => "PAUSED",
            Self::Completed => "COMPLETED",
            Self::Archived => "ARCHIVED",
        }
    }
}

impl LifecycleAction {
    pub const ALL_ACTIONS: [Self; 5] =
        [Self::Start, Self::Pause, Self::Resume, Self::Complete, Self::Archive];

    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL_ACTIONS.into_iter().find(|action| action.word() == word)
    }

    /// The action's name in request paths.
    pub fn word(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Complete => "complete",
            Self::Archive => "archive",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "cannot {} an experiment in status {}; possible actions: {}",
    .action.word(), .status.word(), list_actions(*.status)
)]
pub struct InvalidTransition {
    pub status: ExperimentStatus,
    pub action: LifecycleAction,
}

fn list_actions(status: ExperimentStatus) -> String {
    let words: Vec<&str> = status.allowed_actions().iter().map(|(a, _)| a.word()).collect();
    if words.is_empty() { "none".to_owned() } else { words.join(" or ") }
}
