//! The tools: names, descriptions, and the API calls they make.

use std::sync::Arc;

use model::rename_aliases;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

use crate::api_client::ApiCall;
use crate::feedback::feedback_calls;
use crate::schema;

#[derive(Debug)]
pub(crate) struct ToolDefinition {
    pub(crate) name: &'static str,
    /// The title for users.
    title: &'static str,
    /// The description for language models.
    description: &'static str,
    input_schema: fn() -> JsonObject,
    is_read_only: bool,
    /// Builds the API calls of the tool. The response to the last one is the result.
    pub(crate) build_calls: fn(JsonObject) -> Result<Vec<ApiCall>, String>,
}

/// All tools, in listing order.
pub(crate) static TOOLS: [ToolDefinition; 7] = [
    ToolDefinition {
        name: "rerank",
        title: "Rerank retrieved items by earlier feedback",
        description: "Call between searching and reading the results. Reorders search results by earlier \
            usage and feedback. Unknown items keep their score. Each result has its new score, \
            the multiplier and the reason.",
        input_schema: schema::rerank_schema,
        is_read_only: true,
        build_calls: |arguments| one_call("/api/v1/retrieval/rerank", arguments),
    },
    ToolDefinition {
        name: "record_usage",
        title: "Report which retrieved items an answer used",
        description: "Call after writing an answer or code with search results. Reports the written text. \
            Uptake detects by name, citation and content which results the text used or ignored, \
            and learns from both. Pass `entities` unless the results of this `query_id` were \
            reported before. Call it again after writing more; an identical report counts once.",
        input_schema: schema::usage_schema,
        is_read_only: false,
        build_calls: usage_calls,
    },
    ToolDefinition {
        name: "mark_helpful",
        title: "Mark a retrieved item as helpful",
        description: "Marks a retrieved item (a memory, document or piece of code) as helpful. Takes effect \
            immediately: after five signals, helpful items rank higher. Only the latest opinion on \
            an item of a search counts, so repeating the call changes nothing.",
        input_schema: schema::opinion_schema,
        is_read_only: false,
        build_calls: |arguments| opinion_calls(arguments, true),
    },
    ToolDefinition {
        name: "mark_not_helpful",
        title: "Mark a retrieved item as not helpful",
        description: "Marks a retrieved item as wrong, outdated or irrelevant. Takes effect immediately: \
            after five signals, the item ranks lower. Only the latest opinion on an item of a \
            search counts.",
        input_schema: schema::opinion_schema,
        is_read_only: false,
        build_calls: |arguments| opinion_calls(arguments, false),
    },
    ToolDefinition {
        name: "strategies",
        title: "Find strategies that worked for similar questions",
        description: "Call before choosing how to answer. Returns strategies (tools, searches or queries \
            with their parameters) that were accepted for similar questions, best first. Also \
            returns rejected strategies to avoid, with the user's complaint.",
        input_schema: schema::strategies_schema,
        is_read_only: true,
        build_calls: |arguments| one_call("/api/v1/strategies/search", arguments),
    },
    ToolDefinition {
        name: "examples",
        title: "Find good answers to similar questions",
        description: "Call before answering. Returns similar questions with good answers: corrected, rated \
            well or accepted. Use them as few-shot examples. Returns none when no question is \
            similar enough.",
        input_schema: schema::examples_schema,
        is_read_only: true,
        build_calls: |arguments| one_call("/api/v1/examples/select", arguments),
    },
    ToolDefinition {
        name: "submit_feedback",
        title: "Submit feedback on an answer",
        description: "Records feedback on an answer: a rating, a comment, a corrected answer, or several of \
            them. Pass the turn id if it is known. Pass an `id` of your own to make retries \
            idempotent.",
        input_schema: schema::feedback_schema,
        is_read_only: false,
        build_calls: feedback_calls,
    },
];

impl ToolDefinition {
    pub(crate) fn find_by_name(name: &str) -> Option<&'static Self> {
        TOOLS.iter().find(|tool| tool.name == name)
    }

    /// Renames aliases to the arguments of the tool's schema.
    pub(crate) fn read_arguments(&self, mut arguments: JsonObject) -> Result<JsonObject, String> {
        let schema = (self.input_schema)();
        let known = schema.get("properties").and_then(Value::as_object);
        let known: Vec<&str> =
            known.into_iter().flat_map(|known| known.keys()).map(String::as_str).collect();
        rename_aliases(&mut arguments, &known)
            .map_err(|conflict| format!("{}: {conflict}", conflict.alias))?;
        Ok(arguments)
    }

    /// The tool's entry in the MCP listing.
    pub(crate) fn to_tool(&self) -> Tool {
        let mut hints = ToolAnnotations::default();
        hints.read_only_hint = Some(self.is_read_only);
        hints.destructive_hint = Some(false);
        // Feedback without an id is stored on every call.
        hints.idempotent_hint = Some(self.name != "submit_feedback");
        hints.open_world_hint = Some(false);
        Tool::new(self.name, self.description, Arc::new((self.input_schema)()))
            .with_title(self.title)
            .with_annotations(hints)
    }
}

fn one_call(path: &'static str, arguments: JsonObject) -> Result<Vec<ApiCall>, String> {
    Ok(vec![ApiCall { path, body: arguments.into() }])
}

fn opinion_calls(mut arguments: JsonObject, helpful: bool) -> Result<Vec<ApiCall>, String> {
    if arguments.remove("helpful").is_some() {
        let wrong = "helpful: unknown argument; call mark_helpful or mark_not_helpful instead";
        return Err(wrong.to_owned());
    }
    arguments.insert("helpful".to_owned(), helpful.into());
    one_call("/api/v1/retrieval/feedback", arguments)
}

fn usage_calls(mut arguments: JsonObject) -> Result<Vec<ApiCall>, String> {
    check_usage(&arguments)?;
    let query = arguments.remove("query").filter(is_present);
    let user = arguments.remove("user_id").filter(is_present);
    let mut calls = Vec::new();
    if let Some(entities) = arguments.remove("entities").filter(is_present) {
        let mut returned = json!({"query_id": arguments.get("query_id"), "entities": entities});
        for (name, value) in [("query", query), ("user_id", user)] {
            if let Some(value) = value {
                returned[name] = value;
            }
        }
        calls.push(ApiCall { path: "/api/v1/retrieval/returned", body: returned });
    }
    calls.push(ApiCall { path: "/api/v1/retrieval/usage", body: arguments.into() });
    Ok(calls)
}

/// Language models often send an empty list or string for omitted arguments.
fn is_present(argument: &Value) -> bool {
    !argument.is_null() && *argument != json!([]) && *argument != json!("")
}

/// Validates the arguments before the first of two calls is made, so that none is stored alone.
fn check_usage(arguments: &JsonObject) -> Result<(), String> {
    if !arguments.get("response").is_some_and(Value::is_string) {
        return Err("response: missing, expected the written text".to_owned());
    }
    let given = |name: &&str| arguments.get(*name).is_some_and(is_present);
    let alone = ["query", "user_id"].into_iter().find(given).filter(|_| !given(&"entities"));
    if let Some(name) = alone {
        return Err(format!(
            "{name}: requires entities, expected the results that the search returned, or no {name}"
        ));
    }
    match arguments.get("kind") {
        Some(kind) if kind != "response" && kind != "code" => {
            Err(format!("kind is {kind}, expected response or code"))
        }
        Some(_) | None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build_tool_calls(name: &str, arguments: &Value) -> Vec<ApiCall> {
        let tool = ToolDefinition::find_by_name(name).unwrap();
        (tool.build_calls)(schema::drop_nulls(arguments.as_object().cloned())).unwrap()
    }

    #[test]
    fn usage_report_posts_returned_entities_first() {
        let given = json!({"query_id": "q", "query": "login", "response": "see e1", "user_id": null,
            "entities": [{"entity_id": "e1"}]});
        let made = build_tool_calls("record_usage", &given);
        assert_eq!(made.len(), 2);
        assert_eq!(made[0].path, "/api/v1/retrieval/returned");
        assert_eq!(
            made[0].body,
            json!({"query_id": "q", "query": "login", "entities": [{"entity_id": "e1"}]})
        );
        assert_eq!(made[1].body, json!({"query_id": "q", "response": "see e1"}));

        let given = json!({"query_id": "q", "query": "", "response": "see e1", "user_id": "",
            "entities": [{"entity_id": "e1"}]});
        let made = build_tool_calls("record_usage", &given);
        assert_eq!(made[0].body, json!({"query_id": "q", "entities": [{"entity_id": "e1"}]}));

        assert_eq!(
            build_tool_calls("record_usage", &json!({"query_id": "q", "response": "x"})).len(),
            1
        );
    }

    #[test]
    fn query_and_user_without_entities_are_rejected() {
        for (name, entities) in [("query", json!(null)), ("user_id", json!([]))] {
            let mut given = json!({"query_id": "q", "response": "x", "entities": entities});
            given[name] = json!("login");
            let made = usage_calls(schema::drop_nulls(given.as_object().cloned()));
            let refused = made.unwrap_err();
            assert!(refused.starts_with(&format!("{name}: requires entities")), "{refused}");
        }
        let nothing = json!({"query_id": "q", "response": "x", "query": "", "user_id": null});
        assert_eq!(build_tool_calls("record_usage", &nothing).len(), 1);
    }

    #[test]
    fn arguments_have_the_aliases_of_the_api() {
        let tool = ToolDefinition::find_by_name("submit_feedback").unwrap();
        let given = json!({"messageId": "t1", "session_id": "c1", "rating": 1});
        let read = tool.read_arguments(given.as_object().cloned().unwrap()).unwrap();
        assert_eq!(
            Value::Object(read),
            json!({"turn_id": "t1", "conversation_id": "c1", "rating": 1})
        );
        let twice = json!({"messageId": "t1", "turn_id": "t2"});
        assert!(tool.read_arguments(twice.as_object().cloned().unwrap()).is_err());
    }

    #[test]
    fn helpful_flag_follows_the_tool_name() {
        let given = json!({"query_id": "q", "entity_id": "e"});
        assert_eq!(build_tool_calls("mark_helpful", &given)[0].body["helpful"], true);
        assert_eq!(build_tool_calls("mark_not_helpful", &given)[0].body["helpful"], false);
    }

    #[test]
    fn every_tool_argument_has_a_description() {
        for tool in &TOOLS {
            let schema = (tool.input_schema)();
            let properties = schema["properties"].as_object().unwrap();
            for (name, property) in properties {
                let described = property["description"].as_str().is_some_and(|d| d.len() > 5);
                assert!(described, "{}.{name}", tool.name);
            }
            for needed in schema["required"].as_array().unwrap() {
                assert!(properties.contains_key(needed.as_str().unwrap()), "{needed}");
            }
            assert_eq!(ToolDefinition::find_by_name(tool.name).unwrap().title, tool.title);
        }
    }
}
