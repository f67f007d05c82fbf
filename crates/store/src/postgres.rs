//! Postgres, for several nodes: connections, migrations, partitions and the follower.

mod hosts;
pub(crate) mod follower;
mod migrations;
mod partitions;
mod settings;
mod tls;

use std::str::FromStr;

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
            SslMode::Require => Some(tls::connector()?),
            SslMode::Disable | SslMode::Prefer | _ => None,
        };
        Ok(Self { hosts: hosts::Hosts::from_config(&config), tls })
    }

    /// Opens the writer's session: it caches keys and commits synchronously.
    pub(crate) fn writer(&self) -> Result<Connection, StoreError> {
        let connection = self.open()?;
        if let Some(session) = connection.postgres() {
            session
                .raw_batch(settings::REQUIRE_SYNCHRONOUS_COMMIT)
                .map_err(|error| StoreError::Unavailable(error.to_string()))?;
            session.keys().remember();
        }
        Ok(connection)
    }

    pub(crate) fn open(&self) -> Result<Connection, StoreError> {
        let connect = |config: &Config| Session::open(config, self.tls.as_ref());
        let session = self.hosts.find(connect).map_err(StoreError::Unavailable)?;
        Ok(Connection::Postgres(Box::new(session)))
    }
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
