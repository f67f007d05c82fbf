//! Streaming export of preference data for training.

use axum::body::Body;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use engine::{
    PreferenceEncoding, PreferenceExport, PreferenceQuery, PreferenceRequest, current_reader,
    read_as,
};
use futures_util::stream;

use crate::error::Problem;
use crate::middleware::auth::ReadCall;
use crate::params::{self, ParamKind, QueryParams};

/// The media type registered with IANA.
const PARQUET: &str = "application/vnd.apache.parquet";
const NDJSON: &str = "application/x-ndjson";

#[utoipa::path(get, path = "/api/v1/preferences/export", tag = "learning",
    summary = "Export preference data as NDJSON, or as Parquet with Accept: application/vnd.apache.parquet",
    params(("format" = Option<String>, Query), ("split" = Option<String>, Query), ("since" = Option<String>, Query), ("until" = Option<String>, Query), ("min_confidence" = Option<f64>, Query), ("sources" = Option<String>, Query), ("cap" = Option<String>, Query), ("after" = Option<String>, Query)),
    responses((status = 200, description = "Rows in the given format: dpo, kto, sft, reward or openai_dpo", content_type = "application/x-ndjson", body = String)))]
pub(crate) async fn export_preferences(
    call: ReadCall,
    query: QueryParams,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let known = [
        ("format", ParamKind::Text),
        ("split", ParamKind::Text),
        ("since", ParamKind::Text),
        ("until", ParamKind::Text),
        ("min_confidence", ParamKind::Scalar),
        ("sources", ParamKind::List),
        ("cap", ParamKind::List),
        ("after", ParamKind::Text),
    ];
    let mut query = params::read_query(query, &known)?;
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    let is_parquet = accept.is_some_and(|accept| accept.contains(PARQUET));
    let request = PreferenceRequest {
        format: query.take("format")?,
        split: query.take("split")?,
        since: query.take("since")?,
        until: query.take("until")?,
        min_confidence: query.take("min_confidence")?,
        sources: query.take("sources")?.unwrap_or_default(),
        cap: query.take("cap")?.unwrap_or_default(),
        after: query.take("after")?,
        encoding: match is_parquet {
            true => PreferenceEncoding::Parquet,
            false => PreferenceEncoding::Jsonl,
        },
    };
    let query = PreferenceQuery::parse(request)?;
    let media = match query.encoding() {
        PreferenceEncoding::Jsonl => NDJSON,
        PreferenceEncoding::Parquet => PARQUET,
    };
    let mut export = call.engine.training_data.preferences(call.scope(), query);
    // Errors before the first row get a problem response. Later errors abort the stream.
    let first = export.next().await?;
    Ok(([(header::CONTENT_TYPE, media)], stream_rows(first, export)).into_response())
}

pub(crate) fn stream_rows(first: Option<Vec<u8>>, export: PreferenceExport) -> Body {
    let Some(first) = first else { return Body::empty() };
    let reader = current_reader();
    let parts = stream::unfold((Some(first), Some(export)), move |(first, export)| {
        let reader = reader.clone();
        async move {
            if let Some(first) = first {
                return Some((Ok(first), (None, export)));
            }
            let mut export = export?;
            match read_as(reader, export.next()).await {
                Ok(part) => Some((Ok(part?), (None, Some(export)))),
                Err(error) => {
                    // The stream ends with an error, so that clients do not accept a partial export.
                    match error.is_unavailable() {
                        true => tracing::debug!(%error, "preference export aborted"),
                        false => tracing::warn!(%error, "preference export aborted"),
                    }
                    Some((Err(error), (None, None)))
                }
            }
        }
    });
    Body::from_stream(parts)
}
