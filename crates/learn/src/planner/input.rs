//! Input of the planner context.

use model::{Strategy, TurnId, Verdict, VerdictStatus};

#[derive(Clone, Copy, Debug)]
pub struct PlannerInput<'a> {
    /// The turn being opened.
    pub turn: &'a TurnId,
    pub message: &'a str,
    /// The turn judged by this message, if any.
    pub judged: Option<JudgedPreviousTurn<'a>>,
    /// Rejected answers in a row, including the one judged by this message.
    pub rejection_streak: u32,
    /// The last few turns, oldest first.
    pub conversation: &'a [PastExchange<'a>],
    pub preferences: &'a UserPreferences,
}

/// The earlier turn that the message judges.
#[derive(Clone, Copy, Debug)]
pub struct JudgedPreviousTurn<'a> {
    pub turn: &'a TurnId,
    pub question: &'a str,
    /// Recorded by the application, if at all.
    pub strategy: Option<&'a Strategy>,
    pub verdict: &'a Verdict,
}

#[derive(Clone, Copy, Debug)]
pub struct PastExchange<'a> {
    pub turn: &'a TurnId,
    pub question: &'a str,
    pub answer: Option<&'a str>,
    pub status: VerdictStatus,
    /// Name of its strategy.
    pub strategy: Option<&'a str>,
}

/// Strategies and corrections of a user, most important first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserPreferences {
    /// Strategy names with the number of accepted answers.
    pub accepted_strategies: Vec<(String, u32)>,
    /// Strategy names with the number of rejected answers.
    pub rejected_strategies: Vec<(String, u32)>,
    /// Corrections made more than once.
    pub corrections: Vec<RepeatedCorrection>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RepeatedCorrection {
    pub wants: Option<String>,
    pub instead_of: Option<String>,
    pub count: u32,
}
