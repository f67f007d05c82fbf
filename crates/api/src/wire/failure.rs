//! What goes wrong, on the wire.

use engine::{
    CorrectedQuery, CountedContrast, FailureExample, FailurePattern, FailureReport, Lift,
    StoredSuggestion,
};
use report::{Figure, Reading};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

use super::comment::CommentCountsBody;
use super::quality::RateBody;

/// Turns that went wrong in the same way.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PatternBody {
    id: String,
    label: String,
    count: u32,
    /// Of all turns that went wrong.
    share: f64,
    trend: FailureTrendBody,
    examples: Vec<FailureExampleBody>,
    /// What is more frequent here than among all answers, for sure.
    lifts: Vec<LiftBody>,
    contrasts: Vec<CountedContrastBody>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_type: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
struct FailureTrendBody {
    now: u32,
    before: u32,
    difference: i64,
    /// rising, falling or steady.
    direction: &'static str,
}

#[derive(Debug, Serialize, ToSchema)]
struct FailureExampleBody {
    turn_id: String,
    question: String,
    said: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
struct LiftBody {
    /// model, prompt or strategy.
    by: &'static str,
    value: String,
    lift: f64,
    interval: [f64; 2],
}

#[derive(Debug, Serialize, ToSchema)]
struct CountedContrastBody {
    wants: Option<String>,
    instead_of: Option<String>,
    count: u32,
}

impl From<&FailurePattern> for PatternBody {
    fn from(pattern: &FailurePattern) -> Self {
        let example = |example: &FailureExample| FailureExampleBody {
            turn_id: example.turn_id.clone(),
            question: example.question.clone(),
            said: example.remark.clone(),
        };
        let lift = |lift: &Lift| LiftBody {
            by: lift.dimension.as_word(),
            value: lift.value.clone(),
            lift: lift.lift,
            interval: lift.interval,
        };
        let contrast = |contrast: &CountedContrast| CountedContrastBody {
            wants: contrast.wants.clone(),
            instead_of: contrast.instead_of.clone(),
            count: contrast.count,
        };
        let trend = pattern.trend;
        Self {
            id: pattern.id.clone(),
            label: pattern.label.clone(),
            count: pattern.count,
            share: pattern.share,
            trend: FailureTrendBody {
                now: trend.now,
                before: trend.before,
                difference: trend.difference,
                direction: trend.direction.as_word(),
            },
            examples: pattern.examples.iter().map(example).collect(),
            lifts: pattern.lifts.iter().map(lift).collect(),
            contrasts: pattern.contrasts.iter().map(contrast).collect(),
            error_type: pattern.error_type.clone(),
        }
    }
}

/// What goes wrong in a window.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FailuresBody {
    patterns: Vec<PatternBody>,
    /// Turns of which something went wrong.
    negatives: usize,
    /// There were more than were looked at.
    truncated: bool,
    /// What is found of very many turns may be a minute old.
    computed_at: String,
}

impl From<&FailureReport> for FailuresBody {
    fn from(report: &FailureReport) -> Self {
        Self {
            patterns: report.patterns.iter().map(PatternBody::from).collect(),
            negatives: report.negatives,
            truncated: report.truncated,
            computed_at: report.at.to_string(),
        }
    }
}

/// What there is to know about a tenant's answers.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct InsightsBody {
    pub(crate) tenant: String,
    pub(crate) start: String,
    pub(crate) end: String,
    pub(crate) overall_satisfaction: RateBody,
    pub(crate) accuracy_rate: RateBody,
    pub(crate) top_failure_patterns: Vec<PatternBody>,
    /// By figure, against the period before of the same length.
    pub(crate) improvement_trend: BTreeMap<&'static str, ImprovementBody>,
    pub(crate) most_corrected_queries: Vec<CorrectedBody>,
    /// What comments sound like.
    pub(crate) comment_sentiment: CommentCountsBody,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ImprovementBody {
    now: Option<f64>,
    before: Option<f64>,
    difference: Option<f64>,
    /// Where the difference lies with 95% certainty; shares only.
    interval: Option<[f64; 2]>,
    /// improving, declining or steady; unknown where nothing can be said.
    direction: &'static str,
}

impl ImprovementBody {
    pub(crate) fn of(figure: Figure, now: Reading, before: Reading) -> Self {
        let values = now.value().zip(before.value());
        let sure = match (now, before) {
            (Reading::Share(now), Reading::Share(before)) => now.difference_to(before),
            _ => None,
        };
        let better = |rises: bool| match rises == figure.more_is_better() {
            true => "improving",
            false => "declining",
        };
        let direction = match sure {
            None => "unknown",
            Some((_, (low, _))) if low > 0.0 => better(true),
            Some((_, (_, high))) if high < 0.0 => better(false),
            Some(_) => "steady",
        };
        Self {
            now: now.value(),
            before: before.value(),
            difference: values.map(|(now, before)| now - before),
            interval: sure.map(|(_, (low, high))| [low, high]),
            direction,
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CorrectedBody {
    query: String,
    corrections: u32,
    turns: Vec<String>,
}

impl From<&CorrectedQuery> for CorrectedBody {
    fn from(found: &CorrectedQuery) -> Self {
        Self {
            query: found.query.clone(),
            corrections: found.corrections,
            turns: found.turns.clone(),
        }
    }
}

/// `POST /api/v1/prompts/suggestions`
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SuggestionsRequest {
    /// How far back; 7 when absent.
    pub(crate) window_days: Option<u32>,
    /// Only answers with this prompt: its id, or id@version.
    pub(crate) prompt_id: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SuggestionsBody {
    pub(crate) suggestions: Vec<SuggestionBody>,
}

/// An instruction that might help.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SuggestionBody {
    id: String,
    pattern: PatternBody,
    instruction: String,
    why: String,
    /// The share of failed turns that it is about.
    reach: f64,
    /// Turns that agree.
    evidence: Vec<String>,
    /// How many agree, of how many that could have.
    support: [u32; 2],
    /// template or llm.
    source: String,
}

impl From<StoredSuggestion> for SuggestionBody {
    fn from(kept: StoredSuggestion) -> Self {
        Self {
            id: kept.id.to_string(),
            pattern: (&kept.pattern).into(),
            instruction: kept.found.instruction,
            why: kept.found.why,
            reach: kept.found.reach,
            evidence: kept.found.evidence,
            support: [kept.support.0, kept.support.1],
            source: kept.found.source,
        }
    }
}
