//! Tells an address of somebody else's, signed so that it can be sure who tells.

use std::fmt::Write;
use std::time::Duration;

use ring::hmac;
use ureq::Agent;

use crate::error::RemoteError;

const PATIENCE: Duration = Duration::from_secs(5);

/// Sends signed messages.
#[derive(Clone, Debug)]
pub struct Webhook {
    agent: Agent,
}

impl Default for Webhook {
    fn default() -> Self {
        // A redirect could lead anywhere, with our signature on what is sent there.
        let settings = Agent::config_builder()
            .timeout_global(Some(PATIENCE))
            .max_redirects(0)
            .http_status_as_error(false)
            .build();
        Self { agent: settings.into() }
    }
}

impl Webhook {
    /// Posts a JSON text, signed with the secret as of a second. Anything but a good status is an error.
    pub fn post(
        &self,
        url: &str,
        body: &str,
        secret: &str,
        second: i64,
    ) -> Result<(), RemoteError> {
        let answer = self
            .agent
            .post(url)
            .header("Content-Type", "application/json")
            .header("User-Agent", concat!("uptake/", env!("CARGO_PKG_VERSION")))
            .header("X-Uptake-Signature", signature(secret, second, body))
            .send(body)
            .map_err(|cause| RemoteError::Unreachable {
                url: url.to_owned(),
                cause: Box::new(cause),
            })?;
        let status = answer.status().as_u16();
        if (200..300).contains(&status) {
            return Ok(());
        }
        Err(RemoteError::Refused { status, detail: format!("answered with status {status}") })
    }
}

/// `t=SECOND,v1=HEX`: the SHA-256 HMAC of the second, a dot and the body. The second is in it so that an
/// old message cannot be sent again as a new one.
fn signature(secret: &str, second: i64, body: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let tag = hmac::sign(&key, format!("{second}.{body}").as_bytes());
    let mut text = format!("t={second},v1=");
    for byte in tag.as_ref() {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signature_is_an_hmac_that_others_can_check() {
        // By `printf '1.{}' | openssl dgst -sha256 -hmac secret`.
        let expected = "t=1,v1=1122767b193110cfec322b6f199b599edbf608ed087f2d27afb0b97d99523908";
        assert_eq!(signature("secret", 1, "{}"), expected);
    }
}
