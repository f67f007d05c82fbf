//! HTML responses and their security headers.

use std::fmt::Display;

use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};

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
