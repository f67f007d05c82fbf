//! Serves `/widget.js`, the feedback buttons for web pages, without its comments and indentation.

use std::sync::LazyLock;

use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};

const SOURCE: &str = include_str!("widget.js");
/// Browsers revalidate after an hour by the ETag.
const CACHE_CONTROL: &str = "public, max-age=3600, stale-while-revalidate=86400";

struct Script {
    text: String,
    etag: String,
}

static SCRIPT: LazyLock<Script> = LazyLock::new(|| {
    let text = strip_comments(SOURCE);
    let etag = format!("\"{:016x}\"", fnv1a_hash(text.as_bytes()));
    Script { text, etag }
});

pub(crate) async fn serve_script(headers: HeaderMap) -> Response {
    let Script { text, etag } = &*SCRIPT;
    let response_headers = [
        (header::CONTENT_TYPE, "text/javascript; charset=utf-8"),
        (header::CACHE_CONTROL, CACHE_CONTROL),
        (header::ETAG, etag.as_str()),
        // Any page may include the script; it contains no data.
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
        (header::HeaderName::from_static("cross-origin-resource-policy"), "cross-origin"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    let cached = headers.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    let is_cached = cached.is_some_and(|cached| {
        let tags = cached.split(',').map(|one| one.trim().trim_start_matches("W/"));
        tags.into_iter().any(|one| one == etag || one == "*")
    });
    match is_cached {
        true => (StatusCode::NOT_MODIFIED, response_headers).into_response(),
        false => (response_headers, text.as_str()).into_response(),
    }
}

/// Removes comment lines and indentation. The source has no comments after code.
fn strip_comments(source: &str) -> String {
    let lines = source.lines().map(str::trim);
    let code =
        lines.filter(|line| !line.is_empty() && !line.starts_with("//") && !line.starts_with("/*"));
    code.flat_map(|line| [line, "\n"]).collect()
}

fn fnv1a_hash(bytes: &[u8]) -> u64 {
    let step = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn served_script_is_small_and_keeps_all_code() {
        let served = &SCRIPT.text;
        assert!(served.len() < 6000, "{}", served.len());
        let code = |text: &str| text.matches([';', '{', '}', '(']).count();
        let comments: String = SOURCE
            .lines()
            .filter(|line| line.trim_start().starts_with(['/']))
            .collect::<Vec<_>>()
            .join("\n");
        assert_eq!(code(served) + code(&comments), code(SOURCE));
        assert_ne!(fnv1a_hash(b"a"), fnv1a_hash(b"b"));
    }
}
