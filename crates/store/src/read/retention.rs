//! Dropping what is old.

use model::{Position, Tenant, Timestamp};

use crate::log::Task;

/// Old events go; what followed from them stays.
pub trait Retention: Send + Sync {
    /// Some of a tenant's events that arrived before a moment and stand up to a position, `None` for
    /// wherever they stand; none means that there are no more to drop now. How long it looks does not grow
    /// with the log: in a very long one, an event that was stored long after it arrived may be found only
    /// when those that were stored with it are as old.
    fn old_events(
        &self,
        tenant: &Tenant,
        before: Timestamp,
        upto: Option<Position>,
    ) -> Task<'_, Vec<Position>>;

    /// Copies the projections for rebuilds to start from; answers the position they are of.
    fn copy_projections(&self) -> Task<'_, Position>;

    /// Drops events; answers how many of them were still there.
    fn drop_events(&self, positions: Vec<Position>) -> Task<'_, usize>;

    /// Removes everything of a tenant: events, what followed from them, and used-up ids, but not its keys.
    /// Answers how many events there were.
    fn remove_tenant(&self, tenant: &Tenant) -> Task<'_, usize>;
}
