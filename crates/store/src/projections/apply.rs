//! Applies the changes of an event to the projections. Commits and rebuilds run the same code, so
//! their results are equal.

mod activity;
#[cfg(feature = "scaled")]
pub(crate) mod prefetch;
mod alert;
mod decision;
mod erase;
mod experiment;
mod facts;
mod index;
mod reaction;
mod judge;
mod rule;
mod relevance;
mod session;
mod sums;
mod turn;

use model::{Change, Event, Position, Timestamp, is_refinement};
use sql::Connection;

use crate::row_keys::{Key, PackedId, Table, resolve_key};

pub(crate) use activity::DAY_MICROS;
pub(crate) use erase::{USER_EVENTS, USER_TURNS};
pub(crate) use experiment::{make as make_experiment_sums, read_sums, served};
pub(crate) use facts::Facts;
pub(crate) use relevance::item_standing;
pub(crate) use sums::{DAY_HOURS, HOUR_MICROS, hour_number};
pub(crate) use turn::Row as TurnRow;

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

    fn row_position(&self) -> i64 {
        self.position.0 as i64
    }
}

/// Applies one change. A change to a turn does nothing when the event names no turn.
pub(crate) fn apply(
    connection: &Connection,
    subject: &Subject,
    change: &Change,
) -> sql::Result<()> {
    match change {
        Change::Decide { id, sql_executed } => {
            decision::decide(connection, subject, id, *sql_executed)
        }
        Change::Settle { id, executed } => decision::settle(connection, subject, id, *executed),
        Change::Count(fact) => facts::count(connection, subject, *fact),
        Change::EraseUser(user) => erase::erase(connection, subject, user),
        Change::SetPrivacy(settings) => rule::set_privacy(connection, subject, settings),
        Change::SetTargets(settings) => rule::set_targets(connection, subject, settings),
        Change::Alert { metric, raised } => alert::note(connection, subject, metric, *raised),
        Change::SetProfile(attributes) => rule::set_profile(connection, subject, attributes),
        Change::Calibrate(settings) => rule::calibrate(connection, subject, settings),
        Change::Experiment(change) => experiment::apply(connection, subject, change),
        Change::Return { query } => relevance::note_returned(connection, subject, query),
        Change::Weigh { query, cluster, entity, band, signal } => {
            let weighed = relevance::Weighed { query, cluster: *cluster, entity, band: *band };
            relevance::weigh(connection, subject, weighed, *signal)
        }
        Change::SetRouter { name, definition } => {
            rule::set_router(connection, subject, name, definition)
        }
        Change::Judge { status, confidence, raw_confidence, moved_on, corrects, detected_in } => {
            let said = judge::VerdictInput {
                status: *status,
                confidence: confidence.get(),
                raw_confidence: raw_confidence.get(),
                moved_on: *moved_on,
                corrects: *corrects,
                detected_in: detected_in.as_ref(),
            };
            judge::judge(connection, subject, subject.turn, said)
        }
        Change::OpenTurn { .. }
        | Change::SetVector(_)
        | Change::CompleteTurn { .. }
        | Change::React { .. }
        | Change::ClearReaction
        | Change::Review(_)
        | Change::Note(_)
        | Change::EndSession { .. } => match subject.turn {
            Some(turn) => apply_to_turn(connection, subject, turn, change),
            None => Ok(()),
        },
    }
}

fn apply_to_turn(
    connection: &Connection,
    subject: &Subject,
    turn: Key,
    change: &Change,
) -> sql::Result<()> {
    match change {
        Change::OpenTurn { track, bundle, user_type, intent } => {
            let labels = turn::Labels {
                track: track.as_deref(),
                bundle: bundle.as_deref(),
                user_type: user_type.as_deref(),
            };
            turn::open(connection, subject, turn, labels)?;
            session::open(connection, subject, turn)?;
            let refines = intent.as_deref().is_some_and(is_refinement);
            facts::open(connection, subject, turn, refines)?;
            experiment::opened(connection, subject, turn)?;
            index::open(connection, subject, turn, intent.as_deref())
        }
        Change::SetVector(vector) => index::set_vector(connection, turn, vector),
        Change::CompleteTurn { outcome, quality, has_strategy } => {
            let (outcome, quality, has_strategy) = (*outcome, *quality, *has_strategy);
            let assessment = index::Assessment { outcome, quality, has_strategy };
            turn::complete(connection, subject, turn)?;
            session::answered(connection, subject, turn)?;
            index::complete(connection, turn, assessment)?;
            experiment::answered(connection, subject, turn, quality)
        }
        Change::React { origin, reaction, confidence, detected_in } => {
            let message = match detected_in {
                None => None,
                Some(id) => {
                    Some(resolve_key(connection, Table::Turns, subject.project, id.as_str())?)
                }
            };
            let (origin, reaction) = (*origin, *reaction);
            let given = reaction::Given { origin, reaction, confidence: confidence.get(), message };
            reaction::react(connection, subject, turn, given)?;
            index::refresh(connection, subject, turn)
        }
        Change::Note(fact) => facts::note(connection, subject, turn, fact),
        Change::ClearReaction => {
            reaction::clear(connection, subject, turn)?;
            index::refresh(connection, subject, turn)
        }
        Change::Review(status) => judge::review(connection, subject, turn, *status),
        Change::EndSession { last_at, abandoned } => {
            facts::end(connection, subject, turn, *abandoned)?;
            session::end(connection, subject, turn, *last_at)
        }
        Change::Decide { .. }
        | Change::Settle { .. }
        | Change::Count(_)
        | Change::EraseUser(_)
        | Change::SetPrivacy(_)
        | Change::SetTargets(_)
        | Change::Alert { .. }
        | Change::SetProfile(_)
        | Change::Calibrate(_)
        | Change::SetRouter { .. }
        | Change::Experiment(_)
        | Change::Return { .. }
        | Change::Weigh { .. }
        | Change::Judge { .. } => Ok(()),
    }
}
