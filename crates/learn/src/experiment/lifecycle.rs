//! Where an experiment stands, and what can be done with it from there.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Where an experiment stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Status {
    /// Defined; nobody is assigned.
    #[default]
    Draft,
    /// Units are assigned and counted.
    Running,
    /// Units that were exposed keep their variant; no new ones.
    Paused,
    /// Over; the results stand.
    Completed,
    /// Put away.
    Archived,
}

/// What somebody does with an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// The first time.
    Start,
    /// For a while.
    Pause,
    /// After a pause.
    Resume,
    /// For good.
    Complete,
    /// Out of sight.
    Archive,
}

impl Status {
    /// Where an action leads.
    pub fn after(self, action: Action) -> Result<Self, NotPossible> {
        let possible = self.possible();
        possible
            .iter()
            .find(|(known, _)| *known == action)
            .map(|(_, next)| *next)
            .ok_or(NotPossible { status: self, action })
    }

    /// What can be done, and where it leads.
    pub fn possible(self) -> &'static [(Action, Self)] {
        match self {
            Self::Draft => &[(Action::Start, Self::Running)],
            Self::Running => &[(Action::Pause, Self::Paused), (Action::Complete, Self::Completed)],
            Self::Paused => &[(Action::Resume, Self::Running), (Action::Complete, Self::Completed)],
            Self::Completed => &[(Action::Archive, Self::Archived)],
            Self::Archived => &[],
        }
    }

    /// All there are.
    pub const ALL: [Self; 5] =
        [Self::Draft, Self::Running, Self::Paused, Self::Completed, Self::Archived];

    /// The status that a word names.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.word() == word)
    }

    /// Its word.
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

impl Action {
    /// All there are.
    pub const ALL: [Self; 5] =
        [Self::Start, Self::Pause, Self::Resume, Self::Complete, Self::Archive];

    /// The action that a word names.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.word() == word)
    }

    /// Its word, as in the address of the request.
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

/// Why an action was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub struct NotPossible {
    /// Where the experiment stands.
    pub status: Status,
    /// What was asked.
    pub action: Action,
}

impl fmt::Display for NotPossible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (action, status) = (self.action.word(), self.status.word());
        write!(f, "cannot {action} an experiment that is {status}; possible is ")?;
        let words: Vec<&str> = self.status.possible().iter().map(|(a, _)| a.word()).collect();
        f.write_str(if words.is_empty() { "nothing any more" } else { "" })?;
        f.write_str(&words.join(" or "))
    }
}
