//! Verdicts, signals and planner context of turns.

use engine::{AnswerSignals, PlannerContext, PreviousVerdict, TurnView};
use model::{Contrast, Evidence, FoundVerdict, Retry, Timestamp, VerdictStatus};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

/// A byte range of a text and the rule that it matched.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct EvidenceBody {
    start: usize,
    end: usize,
    rule: String,
}

impl From<&Evidence> for EvidenceBody {
    fn from(evidence: &Evidence) -> Self {
        Self { start: evidence.start, end: evidence.end, rule: evidence.rule.clone() }
    }
}

#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct ContrastBody {
    #[serde(skip_serializing_if = "Option::is_none")]
    wants: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instead_of: Option<String>,
}

impl From<&Contrast> for ContrastBody {
    fn from(contrast: &Contrast) -> Self {
        Self { wants: contrast.wants.clone(), instead_of: contrast.instead_of.clone() }
    }
}

/// The verdict of the message about an earlier turn.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PreviousBody {
    turn_id: String,
    status: &'static str,
    confidence: f64,
    correction_type: Option<&'static str>,
    user_said: Option<String>,
    evidence: Vec<EvidenceBody>,
    contrast: Option<ContrastBody>,
    rule: String,
    rejection_streak: u32,
    rn: Option<String>,
}

impl From<PreviousVerdict> for PreviousBody {
    fn from(previous: PreviousVerdict) -> Self {
        let verdict = previous.verdict;
        Self {
            turn_id: previous.turn.to_string(),
            status: verdict.status.as_word(),
            confidence: verdict.confidence.get(),
            correction_type: verdict.correction_type.map(|kind| kind.as_word()),
            user_said: verdict.user_said,
            evidence: verdict.evidence.iter().map(EvidenceBody::from).collect(),
            contrast: verdict.contrast.as_ref().map(ContrastBody::from),
            rule: verdict.rule,
            rejection_streak: previous.rejection_streak,
            rn: previous.rn,
        }
    }
}

/// The earlier question that this one repeats.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RetryBody {
    original_turn_id: String,
    similarity: f64,
    delay_seconds: Option<f64>,
    intent: &'static str,
}

impl From<Retry> for RetryBody {
    fn from(retry: Retry) -> Self {
        Self {
            original_turn_id: retry.original_turn_id.to_string(),
            similarity: retry.similarity.get(),
            delay_seconds: retry.delay_seconds,
            intent: retry.intent.as_word(),
        }
    }
}

/// Context for the planner of an agent.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ContextBody {
    markdown: String,
    suggest_clarify: bool,
    /// `PROCEED` or `CLARIFY`.
    decision: &'static str,
    /// `empty_message`, `ambiguous_word`, `unresolved_reference` or `rejections`.
    clarify_reason: Option<&'static str>,
    status: &'static str,
    judged_turn_id: Option<String>,
    rejection_streak: u32,
    previous_strategy: Option<String>,
    what_went_wrong: Option<String>,
    instructions: Vec<String>,
    rewritten_query: Option<String>,
}

impl From<PlannerContext> for ContextBody {
    fn from(context: PlannerContext) -> Self {
        Self {
            markdown: context.markdown,
            suggest_clarify: context.suggest_clarify,
            decision: if context.suggest_clarify { "CLARIFY" } else { "PROCEED" },
            clarify_reason: context.clarify_reason.map(|reason| reason.as_word()),
            status: context.status.as_word(),
            judged_turn_id: context.judged.map(|turn| turn.to_string()),
            rejection_streak: context.rejection_streak,
            previous_strategy: context.previous_strategy,
            what_went_wrong: context.what_went_wrong,
            instructions: context.instructions,
            rewritten_query: context.rewritten_query,
        }
    }
}

/// Signals detected in an answer.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct SignalsBody {
    error: ErrorBody,
    latency: Option<LatencyBody>,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
struct ErrorBody {
    occurred: bool,
    error_type: Option<&'static str>,
    confidence: f64,
    evidence: Vec<EvidenceBody>,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
struct LatencyBody {
    seconds: f64,
    tolerance: &'static str,
    accepted: bool,
}

impl From<&AnswerSignals> for SignalsBody {
    fn from(signals: &AnswerSignals) -> Self {
        let failure = &signals.failure;
        Self {
            error: ErrorBody {
                occurred: failure.error_type.is_some(),
                error_type: failure.error_type.map(|kind| kind.as_word()),
                confidence: failure.confidence.get(),
                evidence: failure.evidence.iter().map(EvidenceBody::from).collect(),
            },
            latency: signals.pace.map(|pace| LatencyBody {
                seconds: pace.seconds,
                tolerance: pace.tolerance.as_word(),
                accepted: pace.accepted,
            }),
        }
    }
}

/// Body of `POST /api/v1/turns/{turn_id}/review`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReviewRequest {
    pub(crate) status: String,
}

/// Response to a review.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ReviewResponse {
    pub(crate) turn_id: String,
    pub(crate) status: &'static str,
    pub(crate) id: String,
    pub(crate) replayed: bool,
}

/// The current verdict of a turn, with its evidence.
pub(crate) fn verdict_json(view: &TurnView) -> Value {
    let standing = &view.exchange.standing;
    let found = view.verdict.as_ref();
    json!({
        "status": standing.status.as_word(),
        "confidence": standing.confidence.get(),
        "by": deciding_source(view),
        "rejection_detected_in": standing.rejection_detected_in.as_ref().map(|id| id.as_str()),
        "session_ended": standing.silent,
        "found": found.map(|(found, at)| found_json(found, *at)),
        "review": standing.review.map(|(status, _)| json!({
            "status": status.as_word(),
            "at": view.reviewed_at.map(|at| at.to_string()),
        })),
    })
}

/// The source that decides: a review, else a user's reaction, else the detected verdict.
fn deciding_source(view: &TurnView) -> Option<&'static str> {
    if view.exchange.standing.review.is_some() {
        return Some("review");
    }
    if view.reactions.iter().any(|reaction| reaction.origin == model::Origin::User) {
        return Some("user");
    }
    view.exchange.standing.verdict.map(|_| "verdict")
}

fn found_json(found: &FoundVerdict, at: Timestamp) -> Value {
    let verdict = &found.verdict;
    json!({
        "status": verdict.status.as_word(),
        "confidence": verdict.confidence.get(),
        "raw_confidence": found.raw_confidence.get(),
        "correction_type": verdict.correction_type.map(|kind| kind.as_word()),
        "user_said": verdict.user_said,
        "evidence": verdict.evidence.iter().map(EvidenceBody::from).collect::<Vec<_>>(),
        "contrast": verdict.contrast.as_ref().map(ContrastBody::from),
        "rule": verdict.rule,
        "dissatisfied": verdict.dissatisfied.map(|p| p.get()),
        "behaviour": verdict.behaviour.map(|kind| kind.as_word()),
        "moved_on": found.moved_on,
        "detected_in": found.detected_in.as_str(),
        "detected_at": at.to_string(),
        "detector": found.detector,
        "target_score": found.target_score,
    })
}

/// Renders a turn in the `metadata.json` format.
pub(crate) fn metadata_json(view: &TurnView) -> Value {
    let (exchange, standing) = (&view.exchange, &view.exchange.standing);
    let mut feedback = json!({
        "status": standing.status.as_word(),
        "detected_at": null,
        "detected_in_turn": null,
        "correction_type": null,
        "confidence": standing.confidence.get(),
        "user_said": null,
    });
    let by_users = view.reactions.iter().filter(|r| r.origin == model::Origin::User);
    let by_user = by_users.max_by_key(|r| r.position);
    // A review that confirms the verdict keeps its details.
    let confirmed = |(found, _): &&(FoundVerdict, Timestamp)| {
        standing.review.is_some_and(|(status, _)| status == found.verdict.status)
    };
    let kept =
        view.verdict.as_ref().filter(|verdict| standing.review.is_none() || confirmed(verdict));
    match (standing.review.filter(|_| kept.is_none()), by_user, kept) {
        (None, _, Some((found, at))) if standing.review.is_some() => {
            fill_from_verdict(&mut feedback, found, *at);
        }
        (Some(_), _, _) => {
            feedback["detected_at"] = view.reviewed_at.map(|at| at.to_string()).into();
        }
        (None, Some(given), _) => {
            feedback["detected_at"] = given.ts.to_string().into();
            feedback["user_said"] = given.text.clone().into();
        }
        (None, None, Some((found, at))) => fill_from_verdict(&mut feedback, found, *at),
        (None, None, None) => {}
    }
    json!({
        "turn_id": exchange.turn.as_str(),
        "session_id": exchange.conversation.as_ref().map(|id| id.as_str()),
        "timestamp": exchange.ts.to_string(),
        "validation_outcome": standing.validation_outcome.map(|outcome| outcome.as_word()),
        "quality_score": standing.quality.map(|quality| quality.get()),
        "user_feedback": feedback,
    })
}

fn fill_from_verdict(feedback: &mut Value, found: &FoundVerdict, at: Timestamp) {
    feedback["detected_at"] = at.to_string().into();
    feedback["detected_in_turn"] = found.detected_in.as_str().into();
    feedback["user_said"] = found.verdict.user_said.clone().into();
    feedback["correction_type"] = correction_word(found).into();
}

/// `metadata.json` uses `explicit_correction` for `explicit`.
fn correction_word(found: &FoundVerdict) -> Option<&'static str> {
    let rejected = found.verdict.status == VerdictStatus::Rejected;
    let kind = found.verdict.correction_type.filter(|_| rejected)?;
    Some(match kind {
        model::CorrectionType::Explicit => "explicit_correction",
        model::CorrectionType::Rephrased | model::CorrectionType::Abandonment => kind.as_word(),
    })
}
