//! The API about itself.

use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;

use crate::{openapi, reference};

/// Both texts, made once.
#[derive(Clone, Debug)]
pub(crate) struct ApiDocs {
    document: &'static str,
    page: &'static str,
}

impl ApiDocs {
    /// Makes them. They live as long as the program.
    pub(crate) fn new() -> Self {
        let document = openapi::build_document();
        let page = reference::render_page(&document);
        Self { document: document.to_string().leak(), page: page.leak() }
    }
}

/// `GET /openapi.json`
pub(crate) async fn show_openapi(State(texts): State<ApiDocs>) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], texts.document)
}

/// `GET /docs`
pub(crate) async fn show_reference(State(texts): State<ApiDocs>) -> impl IntoResponse {
    let policy = "default-src 'none'; style-src 'unsafe-inline'";
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, policy),
    ];
    (headers, texts.page)
}
