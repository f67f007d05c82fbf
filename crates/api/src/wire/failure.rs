//! Failure patterns, insights and prompt suggestions.

use engine::report::{Figure, Reading};
use engine::{
    CorrectedQuery, CountedContrast, FailureExample, FailurePattern, FailureReport, Lift,
    StoredSuggestion,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

use super::comment::CommentCountsBody;
use super::quality::RateBody;

/// A group of turns that failed in the same way.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PatternBody {
    id: String,
    label: String,
    count: u32,
    /// Share of all failed turns.
    share: f64,
    trend: FailureTrendBody,
    examples: Vec<FailureExampleBody>,
    /// Attributes that are significantly more frequent than among all answers.
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
    /// `rising`, `falling` or `steady`.
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
    /// `model`, `prompt` or `strategy`.
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

/// Failure patterns of a period.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FailuresBody {
    patterns: Vec<PatternBody>,
    /// Number of failed turns.
    negatives: usize,
    /// True when there are more failed turns than were analysed.
    truncated: bool,
    /// Time of the analysis. For large periods it may be a minute old.
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

/// Quality summary of a tenant.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct InsightsBody {
    pub(crate) tenant: String,
    pub(crate) start: String,
    pub(crate) end: String,
    pub(crate) overall_satisfaction: RateBody,
    pub(crate) accuracy_rate: RateBody,
    pub(crate) top_failure_patterns: Vec<PatternBody>,
    /// By metric, compared with the preceding period of the same length.
    pub(crate) improvement_trend: BTreeMap<&'static str, ImprovementBody>,
    pub(crate) most_corrected_queries: Vec<CorrectedBody>,
    /// Number of comments by sentiment.
    pub(crate) comment_sentiment: CommentCountsBody,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ImprovementBody {
    now: Option<f64>,
    before: Option<f64>,
    difference: Option<f64>,
    /// 95% confidence interval of the difference; for shares only.
    interval: Option<[f64; 2]>,
    /// `improving`, `declining`, `steady` or `unknown`.
    direction: &'static str,
}

impl ImprovementBody {
    pub(crate) fn new(figure: Figure, now: Reading, before: Reading) -> Self {
        let values = now.value().zip(before.value());
        let difference = match (now, before) {
            (Reading::Share(now), Reading::Share(before)) => now.difference_to(before),
            _ => None,
        };
        let better = |rises: bool| match rises == figure.more_is_better() {
            true => "improving",
            false => "declining",
        };
        let direction = match difference {
            None => "unknown",
            Some((_, (low, _))) if low > 0.0 => better(true),
            Some((_, (_, high))) if high < 0.0 => better(false),
            Some(_) => "steady",
        };
        Self {
            now: now.value(),
            before: before.value(),
            difference: values.map(|(now, before)| now - before),
            interval: difference.map(|(_, (low, high))| [low, high]),
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

/// Body of `POST /api/v1/prompts/suggestions`.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SuggestionsRequest {
    /// Length of the period in days, default 7.
    pub(crate) window_days: Option<u32>,
    /// Restricts the analysis to one prompt: `id` or `id@version`.
    pub(crate) prompt_id: Option<String>,
    pub(crate) tenant_id: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SuggestionsBody {
    pub(crate) suggestions: Vec<SuggestionBody>,
}

/// A suggested prompt instruction.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SuggestionBody {
    id: String,
    pattern: PatternBody,
    instruction: String,
    why: String,
    /// Share of the window's failed turns that are in `evidence`.
    reach: f64,
    /// Lower 95% bound of the agreement, from 0.05; weaker suggestions are hidden.
    strength: f64,
    /// Ids of turns that support the instruction.
    evidence: Vec<String>,
    /// Supporting turns, and turns that could have supported it.
    support: [u32; 2],
    /// `template`, or `llm` when a model worded the instruction. The figures are the template's.
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
            strength: kept.strength,
            evidence: kept.found.evidence,
            support: [kept.support.0, kept.support.1],
            source: kept.found.source,
        }
    }
}
