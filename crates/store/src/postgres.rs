//! Postgres, for several nodes: connections, migrations, partitions and the follower.

mod hosts;
pub(crate) mod follower;
mod migrations;
mod partitions;
pub(crate) mod settings;

use std::str::FromStr;
use std::sync::Arc;

use rustls::{ClientConfig, RootCertStore};
use sql::{Connection, Session};
use tokio_postgres::Config;
use tokio_postgres::config::SslMode;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::StoreError;

pub(crate) use migrations::{
    MIGRATION_NOTE, check, is_unfinished, lock, migrate, migrate_to_newest,
};
pub(crate) use partitions::PartitionMaker;

/// The address of a database, with its TLS configuration.
#[derive(Clone)]
pub(crate) struct Server {
    hosts: hosts::Hosts,
    tls: Option<MakeRustlsConnect>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let is_encrypted = self.tls.is_some();
        f.debug_struct("Server").field("hosts", &self.hosts).field("tls", &is_encrypted).finish()
    }
}

impl Server {
    /// Parses an address such as `postgres://uptake:secret@db.internal/uptake`.
    pub(crate) fn parse(address: &str) -> Result<Self, StoreError> {
        let mut config = Config::from_str(address).map_err(|error| {
            StoreError::Unavailable(format!("the address of Postgres is invalid: {error}"))
        })?;
        settings::apply_defaults(&mut config, address);
        // `sslmode=prefer` would accept an unverified server. TLS is used only when required, and
        // then the certificate is verified.
        let tls = match config.get_ssl_mode() {
            SslMode::Require => Some(tls_connector()?),
            SslMode::Disable | SslMode::Prefer | _ => None,
        };
        Ok(Self { hosts: hosts::Hosts::from_config(&config), tls })
    }

    /// Opens the writer's session: it caches keys, commits synchronously and plans by index.
    pub(crate) fn writer(&self) -> Result<Connection, StoreError> {
        let settings = [settings::REQUIRE_SYNCHRONOUS_COMMIT, settings::PLAN_BY_INDEX];
        let connection = self.open_with(&settings)?;
        if let Some(session) = connection.postgres() {
            session.keys().remember();
        }
        Ok(connection)
    }

    /// Opens a session for reads of a few rows by key.
    pub(crate) fn lookup_reader(&self) -> Result<Connection, StoreError> {
        self.open_with(&[settings::PLAN_BY_INDEX])
    }

    fn open_with(&self, settings: &[&str]) -> Result<Connection, StoreError> {
        let connection = self.open()?;
        for setting in settings {
            if let Some(session) = connection.postgres() {
                session
                    .raw_batch(setting)
                    .map_err(|error| StoreError::Unavailable(error.to_string()))?;
            }
        }
        Ok(connection)
    }

    pub(crate) fn open(&self) -> Result<Connection, StoreError> {
        let connect = |config: &Config| Session::open(config, self.tls.as_ref());
        let session = self.hosts.find(connect).map_err(StoreError::Unavailable)?;
        Ok(Connection::Postgres(Box::new(session)))
    }
}

/// Verifies the server's certificate by the system's list. `SSL_CERT_FILE` names another list.
fn tls_connector() -> Result<MakeRustlsConnect, StoreError> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_and_debug_omit_the_password() {
        let shown = format!("{:?}", Server::parse("postgres://u:hidden@a,b/d").unwrap());
        assert!(shown.contains("tls: false") && !shown.contains("hidden"), "{shown}");
        let error = Server::parse("postgres://u:hidden@a:port/d").unwrap_err().to_string();
        assert!(error.contains("the address of Postgres"), "{error}");
        assert!(!error.contains("hidden"), "{error}");
    }
}
