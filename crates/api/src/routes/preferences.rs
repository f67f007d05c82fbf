//! Preference data for training, as a stream.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use engine::{Engine, PreferenceEncoding, PreferenceExport, PreferenceQuery, PreferenceRequest};
use futures_util::stream;
use serde::Deserialize;

use crate::address::{self, Parameters, Read};
use crate::auth::{May, Reading};
use crate::body;
use crate::error::Problem;

/// As it is registered.
const PARQUET: &str = "application/vnd.apache.parquet";
const NDJSON: &str = "application/x-ndjson";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExportRequest {
    format: Option<String>,
    split: Option<String>,
    since: Option<String>,
    until: Option<String>,
    min_confidence: Option<f64>,
    #[serde(default)]
    sources: Vec<String>,
    #[serde(default)]
    cap: Vec<String>,
    after: Option<String>,
}

/// `GET /api/v1/preferences/export`
#[utoipa::path(
    get,
    path = "/api/v1/preferences/export",
    tag = "learning",
    summary = "Pairs of a better and a worse answer, a row per line; with Accept: application/vnd.apache.parquet as Parquet",
    params(("format" = Option<String>, Query), ("split" = Option<String>, Query), ("since" = Option<String>, Query), ("until" = Option<String>, Query), ("min_confidence" = Option<f64>, Query), ("sources" = Option<String>, Query), ("cap" = Option<String>, Query), ("after" = Option<String>, Query)),
    responses((status = 200, description = "Rows in the shape of format: dpo, kto, sft, reward or openai_dpo", content_type = "application/x-ndjson", body = String))
)]
pub(crate) async fn export(
    State(engine): State<Arc<Engine>>,
    scope: May<Reading>,
    parameters: Parameters,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let known = [
        ("format", Read::Text),
        ("split", Read::Text),
        ("since", Read::Text),
        ("until", Read::Text),
        ("min_confidence", Read::Plain),
        ("sources", Read::List),
        ("cap", Read::List),
        ("after", Read::Text),
    ];
    let request: ExportRequest = body::shape(address::as_json(parameters, &known)?)?;
    let query = PreferenceQuery::parse(wish(request, &headers))?;
    let media = match query.encoding() {
        PreferenceEncoding::Jsonl => NDJSON,
        PreferenceEncoding::Parquet => PARQUET,
    };
    let mut export = engine.training_data.preferences(scope.get(), query);
    // What goes wrong at once is told as it should be; later the stream breaks off.
    let first = export.next().await?;
    Ok(([(header::CONTENT_TYPE, media)], streamed(first, export)).into_response())
}

fn wish(request: ExportRequest, headers: &HeaderMap) -> PreferenceRequest {
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    let parquet = accept.is_some_and(|accept| accept.contains(PARQUET));
    PreferenceRequest {
        format: request.format,
        split: request.split,
        since: request.since,
        until: request.until,
        min_confidence: request.min_confidence,
        sources: request.sources,
        cap: request.cap,
        after: request.after,
        encoding: match parquet {
            true => PreferenceEncoding::Parquet,
            false => PreferenceEncoding::Jsonl,
        },
    }
}

/// The rows as they are made.
pub(crate) fn streamed(first: Option<Vec<u8>>, export: PreferenceExport) -> Body {
    let Some(first) = first else { return Body::empty() };
    let parts = stream::unfold((Some(first), Some(export)), |(first, export)| async move {
        if let Some(first) = first {
            return Some((Ok(first), (None, export)));
        }
        let mut export = export?;
        match export.next().await {
            Ok(part) => Some((Ok(part?), (None, Some(export)))),
            Err(error) => {
                // A reader must not take half of it for the whole.
                match error.is_unavailable() {
                    true => tracing::debug!(%error, "an export of preference data broke off"),
                    false => tracing::warn!(%error, "an export of preference data broke off"),
                }
                Some((Err(error), (None, None)))
            }
        }
    });
    Body::from_stream(parts)
}
