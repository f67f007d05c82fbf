//! Reaction artifacts (`artifact:turn.log.reaction`): the payload alone, or the row of the index
//! with the payload in it.

use model::{Origin, Reaction, Timestamp};
use serde_json::{Map, Value, json};

use super::chat_events::{fit_id, hash_name};
use super::event_line::{ImportLine, fit_tag};
use super::fields::{text_field, time_field};
use crate::check::CaptureError;
use crate::reaction::MIN_MACHINE_CONFIDENCE;

pub(super) const REACTION_TAG: &str = "artifact:turn.log.reaction";
/// Index rows of older versions have this tag instead.
pub(super) const OLD_REACTION_TAG: &str = "kind:turn.log.reaction";
const REACTION_KIND: &str = "turn.log.reaction";

/// True for an artifact of any kind, by its payload, its tags or its kind.
pub(super) fn is_artifact(row: &Map<String, Value>) -> bool {
    let holds_reaction =
        |fields: &Map<String, Value>| fields.get("reaction").is_some_and(Value::is_object);
    let is_payload = row.get("payload").and_then(Value::as_object).is_some_and(holds_reaction);
    holds_reaction(row) || is_payload || artifact_kind(row).is_some()
}

/// The kind in a tag (`artifact:…`, or the older `kind:…`) or in `meta.kind`.
fn artifact_kind(row: &Map<String, Value>) -> Option<String> {
    let tags = row.get("tags").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let tagged = tags.iter().filter_map(Value::as_str).find_map(|tag| {
        let kind = tag.strip_prefix("artifact:").or_else(|| tag.strip_prefix("kind:"))?;
        Some(kind.to_owned())
    });
    let in_meta = || row.get("meta")?.get("kind")?.as_str().map(str::to_owned);
    let kind = tagged.or_else(in_meta)?;
    let kind = kind.trim_start_matches("artifact:").trim_start_matches("kind:");
    // Other systems use such tags for their own purposes.
    let is_row = row.get("role").is_some_and(|role| role == "artifact");
    (is_row || kind.starts_with("turn.log")).then(|| kind.to_owned())
}

/// The reaction event of an artifact.
pub(super) fn read_artifact(
    row: &Map<String, Value>,
    now: Timestamp,
) -> Result<ImportLine, CaptureError> {
    if artifact_kind(row).is_some_and(|kind| kind != REACTION_KIND) {
        return Ok(ImportLine::Skipped("an artifact that is not a reaction"));
    }
    let payload = match row.get("payload").and_then(Value::as_object) {
        Some(payload) => Some(payload.clone()),
        None if row.get("reaction").is_some_and(Value::is_object) => Some(row.clone()),
        None => embedded_payload(row),
    };
    let Some(payload) = payload else {
        return Ok(ImportLine::Skipped("an index row without its payload"));
    };
    let Some(given) = payload.get("reaction").and_then(Value::as_object) else {
        return Ok(ImportLine::Skipped("an index row without its payload"));
    };
    let origin = match text_field(given, &["origin"]).as_deref() {
        None | Some("user") => Origin::User,
        Some("machine") => Origin::Machine,
        Some(other) => {
            return Err(CaptureError::new("reaction.origin", other, "user or machine"));
        }
    };
    let reaction = match given.get("reaction") {
        None | Some(Value::Null) => None,
        Some(word) => match word.as_str().and_then(Reaction::from_word) {
            Some(reaction) => Some(reaction),
            None => return Err(CaptureError::BadReaction(word.to_string())),
        },
    };
    let confidence = given.get("confidence").and_then(Value::as_f64);
    if origin == Origin::Machine {
        if reaction.is_none() {
            return Ok(ImportLine::Skipped("a machine reaction without a value"));
        }
        if confidence.is_none_or(|sure| sure < MIN_MACHINE_CONFIDENCE) {
            return Ok(ImportLine::Skipped("a machine reaction below confidence 0.70"));
        }
    }
    reaction_line(row, &payload, given, (origin, reaction, confidence), now)
}

type Given = (Origin, Option<Reaction>, Option<f64>);

fn reaction_line(
    row: &Map<String, Value>,
    payload: &Map<String, Value>,
    given: &Map<String, Value>,
    (origin, reaction, confidence): Given,
    now: Timestamp,
) -> Result<ImportLine, CaptureError> {
    let empty = Map::new();
    let meta = payload.get("meta").and_then(Value::as_object).unwrap_or(&empty);
    let find = |names: &[&str]| {
        [given, meta, payload, row].into_iter().find_map(|fields| text_field(fields, names))
    };
    let Some(turn) = find(&["turn_id"]) else {
        return Err(CaptureError::new("turn_id", "missing", "the turn of the reaction"));
    };
    let at = time_field(given, &["ts"]).or_else(|| time_field(row, &["ts", "timestamp"]));
    let name = find(&["rn"]);
    let word = reaction.map_or("null", Reaction::as_word);
    let id = match &name {
        Some(name) => hash_name("reaction", &[name, word]),
        None => {
            let at = at.map(|at| at.to_string()).unwrap_or_default();
            let user = find(&["user_id"]).unwrap_or_default();
            hash_name("reaction", &[&turn, origin.as_word(), word, &at, &user])
        }
    };
    let said = reaction.and_then(|_| text_field(given, &["text"]));
    let event_type = match origin {
        Origin::User => "explicit",
        Origin::Machine => "implicit",
    };
    let line = json!({
        "id": id,
        "type": event_type,
        "source": "reaction",
        "category": "user_satisfaction",
        "tenant_id": find(&["tenant"]),
        "project": find(&["project"]),
        "user_id": find(&["user_id"]).map(|user| fit_id(&user)),
        "session_id": find(&["conversation_id"]).map(|name| fit_id(&name)),
        "message_id": fit_id(&turn),
        "timestamp": at.unwrap_or(now).to_string(),
        "tags": artifact_tags(row, origin, &turn, &find, name.as_deref()),
        "data": {"reaction": reaction.map(Reaction::as_word), "origin": origin.as_word(),
            "confidence": if origin == Origin::User { Some(1.0) } else { confidence }, "text": said},
    });
    Ok(ImportLine::events([line]))
}

/// The tags of the index row with the current tag of reactions, and the fields of the artifact
/// that an event has no field for.
fn artifact_tags(
    row: &Map<String, Value>,
    origin: Origin,
    turn: &str,
    find: &impl Fn(&[&str]) -> Option<String>,
    name: Option<&str>,
) -> Vec<String> {
    let mut tags = vec![
        REACTION_TAG.to_owned(),
        format!("turn:{turn}"),
        format!("origin:{}", origin.as_word()),
    ];
    let rest = [
        ("track", find(&["track_id"])),
        ("bundle", find(&["bundle_id"])),
        ("user_type", find(&["user_type"])),
        ("rn", name.map(str::to_owned)),
    ];
    tags.extend(rest.into_iter().filter_map(|(kind, value)| Some(format!("{kind}:{}", value?))));
    let given = row.get("tags").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let given = given.iter().filter_map(Value::as_str).filter(|tag| *tag != OLD_REACTION_TAG);
    for tag in given {
        if !tags.iter().any(|known| known == tag) {
            tags.push(tag.to_owned());
        }
    }
    tags.into_iter().map(|tag| fit_tag(&tag)).collect()
}

/// The payload in the text of an index row: a header followed by the reaction as JSON.
fn embedded_payload(row: &Map<String, Value>) -> Option<Map<String, Value>> {
    let text = row.get("text")?.as_str()?;
    let json = &text[text.find('{')?..];
    let parsed = serde_json::from_str::<Value>(json.trim()).ok()?;
    let Value::Object(fields) = parsed else { return None };
    match fields.get("reaction") {
        Some(Value::Object(_)) => Some(fields),
        Some(_) => Some(Map::from_iter([("reaction".to_owned(), Value::Object(fields))])),
        None => None,
    }
}
