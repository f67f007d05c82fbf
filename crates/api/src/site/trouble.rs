//! What goes wrong on a page, as a page.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use engine::EngineError;
use web::{Trouble as Page, encoded};

use super::answer::html;
use crate::error::Problem;

/// Why a page is not shown.
#[derive(Debug)]
pub(super) enum Trouble {
    /// Somebody must log in first, to see this address.
    Door(String),
    /// Anything else.
    Other(Problem),
}

impl From<Problem> for Trouble {
    fn from(problem: Problem) -> Self {
        Self::Other(problem)
    }
}

impl From<EngineError> for Trouble {
    fn from(error: EngineError) -> Self {
        Self::Other(error.into())
    }
}

impl IntoResponse for Trouble {
    fn into_response(self) -> Response {
        match self {
            Self::Door(next) => {
                let to = match next.as_str() {
                    "/" => "/login".to_owned(),
                    next => format!("/login?next={}", encoded(next)),
                };
                (StatusCode::SEE_OTHER, [(header::LOCATION, to)]).into_response()
            }
            Self::Other(problem) => {
                let (status, title) = problem.head();
                let page = Page {
                    status: status.as_u16(),
                    title: title.to_owned(),
                    detail: problem.detail,
                };
                (status, html(&page)).into_response()
            }
        }
    }
}
