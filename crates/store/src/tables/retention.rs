//! The doors to dropping what is old and removing what nobody wants any more.

use std::sync::Arc;

use model::{Position, Tenant, Timestamp};

use super::{Store, remove, retain};
use crate::log::Task;

impl Store {
    /// Some of a tenant's events that arrived before a moment and stand up to a position, `None` for
    /// wherever they stand; none means that there are no more to drop now. How long it looks does not grow
    /// with the log: in a very long one, an event that was stored long after it arrived may be found only
    /// when those that were stored with it are as old.
    pub fn old_events(
        &self,
        tenant: &Tenant,
        before: Timestamp,
        upto: Option<Position>,
    ) -> Task<'_, Vec<Position>> {
        let tenant = tenant.clone();
        self.pool.run(move |connection| retain::old_events(connection, &tenant, before, upto))
    }

    /// Copies the projections for rebuilds to start from; answers the position they are of.
    pub fn copy_projections(&self) -> Task<'_, Position> {
        Box::pin(self.writer.run(retain::copy_projections))
    }

    /// Drops events; answers how many of them were still there.
    pub fn drop_events(&self, positions: Vec<Position>) -> Task<'_, usize> {
        let drop = move |connection: &mut _| retain::drop_events(connection, &positions);
        Box::pin(self.writer.run(drop))
    }

    /// Removes everything of a tenant: events, what followed from them, and used-up ids, but not its keys.
    /// Answers how many events there were.
    pub fn remove_tenant(&self, tenant: &Tenant) -> Task<'_, usize> {
        let (tenant, similar) = (tenant.clone(), Arc::clone(&self.shelves));
        let removal =
            move |connection: &mut _| remove::remove_tenant(connection, &tenant, &similar);
        Box::pin(self.writer.run(removal))
    }
}
