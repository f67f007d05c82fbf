//! Signal detectors: a turn and its history in, findings out.
//!
//! All detectors are pure functions without clock, I/O or randomness. Every finding carries its
//! evidence and a calibrated confidence.

mod text;
mod lexicon;
mod language;
mod answer_type;
mod hashed_set;
mod phrases;
mod pattern;
mod wide_deep;
mod calibration;
mod utterance;
mod stems;
mod references;
mod pair;
mod refusal;
mod answer;
mod failure;
mod pace;
mod retry;
mod verdict;
mod target;
mod sentiment;
mod clarity;
mod usage;
mod version;
#[cfg(test)]
mod fuzz_tests;

pub use answer::Answer;
pub use calibration::{Calibration, MIN_LABELS, Platt, recalibrate};
pub use clarity::{Unclear, detect_unclear};
pub use failure::{CompletedAnswer, FailureRule, detect_failure};
pub use language::classify_language;
pub use pace::{Complexity, LatencyThresholds, PaceRule, classify_complexity, detect_pace};
pub use pair::{
    PAIR_BLEND_PARTS, learnt_pair_score, pair_blend_parts, pair_features, pair_score,
    restatement_features,
};
pub use retry::{PastQuestion, RetryRule, detect_retry, may_be_retry};
pub use sentiment::detect_sentiment;
pub use target::{
    MAX_NAMED_TURNS, PastTurn, RankedTurn, Target, TargetCandidate, TargetRule, answer_head,
    find_named_turn, find_target, is_clear_judgement, may_count_turns, may_name_earlier_turn,
    may_target_earlier_turn, rank_candidates,
};
pub use usage::{
    AnswerKind, ItemUse, ParsedAnswer, ReturnedItem, UsageRule, UseEvidence, UseReason,
    detect_item_use,
};
pub use utterance::{Utterance, is_bare_remark, is_farewell};
pub use verdict::{
    Exchange, Mode, Opinion, ReaderScores, VerdictRule, apply_opinion, detect_verdict,
    detect_verdict_with, extract_contrast, is_settled, is_uncertain, message_language,
    verdict_features,
};
pub use version::version;
pub use wide_deep::{Features, SparseFeature, WideDeepModel, sigmoid};
