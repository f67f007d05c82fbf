//! Learning algorithms: bandits, rewards, ranking, experiments, clustering, suggestions, few-shot
//! examples, preferences and planner context. Pure functions: state in, state out, with time and
//! randomness as arguments.

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
pub mod experiment;

pub use bandit::projection::{Router, Routers, ServedTurn, TurnRecord, extract_signals};
pub use bandit::{
    Algorithm, AppliedObservation, ArmChoice, ArmDefinition, ArmScore, ArmSummary, CandidateLead,
    CheckpointError, ChoiceRequest, Credit, Discount, RouterDefinition, RouterRule, RouterState,
    ShadowEstimate,
};
pub use evaluation::{
    LoggedChoice, LoggedReward, ModelledReward, PolicyEstimate, PolicyEvaluation, evaluate_policy,
    fit_outcome_model,
};
pub use examples::{
    Best, Effect, ExamplePool, ExampleSource, NearQuestion, Offer, SIMILARITY_FLOOR, Selected,
    Selection, WITHIN, estimated_tokens, select,
};
pub use failures::{
    AnswerChange, AnsweredTotals, By, CorrectedQuery, CountedContrast, FailedTurn,
    FailureDirection, FailureExample, FailureKind, FailurePattern, FailureTrend, Lift, PatternRule,
    Period, failure_patterns, most_corrected, telling_words,
};
pub use features::{
    FEATURE_COUNT, FEATURES_VERSION, dequantize_features, extract_features, quantize_features,
};
pub use planner::{
    JudgedPrevious, PastExchange, PlannerContext, PlannerInput, Preferences, RepeatedCorrection,
    planner_context,
};
pub use preference::{
    AnsweredElsewhere, DpoRow, ExportFormat, ExportRule, ExportTally, Exporter, KtoRow, Message,
    MessageRole, OpenAiInput, OpenAiRow, PairSource, PreferenceConversation, PreferenceRow,
    PreferenceTurn, Provenance, QuestionGroups, ServedVariant, SftRow, Split, SplitShares,
    TurnCorrection, TurnRating, TurnVerdict,
};
pub use question::{QuestionKey, normalised};
pub use ranking::{
    BANDS, CoecRule, Delta, Estimator, Examination, ItemCounts, ItemEvidence, ItemStanding,
    ItemTally, Opinion, QueryCluster, RankBand, RankTotals, RelevanceSignal, RerankedResult,
    ScoreMultiplier, UsageStanding, cluster_query, compute_multiplier, rerank,
};
pub use reward::{
    AnswerOutcome, ImplicitReward, MessageVerdict, Observation, RewardDefinition, RewardRule,
    TurnEvidence, TurnSignal,
};
pub use strategy::{RankMode, StrategyCandidate, rank, ranking_score, satisfaction};
pub use streak::count_rejection_streak;
pub use suggest::{
    CorrectedAnswer, PatternEvidence, Remark, Suggestion, SuggestionBasis, Voice, are_several,
    asked_for, changes_of, fit_to_instruct, speaks_to_the_model, suggestions,
};

/// Builds the error for an invalid configuration field.
fn bad_data(field: &str, got: &dyn ToString, expected: &str) -> model::BadData {
    model::BadData { field: field.to_owned(), got: got.to_string(), expected: expected.to_owned() }
}
