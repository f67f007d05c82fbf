//! State that the writer keeps between groups.

use model::Position;

#[cfg(feature = "scaled")]
use crate::log::claims::KnownClaims;
use crate::row_keys::Projects;

#[derive(Debug)]
pub(crate) struct WriterState {
    pub(crate) head: Position,
    pub(crate) projects: Projects,
    #[cfg(feature = "scaled")]
    pub(crate) claims: KnownClaims,
    /// Groups since another node was seen writing.
    #[cfg(feature = "scaled")]
    groups_alone: u32,
}

/// After this many groups without foreign writes, this node counts as the sole writer.
#[cfg(feature = "scaled")]
const SOLE_WRITER_GROUPS: u32 = 100;

impl WriterState {
    pub(crate) fn new(head: Position) -> Self {
        Self {
            head,
            projects: Projects::default(),
            #[cfg(feature = "scaled")]
            claims: KnownClaims::default(),
            #[cfg(feature = "scaled")]
            groups_alone: SOLE_WRITER_GROUPS,
        }
    }

    /// True when another node wrote recently.
    #[cfg(feature = "scaled")]
    pub(crate) fn others_write(&self) -> bool {
        self.groups_alone < SOLE_WRITER_GROUPS
    }

    #[cfg(feature = "scaled")]
    pub(crate) fn note_others(&mut self, have_written: bool) {
        self.groups_alone = if have_written { 0 } else { self.groups_alone.saturating_add(1) };
    }

    /// Clears cached keys and claims after a rollback.
    pub(crate) fn forget(&mut self) {
        self.projects.clear();
        #[cfg(feature = "scaled")]
        self.claims.clear();
    }
}
