//! The one table from errors to status codes, and the shape of an error on the wire (RFC 9457).

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use engine::EngineError;
use serde::Serialize;

/// A request that was not done, and what its sender can do about it.
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
        Self::new(StatusCode::BAD_REQUEST, "malformed", "The request could not be read", detail)
    }

    pub(crate) fn unauthorized(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "unauthorized", "An API key is needed", detail)
    }

    pub(crate) fn too_many(seconds: u64) -> Self {
        let detail = format!("this key may make no more requests now; wait {seconds} s");
        let status = StatusCode::TOO_MANY_REQUESTS;
        let problem = Self::new(status, "too-many-requests", "Too many requests", detail);
        Self { retry_after: Some(seconds), ..problem }
    }

    pub(crate) fn forbidden(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "forbidden", "Not allowed", detail)
    }

    pub(crate) fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not-found", "There is no such thing", detail)
    }

    pub(crate) fn wrong_method(detail: impl Into<String>) -> Self {
        let status = StatusCode::METHOD_NOT_ALLOWED;
        Self::new(status, "wrong-method", "This address does not take that method", detail)
    }

    pub(crate) fn conflict(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, "conflict", "Used before with another body", detail)
    }

    pub(crate) fn not_possible(detail: impl Into<String>) -> Self {
        let title = "Not possible as things stand";
        Self::new(StatusCode::CONFLICT, "not-possible", title, detail)
    }

    pub(crate) fn too_large(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", "The request is too large", detail)
    }

    pub(crate) fn wrong_media_type(detail: impl Into<String>) -> Self {
        let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        Self::new(status, "wrong-media-type", "This body's type is not understood", detail)
    }

    /// A field that does not fit. The detail names it too, for people who read only that.
    pub(crate) fn invalid(field: impl Into<String>, detail: impl Into<String>) -> Self {
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        let problem = Self::new(status, "invalid", "A field does not fit", detail);
        Self { field: Some(field.into()), ..problem }
    }

    pub(crate) fn unavailable(detail: impl Into<String>) -> Self {
        let status = StatusCode::SERVICE_UNAVAILABLE;
        let problem = Self::new(status, "unavailable", "Not possible right now", detail);
        Self { retry_after: Some(1), ..problem }
    }

    /// Its status, and what it says in a few words.
    pub(crate) fn head(&self) -> (StatusCode, &'static str) {
        (self.status, self.title)
    }

    /// The answer as it goes out.
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

impl IntoResponse for Problem {
    /// Leaves a note for `request_id`, which knows the request's id and writes the body.
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
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
            EngineError::NotFound(what) => {
                Self::not_found(format!("there is no {what} with this id here"))
            }
            EngineError::InvalidLine => Self::invalid("body", error.to_string()),
            EngineError::WidgetNotAllowed => Self::forbidden(error.to_string()),
            EngineError::Report(bad) => Self::invalid("cursor", format!("cursor: {bad}")),
            EngineError::PreconditionFailed(detail) => Self::not_possible(detail),
            EngineError::Conflict(_) => Self::conflict(error.to_string()),
            EngineError::DeadLettered => {
                let status = StatusCode::ACCEPTED;
                Self::new(status, "set-aside", "Accepted, not stored yet", error.to_string())
            }
            EngineError::NotStored => Self::unavailable("the event was not stored; send it again"),
            EngineError::Incomplete(left) => {
                Self { title: "Not all of it is done yet", ..Self::unavailable(left) }
            }
            EngineError::Store(cause) if cause.is_in_doubt() => {
                tracing::debug!(error = %cause, "a commit is in doubt");
                Self::unavailable(
                    "the store went away while it stored this, and it is not known whether it did; send it \
                     again with the same id or Idempotency-Key, and it is stored once",
                )
            }
            EngineError::Store(cause) => {
                match cause.is_away() {
                    // The store says so itself, and not for each request.
                    true => tracing::debug!(error = %cause, "the store did not answer"),
                    false => tracing::error!(error = %cause, "the store did not answer"),
                }
                Self::unavailable(
                    "the store cannot do this right now; nothing was changed, try again",
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_done_in_part_is_not_said_to_have_changed_nothing() {
        let left = "the user is erased; copies are not gone yet";
        let problem = Problem::from(EngineError::Incomplete(left));
        assert_eq!(
            (problem.status, problem.detail.as_str()),
            (StatusCode::SERVICE_UNAVAILABLE, left)
        );
        assert!(problem.retry_after.is_some());
    }
}
