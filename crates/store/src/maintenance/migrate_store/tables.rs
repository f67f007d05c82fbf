//! All tables of a store. A test fails when a schema has a table that is missing here.

use crate::projections::PROJECTIONS;

/// A table and the order in which its rows are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Table {
    pub(crate) name: String,
    /// Columns that make the row order deterministic.
    pub(crate) order: String,
}

/// Tables that are neither projections nor baselines.
const OTHERS: [(&str, &str); 19] = [
    ("meta", "name"),
    ("projects", "key"),
    ("users", "key"),
    ("conversations", "key"),
    ("events", "position"),
    ("claims", "project, space, id"),
    ("cursors", "name"),
    ("turn_logs", "turn"),
    ("copies_due", "turn"),
    ("keys", "id"),
    ("ended_visits", "id"),
    ("leases", "name"),
    ("dead_letters", "number"),
    ("deliveries", "position"),
    ("router_progress", "project"),
    ("router_states", "project, name"),
    ("router_turns", "turn"),
    ("turns", "key"),
    ("baselines", "project"),
];

/// Tables that exist only in Postgres and are not copied.
#[cfg(test)]
pub(crate) const ONLY_IN_POSTGRES: [&str; 4] =
    ["log_head", "readers", "schema_version", "turn_touches"];

pub(crate) fn all() -> impl Iterator<Item = Table> {
    let table = |name: &str, order: &str| Table { name: name.into(), order: order.into() };
    let others = OTHERS.into_iter().map(move |(name, order)| table(name, order));
    // `turns` is listed above, because its ids are not a projection.
    let projections = PROJECTIONS.into_iter().filter(|(name, _)| *name != "turns");
    let projections = projections.map(move |(name, order)| table(name, order));
    let copies = PROJECTIONS.into_iter();
    let copies = copies.map(move |(name, order)| table(&format!("baseline_{name}"), order));
    others.chain(projections).chain(copies)
}

impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)
    }
}
