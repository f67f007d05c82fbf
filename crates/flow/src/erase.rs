//! Erases a user: an event says that somebody was erased, and what they did becomes stubs.

use std::time::Duration;

use event::{Change, Mac, Rule, Scope, UserId, Write};
use store::ErasedCounts;

use crate::engine::Engine;
use crate::error::FlowError;
use crate::mirror::CopyPlace;

/// How long the mirror is waited for, so that it writes no copy of what was erased.
const MIRROR_WAIT: Duration = Duration::from_secs(10);

impl Engine {
    /// Erases a user and answers what was erased. Nothing of their words or their name is left in
    /// the store's files when this returns.
    pub async fn erase_user(
        &self,
        scope: &Scope,
        user: &UserId,
        copies: Option<&CopyPlace>,
    ) -> Result<ErasedCounts, FlowError> {
        let (counts, turns) = self.store.whats_of(scope, user).await?;
        let now = self.clock.now();
        let rule = Rule::Erasure { events: counts.events, turns: counts.turns };
        let event = capture::rule_event(scope, None, &rule, self.mint.event_id(now), now);
        let mut write: Write = self.write_of(event, Mac([0; 16]), None);
        // The event itself says nothing of whom; a rebuild finds the stubs.
        write.entry.changes = vec![Change::EraseUser(user.clone())];
        let receipt = self.commit_one(write).await?;
        if let Some(place) = copies {
            self.wait_for_mirror(place, receipt.position).await?;
            if let CopyPlace::Blobs(blobs) = place {
                for turn in &turns {
                    blobs.delete(scope, turn).await?;
                }
            }
        }
        self.store.scrub().await?;
        tracing::info!(events = counts.events, turns = counts.turns, "a user was erased");
        Ok(counts)
    }

    /// Until the mirror has passed a position: then no copy of an earlier state is under way.
    async fn wait_for_mirror(
        &self,
        place: &CopyPlace,
        position: event::Position,
    ) -> Result<(), FlowError> {
        let passed = async {
            while self.store.mirrored_to(&place.name()).await? < position {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            Ok::<_, FlowError>(())
        };
        match tokio::time::timeout(MIRROR_WAIT, passed).await {
            Ok(result) => result,
            Err(_) => {
                tracing::warn!("the mirror is behind; copies are deleted as they are");
                Ok(())
            }
        }
    }
}
