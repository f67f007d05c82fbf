//! What one commit may do, and what became of it.

use std::fmt;

use serde_json::{Map, Value};

use crate::experiment::ExperimentChange;
use crate::fact::{LooseFact, TurnFact};
use crate::id::{ConversationId, DecisionId, EventId, ExperimentId, TurnId, UserId};
use crate::number::UnitInterval;
use crate::record::Event;
use crate::relevance::RankBand;
use crate::time::Timestamp;
use crate::vector::Vector;
use crate::word::{Origin, Reaction, RelevanceSignal, ValidationOutcome, VerdictStatus};

/// Where an event stands in the log: 1, 2, 3 and so on without gaps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position(pub u64);

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A keyed hash of what the client sent. Equal bodies have equal MACs; without the store's key
/// nobody can guess a body from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mac(pub [u8; 16]);

/// The namespaces in which an id can be used once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimSpace {
    /// The id of an event.
    Event,
    /// The `Idempotency-Key` of a request.
    RequestKey,
    /// The id of a turn, used up when it is opened.
    Turn,
    /// The id of a turn, used up when it is completed.
    Completion,
    /// The id of a decision.
    Decision,
    /// The id of an experiment; with a `/` behind it, one of its moves.
    Experiment,
}

impl ClaimSpace {
    /// The number in the store; never changes.
    pub const fn code(self) -> u8 {
        match self {
            Self::Event => 1,
            Self::RequestKey => 2,
            Self::Turn => 3,
            Self::Completion => 4,
            Self::Decision => 5,
            Self::Experiment => 6,
        }
    }

    /// The namespace of such a number.
    pub const fn from_code(code: u8) -> Option<Self> {
        match code {
            1 => Some(Self::Event),
            2 => Some(Self::RequestKey),
            3 => Some(Self::Turn),
            4 => Some(Self::Completion),
            5 => Some(Self::Decision),
            6 => Some(Self::Experiment),
            _ => None,
        }
    }
}

/// An id that a write uses up for ever: the same id and body again is a repeat, the same id with
/// another body is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The namespace.
    pub space: ClaimSpace,
    /// The id in that namespace.
    pub id: String,
    /// What the client sent under it. `None`: not known, so that whatever comes under it is taken
    /// for a repeat.
    pub mac: Option<Mac>,
}

/// What must be so for a write to be stored. Judged inside the transaction, about the turn, the
/// user and the conversation that the write's first event names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Need {
    /// The event's turn was opened, in this conversation if one is given.
    Turn(Option<ConversationId>),
    /// The decision was made.
    Decision(DecisionId),
    /// The decision's newest outcome stands here; `None`: it has none yet.
    OutcomeAt(DecisionId, Option<Position>),
    /// The decision's newest outcome is another one than the event says.
    OtherOutcome(DecisionId),
    /// The experiment is there and stands at one of these.
    Experiment {
        /// Which.
        id: ExperimentId,
        /// Where it may stand.
        statuses: Vec<String>,
    },
    /// The event's user or conversation is not served this variant yet, by its place.
    OtherVariant(ExperimentId, u32),
    /// The event's conversation has an open session in which nothing happened since this moment.
    SilentSince(Timestamp),
    /// The user's reaction on the turn is another one, or has another text. `None` is no reaction.
    OtherReaction {
        /// What it is going to be.
        reaction: Option<Reaction>,
        /// And the text with it.
        text: Option<String>,
    },
}

/// What an event does to the projections. Whose and which is in the event itself; the parts that
/// depend on what is stored are decided when the change is applied.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// The event's turn begins; what arrived before it is attached to it.
    OpenTurn {
        /// Copied onto the turn's reactions.
        track: Option<String>,
        /// Copied onto the turn's reactions.
        bundle: Option<String>,
        /// Copied onto the turn's reactions.
        user_type: Option<String>,
        /// What the application took the question for.
        intent: Option<String>,
    },
    /// The direction of the question of the event's turn.
    SetVector(Vector),
    /// The event's turn has its answer.
    CompleteTurn {
        /// What the application's validator said.
        outcome: Option<ValidationOutcome>,
        /// The validator's score.
        quality: Option<UnitInterval>,
        /// Whether it says how the application went about it.
        has_strategy: bool,
    },
    /// A message says something about the event's turn. What the same message said before, of
    /// whatever turn, goes; without a turn that is all.
    Judge {
        /// What it says.
        status: VerdictStatus,
        /// How sure.
        confidence: UnitInterval,
        /// How sure before the project's own calibration.
        raw_confidence: UnitInterval,
        /// The user only went on to something else.
        moved_on: bool,
        /// The message corrects the question of the turn it is about.
        corrects: bool,
        /// The turn of the message; `None` when somebody else's machine judged.
        detected_in: Option<TurnId>,
    },
    /// A person says what the user thought of the event's turn: it stands above what machines say.
    Review(VerdictStatus),
    /// The event's conversation went silent after the event's turn.
    EndSession {
        /// When something last happened in it.
        last_at: Timestamp,
        /// The last answer was left without any sign of use.
        abandoned: bool,
    },
    /// Something about the event's turn that counts in rates.
    Note(TurnFact),
    /// Something without a turn that counts in rates.
    Count(LooseFact),
    /// How the confidences of the event's project are corrected.
    Calibrate(Map<String, Value>),
    /// The event says what a query returned.
    Return {
        /// Which query.
        query: String,
    },
    /// What became of an item that a query returned.
    Weigh {
        /// Which query.
        query: String,
        /// Which sort of question.
        cluster: Option<u64>,
        /// Which item.
        entity: String,
        /// Where it stood.
        band: RankBand,
        /// What became of it.
        signal: RelevanceSignal,
    },
    /// The event's project has a router.
    SetRouter {
        /// Its name.
        name: String,
        /// As it is now.
        definition: Map<String, Value>,
    },
    /// Something about an experiment of the event's project.
    Experiment(ExperimentChange),
    /// A reaction on the event's turn. A user's replaces the one before; a machine's is added.
    React {
        /// Who reacted.
        origin: Origin,
        /// How.
        reaction: Reaction,
        /// How sure we are.
        confidence: UnitInterval,
        /// The turn whose message a machine read it from.
        detected_in: Option<TurnId>,
    },
    /// The user's reaction on the event's turn goes.
    ClearReaction,
    /// A decision was made.
    Decide {
        /// Which.
        id: DecisionId,
        /// For a generated SQL statement: whether it was executed without an error.
        sql_executed: Option<bool>,
    },
    /// The outcome of a decision became known, or changed.
    Settle {
        /// Which.
        id: DecisionId,
        /// What was decided was carried out without an error.
        executed: bool,
    },
    /// The privacy settings of the event's tenant.
    SetPrivacy(Map<String, Value>),
    /// Where the event's tenant wants its figures to be.
    SetTargets(Map<String, Value>),
    /// A figure of the event's project is not where it should be, or is again.
    Alert {
        /// Which figure.
        metric: String,
        /// It is missed now.
        raised: bool,
    },
    /// The attributes of the event's user.
    SetProfile(Map<String, Value>),
    /// This user's events become stubs and their name goes. Follows from no event alone: what is
    /// left in the log speaks for itself.
    EraseUser(UserId),
}

/// One event and what it does.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// What happened.
    pub event: Event,
    /// What follows from it.
    pub changes: Vec<Change>,
}

/// One unit of change: it happens as a whole or not at all.
#[derive(Clone, Debug, PartialEq)]
pub struct Write {
    /// Must all be unused, or all be used by the same write before.
    pub claims: Vec<Claim>,
    /// Must all be so.
    pub needs: Vec<Need>,
    /// What happened, and what follows from it.
    pub entry: Entry,
    /// Further events that stand or fall with it.
    pub more: Vec<Entry>,
}

impl Write {
    /// A write of one event that claims and needs nothing.
    pub fn of(event: Event, changes: Vec<Change>) -> Self {
        let entry = Entry { event, changes };
        Self { claims: Vec::new(), needs: Vec::new(), entry, more: Vec::new() }
    }
}

/// What became of one write, decided inside the transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is in the log and on disk; its first event stands here.
    Stored(Position),
    /// It was stored before under this id; nothing changed.
    Replayed {
        /// Where the first one stands.
        position: Position,
        /// The first one's event id.
        id: EventId,
    },
    /// Everything is already as it would make it; nothing changed.
    Unchanged,
    /// One of its ids was used for something else; nothing changed.
    Conflict(ClaimSpace),
    /// Something it needs is not there; nothing changed.
    Missing(Need),
    /// It could not be stored, although others of its group could. It is on the list of dead
    /// letters, whole, with the reason.
    SetAside,
    /// It could not be stored, and not be set aside either; nothing changed.
    Failed,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_is_read_back_by_its_number() {
        let spaces: Vec<ClaimSpace> = (0..=u8::MAX).filter_map(ClaimSpace::from_code).collect();
        let codes: Vec<u8> = spaces.iter().map(|space| space.code()).collect();
        assert_eq!(codes, [1, 2, 3, 4, 5, 6]);
    }
}
