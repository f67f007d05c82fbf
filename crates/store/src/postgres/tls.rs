//! TLS with verification of the server's certificate.

use std::sync::Arc;

use rustls::{ClientConfig, RootCertStore};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::StoreError;

/// Trusts the system's certificates. `SSL_CERT_FILE` names another list.
pub(super) fn connector() -> Result<MakeRustlsConnect, StoreError> {
    let unusable = |what: String| StoreError::Unavailable(format!("TLS to Postgres: {what}"));
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    let (trusted, _) = roots.add_parsable_certificates(found.certs);
    if trusted == 0 {
        let why = found.errors.first().map_or_else(String::new, |error| format!(": {error}"));
        return Err(unusable(format!(
            "no trusted certificate found{why}; install ca-certificates, or set SSL_CERT_FILE"
        )));
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| unusable(error.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}
