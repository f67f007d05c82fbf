//! A copy of a store in one file, made while others write, that can prove that it is whole; and the way back.
//!
//! Only of stores in a file of this machine: Postgres has its own tools.

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
