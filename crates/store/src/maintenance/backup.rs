//! Online backups of a SQLite store into one verified file, and their restore.
//!
//! Postgres stores use the tools of Postgres.

mod content;
mod note;
mod place;
mod make;
mod restore;
#[cfg(test)]
mod tests;

pub use make::back_up;
pub use note::BackupNote;
pub(crate) use place::reject_partial_restore;
pub use restore::{Restored, restore};
