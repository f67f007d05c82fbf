//! Takes out of what routers have learnt what somebody who is erased said.

use std::sync::PoisonError;

use model::{Event, TurnId, UserId};
use store::{Store, StoreError};

use crate::routing::project::{Progress, Project};

impl Project {
    /// Somebody is erased: the features of their own turns go, from what regressions learnt as well,
    /// and what they rated was rated by nobody in particular.
    pub(crate) async fn forget(
        &self,
        store: &Store,
        user: &UserId,
        own: &[TurnId],
        touched: &[TurnId],
        now: &Event,
    ) -> Result<(), StoreError> {
        let user = self.pseudonym(user.as_str());
        let mut progress = self.progress.lock().await;
        loop {
            for turn in own.iter().chain(touched) {
                self.have(store, &mut progress, turn).await?;
            }
            self.forget_in(&mut progress, Some(user), own, touched, now);
            if self.keep_now(store, &mut progress).await? {
                return Ok(());
            }
            // Another node kept more meanwhile; they are taken out of that.
            self.take_up(store, &mut progress).await?;
        }
    }

    /// The same for turns that came in while their user was erased, and are in memory only. Who that was is
    /// not known on other nodes.
    pub(crate) async fn forget_late(
        &self,
        store: &Store,
        user: Option<&UserId>,
        now: &Event,
    ) -> Result<(), StoreError> {
        let user = user.map(|user| self.pseudonym(user.as_str()));
        let mut progress = self.progress.lock().await;
        let Progress { waiting, kept, .. } = &*progress;
        let known = waiting.iter().chain(kept);
        let with_features = known.filter(|(_, record)| !record.feature_bytes().is_empty());
        let turns: Vec<TurnId> = with_features.map(|(turn, _)| turn.clone()).collect();
        let mut late = Vec::new();
        for turn in turns {
            let head = store.turn_head(&self.with.scope, &turn).await?;
            if head.is_some_and(|head| head.erased) {
                late.push(turn);
            }
        }
        if late.is_empty() {
            return Ok(());
        }
        loop {
            for turn in &late {
                self.have(store, &mut progress, turn).await?;
            }
            self.forget_in(&mut progress, user, &late, &late, now);
            if self.keep_now(store, &mut progress).await? {
                return Ok(());
            }
            self.take_up(store, &mut progress).await?;
        }
    }

    fn forget_in(
        &self,
        progress: &mut Progress,
        user: Option<u64>,
        own: &[TurnId],
        touched: &[TurnId],
        now: &Event,
    ) {
        let mut routers = self.routers.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(user) = user {
            for turn in touched {
                routers.anonymise_rating(now, turn, user, &mut progress.waiting);
            }
        }
        for turn in own {
            if let Some(record) = progress.waiting.get_mut(turn) {
                routers.forget_features(record);
            }
        }
        (progress.changed, progress.forgot) = (true, true);
        self.recent().forget(own);
    }
}
