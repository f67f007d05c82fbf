//! Errors rendered as HTML pages.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use engine::FlowError;
use web::{Trouble as Page, encoded};

use super::html_response::html_page;
use crate::error::Problem;

pub(super) type PageResult = Result<Response, PageError>;

#[derive(Debug)]
pub(super) enum PageError {
    /// Redirects to the login, then to this path.
    LoginRequired(String),
    Problem(Problem),
}

impl From<Problem> for PageError {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl From<FlowError> for PageError {
    fn from(error: FlowError) -> Self {
        Self::Problem(error.into())
    }
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        match self {
            Self::LoginRequired(next) => {
                let location = match next.as_str() {
                    "/" => "/login".to_owned(),
                    next => format!("/login?next={}", encoded(next)),
                };
                (StatusCode::SEE_OTHER, [(header::LOCATION, location)]).into_response()
            }
            Self::Problem(problem) => {
                let (status, title) = problem.status_and_title();
                let page = Page {
                    status: status.as_u16(),
                    title: title.to_owned(),
                    detail: problem.detail,
                };
                (status, html_page(&page)).into_response()
            }
        }
    }
}
