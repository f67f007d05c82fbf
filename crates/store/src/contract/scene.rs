//! Builders of test events.

use model::{
    Change, ConversationId, DecisionId, Event, Judgement, Origin, Outcome, Position, Reaction,
    Scope, Timestamp, TurnChange, TurnFact, TurnId, UnitInterval, UserId, ValidationOutcome,
    VerdictStatus, Write,
};
use serde_json::{Value, json};
use testkit::claim;

use crate::Store;

pub(crate) fn at(secs: i64) -> Timestamp {
    Timestamp::from_micros(1_800_000_000_000_000).plus_secs(secs)
}

pub(crate) fn turn_id(id: &str) -> TurnId {
    TurnId::new(id).unwrap()
}

pub(crate) fn user_id(id: &str) -> UserId {
    UserId::new(id).unwrap()
}

pub(crate) fn conversation_id(id: &str) -> ConversationId {
    ConversationId::new(id).unwrap()
}

pub(crate) fn decision_id(id: &str) -> DecisionId {
    DecisionId::new(id).unwrap()
}

/// An event about a turn, with its change.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    pub(crate) event: Event,
    pub(crate) change: Change,
}

impl Scene {
    pub(crate) fn new(id: &str, turn: &str, change: Change) -> Self {
        let event = Event { turn: Some(turn_id(turn)), ..testkit::event(&Scope::default(), id) };
        Self { event, change }
    }

    pub(crate) fn note(id: &str, turn: &str, fact: TurnFact) -> Self {
        Self::new(id, turn, Change::Turn(TurnChange::Note(fact)))
    }

    pub(crate) fn open(turn: &str, conversation: &str) -> Self {
        let labels = Change::Turn(TurnChange::Open {
            track: Some("A".into()),
            bundle: Some("b".into()),
            user_type: Some("privileged".into()),
            intent: None,
            language: None,
        });
        let said = json!({"phase": "opened", "text": "What now?"});
        Self::new(&format!("open-{turn}"), turn, labels).saying(&said).by("u1").inside(conversation)
    }

    pub(crate) fn answer(turn: &str) -> Self {
        let change = Change::Turn(TurnChange::Complete {
            outcome: Some(ValidationOutcome::Approve),
            quality: UnitInterval::new(0.9),
            has_strategy: true,
        });
        let said = json!({"phase": "completed", "response": "This.", "status": "success"});
        Self::new(&format!("done-{turn}"), turn, change).saying(&said)
    }

    pub(crate) fn react(id: &str, turn: &str, reaction: Reaction) -> Self {
        Self::reaction(id, turn, reaction, Origin::User, UnitInterval::ONE)
    }

    pub(crate) fn infer(id: &str, turn: &str, reaction: Reaction) -> Self {
        Self::reaction(id, turn, reaction, Origin::Machine, UnitInterval::new(0.75).unwrap())
    }

    fn reaction(
        id: &str,
        turn: &str,
        reaction: Reaction,
        origin: Origin,
        confidence: UnitInterval,
    ) -> Self {
        let (rating, detected_in) = (reaction.value(), None);
        let react = TurnChange::React { origin, reaction, rating, confidence, detected_in };
        Self::new(id, turn, Change::Turn(react)).saying(&json!({"text": id}))
    }

    pub(crate) fn judge(turn: &str, message: &str, status: VerdictStatus, moved_on: bool) -> Self {
        let sure = UnitInterval::new(if moved_on { 0.55 } else { 0.9 }).unwrap();
        let change = Change::Judge(Judgement {
            status,
            confidence: sure,
            raw_confidence: sure,
            moved_on,
            corrects: status == VerdictStatus::Rejected,
            refines: false,
            detected_in: Some(turn_id(message)),
        });
        Self::new(&format!("judge-{message}"), turn, change)
    }

    pub(crate) fn clear(id: &str, turn: &str) -> Self {
        Self::new(id, turn, Change::Turn(TurnChange::ClearReaction))
    }

    pub(crate) fn saying(mut self, data: &Value) -> Self {
        self.event.body = testkit::other_body(data);
        self
    }

    pub(crate) fn by(mut self, user: &str) -> Self {
        self.event.user = Some(user_id(user));
        self
    }

    pub(crate) fn inside(mut self, conversation: &str) -> Self {
        self.event.conversation = Some(conversation_id(conversation));
        self
    }

    pub(crate) fn at(mut self, secs: i64) -> Self {
        self.event.ts = at(secs);
        self
    }

    pub(crate) fn of(mut self, scope: &Scope) -> Self {
        self.event.scope = scope.clone();
        self
    }

    pub(crate) fn write(self) -> Write {
        let id = self.event.id.as_str().to_owned();
        Write {
            claims: vec![claim(&id, 1)],
            ..Write::new(testkit::redacted(self.event), vec![self.change])
        }
    }
}

/// Commits scenes one by one. All must be stored.
pub(crate) async fn play(store: &Store, scenes: impl IntoIterator<Item = Scene>) {
    for scene in scenes {
        let outcomes = store.commit(vec![scene.write()]).await.unwrap();
        assert!(matches!(outcomes[..], [Outcome::Stored(Position(_))]), "{outcomes:?}");
    }
}
