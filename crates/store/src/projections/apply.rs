//! Applies the changes of an event to the projections. Commits and rebuilds run the same code, so
//! their results are equal.

mod activity;
#[cfg(feature = "scaled")]
pub(crate) mod prefetch;
mod alert;
mod decision;
mod erase;
mod experiment;
mod fact_changes;
mod facts;
mod index;
mod reaction;
mod judge;
mod settings;
mod relevance;
mod session;
mod sums;
mod trace;
mod turn;

use model::{
    Change, Event, Language, Position, Timestamp, TurnChange, TurnFact, Vector, is_refinement,
};
use sql::Connection;

use crate::event_rows::{EventKeys, StoredEvent};
use crate::row_keys::{Key, PackedId, Table, resolve_key};

pub(crate) use activity::DAY_MICROS;
pub(crate) use erase::{USER_EVENTS, USER_TURNS};
pub(crate) use experiment::{make as make_experiment_sums, read_sums, served};
pub(crate) use facts::Facts;
pub(crate) use relevance::item_standing;
pub(crate) use sums::{DAY_HOURS, HOUR_MICROS, hour_number};
pub(crate) use turn::{Half as TurnHalfState, Row as TurnRow};

/// The event whose changes are applied, with its keys.
#[derive(Clone, Debug)]
pub(crate) struct Subject {
    pub(crate) position: Position,
    pub(crate) id: PackedId,
    pub(crate) project: Key,
    pub(crate) user: Option<Key>,
    pub(crate) conversation: Option<Key>,
    pub(crate) turn: Option<Key>,
    pub(crate) ts: Timestamp,
    pub(crate) received_at: Timestamp,
}

impl Subject {
    /// Looks up the keys of an event.
    pub(crate) fn new<E>(
        event: &Event,
        position: Position,
        project: Key,
        key: impl Fn(Table, &str) -> Result<Option<Key>, E>,
    ) -> Result<Self, E> {
        let look_up = |table, id: Option<&str>| id.map_or(Ok(None), |id| key(table, id));
        let conversation = event.conversation.as_ref().map(|id| id.as_str());
        Ok(Self {
            position,
            id: PackedId::pack(event.id.as_str()),
            project,
            user: look_up(Table::Users, event.user.as_ref().map(|id| id.as_str()))?,
            conversation: look_up(Table::Conversations, conversation)?,
            turn: look_up(Table::Turns, event.turn.as_ref().map(|id| id.as_str()))?,
            ts: event.ts,
            received_at: event.received_at,
        })
    }

    /// A stored event without its row, and the event.
    pub(crate) fn from_stored(stored: StoredEvent, keys: EventKeys) -> (Self, Event) {
        let (position, event) = (stored.position, stored.event.into_inner());
        let EventKeys { project, user, conversation, turn } = keys;
        let (id, ts, received_at) =
            (PackedId::pack(event.id.as_str()), event.ts, event.received_at);
        (Self { position, id, project, user, conversation, turn, ts, received_at }, event)
    }

    fn row_position(&self) -> i64 {
        self.position.0 as i64
    }
}

pub(crate) fn apply(
    connection: &Connection,
    subject: &Subject,
    change: &Change,
) -> sql::Result<()> {
    match change {
        Change::Turn(change) => match subject.turn {
            Some(turn) => apply_to_turn(connection, subject, turn, change),
            None => Ok(()),
        },
        Change::Judge(judgement) => judge::judge(connection, subject, subject.turn, judgement),
        Change::Count(fact) => fact_changes::count_loose_fact(connection, subject, fact),
        Change::AbandonSession => abandon_session(connection, subject),
        Change::Decision(change) => decision::apply(connection, subject, change),
        Change::Retrieval(change) => relevance::apply(connection, subject, change),
        Change::Experiment(change) => experiment::apply(connection, subject, change),
        Change::Trace(change) => match subject.turn {
            Some(turn) => trace::apply(connection, subject, turn, *change),
            None => Ok(()),
        },
        Change::Settings(change) => settings::apply(connection, subject, change),
        Change::Alert { metric, raised } => alert::note(connection, subject, metric, *raised),
        Change::EraseUser(user) => erase::erase(connection, subject, user),
    }
}

fn abandon_session(connection: &Connection, subject: &Subject) -> sql::Result<()> {
    let turn = match subject.turn {
        Some(turn) => Some(turn),
        None => session::last_turn(connection, subject)?,
    };
    let Some(turn) = turn else { return Ok(()) };
    fact_changes::record_session_end(connection, subject, turn, true)?;
    session::leave(connection, turn)
}

fn apply_to_turn(
    connection: &Connection,
    subject: &Subject,
    turn: Key,
    change: &TurnChange,
) -> sql::Result<()> {
    match change {
        TurnChange::Open { track, bundle, user_type, intent, language } => {
            let labels = turn::Labels {
                track: track.as_deref(),
                bundle: bundle.as_deref(),
                user_type: user_type.as_deref(),
            };
            turn::open(connection, subject, turn, labels)?;
            reaction::attach(connection, subject, turn)?;
            session::open(connection, subject, turn)?;
            let refines = intent.as_deref().is_some_and(is_refinement);
            fact_changes::record_opening(connection, subject, turn, refines)?;
            experiment::bind_turn(connection, subject, turn)?;
            index::open(connection, subject, turn, (intent.as_deref(), *language))?;
            judge::refresh(connection, subject, turn)
        }
        TurnChange::OpenDerived { is_quoted, vector, language } => {
            let half = if *is_quoted { turn::Half::Quoted } else { turn::Half::Named };
            open_derived(connection, subject, (turn, half), (vector.as_ref(), *language))
        }
        TurnChange::CompleteDerived => complete_derived(connection, subject, turn),
        TurnChange::SetVector(vector) => index::set_vector(connection, turn, vector),
        TurnChange::Complete { outcome, quality, has_strategy } => {
            let (outcome, quality, has_strategy) = (*outcome, *quality, *has_strategy);
            let assessment = index::Assessment { outcome, quality, has_strategy };
            turn::complete(connection, subject, turn)?;
            session::record_answer(connection, subject, turn)?;
            index::complete(connection, turn, assessment)?;
            experiment::record_answer(connection, subject, turn, quality)
        }
        TurnChange::React { origin, reaction, rating, confidence, detected_in } => {
            let message = match detected_in {
                None => None,
                Some(id) => {
                    Some(resolve_key(connection, Table::Turns, subject.project, id.as_str())?)
                }
            };
            let (origin, reaction) = (*origin, *reaction);
            let (rating, confidence) = (rating.get(), confidence.get());
            let given = reaction::Given { origin, reaction, rating, confidence, message };
            reaction::react(connection, subject, turn, given)?;
            judge::refresh(connection, subject, turn)
        }
        TurnChange::ClearReaction => {
            reaction::clear(connection, subject, turn)?;
            judge::refresh(connection, subject, turn)
        }
        TurnChange::Review(status) => judge::review(connection, subject, turn, *status),
        TurnChange::Note(fact) => fact_changes::record_fact(connection, subject, turn, fact),
        TurnChange::EndSession { last_at, abandoned } => {
            fact_changes::record_session_end(connection, subject, turn, *abandoned)?;
            session::end(connection, subject, turn, *last_at)
        }
    }
}

/// Opens a turn by feedback on it. Sessions and experiments count turns that were sent.
/// Reactions without a user keep none until the turn itself names its user.
fn open_derived(
    connection: &Connection,
    subject: &Subject,
    (turn, half): (Key, turn::Half),
    (vector, language): (Option<&Vector>, Option<Language>),
) -> sql::Result<()> {
    if !turn::open_derived(connection, subject, turn, half)? {
        return Ok(());
    }
    reaction::move_to_conversation(connection, subject, turn)?;
    fact_changes::record_opening(connection, subject, turn, false)?;
    index::open(connection, subject, turn, (None, language))?;
    if let Some(vector) = vector {
        index::set_vector(connection, turn, vector)?;
    }
    judge::refresh(connection, subject, turn)
}

fn complete_derived(connection: &Connection, subject: &Subject, turn: Key) -> sql::Result<()> {
    if !turn::complete_derived(connection, subject, turn)? {
        return Ok(());
    }
    let assessment = index::Assessment { outcome: None, quality: None, has_strategy: false };
    index::complete(connection, turn, assessment)?;
    let answered = TurnFact::Answered {
        model: None,
        prompt: None,
        strategy: None,
        failed: false,
        tokens: 0,
        cost: 0,
    };
    fact_changes::record_fact(connection, subject, turn, &answered)
}
