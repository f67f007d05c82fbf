//! The context of turns that incoming events name.

use std::collections::HashMap;

use model::{ConversationId, Event, Fields, Scope, Source, TurnId, UserId};
use sql::{Connection, Row, Value, params_from_iter};

use crate::error::{StoreError, Task};
use crate::event_rows::StoredEvent;
use crate::row_keys::{Key, find_project};
use crate::store::Store;
use crate::turn_context::TurnContext;

/// `opened_derived` of a turn that feedback names without quoting it.
const NAMED: i64 = 2;
/// Turns per query.
const TURNS_PER_QUERY: usize = 200;

impl Store {
    /// The contexts of turns; unknown ones are missing.
    pub fn turn_contexts(
        &self,
        scope: &Scope,
        turns: Vec<TurnId>,
    ) -> Task<'_, HashMap<TurnId, TurnContext>> {
        let scope = scope.clone();
        self.pool.run_some(turns.len(), move |connection| {
            let Some(project) = find_project(connection, &scope)? else {
                return Ok(HashMap::new());
            };
            let mut found = HashMap::with_capacity(turns.len());
            for some in turns.chunks(TURNS_PER_QUERY) {
                found.extend(read_some(connection, project, some)?);
            }
            Ok(found)
        })
    }

    /// Adds the contexts of the turns that clients' events name. Quoted turns have none.
    pub fn attach_contexts(&self, mut events: Vec<StoredEvent>) -> Task<'_, Vec<StoredEvent>> {
        self.pool.run_some(events.len(), move |connection| {
            let mut turns: HashMap<Scope, Vec<TurnId>> = HashMap::new();
            for event in events.iter().map(|stored| &stored.event) {
                if let Some(turn) = named_turn(event) {
                    turns.entry(event.scope.clone()).or_default().push(turn.clone());
                }
            }
            for (scope, turns) in turns {
                let Some(project) = find_project(connection, &scope)? else { continue };
                let mut found: HashMap<TurnId, TurnContext> = HashMap::new();
                for some in turns.chunks(TURNS_PER_QUERY) {
                    found.extend(read_some(connection, project, some)?);
                }
                for stored in events.iter_mut().filter(|stored| stored.event.scope == scope) {
                    let context = named_turn(&stored.event).and_then(|turn| found.get(turn));
                    let context = context.filter(|context| !context.derived).cloned();
                    stored.context = context.map(|context| {
                        // Another user's profile is not part of this event.
                        let is_own = context.user.is_some() && context.user == stored.event.user;
                        let profile = if is_own { context.profile } else { Fields::new() };
                        Box::new(TurnContext { profile, ..context })
                    });
                }
            }
            Ok(events)
        })
    }
}

/// The turn that a client's event names.
fn named_turn(event: &Event) -> Option<&TurnId> {
    match event.kind.source {
        Source::Turn | Source::Reaction | Source::Engine => None,
        Source::ApplicationLog
        | Source::SystemMetric
        | Source::Trace
        | Source::UserRating
        | Source::UserComment
        | Source::UserCorrection
        | Source::QueryResult
        | Source::ModelResponse
        | Source::PipelineOutput
        | Source::ApiResponse
        | Source::DatabaseQuery
        | Source::ExternalService
        | Source::UserInteraction
        | Source::SessionAnalysis => event.turn.as_ref(),
    }
}

fn read_some(
    connection: &Connection,
    project: Key,
    turns: &[TurnId],
) -> Result<Vec<(TurnId, TurnContext)>, StoreError> {
    let places = vec!["?"; turns.len()].join(", ");
    let sql = format!(
        "SELECT t.id, c.id, u.id, t.opened_derived, t.completed IS NOT NULL, f.model, f.prompt,
             p.attributes
         FROM turns t
         LEFT JOIN conversations c ON c.key = t.conversation
         LEFT JOIN users u ON u.key = t.user
         LEFT JOIN turn_facts f ON f.turn = t.key
         LEFT JOIN profiles p ON p.user = t.user
         WHERE t.project = ? AND t.opened IS NOT NULL AND t.id IN ({places})"
    );
    let ids = turns.iter().map(|turn| Value::from(turn.as_str().to_owned()));
    let values: Vec<Value> = std::iter::once(Value::from(project)).chain(ids).collect();
    // A batch has its own number of turns, which would fill the cache with statements.
    let mut select = match turns {
        [_] => connection.prepare_cached(&sql)?,
        [..] => connection.prepare(&sql)?,
    };
    select.read_rows_with(params_from_iter(values), read)
}

fn read(row: &Row<'_>) -> Result<(TurnId, TurnContext), StoreError> {
    let unreadable = |_| StoreError::Corrupt("a turn has an invalid id".into());
    let text = |column| row.get::<_, Option<String>>(column);
    let label = |column| Ok::<_, sql::Error>(text(column)?.filter(|text| !text.is_empty()));
    let turn = TurnId::new(row.get::<_, String>(0)?).map_err(unreadable)?;
    let profile = text(7)?.and_then(|attributes| serde_json::from_str(&attributes).ok());
    let context = TurnContext {
        conversation: text(1)?.map(ConversationId::new).transpose().map_err(unreadable)?,
        user: text(2)?.map(UserId::new).transpose().map_err(unreadable)?,
        derived: row.get::<_, i64>(3)? != 0,
        has_question: row.get::<_, i64>(3)? != NAMED,
        answered: row.get(4)?,
        model: label(5)?,
        prompt: label(6)?,
        profile: profile.unwrap_or_default(),
    };
    Ok((turn, context))
}
