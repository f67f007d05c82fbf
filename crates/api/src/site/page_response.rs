//! Responses of the web interface: pages, assets and errors, with their security headers.

use std::fmt::Display;

use axum::http::{HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use engine::EngineError;
use model::encode_url;
use web::ErrorPage as Page;

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

impl From<EngineError> for PageError {
    fn from(error: EngineError) -> Self {
        Self::Problem(error.into())
    }
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        match self {
            Self::LoginRequired(next) => {
                let location = match next.as_str() {
                    "/" => "/login".to_owned(),
                    next => format!("/login?next={}", encode_url(next)),
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

/// No external resources, no inline scripts or styles, no framing.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; \
    connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// Pages are personal, so caches must not store them.
pub(super) fn html_page(page: &impl Display) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CACHE_CONTROL, "no-store"),
        (header::VARY, "cookie"),
    ];
    (headers, page.to_string()).into_response()
}

pub(super) async fn add_security_headers(mut response: Response) -> Response {
    let security_headers = [
        (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ];
    for (name, value) in security_headers {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Asset names contain a content hash, so browsers may cache them forever.
pub(super) async fn show_asset(uri: Uri) -> PageResult {
    let unknown = || Problem::not_found("asset not found; reload the page");
    let asset = web::find_asset(uri.path()).ok_or_else(unknown)?;
    let headers = [
        (header::CONTENT_TYPE, asset.media),
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
    ];
    Ok((headers, asset.body).into_response())
}
