//! The session cookie of the web interface.

use axum::http::{HeaderMap, header};

const COOKIE_NAME: &str = "uptake_visit";

/// Reads the session token from the cookies of a request.
pub(super) fn read_session(headers: &HeaderMap) -> Option<&str> {
    let cookies = headers.get_all(header::COOKIE).into_iter();
    let texts = cookies.filter_map(|value| value.to_str().ok());
    let mut pairs =
        texts.flat_map(|text| text.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, _)| *name == COOKIE_NAME).map(|(_, value)| value)
}

/// Value of a `Set-Cookie` header that lasts until the browser closes.
pub(super) fn set_cookie(token: &str, headers: &HeaderMap) -> String {
    format!("{COOKIE_NAME}={token}; Path=/; HttpOnly; SameSite=Strict{}", secure_attribute(headers))
}

pub(super) fn clear_cookie(headers: &HeaderMap) -> String {
    format!(
        "{COOKIE_NAME}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict{}",
        secure_attribute(headers)
    )
}

/// Browsers that connected by TLS must never send the cookie unencrypted.
fn secure_attribute(headers: &HeaderMap) -> &'static str {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let by_tls = text("origin").is_some_and(|origin| origin.starts_with("https://"))
        || text("x-forwarded-proto").is_some_and(|scheme| scheme.eq_ignore_ascii_case("https"));
    if by_tls { "; Secure" } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_token_is_found_among_other_cookies() {
        let mut headers = HeaderMap::new();
        headers.insert(header::COOKIE, "a=b; uptake_visit=abc; c=d".parse().unwrap());
        assert_eq!(read_session(&headers), Some("abc"));
        headers.insert(header::COOKIE, "xuptake_visit=abc".parse().unwrap());
        assert_eq!(read_session(&headers), None);
    }

    #[test]
    fn session_cookie_is_secure_over_tls() {
        let mut headers = HeaderMap::new();
        assert!(!set_cookie("abc", &headers).contains("Secure"));
        headers.insert(header::ORIGIN, "https://u.example".parse().unwrap());
        let cookie = set_cookie("abc", &headers);
        for part in ["HttpOnly", "SameSite=Strict", "Secure", "Path=/"] {
            assert!(cookie.contains(part), "{cookie}");
        }
    }
}
