//! Validates privacy settings and user profiles.

use model::{Body, Category, Event, EventId, Kind, Rule, Scope, Source, Timestamp, Type, UserId};
use serde_json::{Map, Value};

use crate::check::{CaptureError, accept_label, check_texts};
use crate::redact::Redactor;

const MAX_ATTRIBUTES: usize = 50;

/// Parses a tenant's privacy settings. `redact` has a switch per kind, on by default
/// but for `name_address`.
/// `retention_days` limits how long `events` are stored, by default forever.
pub fn accept_privacy(
    settings: &Map<String, Value>,
) -> Result<(Redactor, Option<u32>), CaptureError> {
    let mut redactor = Redactor::default();
    let mut days = None;
    for (name, value) in settings {
        match (name.as_str(), value) {
            ("redact", Value::Object(switches)) => apply_switches(&mut redactor, switches)?,
            ("redact", Value::Null) => {}
            ("retention_days", Value::Object(kinds)) => days = parse_retention(kinds)?,
            ("retention_days", Value::Null) => {}
            ("retention_days", _) => {
                return Err(CaptureError::new("retention_days", "no object", "an object"));
            }
            ("redact", _) => return Err(CaptureError::new("redact", "no object", "an object")),
            _ => return Err(CaptureError::new(name, "given", "only redact and retention_days")),
        }
    }
    Ok((redactor, days))
}

fn parse_retention(kinds: &Map<String, Value>) -> Result<Option<u32>, CaptureError> {
    let mut days = None;
    for (name, value) in kinds {
        let field = format!("retention_days.{name}");
        if name != "events" {
            return Err(CaptureError::new(&field, "unknown", "only events"));
        }
        match value.as_u64() {
            Some(number @ 1..=36_500) => days = Some(number as u32),
            None if value.is_null() => {}
            Some(_) | None => {
                return Err(CaptureError::new(&field, value.to_string(), "1 to 36500 days"));
            }
        }
    }
    Ok(days)
}

fn apply_switches(
    redactor: &mut Redactor,
    switches: &Map<String, Value>,
) -> Result<(), CaptureError> {
    for (name, value) in switches {
        let place = match name.as_str() {
            "email" => &mut redactor.email,
            "phone" => &mut redactor.phone,
            "card" => &mut redactor.card,
            "iban" => &mut redactor.iban,
            "ip" => &mut redactor.ip,
            "secret" => &mut redactor.secret,
            "national_id" => &mut redactor.national_id,
            "name_address" => &mut redactor.name_address,
            _ => {
                let expected = "email, phone, card, iban, ip, secret, national_id or name_address";
                return Err(CaptureError::new(&format!("redact.{name}"), "unknown", expected));
            }
        };
        let Value::Bool(on) = value else {
            return Err(CaptureError::new(
                &format!("redact.{name}"),
                "another type",
                "true or false",
            ));
        };
        *place = *on;
    }
    Ok(())
}

/// Validates a user's attributes: texts, numbers and booleans with short names.
pub fn accept_profile(attributes: Map<String, Value>) -> Result<Map<String, Value>, CaptureError> {
    if attributes.len() > MAX_ATTRIBUTES {
        let got = format!("{} of them", attributes.len());
        return Err(CaptureError::new("attributes", got, format!("at most {MAX_ATTRIBUTES}")));
    }
    check_texts("attributes", &attributes)?;
    for (name, value) in &attributes {
        accept_label(&format!("attributes.{name}"), Some(name.clone()))?;
        match value {
            Value::String(_) | Value::Number(_) | Value::Bool(_) => {}
            Value::Null | Value::Array(_) | Value::Object(_) => {
                let field = format!("attributes.{name}");
                return Err(CaptureError::new(
                    &field,
                    "a list, an object or null",
                    "a text, number or boolean",
                ));
            }
        }
    }
    Ok(attributes)
}

/// Builds the event that records a setting.
pub fn rule_event(
    scope: &Scope,
    user: Option<UserId>,
    rule: Rule,
    event: EventId,
    now: Timestamp,
) -> Event {
    let kind = (Kind { event_type: Type::Log, source: Source::Engine }, Category::Compliance);
    Event { user, ..Event::new(scope.clone(), event, kind, now, Body::Rule(rule)) }
}
