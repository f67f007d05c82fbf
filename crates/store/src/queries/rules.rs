//! Privacy settings and user profiles.

use model::{Scope, Tenant, UserId};
use serde_json::{Map, Value};
use sql::{Connection, OptionalExtension};

use crate::error::{StoreError, Task};
use crate::row_keys::{Table, find_key, find_project};
use crate::store::Store;

pub type TenantSettings = (Tenant, Map<String, Value>);

impl Store {
    /// The privacy settings of every tenant that has any.
    pub fn privacy(&self) -> Task<'_, Vec<TenantSettings>> {
        self.pool.run(self::privacy)
    }

    /// The attributes of a user.
    pub fn profile(&self, scope: &Scope, user: &UserId) -> Task<'_, Option<Map<String, Value>>> {
        let (scope, user) = (scope.clone(), user.clone());
        self.pool.run_short(move |connection| self::profile(connection, &scope, &user))
    }
}

pub(crate) fn privacy(connection: &Connection) -> Result<Vec<TenantSettings>, StoreError> {
    let mut select = connection.prepare_cached("SELECT tenant, settings FROM privacy")?;
    let mut rows = select.query(())?;
    let mut found = Vec::new();
    while let Some(row) = &rows.next()? {
        let (tenant, settings): (String, String) = (row.get(0)?, row.get(1)?);
        let unreadable =
            || StoreError::Corrupt(format!("invalid privacy settings of tenant {tenant}"));
        let settings = serde_json::from_str(&settings).map_err(|_| unreadable())?;
        found.push((Tenant::new(tenant.clone()).map_err(|_| unreadable())?, settings));
    }
    Ok(found)
}

pub(crate) fn profile(
    connection: &Connection,
    scope: &Scope,
    user: &UserId,
) -> Result<Option<Map<String, Value>>, StoreError> {
    let Some(project) = find_project(connection, scope)? else { return Ok(None) };
    let Some(user) = find_key(connection, Table::Users, project, user.as_str())? else {
        return Ok(None);
    };
    let attributes: Option<String> = connection
        .prepare_cached("SELECT attributes FROM profiles WHERE user = ?1")?
        .query_row([user], |row| row.get(0))
        .optional()?;
    let unreadable = |_| StoreError::Corrupt(format!("invalid attributes of user {user}"));
    attributes.map(|text| serde_json::from_str(&text).map_err(unreadable)).transpose()
}
