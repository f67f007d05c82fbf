//! Feedback on an answer, as events.

use serde_json::{Map, Value, json};

use crate::arguments::Arguments;
use crate::door::Call;

/// One event for each thing that was said.
pub(crate) fn calls(mut arguments: Arguments) -> Result<Vec<Call>, String> {
    let id = arguments.take("id");
    let about = [
        ("message_id", arguments.take("turn_id")),
        ("session_id", arguments.take("conversation_id")),
        ("user_id", arguments.take("user_id")),
    ];
    let rating = arguments.take("rating");
    let comment = arguments.take("comment");
    let correction = correction(&mut arguments)?;
    if let [unknown, ..] = arguments.names()[..] {
        return Err(format!("{unknown}: no such argument of this tool"));
    }
    let said = [
        rating.map(|rating| ("user_rating", "user_satisfaction", json!({ "rating": rating }))),
        comment.map(|comment| ("user_comment", "user_satisfaction", json!({ "comment": comment }))),
        correction.map(|correction| ("user_correction", "accuracy", correction)),
    ];
    let events: Vec<Value> = said
        .into_iter()
        .flatten()
        .map(|(source, category, data)| {
            let mut event = Map::new();
            event.insert("type".to_owned(), "explicit".into());
            event.insert("source".to_owned(), source.into());
            event.insert("category".to_owned(), category.into());
            event.insert("data".to_owned(), data);
            if let Some(id) = &id {
                // A caller who repeats itself names the call; each event of it has its own id.
                let text = id.as_str().map_or_else(|| id.to_string(), str::to_owned);
                event.insert("id".to_owned(), format!("{text}:{source}").into());
            }
            for (name, value) in &about {
                if let Some(value) = value {
                    event.insert((*name).to_owned(), value.clone());
                }
            }
            Value::Object(event)
        })
        .collect();
    match <[Value; 1]>::try_from(events) {
        Ok([event]) => Ok(vec![Call { path: "/api/v1/feedback", body: event }]),
        Err(events) if events.is_empty() => {
            Err("nothing was said: give a rating, a comment or corrected".to_owned())
        }
        Err(events) => Ok(vec![Call { path: "/api/v1/feedback/batch", body: events.into() }]),
    }
}

fn correction(arguments: &mut Arguments) -> Result<Option<Value>, String> {
    let fields = ["corrected", "original", "explanation"].map(|name| (name, arguments.take(name)));
    let [(_, corrected), (_, original), (_, explanation)] = &fields;
    if corrected.is_none() {
        return match (original, explanation) {
            (None, None) => Ok(None),
            _ => Err("corrected: needed with original or explanation".to_owned()),
        };
    }
    let given = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Ok(Some(Value::Object(given.collect())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(arguments: &Value) -> Result<Vec<Call>, String> {
        calls(Arguments::new(arguments.as_object().cloned()))
    }

    #[test]
    fn one_thing_said_is_one_event_and_several_are_a_batch() {
        let one = said(&json!({"turn_id": "t1", "rating": "negative", "comment": null})).unwrap();
        let event = json!({"type": "explicit", "source": "user_rating", "category": "user_satisfaction",
            "data": {"rating": "negative"}, "message_id": "t1"});
        assert_eq!(one, [Call { path: "/api/v1/feedback", body: event }]);

        let both =
            said(&json!({"id": "a", "rating": 1, "corrected": "x", "original": "y"})).unwrap();
        assert_eq!(both[0].path, "/api/v1/feedback/batch");
        assert_eq!(both[0].body[0]["id"], "a:user_rating");
        assert_eq!(both[0].body[1]["data"], json!({"corrected": "x", "original": "y"}));
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        for bad in [json!({}), json!({"turn_id": "t"}), json!({"original": "y", "rating": 1})] {
            assert!(said(&bad).is_err(), "{bad}");
        }
        assert_eq!(
            said(&json!({"ratting": 1})),
            Err("ratting: no such argument of this tool".into())
        );
    }
}
