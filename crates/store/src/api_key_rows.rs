//! Reads rows of the table `keys`: the API keys.

use model::{Project, Role, Tenant, Timestamp};
use sql::{Connection, Row};

use crate::error::StoreError;

/// A key as it is kept: without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredKey {
    pub id: String,
    pub hash: [u8; 32],
    pub tenant: Tenant,
    /// Of one project, or of all of the tenant's.
    pub project: Option<Project>,
    pub role: Role,
    /// Requests per second, if it is limited.
    pub rate: Option<u32>,
    /// The web page's origin that it may be used from.
    pub origin: Option<String>,
    pub created_at: Timestamp,
    pub revoked_at: Option<Timestamp>,
}

/// All of them, oldest first.
pub(crate) fn all_keys(connection: &Connection) -> Result<Vec<StoredKey>, StoreError> {
    let mut select = connection.prepare_cached(
        "SELECT id, hash, tenant, project, role, rate, origin, created_at, revoked_at
         FROM keys ORDER BY created_at, id",
    )?;
    let mut rows = select.query(())?;
    let mut keys = Vec::new();
    while let Some(row) = &rows.next()? {
        keys.push(read_key(row)?);
    }
    Ok(keys)
}

fn read_key(row: &Row<'_>) -> Result<StoredKey, StoreError> {
    let id: String = row.get(0)?;
    let unreadable = || StoreError::Corrupt(format!("key {id} cannot be read"));
    let project: Option<String> = row.get(3)?;
    let revoked_at: Option<i64> = row.get(8)?;
    Ok(StoredKey {
        hash: row.get(1)?,
        tenant: Tenant::new(row.get::<_, String>(2)?).map_err(|_| unreadable())?,
        project: project.map(Project::new).transpose().map_err(|_| unreadable())?,
        role: Role::from_code(row.get(4)?).ok_or_else(unreadable)?,
        rate: row.get(5)?,
        origin: row.get(6)?,
        created_at: Timestamp::from_micros(row.get(7)?),
        revoked_at: revoked_at.map(Timestamp::from_micros),
        id,
    })
}
