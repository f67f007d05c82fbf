//! Imports lines of files: parsed, redacted and stored like any other event.

use model::{Body, Claim, ClaimSpace, Event, ExperimentRule, Rule, TurnHalf, Write};
use serde_json::{Map, Value};

use crate::error::EngineError;
use crate::feedback::Feedback;

impl Feedback {
    /// Validates a line and builds its writes: one per event, or one per message of a chat log.
    pub fn prepare_line(&self, line: Value, line_number: u64) -> Result<Vec<Write>, EngineError> {
        let Value::Object(fields) = line else {
            return Err(EngineError::InvalidLine);
        };
        let has = |name: &str| fields.contains_key(name);
        let is_trace = has("input") || has("output");
        if has("source") || has("category") || has("data") || (has("type") && !is_trace) {
            return Ok(vec![self.prepare_event(fields)?]);
        }
        let record = ingest::read_chat(&fields)?;
        let events = ingest::chat_events(&record, line_number, self.core.clock.now());
        events.into_iter().map(|event| self.prepare_event(event)).collect()
    }

    fn prepare_event(&self, fields: Map<String, Value>) -> Result<Write, EngineError> {
        let now = self.core.clock.now();
        let line = ingest::read_line(fields, now, || self.core.ids.event_id(now))?;
        let spaces = import_claim(&line.event);
        // The file lacks the original request bodies. Later requests with these ids therefore
        // count as repeats, as do lines that are already stored.
        let mut write = self.core.build_write(line.event, None, None);
        write.claims.extend(spaces.into_iter().map(|(space, id)| Claim { space, id, mac: None }));
        Ok(write)
    }
}

/// The id that an event claims: a turn's by its two halves, an experiment's by its definition.
fn import_claim(event: &Event) -> Option<(ClaimSpace, String)> {
    let turn = || event.turn.as_ref().map(|turn| turn.as_str().to_owned());
    match &event.body {
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
        | Body::Reaction(_)
        | Body::Rule(_)
        | Body::Finding(_)
        | Body::Other(_)
        | Body::Unreadable(_) => None,
    }
}
