//! Turns signals into better choices. Pure: state in, state out, randomness passed in.

mod fingerprint;
mod text;
mod question;
mod preferences;
mod few_shot;
mod streak;
mod strategy;
mod planner;
mod reward;
mod policy;
mod evaluate;
mod routers;
mod features;
mod relevance;
mod failures;
mod suggestions;
// Under its own name: its words (a move, a unit, a verdict) are too plain to stand alone.
pub mod experiment;

pub use evaluate::{Estimate, Evaluation, Expected, Logged, LoggedChoice, evaluate, with_model};
pub use failures::{
    AnswerChange, AnsweredTotals, CorrectedQuery, CountedContrast, FailedTurn, FailureDirection,
    FailureExample, FailureKind, FailurePattern, FailureTrend, FailureWindow, Lift, LiftDimension,
    PatternRule, extract_keywords, find_failure_patterns, rank_corrected_queries,
};
pub use features::{FEATURES, FEATURES_VERSION, features, from_codes, to_codes};
pub use few_shot::{
    BestExample, ExampleOffer, ExamplePool, ExampleQuery, ExampleSource, IndexChange,
    MAX_NEAR_QUESTIONS, NearQuestion, SIMILARITY_FLOOR, SelectedExample, estimate_tokens,
    select_examples,
};
pub use planner::{
    JudgedPreviousTurn, PastExchange, PlannerContext, PlannerInput, RepeatedCorrection,
    UserPreferences, build_planner_context,
};
pub use policy::{
    Algorithm, Applied, ArmDefinition, ArmScore, ArmSummary, BadCheckpoint, Choice, Choosing,
    Credit, Discount, Lead, RouterDefinition, RouterRule, RouterState, Shadow,
};
pub use preferences::{
    DpoRow, ExportFormat, ExportRule, ExportTally, Exporter, GroupedAnswer, KtoRow, Message,
    MessageRole, OpenAiInput, OpenAiRow, PairSource, PreferenceConversation, PreferenceRow,
    PreferenceTurn, Provenance, QuestionGroups, ServedVariant, SftRow, Split, SplitShares,
    TurnCorrection, TurnRating, TurnVerdict,
};
pub use question::{QuestionKey, normalise_question};
pub use relevance::{
    BANDS, CoecRule, Counts, Delta, Estimator, Examination, ItemStanding, Known, Multiplier,
    Opinion, QueryCluster, RankBand, RankTotals, RelevanceSignal, Reranked, Tally, UsageStanding,
    cluster_of_text, multiplier, rerank,
};
pub use reward::{
    Answered, Implicit, Judged, Observation, RewardDefinition, RewardRule, Signal, TurnEvidence,
};
pub use routers::{Router, Routers, ServedTurn, TurnRecord, signal_of};
pub use strategy::{
    RankMode, StrategyCandidate, compute_ranking_score, compute_satisfaction, rank_strategies,
};
pub use streak::rejection_streak;
pub use suggestions::{
    Author, CorrectedAnswer, PatternEvidence, Remark, Suggestion, SuggestionBasis, extract_changes,
    have_two_authors, is_prompt_injection, sanitise_instruction, suggest_instructions,
    summarise_correction,
};
