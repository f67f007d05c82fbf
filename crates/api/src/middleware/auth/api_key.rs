//! Reads the API key from the headers of a request.

use axum::http::{HeaderMap, header};

/// Accepts `X-API-Key`, Bearer, and either half of Basic for clients that support nothing else.
pub(super) fn read_api_key(headers: &HeaderMap) -> Option<String> {
    if let Some(key) = headers.get("x-api-key") {
        return key.to_str().ok().map(str::to_owned);
    }
    let text = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, rest) = text.split_once(' ')?;
    if scheme.eq_ignore_ascii_case("bearer") {
        return Some(rest.trim().to_owned());
    }
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let decoded = String::from_utf8(decode_base64(rest.trim())?).ok()?;
    let (user, password) = decoded.split_once(':')?;
    let key = if password.starts_with("uk_") { password } else { user };
    Some(key.to_owned())
}

/// The header that carries a key, if there is one.
pub(super) fn find_key_header(headers: &HeaderMap) -> Option<&'static str> {
    read_api_key(headers)?;
    Some(if headers.contains_key("x-api-key") { "X-API-Key" } else { "Authorization" })
}

fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    };
    let (mut bytes, mut bits, mut held) = (Vec::new(), 0_u32, 0);
    for byte in text.trim_end_matches('=').bytes() {
        bits = (bits << 6) | u32::from(value(byte)?);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &'static str, value: &'static str, expected: Option<&str>) {
        let mut headers = HeaderMap::new();
        headers.insert(name, value.parse().unwrap());
        assert_eq!(read_api_key(&headers).as_deref(), expected, "{name}: {value}");
    }

    #[test]
    fn api_key_is_read_from_bearer_x_api_key_and_basic() {
        check("authorization", "Bearer uk_a_b", Some("uk_a_b"));
        check("authorization", "bearer  uk_a_b", Some("uk_a_b"));
        check("x-api-key", "uk_a_b", Some("uk_a_b"));
        check("authorization", "Basic dWtfYV9iOg==", Some("uk_a_b"));
        check("authorization", "Basic cHVibGljOnVrX2FfYg==", Some("uk_a_b"));
        check("authorization", "Basic %%%", None);
        check("authorization", "Digest uk_a_b", None);
        check("authorization", "uk_a_b", None);
    }
}
