//! The services of Uptake over one store, without HTTP. Start reading in `engine.rs`.
//!
//! A service combines `ingest`, `detect`, `learn` and `store`; the rules themselves live there.

mod error;
mod dirty_scopes;
mod ids;
mod retriable;
mod warn_throttle;
mod warning;
mod tasks;
mod redactors;
mod detectors;
mod embedder;
mod counters;
mod changes;
mod receipt;
mod topic;
mod answer_signals;
mod comment_view;
mod routing;
mod core;
mod access;
mod cluster;
mod training_data;
mod turns;
mod traces;
mod insights;
mod feedback;
mod engine;
mod jobs;
mod privacy;
mod experiments;
mod retrieval;
mod score;
pub mod report;
pub mod export;
mod scan;
#[cfg(test)]
mod test_engine;

pub use access::Access;
pub use cluster::Cluster;
pub use comment_view::CommentView;
pub use connectors::{HistoryHealth, ReceivedMessage};
pub use detect::{
    AnswerKind, FailureRule, LatencyThresholds, Mode, PaceRule, RetryRule, TargetRule, UsageRule,
    VerdictRule,
};
pub use detectors::{Detectors, ReaderMode};
pub use embedder::Embedder;
pub use engine::{Engine, EngineOptions};
pub use error::EngineError;
pub use feedback::Feedback;
pub use feedback::consumer::ConsumeSummary;
pub use ingest::{
    CaptureError, EVENT_FIELDS, RawCompletion, RawDecision, RawEvent, RawOpening, RawOutcome,
    RawReaction, RawRetrieved, RawReturned, RawSignal, RawSpan, RawSpanEvent, RawTurnFeedback,
    Redactor,
};
pub use insights::Insights;
pub use jobs::{JobSettings, spawn_jobs};
pub use privacy::demo_tenant::{DEMO_TENANT, DemoState, demo_scope};
pub use routing::evaluate::{EvaluateError, Policy, RouterEvaluation, evaluate_files};
pub use traces::record::PreparedSpans;
pub use traces::{SpanCounts, Traces};
pub use training_data::TrainingData;
pub use turns::Turns;
pub use turns::calibration::{CalibrationReport, ReliabilityBin};

pub use crate::report::Satisfaction;
pub use crate::turns::llm_reader::LlmReaderOptions;
pub use access::keys::NewKey;
pub use access::page_sessions::{PageAccess, PageSession};
pub use answer_signals::AnswerSignals;
pub use cluster::publish::EventFormatter;
pub use cluster::publish_progress::PublishLag;
pub use experiments::{Assignment, ExperimentView, SequencePoint};
pub use feedback::decisions::OutcomeReceipt;
pub use feedback::event_lookup::EventBatch;
pub use feedback::import::PreparedLine;
pub use feedback::reactions::{IncomingReaction, ReactionReceipt};
pub use feedback::record::{IncomingEvent, Trust};
pub use feedback::targets::{FeedbackTarget, StoredTarget};
pub use feedback::topics::EventFollower;
pub use feedback::turn_feedback::{FeedbackReceipt, IncomingFeedback};
pub use insights::conversation_list::{FoundConversations, ListOrder};
pub use insights::failures::CachedReport;
pub use insights::failures::{CommentTopic, FailureReport};
pub use insights::suggestions::StoredSuggestion;
pub use insights::targets::{Targets, redact_webhook};
pub use learn::experiment;
pub use learn::{
    ArmSummary, CandidateLead, ContextFormat, CorrectedQuery, CountedContrast, Estimator,
    ExampleSource, FailureDirection, FailureExample, FailurePattern, FailureTrend, Lift,
    PlannerContext, PolicyEstimate, PolicyEvaluation, RankMode, RerankedResult, RouterDefinition,
    Suggestion,
};
pub use outbound::{ChatClient, RemoteEmbedder, Webhook};
pub use receipt::{Receipt, RequestKey, TurnState};
pub use redactors::PrivacySettings;
pub use retriable::log_retriable;
pub use retrieval::{EntityStats, IncomingReturned, IncomingSignals, RequestMark, Usage};
pub use routing::admin::{RewardTrend, RouterView};
pub use routing::choose::{Route, RouteRequest, RouteScore};
pub use scan::{
    ArrayLines, CsvLines, ScanPairs, ScanPatterns, ScanReport, ScanSettings, ScannedConversation,
    ScannedTurn, WorstConversation, WorstTurn, scan,
};
pub use score::{ScoreError, ScoreTask, score_line};
pub use store::{
    AnsweredBy, ConversationSummary, ConversationTally, DeadLetter, ErasedCounts, EventPage,
    Extreme, Histogram, KindFilter, ListCursor, ListPage, ListQuery, ListedConversation, LogStats,
    QualityBucket, QualityQuery, QualityUsers, RankedBy, ReactionCounts, ReactionFilter,
    ReactionSearch, ReactionTime, Rebuilt, SECONDS, Snapshot, Standing, Stopwatch, StoreError,
    StoredAlert, StoredDecision, StoredEvent, StoredExchange, StoredKey, StoredMove,
    StoredReaction, StoredTally, StoredTurn, SummaryPage, TurnContext, TurnFilter, TurnMark,
    current_reader, read_as, set_reader, with_reader,
};
pub use topic::Topic;
pub use training_data::examples::{ExampleSearch, FoundExample};
pub use training_data::preferences::{
    PreferenceEncoding, PreferenceExport, PreferencePair, PreferenceQuery, PreferenceRequest,
};
pub use turns::findings_response::PreviousVerdict;
pub use turns::log_copier::{CopyPlace, CopySettings};
pub use turns::open::{CompleteReceipt, Include, IncomingHalf, IncomingTurn, OpenReceipt};
pub use turns::redetect::RedetectionSummary;
pub use turns::strategies::{FoundStrategy, Strategies, StrategySearch};
pub use turns::timeline::{Timeline, TurnView};
pub use warning::{Warning, WarningCode};
