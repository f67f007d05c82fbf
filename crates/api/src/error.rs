//! Maps errors to status codes and renders them as problem details (RFC 9457).

use std::fmt::Display;

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use engine::{EngineError, StoreError};
use serde::Serialize;

/// Seconds until a refused report may be sent again.
const READ_RETRY_SECS: u64 = 5;

pub(crate) type ApiResult<T> = Result<Json<T>, Problem>;

/// A refused request: the status, the reason and the client's next step.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) status: StatusCode,
    kind: &'static str,
    title: &'static str,
    pub(crate) detail: String,
    pub(crate) field: Option<String>,
    retry_after: Option<u64>,
}

impl Problem {
    fn new(
        status: StatusCode,
        kind: &'static str,
        title: &'static str,
        detail: impl Into<String>,
    ) -> Self {
        Self { status, kind, title, detail: detail.into(), field: None, retry_after: None }
    }

    pub(crate) fn malformed(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "malformed", "Malformed request", detail)
    }

    pub(crate) fn unauthorized(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "unauthorized", "API key required", detail)
    }

    pub(crate) fn too_many_requests(seconds: u64) -> Self {
        let detail = format!(
            "the rate limit of this API key is exhausted; wait {seconds} s and send the request again"
        );
        let status = StatusCode::TOO_MANY_REQUESTS;
        let problem = Self::new(status, "too-many-requests", "Too many requests", detail);
        Self { retry_after: Some(seconds), ..problem }
    }

    pub(crate) fn forbidden(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "forbidden", "Permission denied", detail)
    }

    pub(crate) fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not-found", "Not found", detail)
    }

    /// `what` names the kind and the id of the missing object.
    pub(crate) fn not_in_scope(what: impl Display) -> Self {
        Self::not_found(format!("{what} not found in this tenant and project"))
    }

    pub(crate) fn method_not_allowed(detail: impl Into<String>) -> Self {
        let status = StatusCode::METHOD_NOT_ALLOWED;
        Self::new(status, "wrong-method", "Method not allowed", detail)
    }

    pub(crate) fn conflict(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, "conflict", "Id already used with a different body", detail)
    }

    pub(crate) fn not_possible(detail: impl Into<String>) -> Self {
        let title = "Not possible in the current state";
        Self::new(StatusCode::CONFLICT, "not-possible", title, detail)
    }

    pub(crate) fn too_large(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", "Request body too large", detail)
    }

    pub(crate) fn wrong_media_type(detail: impl Into<String>) -> Self {
        let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        Self::new(status, "wrong-media-type", "Unsupported media type", detail)
    }

    /// An invalid field. The detail names the field too, for readers who see only the detail.
    pub(crate) fn invalid(field: impl Into<String>, detail: impl Into<String>) -> Self {
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        let problem = Self::new(status, "invalid", "Invalid field", detail);
        Self { field: Some(field.into()), ..problem }
    }

    pub(crate) fn unavailable(detail: impl Into<String>) -> Self {
        let status = StatusCode::SERVICE_UNAVAILABLE;
        let problem = Self::new(status, "unavailable", "Temporarily unavailable", detail);
        Self { retry_after: Some(1), ..problem }
    }

    /// Seconds after which the client may send the request again.
    pub(crate) fn retry_after(&self) -> Option<u64> {
        self.retry_after
    }

    pub(crate) fn status_and_title(&self) -> (StatusCode, &'static str) {
        (self.status, self.title)
    }

    /// Builds the response with its JSON body.
    pub(crate) fn render(&self, request_id: &str) -> Response {
        let body = ProblemBody {
            kind: format!("urn:uptake:problem:{}", self.kind),
            title: self.title,
            status: self.status.as_u16(),
            detail: &self.detail,
            field: self.field.as_deref(),
            request_id,
        };
        let mut response = (self.status, Json(body)).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

#[derive(Serialize)]
struct ProblemBody<'a> {
    #[serde(rename = "type")]
    kind: String,
    title: &'static str,
    status: u16,
    detail: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<&'a str>,
    request_id: &'a str,
}

/// Quotes a client's value for a detail, shortened so that no response grows with the request.
pub(crate) fn quote(text: &str) -> String {
    const MAX_QUOTED_CHARS: usize = 100;
    let mut shown: String = text.chars().take(MAX_QUOTED_CHARS).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    format!("{shown:?}")
}

impl IntoResponse for Problem {
    /// Defers the body to the `request_id` middleware, which knows the id of the request.
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

/// Converts an error and names the object of the request in a 404.
pub(crate) fn name_missing(id: impl Display) -> impl FnOnce(EngineError) -> Problem {
    move |error| {
        if let EngineError::NotFound(kind) = error {
            return Problem::not_in_scope(format_args!("{kind} {id}"));
        }
        Problem::from(error)
    }
}

impl From<EngineError> for Problem {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Capture(engine::CaptureError::BadField { field, got, expected }) => {
                let detail = format!("{field} is {got}, expected {expected}");
                Self::invalid(field, detail)
            }
            EngineError::Capture(
                bad @ (engine::CaptureError::BadReaction(_) | engine::CaptureError::NothingToClear),
            ) => {
                let field = Some("reaction".to_owned());
                Self { field, ..Self::malformed(bad.to_string()) }
            }
            EngineError::InvalidSetting(bad) => Self::invalid(bad.field.clone(), bad.to_string()),
            EngineError::NotFound(what) => Self::not_in_scope(what),
            EngineError::InvalidLine => Self::invalid("body", error.to_string()),
            EngineError::WidgetNotAllowed => Self::forbidden(error.to_string()),
            EngineError::Report(bad) => Self::invalid("cursor", format!("cursor: {bad}")),
            EngineError::PreconditionFailed(detail) => Self::not_possible(detail),
            EngineError::Conflict(_) | EngineError::TurnTaken { .. } => {
                Self::conflict(error.to_string())
            }
            EngineError::DeadLettered => {
                let status = StatusCode::ACCEPTED;
                Self::new(status, "set-aside", "Accepted, not stored yet", error.to_string())
            }
            EngineError::NotStored => {
                Self::unavailable("the event was not stored; send the request again")
            }
            EngineError::Incomplete(left) => {
                Self { title: "Partially done", ..Self::unavailable(left) }
            }
            EngineError::Store(cause) if cause.is_in_doubt() => {
                tracing::debug!(error = %cause, "commit outcome unknown");
                Self::unavailable(
                    "the connection to the store was lost during the commit, so the outcome is unknown; \
                     send the request again with the same id or Idempotency-Key to store it once",
                )
            }
            EngineError::Store(cause @ StoreError::TooManyReads) => {
                let status = StatusCode::TOO_MANY_REQUESTS;
                let problem =
                    Self::new(status, "too-many-requests", "Too many requests", cause.to_string());
                Self { retry_after: Some(READ_RETRY_SECS), ..problem }
            }
            EngineError::Store(cause @ StoreError::ReadTimeout) => {
                Self { retry_after: Some(READ_RETRY_SECS), ..Self::unavailable(cause.to_string()) }
            }
            EngineError::Store(cause) => {
                match cause.is_away() {
                    // The store logs its own outage once, not per request.
                    true => tracing::debug!(error = %cause, "store request failed"),
                    false => tracing::error!(error = %cause, "store request failed"),
                }
                Self::unavailable(
                    "the store is unavailable; nothing was changed, send the request again",
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partially_done_request_reports_what_is_left() {
        let left = "the user is erased; copies are not gone yet";
        let problem = Problem::from(EngineError::Incomplete(left));
        assert_eq!(
            (problem.status, problem.detail.as_str()),
            (StatusCode::SERVICE_UNAVAILABLE, left)
        );
        assert!(problem.retry_after.is_some());
    }
}
