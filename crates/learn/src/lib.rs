//! Turns signals into better choices. Pure: state in, state out, randomness passed in.

mod fingerprint;
mod question;
mod preference;
mod examples;
mod streak;
mod strategy;
mod planner;
mod reward;
mod bandit;
mod evaluation;
mod features;
mod ranking;
mod failures;
mod suggest;
// Under its own name: its words (a move, a unit, a verdict) are too plain to stand alone.
pub mod experiment;

pub use evaluation::{Estimate, Evaluation, Expected, Logged, LoggedChoice, evaluate, with_model};
pub use examples::{
    Best, Effect, ExamplePool, ExampleSource, NearQuestion, Offer, SIMILARITY_FLOOR, Selected,
    Selection, WITHIN, estimated_tokens, select,
};
pub use failures::{
    AnswerChange, AnsweredTotals, By, CorrectedQuery, CountedContrast, FailedTurn,
    FailureDirection, FailureExample, FailureKind, FailurePattern, FailureTrend, Lift, PatternRule,
    Period, failure_patterns, most_corrected, telling_words,
};
pub use features::{FEATURES, FEATURES_VERSION, features, from_codes, to_codes};
pub use planner::{
    JudgedPrevious, PastExchange, PlannerContext, PlannerInput, Preferences, RepeatedCorrection,
    planner_context,
};
pub use bandit::{
    Algorithm, Applied, ArmDefinition, ArmScore, ArmSummary, BadCheckpoint, Choice, Choosing,
    Credit, Discount, Lead, RouterDefinition, RouterRule, RouterState, Shadow,
};
pub use preference::{
    AnsweredElsewhere, DpoRow, ExportFormat, ExportRule, ExportTally, Exporter, KtoRow, Message,
    MessageRole, OpenAiInput, OpenAiRow, PairSource, PreferenceConversation, PreferenceRow,
    PreferenceTurn, Provenance, QuestionGroups, ServedVariant, SftRow, Split, SplitShares,
    TurnCorrection, TurnRating, TurnVerdict,
};
pub use question::{QuestionKey, normalised};
pub use ranking::{
    BANDS, CoecRule, Counts, Delta, Estimator, Examination, ItemStanding, Known, Multiplier,
    Opinion, QueryCluster, RankBand, RankTotals, RelevanceSignal, Reranked, Tally, UsageStanding,
    cluster_of_text, multiplier, rerank,
};
pub use reward::{
    Answered, Implicit, Judged, Observation, RewardDefinition, RewardRule, Signal, TurnEvidence,
};
pub use bandit::projection::{Router, Routers, ServedTurn, TurnRecord, signal_of};
pub use strategy::{RankMode, StrategyCandidate, rank, ranking_score, satisfaction};
pub use streak::rejection_streak;
pub use suggest::{
    CorrectedAnswer, PatternEvidence, Remark, Suggestion, SuggestionBasis, Voice, are_several,
    asked_for, changes_of, fit_to_instruct, speaks_to_the_model, suggestions,
};
