//! Styles and scripts. Their names contain a content hash, so browsers may cache them forever.

use axum::http::{Uri, header};
use axum::response::{IntoResponse, Response};

use super::page_error::PageResult;
use crate::error::Problem;

pub(super) async fn show_asset(uri: Uri) -> PageResult {
    let unknown = || Problem::not_found("asset not found; reload the page");
    let asset = web::asset(uri.path()).ok_or_else(unknown)?;
    let headers = [
        (header::CONTENT_TYPE, asset.media),
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
    ];
    Ok((headers, asset.body).into_response())
}
