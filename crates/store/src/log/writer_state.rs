//! What the writer knows from one group to the next.

use model::Position;

#[cfg(feature = "scaled")]
use crate::log::claims::KnownClaims;
use crate::row_keys::Projects;

/// What the writer knows without asking the database.
#[derive(Debug)]
pub(crate) struct WriterState {
    /// The newest position.
    pub(crate) head: Position,
    pub(crate) projects: Projects,
    #[cfg(feature = "scaled")]
    pub(crate) claims: KnownClaims,
    /// Groups since somebody else was seen to have written.
    #[cfg(feature = "scaled")]
    groups_alone: u32,
}

/// After so many groups whoever wrote too is taken to have stopped.
#[cfg(feature = "scaled")]
const SOLE_WRITER_GROUPS: u32 = 100;

impl WriterState {
    /// At this position, knowing nothing else.
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

    /// Whether somebody else writes, as far as the last groups show.
    #[cfg(feature = "scaled")]
    pub(crate) fn others_write(&self) -> bool {
        self.groups_alone < SOLE_WRITER_GROUPS
    }

    /// Somebody else has written before a group, or not.
    #[cfg(feature = "scaled")]
    pub(crate) fn note_others(&mut self, have_written: bool) {
        self.groups_alone = if have_written { 0 } else { self.groups_alone.saturating_add(1) };
    }

    /// What was seen may not be so any more.
    pub(crate) fn forget(&mut self) {
        self.projects.clear();
        #[cfg(feature = "scaled")]
        self.claims.clear();
    }
}
