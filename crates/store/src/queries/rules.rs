//! Privacy settings and user profiles.

use model::{Scope, Tenant, UserId};
use serde_json::{Map, Value};

use crate::error::{StoreError, Task};
use crate::row_keys::{Table, find_scoped_key};
use crate::store::Store;

pub type TenantSettings = (Tenant, Map<String, Value>);

impl Store {
    /// The privacy settings of every tenant that has any.
    pub fn privacy(&self) -> Task<'_, Vec<TenantSettings>> {
        self.pool.run(|connection| {
            connection.read_rows_with("SELECT tenant, settings FROM privacy", (), |row| {
                let (tenant, settings): (String, String) = row.read()?;
                let unreadable =
                    || StoreError::Corrupt(format!("invalid privacy settings of tenant {tenant}"));
                let settings = serde_json::from_str(&settings).map_err(|_| unreadable())?;
                Ok((Tenant::new(tenant.clone()).map_err(|_| unreadable())?, settings))
            })
        })
    }

    pub fn profile(&self, scope: &Scope, user: &UserId) -> Task<'_, Option<Map<String, Value>>> {
        let (scope, user) = (scope.clone(), user.clone());
        self.pool.run_short(move |connection| {
            let user = find_scoped_key(connection, &scope, Table::Users, user.as_str())?;
            let Some(user) = user else { return Ok(None) };
            let select = "SELECT attributes FROM profiles WHERE user = ?1";
            let attributes: Option<String> = connection.find_row(select, [user])?;
            let unreadable = |_| StoreError::Corrupt(format!("invalid attributes of user {user}"));
            attributes.map(|text| serde_json::from_str(&text).map_err(unreadable)).transpose()
        })
    }
}
