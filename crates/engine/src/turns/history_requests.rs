//! Lists and clears the question history of a user.

use std::collections::HashMap;
use std::sync::Arc;

use connectors::{HistoryHealth, HistoryKey};

use model::{Rule, Scope, Timestamp, TurnId, UserId};
use store::StoredExchange;

use crate::error::EngineError;
use crate::turns::Turns;

impl Turns {
    /// The models that answered turns. Unanswered turns are left out.
    pub async fn answering_models(
        &self,
        scope: &Scope,
        turns: Vec<TurnId>,
    ) -> Result<HashMap<TurnId, String>, EngineError> {
        let found = self.core.store.exchanges_by_id(scope, turns).await?;
        let model = |one: StoredExchange| Some((one.turn, one.completion?.model?));
        Ok(found.into_iter().filter_map(model).collect())
    }

    /// A user's recent questions, newest first.
    pub async fn list_recent_questions(
        &self,
        scope: &Scope,
        user: &UserId,
    ) -> Result<Vec<(TurnId, Arc<str>, Timestamp)>, EngineError> {
        let asker = HistoryKey::User(scope.clone(), user.clone());
        let recent = self.history.backend().recent(&asker, self.core.clock.now()).await?;
        Ok(recent.into_iter().map(|(asked, _)| (asked.turn, asked.text, asked.ts)).collect())
    }

    /// Clears a user's recent questions and returns their number. Without a shared backend the log
    /// records it, too: otherwise a restart would restore the questions.
    pub async fn forget_questions(
        &self,
        scope: &Scope,
        user: &UserId,
    ) -> Result<usize, EngineError> {
        let (asker, place) =
            (HistoryKey::User(scope.clone(), user.clone()), self.history.backend());
        let known = place.recent(&asker, self.core.clock.now()).await?.len();
        // Other nodes may hold questions that this one does not.
        if !place.is_shared() && (self.core.store.is_shared() || known > 0) {
            self.core.store_rule(scope, Some(user.clone()), Rule::HistoryForgotten).await?;
        }
        // The follower of the shared log may have cleared them since the commit.
        Ok(place.forget(&asker).await?.max(known))
    }

    /// Health of the history's backend.
    pub fn history_health(&self) -> HistoryHealth {
        self.history.backend().health()
    }
}

#[cfg(test)]
mod tests {
    use crate::Engine;
    use model::Mac;
    use store::{Limits, Store};
    use testkit::TestClock;

    use super::*;
    use crate::{Detectors, Embedder, Include, IncomingHalf, IncomingTurn, RawOpening};

    /// Starts an engine. `number` seeds its ids.
    async fn start_engine(store: &Arc<Store>, number: u8) -> Engine {
        let clock = Arc::new(TestClock::new(Timestamp::from_micros(1_800_000_000_000_000)));
        let (detectors, embedder) = (Detectors::default(), Embedder::default());
        let store = Arc::clone(store);
        Engine::open(store, clock, [number; 32], detectors, embedder).await.unwrap()
    }

    async fn open_question(engine: &Engine, turn: &str, user: &str) {
        let raw = RawOpening {
            turn_id: Some(turn.into()),
            user_id: Some(user.into()),
            text: "What now?".into(),
            ..RawOpening::default()
        };
        let incoming = IncomingTurn {
            opening: IncomingHalf { raw, mac: Mac([1; 16]) },
            completion: None,
            key: None,
            include: Include::default(),
            router: None,
        };
        engine.turns.open_turn(&Scope::default(), incoming).await.unwrap();
    }

    fn user_id(user: &str) -> UserId {
        UserId::new(user).unwrap()
    }

    async fn recent_turns(engine: &Engine, user: &str) -> Vec<String> {
        let asked =
            engine.turns.list_recent_questions(&Scope::default(), &user_id(user)).await.unwrap();
        asked.into_iter().map(|(turn, _, _)| turn.to_string()).collect()
    }

    #[tokio::test]
    async fn forgotten_questions_stay_forgotten_after_restart() {
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(Store::open(folder.path(), Limits::default(), [7; 32]).unwrap());
        let engine = start_engine(&store, 1).await;
        open_question(&engine, "t1", "ann").await;
        open_question(&engine, "t2", "bob").await;
        let forget = async |user: &str| {
            engine.turns.forget_questions(&Scope::default(), &user_id(user)).await.unwrap()
        };
        assert_eq!(forget("ann").await, 1);
        let again = start_engine(&store, 2).await;
        assert_eq!(recent_turns(&again, "ann").await, Vec::<String>::new());
        assert_eq!(recent_turns(&again, "bob").await, ["t2"]);
        open_question(&engine, "t3", "ann").await;
        assert_eq!(recent_turns(&start_engine(&store, 3).await, "ann").await, ["t3"]);
        let head = store.head();
        assert_eq!(forget("nobody").await, 0);
        assert_eq!(store.head(), head, "an empty history writes no event");
    }
}
