//! Imports lines of files: parsed, redacted and stored like any other event.

use ingest::ImportLine;
use model::{Body, Claim, ClaimSpace, Event, ExperimentRule, Need, Rule, Scope, TurnHalf, Write};
use serde_json::{Map, Value};

use crate::error::EngineError;
use crate::feedback::Feedback;

/// The writes of a line.
#[derive(Debug, Default)]
pub struct PreparedLine {
    /// One per event, or one per message of a chat log.
    pub writes: Vec<Write>,
    /// The reason, for a line that holds nothing to import.
    pub skipped: Option<&'static str>,
}

impl Feedback {
    /// Validates a line and builds its writes. `scope` applies to lines that name no tenant.
    pub fn prepare_line(
        &self,
        line: Value,
        line_number: u64,
        scope: &Scope,
    ) -> Result<PreparedLine, EngineError> {
        let Value::Object(fields) = line else {
            return Err(EngineError::InvalidLine);
        };
        let events = match ingest::read_import_line(fields, line_number, self.core.clock.now())? {
            ImportLine::Events(events) => events,
            ImportLine::Skipped(reason) => {
                return Ok(PreparedLine { skipped: Some(reason), ..PreparedLine::default() });
            }
        };
        let events = events.into_iter().map(|event| add_scope(event, scope));
        let writes = events.map(|event| self.prepare_event(event)).collect::<Result<_, _>>()?;
        Ok(PreparedLine { writes, skipped: None })
    }

    fn prepare_event(&self, fields: Map<String, Value>) -> Result<Write, EngineError> {
        let now = self.core.clock.now();
        let mut line = ingest::read_line(fields, now, || self.core.ids.event_id(now))?;
        self.name_quoted_turn(&mut line.event)?;
        let spaces = import_claim(&line.event);
        let need = line.event.conversation.clone().filter(|_| is_opening(&line.event));
        // The file lacks the original request bodies. Later requests with these ids therefore
        // count as repeats, as do lines that are already stored.
        let mut write = self.core.build_write(line.event, None, None);
        write.claims.extend(spaces.into_iter().map(|(space, id)| Claim { space, id, mac: None }));
        write.needs.extend(need.map(Need::SameConversation));
        Ok(write)
    }
}

/// Fills in the tenant and project of a line that names no tenant.
fn add_scope(mut event: Map<String, Value>, scope: &Scope) -> Map<String, Value> {
    if event.get("tenant_id").is_none_or(Value::is_null) {
        event.insert("tenant_id".to_owned(), scope.tenant.as_str().into());
        let project = event.entry("project").or_insert(Value::Null);
        if project.is_null() {
            *project = scope.project.as_str().into();
        }
    }
    event
}

/// True for the opening of a turn that was sent.
fn is_opening(event: &Event) -> bool {
    event.body.opening().is_some_and(|opening| !opening.derived)
}

/// The id that an event claims: a turn's by its two halves, an experiment's by its definition.
fn import_claim(event: &Event) -> Option<(ClaimSpace, String)> {
    let turn = || event.turn.as_ref().map(|turn| turn.as_str().to_owned());
    match &event.body {
        // The turn itself may still arrive.
        Body::Turn(TurnHalf::Opened(opening)) if opening.derived => None,
        Body::Turn(TurnHalf::Completed(done)) if done.derived => None,
        Body::Turn(TurnHalf::Opened(_)) => Some((ClaimSpace::Turn, turn()?)),
        Body::Turn(TurnHalf::Completed(_)) => Some((ClaimSpace::Completion, turn()?)),
        Body::Rule(Rule::Experiment(ExperimentRule::Defined { experiment_id, .. })) => {
            Some((ClaimSpace::Experiment, experiment_id.to_string()))
        }
        Body::Rating(_)
        | Body::Comment(_)
        | Body::Correction(_)
        | Body::Interaction(_)
        | Body::Metric(_)
        | Body::Decision(_)
        | Body::Settlement(_)
        | Body::Spans(_)
        | Body::Reaction(_)
        | Body::Rule(_)
        | Body::Finding(_)
        | Body::Other(_)
        | Body::Unreadable(_) => None,
    }
}
