//! `/widget.js`: what a web page includes to give feedback on answers.
//!
//! The file is served as it is written, without its comments and indentation. It posts to
//! `/api/v1/feedback` and to nothing else.

use std::sync::LazyLock;

use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};

const SOURCE: &str = include_str!("widget.js");
/// Pages ask again after an hour, and hear that nothing changed.
const CACHE_CONTROL: &str = "public, max-age=3600, stale-while-revalidate=86400";

/// The script, and the tag by which a browser knows that it has it.
struct Script {
    text: String,
    tag: String,
}

static SCRIPT: LazyLock<Script> = LazyLock::new(|| {
    let text = strip_comments(SOURCE);
    let tag = format!("\"{:016x}\"", fnv1a_hash(text.as_bytes()));
    Script { text, tag }
});

/// `GET /widget.js`
pub(crate) async fn serve_script(headers: HeaderMap) -> Response {
    let Script { text, tag } = &*SCRIPT;
    let about = [
        (header::CONTENT_TYPE, "text/javascript; charset=utf-8"),
        (header::CACHE_CONTROL, CACHE_CONTROL),
        (header::ETAG, tag.as_str()),
        // Any page may include it; it says nothing of anybody.
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
        (header::HeaderName::from_static("cross-origin-resource-policy"), "cross-origin"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    let known = headers.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    let has_it = known.is_some_and(|known| {
        let tags = known.split(',').map(|one| one.trim().trim_start_matches("W/"));
        tags.into_iter().any(|one| one == tag || one == "*")
    });
    match has_it {
        true => (StatusCode::NOT_MODIFIED, about).into_response(),
        false => (about, text.as_str()).into_response(),
    }
}

/// Lines that say something to a browser, from where they begin. The source has no comments beside code.
fn strip_comments(source: &str) -> String {
    let lines = source.lines().map(str::trim);
    let code =
        lines.filter(|line| !line.is_empty() && !line.starts_with("//") && !line.starts_with("/*"));
    code.collect::<Vec<_>>().join("\n")
}

/// A number that is another one for another text (FNV-1a).
fn fnv1a_hash(bytes: &[u8]) -> u64 {
    let step = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_served_is_small_and_has_all_of_the_code() {
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
