//! Learning algorithms: bandits, rewards, ranking, experiments, clustering, suggestions, few-shot
//! examples, preferences and planner context. Pure functions: state in, state out, with time and
//! randomness as arguments.

mod confidence_sequence;
mod text;
mod question;
mod preferences;
mod few_shot;
mod strategy;
mod planner;
mod reward;
mod bandit;
mod evaluation;
mod features;
mod ranking;
mod failures;
mod suggestions;
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
pub use failures::{
    AnswerChange, AnsweredTotals, CorrectedQuery, CountedContrast, FailedTurn, FailureDirection,
    FailureExample, FailureKind, FailurePattern, FailureTrend, FailureWindow, Lift, LiftDimension,
    PatternRule, extract_keywords, find_failure_patterns, rank_corrected_queries,
};
pub use features::{
    FEATURE_COUNT, FEATURES_VERSION, dequantize_features, extract_features, quantize_features,
};
pub use few_shot::{
    ExampleOffer, ExamplePool, ExampleQuery, ExampleSource, IndexChange, MAX_NEAR_QUESTIONS,
    NearQuestion, SIMILARITY_FLOOR, SelectedExample, estimate_tokens, select_examples,
};
pub use planner::count_rejection_streak;
pub use planner::{
    ClarifyReason, ComparedStrategies, ContextFormat, JudgedPreviousTurn, JudgedStrategy,
    PastExchange, PlannerContext, PlannerInput, RepeatedCorrection, UserPreferences,
    build_planner_context, compare_strategies,
};
pub use preferences::{
    ExportFormat, ExportRule, ExportTally, Exporter, GroupedAnswer, Message, MessageRole,
    OpenAiInput, PairSource, PreferenceConversation, PreferenceRow, PreferenceTurn, Provenance,
    QuestionGroups, RowContent, ServedVariant, Split, SplitShares, TurnCorrection, TurnRating,
    TurnVerdict,
};
pub use question::{QuestionKey, normalise_question};
pub use ranking::{
    BANDS, CoecRule, Delta, Estimator, Examination, ItemEvidence, ItemStanding, ItemTally, Opinion,
    QueryCluster, RankBand, RankTotals, RelevanceSignal, RerankedResult, ScoreMultiplier,
    UsageStanding, cluster_query, compute_multiplier, rerank,
};
pub use reward::{
    AnswerOutcome, ImplicitReward, MessageVerdict, Observation, RewardDefinition, RewardRule,
    TurnEvidence, TurnReward, TurnSignal,
};
pub use strategy::{
    RankMode, StrategyCandidate, StrategyUse, compute_ranking_score, compute_satisfaction,
    is_rejected_strategy, is_sure_acceptance, rank_strategies,
};
pub use suggestions::{
    Author, CorrectedAnswer, PatternEvidence, Remark, Suggestion, SuggestionBasis, extract_changes,
    is_prompt_injection, sanitise_instruction, suggest_instructions, summarise_correction,
};

/// Fails with the name of an invalid field unless its value fits.
fn check_field(
    fits: bool,
    field: &str,
    got: &dyn ToString,
    expected: &str,
) -> Result<(), model::BadData> {
    let invalid = || model::BadData {
        field: field.to_owned(),
        got: got.to_string(),
        expected: expected.to_owned(),
    };
    if fits { Ok(()) } else { Err(invalid()) }
}
