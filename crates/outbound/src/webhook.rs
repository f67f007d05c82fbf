//! Webhooks: signed POST requests to an external URL.

use std::net::IpAddr;
use std::time::Duration;

use ring::hmac;
use ureq::Agent;
use ureq::http::Uri;
use ureq::unversioned::transport::DefaultConnector;

use crate::error::RemoteError;
use crate::public_resolver::{PrivateAddress, PublicResolver, is_public};

const POST_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Clone, Debug)]
pub struct Webhook {
    agent: Agent,
    allows_private: bool,
}

/// Posts to public addresses only.
impl Default for Webhook {
    fn default() -> Self {
        Self::new(false)
    }
}

impl Webhook {
    /// `allows_private` permits loopback, link-local and private addresses.
    pub fn new(allows_private: bool) -> Self {
        // Following a redirect would send the signed body to an unknown host.
        let settings = Agent::config_builder()
            .timeout_global(Some(POST_TIMEOUT))
            .max_redirects(0)
            .http_status_as_error(false)
            .build();
        let agent = if allows_private {
            settings.into()
        } else {
            Agent::with_parts(settings, DefaultConnector::default(), PublicResolver::default())
        };
        Self { agent, allows_private }
    }

    /// Checks a URL that a tenant sets. A name is resolved, and checked again, at each request.
    pub fn check_target(&self, url: &str) -> Result<(), &'static str> {
        Self::check_url(url)?;
        let uri: Uri = url.parse().map_err(|_| "not a URL")?;
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']', '.']);
        let is_private = match host.parse::<IpAddr>() {
            Ok(address) => !is_public(address),
            Err(_) => {
                host.eq_ignore_ascii_case("localhost")
                    || host.to_ascii_lowercase().ends_with(".localhost")
            }
        };
        if is_private && !self.allows_private {
            return Err("a loopback, link-local or private address");
        }
        Ok(())
    }

    /// Checks that a URL is http or https, has a host, and contains no credentials. Credentials are
    /// refused because the URL is displayed and logged.
    pub fn check_url(url: &str) -> Result<(), &'static str> {
        let uri: Uri = url.parse().map_err(|_| "not a URL")?;
        match uri.scheme_str() {
            Some("http" | "https") => {}
            Some(_) => return Err("a URL with an unsupported scheme"),
            None => return Err("a URL without a scheme"),
        }
        let Some(authority) = uri.authority() else { return Err("a URL without a host") };
        if authority.as_str().contains('@') {
            return Err("a URL with credentials");
        }
        if authority.host().trim_matches(['[', ']', '.']).is_empty() {
            return Err("a URL without a host");
        }
        let port = authority.as_str()[authority.host().len()..].strip_prefix(':');
        if port.is_some_and(|port| port.parse().is_ok_and(|port: u16| port > 0)) || port.is_none() {
            return Ok(());
        }
        Err("a URL with an invalid port")
    }

    /// The URL without its path and query, which can contain a secret.
    pub fn redact_url(url: &str) -> String {
        let host = url.find("://").map_or(0, |at| at + 3);
        match url[host..].find(['/', '?', '#']) {
            Some(end) if url[host + end..].len() > 1 => format!("{}/…", &url[..host + end]),
            Some(_) | None => url.to_owned(),
        }
    }

    /// Posts JSON with a signature for the given Unix second. A status other than 2xx is an error.
    pub fn post(
        &self,
        url: &str,
        body: &str,
        secret: &str,
        second: i64,
    ) -> Result<(), RemoteError> {
        let response = self
            .agent
            .post(url)
            .header("Content-Type", "application/json")
            .header("User-Agent", concat!("uptake/", env!("CARGO_PKG_VERSION")))
            .header("X-Uptake-Signature", sign_body(secret, second, body))
            .send(body)
            .map_err(|cause| {
                let url = Self::redact_url(url);
                match PrivateAddress::is_cause_of(&cause) {
                    true => RemoteError::PrivateAddress { url },
                    false => RemoteError::Unreachable { url, cause: Box::new(cause) },
                }
            })?;
        let status = response.status().as_u16();
        if (200..300).contains(&status) {
            return Ok(());
        }
        Err(RemoteError::Refused { status, detail: format!("returned status {status}") })
    }
}

/// Returns `t=SECOND,v1=HEX`, the HMAC-SHA256 of the second, a dot and the body. Signing the second
/// protects against replay.
fn sign_body(secret: &str, second: i64, body: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let tag = hmac::sign(&key, format!("{second}.{body}").as_bytes());
    let hex: String = tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("t={second},v1={hex}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_and_query_are_redacted_from_urls() {
        let rows = [
            ("https://hooks.example/services/T0/B0/x?y=1", "https://hooks.example/…"),
            ("http://127.0.0.1:80?token=x", "http://127.0.0.1:80/…"),
            ("http://a/", "http://a/"),
            ("http://[::1]:9", "http://[::1]:9"),
        ];
        for (url, expected) in rows {
            assert_eq!(Webhook::redact_url(url), expected);
        }
    }

    #[test]
    fn webhook_url_needs_http_scheme_and_host_without_credentials() {
        for good in
            ["https://hooks.example/x?y=1", "HTTP://127.0.0.1:8080", "http://[::1]:9/a", "http://a"]
        {
            assert_eq!(Webhook::check_url(good), Ok(()), "{good}");
        }
        for bad in [
            "ftp://x/",
            "https://",
            "https:///path",
            "http://:80/",
            "http://a:0/",
            "http://a:99999/",
            "http://a:b/",
            "http://u:p@a/",
            "http://u@a/",
            "//a/b",
            "a.example",
            "/x",
            "http://a b/",
            "https://?x=1",
            "",
        ] {
            assert!(Webhook::check_url(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn private_targets_need_permission() {
        let (public, any) = (Webhook::default(), Webhook::new(true));
        for private in [
            "http://127.0.0.1/x",
            "http://localhost:8080",
            "http://LOCALHOST./",
            "http://a.localhost/",
            "http://[::1]:9/",
            "http://169.254.169.254/latest/meta-data",
            "https://10.1.2.3/",
        ] {
            assert!(public.check_target(private).is_err(), "{private}");
            assert_eq!(any.check_target(private), Ok(()), "{private}");
        }
        assert_eq!(public.check_target("https://hooks.example/x"), Ok(()));
        // A name is checked when it is resolved.
        let error = public.post("http://127.1:9/", "{}", "secret", 1).unwrap_err();
        assert!(matches!(error, RemoteError::PrivateAddress { .. }), "{error:?}");
    }

    #[test]
    fn signature_matches_openssl_hmac() {
        // Expected value from `printf '1.{}' | openssl dgst -sha256 -hmac secret`.
        let expected = "t=1,v1=1122767b193110cfec322b6f199b599edbf608ed087f2d27afb0b97d99523908";
        assert_eq!(sign_body("secret", 1, "{}"), expected);
    }
}
