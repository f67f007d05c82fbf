//! What the planner's context is made from.

use model::{Strategy, TurnId, Verdict, VerdictStatus};

/// Everything that is known when a turn is opened.
#[derive(Clone, Copy, Debug)]
pub struct PlannerInput<'a> {
    /// The turn that is being opened now.
    pub turn: &'a TurnId,
    /// What the user says in it.
    pub message: &'a str,
    /// The turn judged by this message, if any.
    pub judged: Option<JudgedPrevious<'a>>,
    /// How many answers in a row were rejected, with the one judged now.
    pub rejection_streak: u32,
    /// The last few turns, oldest first.
    pub conversation: &'a [PastExchange<'a>],
    /// What this user liked and corrected before.
    pub preferences: &'a Preferences,
}

/// An earlier turn and what the message says about its answer.
#[derive(Clone, Copy, Debug)]
pub struct JudgedPrevious<'a> {
    /// Which turn.
    pub turn: &'a TurnId,
    /// What was asked in it.
    pub question: &'a str,
    /// How it was answered, when the application said so.
    pub strategy: Option<&'a Strategy>,
    /// What the message says about it.
    pub verdict: &'a Verdict,
}

/// An earlier turn of the conversation.
#[derive(Clone, Copy, Debug)]
pub struct PastExchange<'a> {
    /// Which turn.
    pub turn: &'a TurnId,
    /// What was asked.
    pub question: &'a str,
    /// What was answered.
    pub answer: Option<&'a str>,
    /// What the user made of it.
    pub status: VerdictStatus,
    /// The name of its strategy.
    pub strategy: Option<&'a str>,
}

/// What a user liked and corrected before, the most important first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preferences {
    /// Names of strategies whose answers were accepted, and how often.
    pub accepted_strategies: Vec<(String, u32)>,
    /// Names of strategies whose answers were rejected, and how often.
    pub rejected_strategies: Vec<(String, u32)>,
    /// What the user had to say more than once.
    pub corrections: Vec<RepeatedCorrection>,
}

/// A correction that came again and again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RepeatedCorrection {
    /// What is wanted.
    pub wants: Option<String>,
    /// What is not.
    pub instead_of: Option<String>,
    /// How often it was said.
    pub count: u32,
}
