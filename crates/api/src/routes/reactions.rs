//! Reactions to turns.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use engine::{Engine, IncomingReaction, ReactionReceipt};
use model::{ConversationId, TurnId};
use serde_json::json;

use super::feedback::read_request_key;
use crate::body::{self, Payload};
use crate::error::Problem;
use crate::middleware::auth::{Authorized, FeedbackAccess};
use crate::params::{self, PathParams};
use crate::wire::reaction::{ReactionRequest, ReactionResponse};

const MAC_DOMAIN: &str = "reaction";

#[utoipa::path(post, path = "/conversations/{tenant}/{project}/{conversation_id}/turns/{turn_id}/feedback", tag = "reactions",
    summary = "Set, replace or clear (null) the reaction to a turn",
    params(("tenant" = String, Path), ("project" = String, Path), ("conversation_id" = String, Path), ("turn_id" = String, Path)),
    request_body(content = ReactionRequest, example = json!({"reaction": "not_ok", "text": "I meant gaming laptops"})),
    responses((status = 200, description = "The current reaction", body = ReactionResponse), (status = 202, description = "The confidence is too low; nothing was stored", body = ReactionResponse)))]
pub(crate) async fn submit_reaction(
    State(engine): State<Arc<Engine>>,
    scope: Authorized<FeedbackAccess>,
    parts: PathParams<(String, String, String, String)>,
    payload: Payload,
) -> Result<(StatusCode, Json<ReactionResponse>), Problem> {
    let (tenant, project, conversation, turn) = params::read_path(parts)?;
    let by_widget = scope.is_widget();
    let scope = scope.resolve_path(&tenant, &project)?;
    let value = body::parse_json(&payload)?;
    if by_widget
        && let Some(field) = ["origin", "confidence"].iter().find(|f| !value[**f].is_null())
    {
        return Err(Problem::forbidden(format!(
            "the body has {field}, which widget keys cannot set; remove the field"
        )));
    }
    let key =
        read_request_key(&engine, &payload.headers, MAC_DOMAIN, &[&conversation, &turn], &value)?;
    // The path is part of the request, so the MAC covers both.
    let mac = engine.fingerprint(MAC_DOMAIN, &json!([conversation, turn, value]));
    let request: ReactionRequest = body::decode_fields(value)?;
    let incoming = IncomingReaction {
        conversation: params::parse_id("conversation_id", conversation, ConversationId::new)?,
        turn: params::parse_id("turn_id", turn.clone(), TurnId::new)?,
        raw: request.into(),
        mac,
        key,
    };
    Ok(match engine.feedback.react(&scope, incoming).await? {
        ReactionReceipt::Given { reaction, rn, unchanged } => {
            // A public page must not learn earlier reactions or the owner of the turn.
            let unchanged = unchanged && !by_widget;
            let rn = rn.filter(|_| !by_widget);
            let message = match (reaction, unchanged) {
                (None, false) => "reaction cleared",
                (None, true) => "nothing to clear",
                (Some(_), false) => "reaction recorded",
                (Some(_), true) => "reaction unchanged",
            };
            let response = ReactionResponse::Given {
                success: true,
                turn_id: turn,
                reaction: reaction.map(model::Reaction::as_word),
                message,
                cleared: reaction.is_none(),
                rn,
            };
            (StatusCode::OK, Json(response))
        }
        ReactionReceipt::Skipped => {
            let skipped = "confidence below 0.70";
            (StatusCode::ACCEPTED, Json(ReactionResponse::Skipped { success: false, skipped }))
        }
    })
}
