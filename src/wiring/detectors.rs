//! Builds the detectors' rules from `[detect]`.

use std::time::Duration;

use anyhow::ensure;
use engine::{
    Detectors, FailureRule, LatencyThresholds, Mode, PaceRule, ReaderMode, RetryRule, TargetRule,
    UsageRule, VerdictRule,
};

use crate::config::{DetectMode, DetectSection, MovedOn, ReaderSwitch, TargetScope};

/// Checks the ranges of the settings and builds the rules.
pub(crate) fn build_detectors(section: &DetectSection) -> anyhow::Result<Detectors> {
    let shares = [
        ("rephrased_same_intent", section.rephrased_same_intent),
        ("rephrased", section.rephrased),
        ("min_confidence", section.min_confidence),
        ("retry_similarity", section.retry_similarity),
        ("refusal_confidence", section.refusal_confidence),
        ("target_floor", section.target_floor),
        ("usage_run_share", section.usage_run_share),
        ("usage_identifier_share", section.usage_identifier_share),
        ("target_margin", section.target_margin),
    ];
    for (key, value) in shares {
        ensure!((0.0..=1.0).contains(&value), "detect.{key} is {value}, expected 0 to 1");
    }
    let simple = check_latency_limits("", section.medium_over_secs, section.low_over_secs)?;
    let (medium, low) = (section.complex_medium_over_secs, section.complex_low_over_secs);
    let complex = check_latency_limits("complex_", medium, low)?;
    Ok(Detectors {
        verdict: VerdictRule {
            mode: convert_mode(section.mode),
            session: Duration::from_secs(section.session_minutes.saturating_mul(60)),
            rephrased_same_intent: section.rephrased_same_intent,
            rephrased: section.rephrased,
            moved_on: section.moved_on == MovedOn::Accepted,
            min_confidence: section.min_confidence,
        },
        retry: RetryRule {
            min_similarity: section.retry_similarity,
            window: Duration::from_secs(section.retry_window_secs),
            max_questions: section.retry_history,
        },
        failure: FailureRule {
            min_response_chars: section.min_response_chars,
            min_refusal_probability: section.refusal_confidence,
        },
        pace: PaceRule { simple, complex },
        target: TargetRule {
            min_score: section.target_floor,
            min_margin: section.target_margin,
            ..TargetRule::default()
        },
        usage: UsageRule {
            run_share: section.usage_run_share,
            identifier_share: section.usage_identifier_share,
            ..UsageRule::default()
        },
        search_other_conversations: section.target_scope == TargetScope::User,
        reader: match section.reader {
            ReaderSwitch::Auto => {
                ReaderMode::Auto { budget: Duration::from_millis(section.reader_budget_ms) }
            }
            ReaderSwitch::Off => ReaderMode::Off,
        },
    })
}

fn check_latency_limits(
    kind: &str,
    medium_over: f64,
    low_over: f64,
) -> anyhow::Result<LatencyThresholds> {
    ensure!(
        medium_over >= 0.0 && low_over >= medium_over,
        "detect.{kind}low_over_secs is {low_over}, expected at least detect.{kind}medium_over_secs \
         ({medium_over})"
    );
    Ok(LatencyThresholds { medium_over, low_over })
}

pub(crate) fn convert_mode(written: DetectMode) -> Mode {
    match written {
        DetectMode::Seed => Mode::Seed,
        DetectMode::Rules => Mode::Rules,
        DetectMode::Model => Mode::Model,
    }
}
