//! The tools' arguments and their JSON schemas.

use rmcp::model::JsonObject;
use serde_json::{Value, json};

/// Removes nulls, which language models often send for omitted arguments.
pub(crate) fn drop_nulls(given: Option<JsonObject>) -> JsonObject {
    let mut given = given.unwrap_or_default();
    given.retain(|_, value| !value.is_null());
    given
}

pub(crate) fn opinion_schema() -> JsonObject {
    object_schema(
        &["query_id", "entity_id"],
        json!({
            "query_id": query_id_property(),
            "entity_id": text_property("The item's id in the search results."),
            "comment": text_property("A short reason."),
            "user_id": text_property("The user whose opinion this is; omit it for the agent's own."),
        }),
    )
}

pub(crate) fn usage_schema() -> JsonObject {
    let item = json!({
        "entity_id": text_property("The item's id."),
        "name": text_property("The item's name, such as a class, file or title."),
        "content": text_property("The item's text."),
        "rank": {"type": "integer", "minimum": 1, "description": "Position in the results, from 1."},
        "score": number_property("The score from the search engine."),
    });
    object_schema(
        &["query_id", "response"],
        json!({
            "query_id": query_id_property(),
            "response": text_property("The complete written answer or code."),
            "kind": choice_property(&["response", "code"], "The kind of `response`; default response."),
            "query": text_property("The search query; only with `entities`."),
            "user_id": text_property("The user who asked; only with `entities`."),
            "entities": {
                "type": "array",
                "minItems": 1,
                "description": "The search results, best first. An item without name and content \
                    cannot be detected in the answer.",
                "items": object_schema(&["entity_id"], item),
            },
        }),
    )
}

pub(crate) fn rerank_schema() -> JsonObject {
    let result = json!({
        "entity_id": text_property("The item's id."),
        "score": number_property("The score from the search engine."),
    });
    let estimators = "How usage affects the rank. seed (default): by usage rate. coec: corrects for the \
        position of items and learns per kind of question.";
    object_schema(
        &["results"],
        json!({
            "results": {
                "type": "array",
                "description": "Search results with their scores.",
                "items": object_schema(&["entity_id", "score"], result),
            },
            "query": text_property("The search query; coec learns per kind of question."),
            "estimator": choice_property(&["seed", "legacy", "coec"], estimators),
        }),
    )
}

pub(crate) fn strategies_schema() -> JsonObject {
    object_schema(
        &["query"],
        json!({
            "query": text_property("The question to answer."),
            "k": {"type": "integer", "minimum": 1, "description": "Maximum number of strategies; default 5."},
            "min_similarity": number_property("Minimum similarity of the questions, 0 to 1; default 0.5."),
            "intent": text_property("Only strategies for this intent."),
            "user_id": text_property("Only strategies that worked for this user."),
            "include_rejected": {"type": "boolean", "description": "Include rejected strategies."},
        }),
    )
}

pub(crate) fn examples_schema() -> JsonObject {
    object_schema(
        &["query"],
        json!({
            "query": text_property("The question to answer."),
            "k": {"type": "integer", "minimum": 1, "maximum": 50,
                "description": "Maximum number of examples; default 3."},
            "max_tokens": {"type": "integer", "minimum": 0,
                "description": "Approximate limit on the total length, in tokens."},
            "diversity": {"type": "number", "minimum": 0, "maximum": 1, "description":
                "0: most similar; 1: most diverse among the similar. Default 0.3."},
        }),
    )
}

pub(crate) fn feedback_schema() -> JsonObject {
    let rating = json!({
        "anyOf": [
            {"type": "string", "enum": ["positive", "negative"]},
            {"type": "integer", "minimum": 1, "maximum": 5},
        ],
        "description": "positive, negative, or 1 to 5.",
    });
    object_schema(
        &[],
        json!({
            "turn_id": text_property("The turn whose answer the feedback is about."),
            "conversation_id": text_property("The conversation, when the turn is unknown."),
            "user_id": text_property("The user who gave the feedback."),
            "rating": rating,
            "comment": text_property("The user's comment."),
            "corrected": text_property("The correct answer."),
            "original": text_property("The wrong answer; only with `corrected`."),
            "explanation": text_property("The reason for the correction; only with `corrected`."),
            "id": text_property("Idempotency key of this report."),
        }),
    )
}

fn text_property(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

fn number_property(description: &str) -> Value {
    json!({"type": "number", "description": description})
}

fn choice_property(words: &[&str], description: &str) -> Value {
    json!({"type": "string", "enum": words, "description": description})
}

fn query_id_property() -> Value {
    text_property(
        "Identifies one search. Use the same id for its results, their usage and opinions on them. Use the \
         turn id when the turn reported the retrieved items.",
    )
}

fn object_schema(required: &[&str], properties: Value) -> JsonObject {
    let mut schema = JsonObject::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), properties);
    schema.insert("required".to_owned(), required.into());
    schema.insert("additionalProperties".to_owned(), false.into());
    schema
}
