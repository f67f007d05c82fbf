//! API keys, and page sessions that were ended early.

use model::{Project, Timestamp};

use crate::api_key_rows::{StoredKey, all_keys};
use crate::error::Task;
use crate::meta;
use crate::store::Store;

impl Store {
    /// All keys, including revoked ones, oldest first.
    pub fn keys(&self) -> Task<'_, Vec<StoredKey>> {
        // A revoked key must not wait for reports.
        self.pool.run_short(all_keys)
    }

    pub fn add_key(&self, key: StoredKey) -> Task<'_, ()> {
        Box::pin(self.writer.run(move |connection| {
            let transaction = connection.transaction()?;
            transaction.execute_cached(
                "INSERT INTO keys (id, hash, tenant, project, role, rate, origin, created_at,
                     revoked_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
                (
                    &key.id,
                    &key.hash[..],
                    key.tenant.as_str(),
                    key.project.as_ref().map(Project::as_str),
                    key.role.code(),
                    key.rate,
                    &key.origin,
                    key.created_at.as_micros(),
                    key.revoked_at.map(Timestamp::as_micros),
                ),
            )?;
            meta::bump_access_version(&transaction)?;
            Ok(transaction.commit()?)
        }))
    }

    /// Revokes a key. Returns false when it was absent or already revoked.
    pub fn revoke_key(&self, id: &str, at: Timestamp) -> Task<'_, bool> {
        let id = id.to_owned();
        Box::pin(self.writer.run(move |connection| {
            let transaction = connection.transaction()?;
            let sql = "UPDATE keys SET revoked_at = ?2 WHERE id = ?1 AND revoked_at IS NULL";
            let is_revoked = transaction.execute_cached(sql, (&id, at.as_micros()))? > 0;
            if is_revoked {
                meta::bump_access_version(&transaction)?;
            }
            transaction.commit()?;
            Ok(is_revoked)
        }))
    }

    /// Records a page session that was ended before its expiry `until`, and deletes expired records.
    pub fn end_visit(&self, id: &str, until: Timestamp, now: Timestamp) -> Task<'_, ()> {
        let id = id.to_owned();
        Box::pin(self.writer.run(move |connection| {
            let transaction = connection.transaction()?;
            let expire = "DELETE FROM ended_visits WHERE until <= ?1";
            transaction.execute_cached(expire, [now.as_micros()])?;
            let insert =
                "INSERT INTO ended_visits (id, until) VALUES (?1, ?2) ON CONFLICT (id) DO NOTHING";
            transaction.execute_cached(insert, (&id, until.as_micros()))?;
            meta::bump_access_version(&transaction)?;
            Ok(transaction.commit()?)
        }))
    }

    /// Page sessions that were ended early, with the time at which they would have expired.
    pub fn ended_visits(&self) -> Task<'_, Vec<(String, Timestamp)>> {
        self.pool.run(|connection| {
            connection.read_rows_with("SELECT id, until FROM ended_visits ORDER BY id", (), |row| {
                Ok((row.get(0)?, Timestamp::from_micros(row.get(1)?)))
            })
        })
    }

    /// The time of the restore from a backup. The ends of earlier page sessions are unknown.
    pub fn restored_at(&self) -> Task<'_, Option<Timestamp>> {
        self.pool.run(meta::restored_at)
    }
}
