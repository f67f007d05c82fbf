//! Rates answer latency against the user's tolerance. Without timing there is no rating.

use model::{Pace, Tolerance};

use crate::utterance::Utterance;

/// Complexity of a question. Users tolerate longer waits for complex questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Complexity {
    Simple,
    Complex,
}

/// Latency in seconds above which tolerance drops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LatencyThresholds {
    pub medium_over: f64,
    pub low_over: f64,
}

impl Default for LatencyThresholds {
    fn default() -> Self {
        Self { medium_over: 10.0, low_over: 30.0 }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PaceRule {
    pub simple: LatencyThresholds,
    pub complex: LatencyThresholds,
}

pub fn classify_complexity(question: &Utterance) -> Complexity {
    const MAX_SIMPLE_WORDS: usize = 40;
    const MIN_COMPLEX_CLAUSES: usize = 3;
    let original = question.original();
    let clauses = original.matches([',', ';', '\n']).count() + original.matches(" and ").count();
    let has_code =
        original.contains("```") || original.contains("();") || original.contains("SELECT ");
    if question.word_hashes.len() > MAX_SIMPLE_WORDS || clauses >= MIN_COMPLEX_CLAUSES || has_code {
        Complexity::Complex
    } else {
        Complexity::Simple
    }
}

/// Rates the seconds from start to end. Negative values mean clock skew and count as 0.
pub fn detect_pace(
    rule: &PaceRule,
    complexity: Complexity,
    seconds: f64,
    accepted: bool,
) -> Option<Pace> {
    if !seconds.is_finite() {
        return None;
    }
    let patience = match complexity {
        Complexity::Simple => rule.simple,
        Complexity::Complex => rule.complex,
    };
    let skewed = seconds < 0.0;
    let seconds = seconds.max(0.0);
    let tolerance = if seconds > patience.low_over {
        Tolerance::Low
    } else if seconds > patience.medium_over {
        Tolerance::Medium
    } else {
        Tolerance::High
    };
    Some(Pace { seconds, tolerance, accepted, skewed })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(seconds: f64, tolerance: Tolerance, skewed: bool) {
        let pace = detect_pace(&PaceRule::default(), Complexity::Simple, seconds, true).unwrap();
        assert_eq!((pace.tolerance, pace.skewed), (tolerance, skewed), "{seconds}");
        assert!(pace.seconds >= 0.0);
    }

    #[test]
    fn latency_at_a_threshold_keeps_the_better_tolerance() {
        check(0.0, Tolerance::High, false);
        check(10.0, Tolerance::High, false);
        check(10.001, Tolerance::Medium, false);
        check(30.0, Tolerance::Medium, false);
        check(30.001, Tolerance::Low, false);
        check(1e12, Tolerance::Low, false);
    }

    #[test]
    fn negative_latency_counts_as_zero_and_skewed() {
        check(-5.0, Tolerance::High, true);
    }

    #[test]
    fn non_finite_latency_gives_no_pace() {
        for seconds in [f64::NAN, f64::INFINITY] {
            assert_eq!(detect_pace(&PaceRule::default(), Complexity::Simple, seconds, true), None);
        }
    }

    #[test]
    fn complex_questions_use_their_own_thresholds() {
        let complex = LatencyThresholds { medium_over: 60.0, low_over: 120.0 };
        let rule = PaceRule { complex, ..PaceRule::default() };
        let pace = detect_pace(&rule, Complexity::Complex, 45.0, true).unwrap();
        assert_eq!(pace.tolerance, Tolerance::High);
        assert_eq!(classify_complexity(&Utterance::read("what time is it")), Complexity::Simple);
        let long = "explain how joins work, then indexes, then plans, and show ```sql```";
        assert_eq!(classify_complexity(&Utterance::read(long)), Complexity::Complex);
    }
}
