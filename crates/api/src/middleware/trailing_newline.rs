//! Ends every JSON and plain-text response with a newline, so that terminals and line-based tools
//! show it properly.

use axum::body::{Body, HttpBody, to_bytes};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};

/// Appends a newline to complete JSON and plain-text bodies that have none.
///
/// Streams pass unchanged: their length is unknown, and each of their lines already ends with a
/// newline. HTML, scripts and binary bodies pass unchanged too.
pub(crate) async fn add_trailing_newline(response: Response) -> Response {
    let Some(length) = response.body().size_hint().exact().filter(|length| *length > 0) else {
        return response;
    };
    if !response.headers().get(CONTENT_TYPE).is_some_and(is_line_text) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let limit = usize::try_from(length).unwrap_or(usize::MAX);
    let Ok(bytes) = to_bytes(body, limit).await else {
        // An in-memory body cannot fail; a partial response must not look complete.
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    if bytes.ends_with(b"\n") {
        return Response::from_parts(parts, Body::from(bytes));
    }
    let mut bytes = Vec::from(bytes);
    bytes.push(b'\n');
    parts.headers.remove(CONTENT_LENGTH);
    Response::from_parts(parts, Body::from(bytes))
}

fn is_line_text(media: &HeaderValue) -> bool {
    let essence = media.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim();
    essence == "application/json" || essence.ends_with("+json") || essence == "text/plain"
}

#[cfg(test)]
mod tests {
    use axum::extract::Request;
    use axum::http::Method;
    use axum::middleware::map_response;
    use axum::routing::get;
    use axum::{Json, Router};
    use futures_util::stream;
    use serde_json::json;
    use tower_service::Service;

    use super::*;

    #[tokio::test]
    async fn content_length_counts_the_trailing_newline() {
        let router = Router::new().route("/", get(async || Json(json!({"a": 1}))));
        let mut router = router.layer(map_response(add_trailing_newline));
        for (method, expected) in [(Method::GET, "{\"a\":1}\n"), (Method::HEAD, "")] {
            let request = Request::builder().method(method).uri("/").body(Body::empty()).unwrap();
            let response = router.call(request).await.unwrap();
            assert_eq!(response.headers()[CONTENT_LENGTH], "8");
            assert_eq!(to_bytes(response.into_body(), 100).await.unwrap(), expected);
        }
    }

    async fn respond(media: &'static str, body: Body) -> String {
        let response = Response::builder().header(CONTENT_TYPE, media).body(body).unwrap();
        let body = add_trailing_newline(response).await.into_body();
        String::from_utf8(to_bytes(body, 1000).await.unwrap().to_vec()).unwrap()
    }

    #[tokio::test]
    async fn json_and_text_end_with_one_newline_and_other_bodies_stay() {
        let rows = [
            ("application/json", "{}", "{}\n"),
            ("application/json", "{}\n", "{}\n"),
            ("application/problem+json", "{}", "{}\n"),
            ("text/plain; version=0.0.4", "a 1", "a 1\n"),
            ("application/json", "", ""),
            ("text/html; charset=utf-8", "<p>", "<p>"),
            ("application/vnd.apache.parquet", "PAR1", "PAR1"),
            ("text/event-stream", "data: 1\n\n", "data: 1\n\n"),
        ];
        for (media, body, expected) in rows {
            assert_eq!(respond(media, Body::from(body)).await, expected, "{media}");
        }
        let parts = stream::iter([Ok::<_, std::io::Error>("{}")]);
        assert_eq!(respond("application/json", Body::from_stream(parts)).await, "{}");
    }
}
