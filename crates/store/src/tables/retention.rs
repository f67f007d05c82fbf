//! The doors to dropping what is old and removing what nobody wants any more.

use std::sync::Arc;

use model::{Position, Tenant, Timestamp};

use super::{SqlStore, remove, retain};
use crate::log::Task;
use crate::read::retention::Retention;

impl Retention for SqlStore {
    fn old_events(
        &self,
        tenant: &Tenant,
        before: Timestamp,
        upto: Option<Position>,
    ) -> Task<'_, Vec<Position>> {
        let tenant = tenant.clone();
        self.pool.run(move |connection| retain::old_events(connection, &tenant, before, upto))
    }

    fn copy_projections(&self) -> Task<'_, Position> {
        Box::pin(self.writer.run(retain::copy_projections))
    }

    fn drop_events(&self, positions: Vec<Position>) -> Task<'_, usize> {
        let drop = move |connection: &mut _| retain::drop_events(connection, &positions);
        Box::pin(self.writer.run(drop))
    }

    fn remove_tenant(&self, tenant: &Tenant) -> Task<'_, usize> {
        let (tenant, similar) = (tenant.clone(), Arc::clone(&self.shelves));
        let removal =
            move |connection: &mut _| remove::remove_tenant(connection, &tenant, &similar);
        Box::pin(self.writer.run(removal))
    }
}
