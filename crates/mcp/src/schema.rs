//! JSON schemas of the tools' arguments.

use rmcp::model::JsonObject;
use serde_json::{Value, json};

pub(crate) fn opinion_schema() -> JsonObject {
    object_schema(
        &["query_id", "entity_id"],
        json!({
            "query_id": query_id_property(),
            "entity_id": text_property("The item's id, as the search gave it."),
            "comment": text_property("Why, in a few words."),
            "user_id": text_property("Who says so, if it is not the agent itself."),
        }),
    )
}

pub(crate) fn usage_schema() -> JsonObject {
    let item = json!({
        "entity_id": text_property("The item's id."),
        "name": text_property("What it is called, such as a class, a file or a title."),
        "content": text_property("Its text."),
        "rank": {"type": "integer", "minimum": 1, "description": "Its place, from 1."},
        "score": number_property("The search's own score."),
    });
    object_schema(
        &["query_id", "response"],
        json!({
            "query_id": query_id_property(),
            "response": text_property("The answer or the code that was written, in full."),
            "kind": choice_property(&["response", "code"], "What `response` is; response when left out."),
            "query": text_property("What was searched for; only with `entities`."),
            "user_id": text_property("Who asked; only with `entities`."),
            "entities": {
                "type": "array",
                "minItems": 1,
                "description": "The results the search returned, best first. An item with neither name \
                    nor content cannot be recognised in the answer.",
                "items": object_schema(&["entity_id"], item),
            },
        }),
    )
}

pub(crate) fn rerank_schema() -> JsonObject {
    let result = json!({
        "entity_id": text_property("The item's id."),
        "score": number_property("The search's own score."),
    });
    let estimators = "How use becomes rank. seed (default): by use rate. coec: fair to items shown far \
        below and to new questions.";
    object_schema(
        &["results"],
        json!({
            "results": {
                "type": "array",
                "description": "Search results with the search's own scores.",
                "items": object_schema(&["entity_id", "score"], result),
            },
            "query": text_property("What was searched for; coec learns by sort of question."),
            "estimator": choice_property(&["seed", "legacy", "coec"], estimators),
        }),
    )
}

pub(crate) fn strategies_schema() -> JsonObject {
    object_schema(
        &["query"],
        json!({
            "query": text_property("The question to be answered."),
            "k": {"type": "integer", "minimum": 1, "description": "How many; 5 when left out."},
            "min_similarity": number_property("How alike the questions must be, 0 to 1; 0.5 when left out."),
            "intent": text_property("Only strategies for this intent."),
            "user_id": text_property("Only strategies that worked for this user."),
            "include_rejected": {"type": "boolean", "description": "Also list rejected ones."},
        }),
    )
}

pub(crate) fn examples_schema() -> JsonObject {
    object_schema(
        &["query"],
        json!({
            "query": text_property("The question to be answered."),
            "k": {"type": "integer", "minimum": 1, "maximum": 50,
                "description": "How many; 3 when left out."},
            "max_tokens": {"type": "integer", "minimum": 0,
                "description": "How long all of them may be together, in tokens, about."},
            "diversity": {"type": "number", "minimum": 0, "maximum": 1, "description":
                "0: the nearest; 1: the least alike among the nearest. 0.3 when left out."},
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
            "turn_id": text_property("The answer it is about."),
            "conversation_id": text_property("The conversation, when the turn is not known."),
            "user_id": text_property("Who says so."),
            "rating": rating,
            "comment": text_property("What was said about it."),
            "corrected": text_property("What the answer should have been."),
            "original": text_property("The answer that was wrong; with `corrected`."),
            "explanation": text_property("What was wrong with it; with `corrected`."),
            "id": text_property("A name for this report; sending it twice counts once."),
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
        "Names one search: the same for its results, their use and opinions on them. The turn's id when \
         the turn reported what it retrieved.",
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
