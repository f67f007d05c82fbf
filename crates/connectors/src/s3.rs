//! Documents in an S3 bucket: `<prefix>/<tenant>/<project>/<turn>.json`.

use std::fmt;
use std::time::Duration;

use model::{Scope, TurnId};
use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey};
use object_store::path::Path;
use object_store::{BackoffConfig, ClientOptions, ObjectStoreExt, RetryConfig};

use crate::blob_store::{BlobStore, blob_path};
use crate::error::{ConnectorError, ConnectorFuture};

/// Short, because callers retry.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
const MAX_RETRIES: usize = 2;

#[derive(Clone, Default)]
pub struct S3Settings {
    pub bucket: String,
    /// The prefix of object names; may be empty.
    pub prefix: String,
    /// Such as `https://minio.internal:9000`; empty for AWS. TLS is off only for `http://`.
    pub endpoint: String,
    /// Empty: from `options`, otherwise `us-east-1`.
    pub region: String,
    /// Credentials and settings, named like the environment variables of AWS. The fields above take
    /// precedence, and unknown names are ignored.
    pub options: Vec<(String, String)>,
}

impl fmt::Debug for S3Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bucket, prefix, endpoint, region, options } = self;
        let mut shown = f.debug_struct("S3Settings");
        shown.field("bucket", bucket).field("prefix", prefix).field("endpoint", endpoint);
        let names: Vec<&str> = options.iter().map(|(name, _)| name.as_str()).collect();
        shown.field("region", region).field("options", &names).finish()
    }
}

#[derive(Clone)]
pub struct S3BlobStore {
    client: AmazonS3,
    bucket: String,
    prefix: String,
    endpoint: String,
}

impl S3BlobStore {
    /// Does not contact the server.
    pub fn new(place: &S3Settings) -> Result<Self, ConnectorError> {
        // Only the first installation in a process takes effect.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let S3Settings { bucket, prefix, endpoint, region, options } = place;
        let unusable =
            |why: String| ConnectorError::Unavailable(format!("S3 cannot be used: {why}"));
        if bucket.is_empty() {
            return Err(unusable("no bucket is configured".into()));
        }
        let mut builder = AmazonS3Builder::new();
        for (name, value) in options {
            match name.to_ascii_lowercase().parse() {
                Ok(
                    AmazonS3ConfigKey::Endpoint
                    | AmazonS3ConfigKey::S3Endpoint
                    | AmazonS3ConfigKey::Bucket
                    | AmazonS3ConfigKey::SkipSignature,
                )
                | Err(_) => {}
                Ok(key) => builder = builder.with_config(key, value),
            }
        }
        if !endpoint.is_empty() {
            builder = builder.with_endpoint(endpoint).with_virtual_hosted_style_request(false);
        }
        if !region.is_empty() {
            builder = builder.with_region(region);
        }
        let client = ClientOptions::new()
            .with_timeout(REQUEST_TIMEOUT)
            .with_connect_timeout(CONNECT_TIMEOUT)
            .with_allow_http(endpoint.starts_with("http://"));
        let retry = RetryConfig {
            max_retries: MAX_RETRIES,
            retry_timeout: REQUEST_TIMEOUT,
            backoff: BackoffConfig::default(),
        };
        let builder = builder
            .with_bucket_name(bucket)
            .with_client_options(client)
            .with_retry(retry)
            // Not every server supports bulk deletion.
            .with_disable_bulk_delete(true);
        Ok(Self {
            client: builder.build().map_err(|error| unusable(error.to_string()))?,
            bucket: bucket.clone(),
            prefix: prefix.trim_matches('/').to_owned(),
            endpoint: endpoint.trim_end_matches('/').to_owned(),
        })
    }

    fn key(&self, scope: &Scope, turn: &TurnId) -> Path {
        let place = blob_path(scope, turn).join("/");
        let prefix = self.prefix.split('/').filter(|part| !part.is_empty());
        Path::from_iter(prefix.chain(place.split('/')))
    }

    fn failed(&self, error: &object_store::Error) -> ConnectorError {
        ConnectorError::Unavailable(describe_error(&self.name(), error))
    }
}

impl BlobStore for S3BlobStore {
    fn put(&self, scope: &Scope, turn: &TurnId, document: String) -> ConnectorFuture<'_, String> {
        let key = self.key(scope, turn);
        Box::pin(async move {
            let put = self.client.put(&key, document.into_bytes().into()).await;
            put.map_err(|error| self.failed(&error))?;
            Ok(format!("s3://{}/{key}", self.bucket))
        })
    }

    fn get(&self, scope: &Scope, turn: &TurnId) -> ConnectorFuture<'_, Option<String>> {
        let key = self.key(scope, turn);
        Box::pin(async move {
            let found = match self.client.get(&key).await {
                Ok(found) => found.bytes().await.map_err(|error| self.failed(&error))?,
                Err(error) if is_absent(&error) => return Ok(None),
                Err(error) => return Err(self.failed(&error)),
            };
            let text = String::from_utf8(found.into());
            text.map(Some).map_err(|_| ConnectorError::Corrupt(format!("{key} in S3 is not text")))
        })
    }

    fn delete(&self, scope: &Scope, turn: &TurnId) -> ConnectorFuture<'_, ()> {
        let key = self.key(scope, turn);
        Box::pin(async move {
            match self.client.delete(&key).await {
                Err(error) if !is_absent(&error) => Err(self.failed(&error)),
                Ok(()) | Err(_) => Ok(()),
            }
        })
    }

    fn name(&self) -> String {
        let Self { bucket, prefix, endpoint, .. } = self;
        let at = if endpoint.is_empty() { String::new() } else { format!(" at {endpoint}") };
        format!("s3:{bucket}/{prefix}{at}")
    }
}

/// True when the object is missing. A missing bucket is an error.
fn is_absent(error: &object_store::Error) -> bool {
    let object_store::Error::NotFound { source, .. } = error else { return false };
    code(&chain(source.as_ref())) != Some("NoSuchBucket")
}

/// Names the most likely cause first.
fn describe_error(place: &str, error: &object_store::Error) -> String {
    let said = chain(error);
    let code = code(&said).map(|code| format!(" ({code})")).unwrap_or_default();
    if matches!(
        error,
        object_store::Error::PermissionDenied { .. } | object_store::Error::Unauthenticated { .. }
    ) {
        format!("{place} refuses these credentials{code}")
    } else if matches!(error, object_store::Error::NotFound { .. }) {
        format!("{place} does not exist{code}")
    } else {
        format!("the request to {place} failed{code}: {}", without_body(&said))
    }
}

/// The error with its causes.
fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut said = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let words = error.to_string();
        if !said.contains(&words) {
            said.push_str(": ");
            said.push_str(&words);
        }
        cause = error.source();
    }
    said
}

/// The server's error code.
fn code(said: &str) -> Option<&str> {
    let (_, rest) = said.split_once("<Code>")?;
    let (code, _) = rest.split_once("</Code>")?;
    let plain = |code: &&str| code.len() < 64 && code.chars().all(|c| c.is_ascii_alphanumeric());
    Some(code).filter(plain)
}

/// The response body may contain user data, which must not be logged.
fn without_body(said: &str) -> &str {
    said.split_once('<').map_or(said, |(before, _)| before).trim_end_matches([':', ' '])
}

#[cfg(test)]
mod tests;
