//! Postgres, for several nodes: how it is reached and what it must hold before it is used. The
//! statements are those of SQLite (`crate::sql`).

mod migrate;

use std::str::FromStr;
use std::time::Duration;

use tokio_postgres::Config;

use crate::error::StoreError;
use crate::sql::{Connection, Session};

pub(crate) use migrate::{MIGRATION_NOTE, check, is_unfinished, lock, migrate, to_newest};

/// Where a database is and who asks.
#[derive(Clone, Debug)]
pub(crate) struct Server(Box<Config>);

impl Server {
    /// Reads an address such as `postgres://uptake:secret@db.internal/uptake`.
    pub(crate) fn at(address: &str) -> Result<Self, StoreError> {
        let mut config = Config::from_str(address).map_err(|error| {
            StoreError::Unavailable(format!("the address of Postgres: {error}"))
        })?;
        config.application_name("uptake").connect_timeout(Duration::from_secs(5));
        config.keepalives_idle(Duration::from_secs(30));
        Ok(Self(Box::new(config)))
    }

    /// The session that writes: it remembers what it has seen.
    pub(crate) fn writer(&self) -> Result<Connection, StoreError> {
        let connection = self.open()?;
        if let Some(session) = connection.postgres() {
            session.keys().remember();
        }
        Ok(connection)
    }

    /// A session.
    pub(crate) fn open(&self) -> Result<Connection, StoreError> {
        let session =
            Session::open(&self.0).map_err(|error| StoreError::Unavailable(error.to_string()))?;
        Ok(Connection::Postgres(Box::new(session)))
    }
}
