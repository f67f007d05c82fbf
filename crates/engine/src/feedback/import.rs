//! Lines of files in: read, redacted, stored like anything else.

use model::{Body, Claim, ClaimSpace, Event, ExperimentRule, Rule, TurnHalf, Write};
use serde_json::{Map, Value};

use crate::error::FlowError;
use crate::feedback::Feedback;

impl Feedback {
    /// Checks a line and makes the writes that would store it: an event is one, a conversation of a
    /// chat log as many as it has messages. `place` is the line's number in its file.
    pub fn prepare_line(&self, line: Value, place: u64) -> Result<Vec<Write>, FlowError> {
        let Value::Object(fields) = line else {
            return Err(FlowError::NotALine);
        };
        let has = |name: &str| fields.contains_key(name);
        let is_trace = has("input") || has("output");
        if has("source") || has("category") || has("data") || (has("type") && !is_trace) {
            return Ok(vec![self.prepare_event(fields)?]);
        }
        let record = ingest::read_chat(&fields)?;
        let events = ingest::chat_events(&record, place, self.core.clock.now());
        events.into_iter().map(|event| self.prepare_event(event)).collect()
    }

    fn prepare_event(&self, fields: Map<String, Value>) -> Result<Write, FlowError> {
        let now = self.core.clock.now();
        let line = ingest::read_line(fields, now, || self.core.ids.event_id(now))?;
        let spaces = claims_of(&line.event);
        // What its client once sent is not in the file, so whatever comes under its ids later is
        // taken for a repeat, and so is a line that is there already.
        let mut write = self.core.build_write(line.event, None, None);
        write.claims.extend(spaces.into_iter().map(|(space, id)| Claim { space, id, mac: None }));
        Ok(write)
    }
}

/// A turn's id is used up by its two halves, an experiment's by its definition, whatever door they
/// come by.
fn claims_of(event: &Event) -> Option<(ClaimSpace, String)> {
    let turn = || event.turn.as_ref().map(|turn| turn.as_str().to_owned());
    match Body::read(event.kind, &event.data).ok()? {
        Body::Turn(TurnHalf::Opened(_)) => Some((ClaimSpace::Turn, turn()?)),
        Body::Turn(TurnHalf::Completed(_)) => Some((ClaimSpace::Completion, turn()?)),
        Body::Rule(Rule::Experiment(ExperimentRule::Defined { experiment_id, .. })) => {
            Some((ClaimSpace::Experiment, experiment_id.to_string()))
        }
        Body::Rating(_)
        | Body::Comment(_)
        | Body::Correction(_)
        | Body::Interaction(_)
        | Body::Metric
        | Body::Decision(_)
        | Body::Settlement(_)
        | Body::Reaction(_)
        | Body::Rule(_)
        | Body::Finding(_)
        | Body::Other => None,
    }
}
