//! The data flow, in files that read top to bottom. Start reading in `record.rs`.
//!
//! Joins the steps; decides nothing that a step could decide. Knows no HTTP.

mod error;
mod put_off;
mod said;
mod mint;
mod tasks;
mod key_ring;
mod ended_visits;
mod redactors;
mod detectors;
mod embedder;
mod calibrate;
mod counters;
mod published;
mod attention;
mod changes;
mod comments;
mod history;
mod targets;
mod patterns;
mod drafts;
mod duty;
mod chores;
mod routing;
mod choices;
mod example_pool;
mod engine;
mod keys;
mod visits;
mod privacy;
mod record;
mod hear;
mod session;
mod told;
mod context;
mod strategies;
mod examples;
mod preferences;
mod route;
mod routers;
mod experiment_views;
mod experiments;
mod evaluate;
mod retrieval;
mod calibration;
mod sweep;
mod follow;
mod turn;
mod review;
mod asked;
mod view;
mod react;
mod decide;
mod lookup;
mod listed;
mod topics;
mod publish;
mod consume;
mod import;
mod score;
mod scan;
mod dead_letters;
mod reports;
mod quality;
mod alerts;
mod failures;
mod suggestions;
mod mirror;
mod erase;
mod retain;
mod unclean;
mod scrub;
mod replay;
mod redetect;
mod rounds;
mod demo_mark;
#[cfg(test)]
mod test_engine;

pub use calibration::{CalibrationReport, ReliabilityBin};
pub use comments::CommentView;
pub use connectors::{HistoryHealth, ReceivedMessage};
pub use consume::Consumed;
pub use demo_mark::{DEMO_TENANT, DemoState, demo_scope};
pub use detect::{
    AnswerKind, FailureRule, Mode, PaceRule, Patience, RetryRule, TargetRule, UsageRule,
    VerdictRule,
};
pub use detectors::Detectors;
pub use embedder::Embedder;
pub use engine::Engine;
pub use error::FlowError;
pub use evaluate::{EvaluateError, Evaluated, Policy, evaluate_files};
pub use ingest::{
    CaptureError, RawCompletion, RawDecision, RawEvent, RawOpening, RawOutcome, RawReaction,
    RawRetrieved, RawReturned, RawSignal, Redactor,
};

pub use examples::{ExampleSearch, FoundExample};
pub use experiments::{Assigned, ExperimentView, SequencePoint};
pub use failures::FailuresAtHand;
pub use keys::NewKey;
pub use learn::experiment;
pub use learn::{
    ArmSummary, CorrectedQuery, CountedContrast, Estimate, Estimator, Evaluation, ExampleSource,
    FailureDirection, FailureExample, FailurePattern, FailureTrend, Lead, Lift, PlannerContext,
    RankMode, Reranked, RouterDefinition, Suggestion,
};
pub use listed::{FoundConversations, ListOrder};
pub use lookup::Stretch;
pub use mirror::{Copies, CopyPlace};
pub use outbound::{RemoteEmbedder, RemoteWriter};
pub use patterns::{CommentTopic, FailureReport};
pub use preferences::{
    PreferenceEncoding, PreferenceExport, PreferencePair, PreferenceQuery, PreferenceWish,
};
pub use publish::LineOf;
pub use published::PublishLag;
pub use put_off::put_off;
pub use react::{IncomingReaction, ReactionReceipt};
pub use record::{Incoming, Receipt, RequestKey, Trust};
pub use redactors::Privacy;
pub use redetect::Redetected;
pub use report::Satisfaction;
pub use retrieval::{EntityStats, IncomingReturned, IncomingSignals, RequestMark};
pub use route::{Route, RouteRequest, RouteScore};
pub use routers::{RewardTrend, RouterView};
pub use scan::{
    ArrayLines, Scan, ScanPairs, ScanPatterns, ScanReport, Scanned, ScannedTurn, Worst, WorstTurn,
    scan,
};
pub use score::{ScoreError, Task, score_line};
pub use store::{
    AnsweredBy, ConversationTally, DeadLetter, ErasedCounts, EventPage, Extreme, Histogram,
    KindFilter, ListCursor, ListPage, ListQuery, ListedConversation, LogStats, QualityBucket,
    QualityQuery, QualityUsers, ReactionCounts, ReactionFilter, ReactionSearch, Rebuilt, SECONDS,
    Snapshot, Standing, Stopwatch, StoredAlert, StoredDecision, StoredEvent, StoredExchange,
    StoredKey, StoredMove, StoredReaction, StoredTally, StoredTurn, TurnMark,
};
pub use strategies::{FoundStrategy, Strategies, StrategySearch};
pub use suggestions::KeptSuggestion;
pub use targets::{Targets, hide_webhook};
pub use told::{Previous, Signals};
pub use topics::{Follow, Topic};
pub use turn::{CompleteReceipt, Include, IncomingHalf, IncomingTurn, OpenReceipt};
pub use view::{Timeline, TurnView};
pub use visits::{Pass, Visit};
