//! Writes: claims, preconditions, changes to projections, and outcomes.

use std::fmt;

use crate::body::Fields;
use crate::event::{Event, Redacted};
use crate::experiment::ExperimentChange;
use crate::fact::{LooseFact, TurnFact};
use crate::id::{ConversationId, DecisionId, EventId, ExperimentId, TurnId, UserId};
use crate::number::UnitInterval;
use crate::relevance::RankBand;
use crate::rule::Calibration;
use crate::time::Timestamp;
use crate::vector::Vector;
use crate::word::{Language, Origin, Reaction, RelevanceSignal, ValidationOutcome, VerdictStatus};

/// Position of an event in the log: 1, 2, 3 and so on without gaps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position(pub u64);

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A keyed hash of a request body. Without the store's key a body cannot be guessed from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mac(pub [u8; 16]);

/// Namespaces in which an id can be used once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimSpace {
    Event,
    /// The `Idempotency-Key` of a request.
    RequestKey,
    /// A turn id, claimed when the turn is opened.
    Turn,
    /// A turn id, claimed when the turn is completed.
    Completion,
    Decision,
    /// An experiment id, or `id/n` for its n-th move.
    Experiment,
}

impl ClaimSpace {
    /// The stored number; never changes.
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

/// An id that a write claims forever. The same id and body is a repeat; the same id with another
/// body is a conflict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    pub space: ClaimSpace,
    pub id: String,
    /// MAC of the body. `None` when unknown; any later body under the id then counts as a repeat.
    pub mac: Option<Mac>,
}

/// A precondition of a write, checked inside the transaction against the turn, user and
/// conversation of the write's first event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Need {
    /// The event's turn is open, in this conversation if one is given.
    Turn(Option<ConversationId>),
    /// No event has named the event's turn, except spans that are not in a turn yet.
    NewTurn,
    /// The trace still waits to be assembled, and no user of its project was erased after it was
    /// read.
    PendingTrace { trace: TurnId, read_at: Position },
    /// No user of the event's project was erased after this position.
    NoErasureSince(Position),
    /// The position of the finding that holds the verdict of this turn's message; `None` without one.
    VerdictAt(TurnId, Option<Position>),
    /// The event's turn is unknown, or open in this conversation or in a derived one.
    SameConversation(ConversationId),
    /// The decision exists.
    Decision(DecisionId),
    /// Position of the decision's newest outcome; `None` without one.
    OutcomeAt(DecisionId, Option<Position>),
    /// The decision's newest outcome differs from the event's.
    OtherOutcome(DecisionId),
    /// The experiment exists and has one of these states.
    Experiment { id: ExperimentId, statuses: Vec<String> },
    /// The event's user or conversation has not been exposed to this variant, by its index.
    OtherVariant(ExperimentId, u32),
    /// The event's conversation has an open session without activity since this time.
    SilentSince(Timestamp),
    /// The user's reaction on the turn differs in value, rating or text, or lacks one of the tags.
    /// `None` is no reaction.
    OtherReaction { reaction: Option<Reaction>, text: Option<String>, tags: Vec<String> },
}

/// A change to the projections, by the subject it concerns. Parts that depend on stored state are
/// resolved when it is applied.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Changes the event's turn. Does nothing when the event names no turn.
    Turn(TurnChange),
    /// Sets the verdict of the event's turn by a later message. The message's earlier verdict on
    /// any turn is removed. Without a turn, nothing else happens.
    Judge(Judgement),
    /// A fact without a turn that counts in figures.
    Count(LooseFact),
    /// The user left without using the last answer: ends the session at the event's turn, or at the
    /// last turn of the event's conversation.
    AbandonSession,
    Decision(DecisionChange),
    Retrieval(RetrievalChange),
    Experiment(ExperimentChange),
    Trace(TraceChange),
    Settings(SettingsChange),
    /// Raises or clears an alert of the event's project.
    Alert {
        metric: String,
        /// True when the target is missed.
        raised: bool,
    },
    /// Turns this user's events into stubs and removes the user id. A rebuild does not need it,
    /// since the stubs remain in the log.
    EraseUser(UserId),
}

#[derive(Clone, Debug, PartialEq)]
pub enum TurnChange {
    /// Opens the turn and attaches feedback that arrived before it.
    Open {
        /// Copied onto the turn's reactions, like the next two.
        track: Option<String>,
        bundle: Option<String>,
        user_type: Option<String>,
        /// The intent assigned by the application.
        intent: Option<String>,
        /// The question's language, added by the engine.
        language: Option<Language>,
    },
    /// Opens a turn that feedback names or quotes. Does nothing when the turn is open, unless this is
    /// the first quotation of its question. The turn's own opening replaces it.
    OpenDerived {
        /// True when the question is known.
        is_quoted: bool,
        vector: Option<Vector>,
        language: Option<Language>,
    },
    /// Sets the vector of its question.
    SetVector(Vector),
    /// Adds its answer.
    Complete {
        /// The application's validation outcome.
        outcome: Option<ValidationOutcome>,
        /// The validator's score.
        quality: Option<UnitInterval>,
        /// True when the completion names a strategy.
        has_strategy: bool,
    },
    /// Adds an answer that feedback quotes. Does nothing when the turn has an answer. The turn's own
    /// answer replaces it.
    CompleteDerived,
    /// A reaction. A user's replaces the previous one; a machine's is added.
    React {
        origin: Origin,
        reaction: Reaction,
        /// The reaction on a scale from 0 to 1.
        rating: UnitInterval,
        confidence: UnitInterval,
        /// The turn whose message a machine read it from.
        detected_in: Option<TurnId>,
    },
    /// Removes the user's reaction.
    ClearReaction,
    /// A reviewer's verdict, which overrides detectors.
    Review(VerdictStatus),
    /// A fact that counts in figures.
    Note(TurnFact),
    /// Ends the session of the event's conversation after this turn.
    EndSession {
        /// Time of the last activity.
        last_at: Timestamp,
        /// True when the last answer showed no sign of use.
        abandoned: bool,
    },
}

/// A verdict that a later message, or the application's machine, gives to a turn.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    pub status: VerdictStatus,
    pub confidence: UnitInterval,
    /// Confidence before the project's calibration.
    pub raw_confidence: UnitInterval,
    /// True when the user merely moved on.
    pub moved_on: bool,
    /// True when the message corrects the turn's question.
    pub corrects: bool,
    /// True when the message refines the turn's question.
    pub refines: bool,
    /// The turn of the message; `None` for a verdict of the application's machine.
    pub detected_in: Option<TurnId>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum DecisionChange {
    Make {
        id: DecisionId,
        is_sql: bool,
        /// True when executed without an error; `None` until the outcome is known.
        executed: Option<bool>,
    },
    /// Sets or changes its outcome.
    Settle {
        id: DecisionId,
        /// True when executed without an error; `None` when the outcome became unknown.
        executed: Option<bool>,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub enum RetrievalChange {
    /// Records the results of a query, or an answer that waits for them.
    Return { query: String },
    /// Counts feedback on a retrieved item.
    Weigh {
        query: String,
        /// Cluster of the question.
        cluster: Option<u64>,
        entity: String,
        /// Band of its rank.
        band: RankBand,
        signal: RelevanceSignal,
    },
}

/// Changes to the spans of the event's trace that wait for their turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceChange {
    /// Adds spans, which may be the first of the trace.
    Receive {
        /// True when a root is among them.
        root: bool,
    },
    /// The spans up to a position are in turns.
    Assemble { upto: Position },
}

/// Settings of the event's tenant, project or user.
#[derive(Clone, Debug, PartialEq)]
pub enum SettingsChange {
    Privacy(Fields),
    Targets(Fields),
    /// Attributes of the event's user.
    Profile(Fields),
    Calibration(Calibration),
    Router {
        name: String,
        definition: Fields,
    },
}

/// An event and its changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub event: Redacted<Event>,
    pub changes: Vec<Change>,
}

/// An atomic unit of change.
#[derive(Clone, Debug, PartialEq)]
pub struct Write {
    /// All must be unused, or all claimed by the same earlier write.
    pub claims: Vec<Claim>,
    /// All must hold.
    pub needs: Vec<Need>,
    /// Used in this order instead of the turn of the first event, if that turn is open in another
    /// conversation. One that is not open is used only by a write that opens it.
    pub fallback_turns: Vec<TurnId>,
    pub entry: Entry,
    /// Further events of the same write.
    pub more: Vec<Entry>,
}

impl Write {
    /// A write of one event without claims or preconditions.
    pub fn new(event: Redacted<Event>, changes: Vec<Change>) -> Self {
        let entry = Entry { event, changes };
        let (claims, needs, more) = (Vec::new(), Vec::new(), Vec::new());
        Self { claims, needs, fallback_turns: Vec::new(), entry, more }
    }

    /// Splits a turn that is stored with its answer into its halves, which may be known each by
    /// itself.
    #[must_use]
    pub fn split_answer(mut self) -> Vec<Self> {
        let is_answer = |entry: &Entry| entry.event.body.completion().is_some();
        let Some(at) = self.more.iter().position(is_answer) else { return vec![self] };
        let mut rest = self.more.split_off(at).into_iter();
        let Some(entry) = rest.next() else { return vec![self] };
        let is_of_answer = |claim: &mut Claim| claim.space == ClaimSpace::Completion;
        let mut claims: Vec<Claim> = self.claims.extract_if(.., is_of_answer).collect();
        let id = entry.event.id.as_str().to_owned();
        claims.push(Claim { space: ClaimSpace::Event, id, mac: None });
        let answer = Self { claims, more: rest.collect(), ..Self::new(entry.event, entry.changes) };
        vec![self, answer]
    }

    /// Gives the further events ids that follow from the first one's, so that they need no claims.
    /// They keep their own when a client made the first one's.
    #[must_use]
    pub fn with_numbered_events(mut self) -> Self {
        let first = &self.entry.event.id;
        let number = |(at, Entry { event, changes }): (usize, Entry)| {
            let id = first.nth_of_write(at + 1);
            let event = match id {
                Some(id) => event.with_id(id),
                None => event,
            };
            Entry { event, changes }
        };
        self.more = self.more.into_iter().enumerate().map(number).collect();
        self
    }
}

/// The outcome of one write, decided inside the transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Stored and on disk; position of the first event.
    Stored(Position),
    /// Stored as well, but the turn that the first event names belongs to another conversation.
    /// Only for writes with fallback turns.
    StoredElsewhere(Position),
    /// Stored before under this id; nothing changed.
    Replayed {
        /// Position of the first event.
        position: Position,
        /// Id of the first event.
        id: EventId,
    },
    /// The stored state already matches; nothing changed.
    Unchanged,
    /// An id was used for something else; nothing changed.
    Conflict(ClaimSpace),
    /// A precondition does not hold; nothing changed.
    Missing(Need),
    /// The write failed although others of its group did not. It is a dead letter with the reason.
    SetAside,
    /// The write failed and could not become a dead letter; nothing changed.
    Failed,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claim_spaces_round_trip_by_code() {
        let spaces: Vec<ClaimSpace> = (0..=u8::MAX).filter_map(ClaimSpace::from_code).collect();
        let codes: Vec<u8> = spaces.iter().map(|space| space.code()).collect();
        assert_eq!(codes, [1, 2, 3, 4, 5, 6]);
    }
}
