//! What each tool takes, in words for a model.

use rmcp::model::JsonObject;
use serde_json::{Value, json};

pub(crate) fn opinion() -> JsonObject {
    object(
        &["query_id", "entity_id"],
        json!({
            "query_id": query_id(),
            "entity_id": text("The item's id, as the search gave it."),
            "comment": text("Why, in a few words."),
            "user_id": text("Who says so, if it is not the agent itself."),
        }),
    )
}

pub(crate) fn usage() -> JsonObject {
    let item = json!({
        "entity_id": text("The item's id."),
        "name": text("What it is called, such as a class, a file or a title."),
        "content": text("Its text."),
        "rank": {"type": "integer", "minimum": 1, "description": "Its place, from 1."},
        "score": number("The search's own score."),
    });
    object(
        &["query_id", "response"],
        json!({
            "query_id": query_id(),
            "response": text("The answer or the code that was written, in full."),
            "kind": choice(&["response", "code"], "What `response` is; response when left out."),
            "query": text("What was searched for; only with `entities`."),
            "user_id": text("Who asked; only with `entities`."),
            "entities": {
                "type": "array",
                "minItems": 1,
                "description": "The results the search returned, best first. An item with neither name \
                    nor content cannot be recognised in the answer.",
                "items": object(&["entity_id"], item),
            },
        }),
    )
}

pub(crate) fn rerank() -> JsonObject {
    let result = json!({
        "entity_id": text("The item's id."),
        "score": number("The search's own score."),
    });
    let estimators = "How use becomes rank. seed (default): by use rate. coec: fair to items shown far \
        below and to new questions.";
    object(
        &["results"],
        json!({
            "results": {
                "type": "array",
                "description": "Search results with the search's own scores.",
                "items": object(&["entity_id", "score"], result),
            },
            "query": text("What was searched for; coec learns by sort of question."),
            "estimator": choice(&["seed", "legacy", "coec"], estimators),
        }),
    )
}

pub(crate) fn strategies() -> JsonObject {
    object(
        &["query"],
        json!({
            "query": text("The question to be answered."),
            "k": {"type": "integer", "minimum": 1, "description": "How many; 5 when left out."},
            "min_similarity": number("How alike the questions must be, 0 to 1; 0.5 when left out."),
            "intent": text("Only strategies for this intent."),
            "user_id": text("Only strategies that worked for this user."),
            "include_rejected": {"type": "boolean", "description": "Also list rejected ones."},
        }),
    )
}

pub(crate) fn examples() -> JsonObject {
    object(
        &["query"],
        json!({
            "query": text("The question to be answered."),
            "k": {"type": "integer", "minimum": 1, "maximum": 50,
                "description": "How many; 3 when left out."},
            "max_tokens": {"type": "integer", "minimum": 0,
                "description": "How long all of them may be together, in tokens, about."},
            "diversity": {"type": "number", "minimum": 0, "maximum": 1, "description":
                "0: the nearest; 1: the least alike among the nearest. 0.3 when left out."},
        }),
    )
}

pub(crate) fn feedback() -> JsonObject {
    let rating = json!({
        "anyOf": [
            {"type": "string", "enum": ["positive", "negative"]},
            {"type": "integer", "minimum": 1, "maximum": 5},
        ],
        "description": "positive, negative, or 1 to 5.",
    });
    object(
        &[],
        json!({
            "turn_id": text("The answer it is about."),
            "conversation_id": text("The conversation, when the turn is not known."),
            "user_id": text("Who says so."),
            "rating": rating,
            "comment": text("What was said about it."),
            "corrected": text("What the answer should have been."),
            "original": text("The answer that was wrong; with `corrected`."),
            "explanation": text("What was wrong with it; with `corrected`."),
            "id": text("A name for this report; sending it twice counts once."),
        }),
    )
}

fn text(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

fn number(description: &str) -> Value {
    json!({"type": "number", "description": description})
}

fn choice(words: &[&str], description: &str) -> Value {
    json!({"type": "string", "enum": words, "description": description})
}

fn query_id() -> Value {
    text(
        "Names one search: the same for its results, their use and opinions on them. The turn's id when \
         the turn reported what it retrieved.",
    )
}

fn object(required: &[&str], properties: Value) -> JsonObject {
    let mut schema = JsonObject::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), properties);
    schema.insert("required".to_owned(), required.into());
    schema.insert("additionalProperties".to_owned(), false.into());
    schema
}
