//! Serves the OpenAPI document and the HTML reference.

use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;

use crate::{openapi, reference};

/// Rendered once and leaked: they are needed as long as the process runs.
#[derive(Clone, Debug)]
pub(crate) struct ApiDocs {
    document: &'static str,
    page: &'static str,
}

impl ApiDocs {
    pub(crate) fn new() -> Self {
        let document = openapi::build_document();
        let page = reference::render_page(&document);
        Self { document: document.to_string().leak(), page: page.leak() }
    }
}

pub(crate) async fn show_openapi(State(docs): State<ApiDocs>) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], docs.document)
}

pub(crate) async fn show_reference(State(docs): State<ApiDocs>) -> impl IntoResponse {
    let policy = "default-src 'none'; style-src 'unsafe-inline'";
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, policy),
    ];
    (headers, docs.page)
}
