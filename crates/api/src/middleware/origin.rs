//! Checks the target host and the origin of a request, from headers that web pages cannot forge.

use std::net::IpAddr;

use axum::http::{HeaderMap, header};

/// True when the Host header names this machine. Prevents DNS rebinding: a web page can point its
/// own host name here, but cannot send another Host header.
pub(crate) fn is_local_host(headers: &HeaderMap) -> bool {
    let Some(host) = headers.get(header::HOST) else { return true };
    host.to_str().is_ok_and(|host| is_loopback(name_and_port(host).0))
}

/// True for requests from a page of this server, or from a client that is not a browser.
pub(crate) fn is_same_origin(headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    if text("sec-fetch-site").is_some_and(|site| site != "same-origin" && site != "none") {
        return false;
    }
    let Some(origin) = headers.get(header::ORIGIN) else { return true };
    // The scheme is ignored: behind a proxy that terminates TLS it differs from ours.
    let host = origin.to_str().ok().and_then(|origin| origin.split_once("://"));
    let Some((_, host)) = host else { return false };
    // Behind a proxy, X-Forwarded-Host has the name that the browser used.
    let names = [text(header::HOST.as_str()), text("x-forwarded-host")];
    names.into_iter().flatten().any(|name| is_same_host(host, name))
}

/// All loopback names count as the same host.
fn is_same_host(one: &str, other: &str) -> bool {
    let ((one, one_port), (other, other_port)) = (name_and_port(one), name_and_port(other));
    let same_name = one.eq_ignore_ascii_case(other) || (is_loopback(one) && is_loopback(other));
    same_name && one_port == other_port
}

fn name_and_port(host: &str) -> (&str, Option<&str>) {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (name, Some(port)),
        Some(_) | None => (host, None),
    }
}

fn is_loopback(name: &str) -> bool {
    let address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_host_accepts_only_loopback_names() {
        let own = |host: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, host.parse().unwrap());
            is_local_host(&headers)
        };
        for good in ["localhost", "LOCALHOST:8787", "127.0.0.1:1", "127.9.9.9", "[::1]:80", "[::1]"]
        {
            assert!(own(good), "{good}");
        }
        for bad in ["evil.example", "evil.example:8787", "10.0.0.1", "localhost.evil", "x", ""] {
            assert!(!own(bad), "{bad}");
        }
    }

    #[track_caller]
    fn check(headers: &[(&'static str, &'static str)], expected: bool) {
        let pairs =
            headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
        assert_eq!(is_same_origin(&pairs.collect::<HeaderMap>()), expected, "{headers:?}");
    }

    #[test]
    fn same_origin_compares_host_port_and_fetch_metadata() {
        check(&[("host", "a:1"), ("origin", "http://a:1")], true);
        check(&[("host", "inside"), ("x-forwarded-host", "a"), ("origin", "https://a")], true);
        check(&[("host", "127.0.0.1:1"), ("origin", "http://localhost:1")], true);
        check(&[("host", "a:1")], true);
        check(&[("host", "a:1"), ("sec-fetch-site", "same-origin")], true);
        check(&[("host", "a:1"), ("origin", "http://b:1")], false);
        check(&[("host", "a:1"), ("origin", "http://a:2")], false);
        check(&[("host", "127.0.0.1:1"), ("origin", "http://localhost:2")], false);
        check(&[("host", "a:1"), ("origin", "null")], false);
        check(&[("host", "a:1"), ("sec-fetch-site", "cross-site")], false);
        check(&[("host", "a:1"), ("sec-fetch-site", "same-site")], false);
        check(&[("host", "a:1"), ("origin", "http://a:1"), ("sec-fetch-site", "same-site")], false);
    }
}
