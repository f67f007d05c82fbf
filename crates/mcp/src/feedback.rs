//! Turns the arguments of `submit_feedback` into feedback events.

use rmcp::model::JsonObject;
use serde_json::{Value, json};

use crate::api_client::ApiCall;

/// Builds one event per rating, comment and correction.
pub(crate) fn feedback_calls(mut arguments: JsonObject) -> Result<Vec<ApiCall>, String> {
    let id = arguments.remove("id");
    let about = [
        ("message_id", arguments.remove("turn_id")),
        ("session_id", arguments.remove("conversation_id")),
        ("user_id", arguments.remove("user_id")),
    ];
    let rating = arguments.remove("rating");
    let comment = arguments.remove("comment");
    let correction = take_correction(&mut arguments)?;
    if let Some(unknown) = arguments.keys().next() {
        return Err(format!("{unknown}: unknown argument"));
    }
    let entries = [
        rating.map(|rating| ("user_rating", "user_satisfaction", json!({ "rating": rating }))),
        comment.map(|comment| ("user_comment", "user_satisfaction", json!({ "comment": comment }))),
        correction.map(|correction| ("user_correction", "accuracy", correction)),
    ];
    let events: Vec<Value> = entries
        .into_iter()
        .flatten()
        .map(|(source, category, data)| {
            let mut event =
                json!({"type": "explicit", "source": source, "category": category, "data": data});
            if let Some(id) = &id {
                // `id` is the idempotency key of the whole call, so each event gets a derived id.
                let text = id.as_str().map_or_else(|| id.to_string(), str::to_owned);
                event["id"] = format!("{text}:{source}").into();
            }
            for (name, value) in &about {
                if let Some(value) = value {
                    event[*name] = value.clone();
                }
            }
            event
        })
        .collect();
    match <[Value; 1]>::try_from(events) {
        Ok([event]) => Ok(vec![ApiCall { path: "/api/v1/feedback", body: event }]),
        Err(events) if events.is_empty() => {
            Err("no feedback given: expected rating, comment or corrected".to_owned())
        }
        Err(events) => Ok(vec![ApiCall { path: "/api/v1/feedback/batch", body: events.into() }]),
    }
}

fn take_correction(arguments: &mut JsonObject) -> Result<Option<Value>, String> {
    let fields =
        ["corrected", "original", "explanation"].map(|name| (name, arguments.remove(name)));
    let [(_, corrected), (_, original), (_, explanation)] = &fields;
    if corrected.is_none() {
        return match (original, explanation) {
            (None, None) => Ok(None),
            _ => Err("corrected: required with original or explanation".to_owned()),
        };
    }
    let given = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Ok(Some(Value::Object(given.collect())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call_tool(arguments: &Value) -> Result<Vec<ApiCall>, String> {
        feedback_calls(crate::schema::drop_nulls(arguments.as_object().cloned()))
    }

    #[test]
    fn single_feedback_is_one_event_and_several_are_a_batch() {
        let one =
            call_tool(&json!({"turn_id": "t1", "rating": "negative", "comment": null})).unwrap();
        let event = json!({"type": "explicit", "source": "user_rating", "category": "user_satisfaction",
            "data": {"rating": "negative"}, "message_id": "t1"});
        assert_eq!(one, [ApiCall { path: "/api/v1/feedback", body: event }]);

        let both =
            call_tool(&json!({"id": "a", "rating": 1, "corrected": "x", "original": "y"})).unwrap();
        assert_eq!(both[0].path, "/api/v1/feedback/batch");
        assert_eq!(both[0].body[0]["id"], "a:user_rating");
        assert_eq!(both[0].body[1]["data"], json!({"corrected": "x", "original": "y"}));
    }

    #[test]
    fn incomplete_or_unknown_arguments_are_rejected() {
        for bad in [json!({}), json!({"turn_id": "t"}), json!({"original": "y", "rating": 1})] {
            assert!(call_tool(&bad).is_err(), "{bad}");
        }
        assert_eq!(call_tool(&json!({"ratting": 1})), Err("ratting: unknown argument".into()));
    }
}
