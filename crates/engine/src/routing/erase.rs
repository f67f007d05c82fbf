//! Removes an erased user's data from the routers' state.

use model::{Event, TurnId, UserId};
use store::{Store, StoreError};

use crate::routing::project::{LearningProgress, ProjectRouters};

impl ProjectRouters {
    /// Erases a user. Removes the features of the user's own turns, also from the regressions, and
    /// anonymises the user's ratings.
    pub(crate) async fn erase_user(
        &self,
        store: &Store,
        user: &UserId,
        own: &[TurnId],
        touched: &[TurnId],
        now: &Event,
    ) -> Result<(), StoreError> {
        let user = self.pseudonym(user.as_str());
        let mut progress = self.progress.lock().await;
        self.erase_and_save(store, &mut progress, Some(user), (own, touched), now).await
    }

    /// Erases turns that arrived during the erasure and are only in memory. `user` is `None` on
    /// other nodes, which do not know who was erased.
    pub(crate) async fn erase_late_turns(
        &self,
        store: &Store,
        user: Option<&UserId>,
        now: &Event,
    ) -> Result<(), StoreError> {
        let user = user.map(|user| self.pseudonym(user.as_str()));
        let mut progress = self.progress.lock().await;
        let LearningProgress { unsaved, saved, .. } = &*progress;
        let known = unsaved.iter().chain(saved);
        let with_features = known.filter(|(_, record)| !record.feature_bytes().is_empty());
        let turns: Vec<TurnId> = with_features.map(|(turn, _)| turn.clone()).collect();
        let mut late = Vec::new();
        for turn in turns {
            let head = store.turn_head(&self.router_scope.scope, &turn).await?;
            if head.is_some_and(|head| head.erased) {
                late.push(turn);
            }
        }
        if late.is_empty() {
            return Ok(());
        }
        self.erase_and_save(store, &mut progress, user, (&late, &late), now).await
    }

    async fn erase_and_save(
        &self,
        store: &Store,
        progress: &mut LearningProgress,
        user: Option<u64>,
        (own, touched): (&[TurnId], &[TurnId]),
        now: &Event,
    ) -> Result<(), StoreError> {
        loop {
            for turn in own.iter().chain(touched) {
                self.ensure_record(store, progress, turn).await?;
            }
            self.erase_from_memory(progress, user, own, touched, now);
            if self.try_save(store, progress).await? {
                return Ok(());
            }
            // Another node saved a newer checkpoint: the erasure is repeated on it.
            self.load_checkpoint(store, progress).await?;
        }
    }

    fn erase_from_memory(
        &self,
        progress: &mut LearningProgress,
        user: Option<u64>,
        own: &[TurnId],
        touched: &[TurnId],
        now: &Event,
    ) {
        let mut routers = self.routers.write();
        if let Some(user) = user {
            for turn in touched {
                routers.anonymise_rating(now, turn, user, &mut progress.unsaved);
            }
        }
        for turn in own {
            if let Some(record) = progress.unsaved.get_mut(turn) {
                routers.forget_features(record);
            }
        }
        (progress.changed, progress.erased) = (true, true);
        self.recent_choices().forget_turns(own);
    }
}
