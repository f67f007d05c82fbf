//! Dropping what is old.

use event::{Position, Tenant, Timestamp};

use crate::log::Task;

/// Old events go; what followed from them stays.
pub trait Retention: Send + Sync {
    /// Whether a tenant has events that arrived before this moment.
    fn has_old(&self, tenant: &Tenant, before: Timestamp) -> Task<'_, bool>;

    /// Copies the projections for rebuilds to start from; answers the position they are of.
    fn copy_projections(&self) -> Task<'_, Position>;

    /// Drops some of a tenant's events that arrived before a moment and stand up to a position;
    /// answers how many. Fewer than `most` means that there are no more.
    fn drop_old(
        &self,
        tenant: &Tenant,
        before: Timestamp,
        upto: Position,
        most: usize,
    ) -> Task<'_, usize>;

    /// Removes everything of a tenant: events, what followed from them, and used-up ids, but not its keys.
    /// Answers how many events there were.
    fn remove_tenant(&self, tenant: &Tenant) -> Task<'_, usize>;
}
