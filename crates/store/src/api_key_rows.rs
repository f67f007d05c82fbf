//! Reads rows of the table `keys`: the API keys.

use model::{Project, Role, Tenant, Timestamp};
use sql::{Connection, Row};

use crate::error::StoreError;

/// An API key as stored, without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredKey {
    pub id: String,
    pub hash: [u8; 32],
    pub tenant: Tenant,
    /// `None`: all projects of the tenant.
    pub project: Option<Project>,
    pub role: Role,
    /// Requests per second; `None` is unlimited.
    pub rate: Option<u32>,
    /// The web origin from which a widget may use the key.
    pub origin: Option<String>,
    pub created_at: Timestamp,
    pub revoked_at: Option<Timestamp>,
}

pub(crate) fn all_keys(connection: &Connection) -> Result<Vec<StoredKey>, StoreError> {
    connection.read_rows_with(
        "SELECT id, hash, tenant, project, role, rate, origin, created_at, revoked_at
         FROM keys ORDER BY created_at, id",
        (),
        read_key,
    )
}

fn read_key(row: &Row<'_>) -> Result<StoredKey, StoreError> {
    let (id, hash, tenant, project): (String, _, String, Option<String>) = row.read()?;
    let unreadable = || StoreError::Corrupt(format!("key {id} cannot be read"));
    let revoked_at: Option<i64> = row.get(8)?;
    Ok(StoredKey {
        hash,
        tenant: Tenant::new(tenant).map_err(|_| unreadable())?,
        project: project.map(Project::new).transpose().map_err(|_| unreadable())?,
        role: Role::from_code(row.get(4)?).ok_or_else(unreadable)?,
        rate: row.get(5)?,
        origin: row.get(6)?,
        created_at: Timestamp::from_micros(row.get(7)?),
        revoked_at: revoked_at.map(Timestamp::from_micros),
        id,
    })
}
