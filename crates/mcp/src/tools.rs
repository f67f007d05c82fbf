//! The tools: names, descriptions, and the API calls they make.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

use crate::api_client::ApiCall;
use crate::arguments::Arguments;
use crate::{feedback, schema};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ToolKind {
    Examples,
    MarkHelpful,
    MarkNotHelpful,
    RecordUsage,
    Rerank,
    Strategies,
    SubmitFeedback,
}

/// All tools, in listing order.
pub(crate) const TOOLS: [ToolKind; 7] = [
    ToolKind::Rerank,
    ToolKind::RecordUsage,
    ToolKind::MarkHelpful,
    ToolKind::MarkNotHelpful,
    ToolKind::Strategies,
    ToolKind::Examples,
    ToolKind::SubmitFeedback,
];

impl ToolKind {
    pub(crate) fn find_by_name(name: &str) -> Option<Self> {
        TOOLS.into_iter().find(|kind| kind.name() == name)
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Examples => "examples",
            Self::MarkHelpful => "mark_helpful",
            Self::MarkNotHelpful => "mark_not_helpful",
            Self::RecordUsage => "record_usage",
            Self::Rerank => "rerank",
            Self::Strategies => "strategies",
            Self::SubmitFeedback => "submit_feedback",
        }
    }

    /// The title for users.
    const fn title(self) -> &'static str {
        match self {
            Self::Examples => "Find good answers to similar questions",
            Self::MarkHelpful => "Mark a retrieved item as helpful",
            Self::MarkNotHelpful => "Mark a retrieved item as not helpful",
            Self::RecordUsage => "Report which retrieved items an answer used",
            Self::Rerank => "Rerank retrieved items by earlier feedback",
            Self::Strategies => "Find strategies that worked for similar questions",
            Self::SubmitFeedback => "Submit feedback on an answer",
        }
    }

    /// The description for language models.
    const fn description(self) -> &'static str {
        match self {
            Self::Examples => {
                "Call before answering. Returns similar questions with good answers: corrected, rated \
                 well or accepted. Use them as few-shot examples. Returns none when no question is \
                 similar enough."
            }
            Self::MarkHelpful => {
                "Marks a retrieved item (a memory, document or piece of code) as helpful. Takes effect \
                 immediately: after five signals, helpful items rank higher. Only the latest opinion on \
                 an item of a search counts, so repeating the call changes nothing."
            }
            Self::MarkNotHelpful => {
                "Marks a retrieved item as wrong, outdated or irrelevant. Takes effect immediately: \
                 after five signals, the item ranks lower. Only the latest opinion on an item of a \
                 search counts."
            }
            Self::RecordUsage => {
                "Call after writing an answer or code with search results. Reports the written text. \
                 Uptake detects by name, citation and content which results the text used or ignored, \
                 and learns from both. Pass `entities` unless the results of this `query_id` were \
                 reported before. Call it again after writing more; an identical report counts once."
            }
            Self::Rerank => {
                "Call between searching and reading the results. Reorders search results by earlier \
                 usage and feedback. Unknown items keep their score. Each result has its new score, \
                 the multiplier and the reason."
            }
            Self::Strategies => {
                "Call before choosing how to answer. Returns strategies (tools, searches or queries \
                 with their parameters) that were accepted for similar questions, best first. Also \
                 returns rejected strategies to avoid, with the user's complaint."
            }
            Self::SubmitFeedback => {
                "Records feedback on an answer: a rating, a comment, a corrected answer, or several of \
                 them. Pass the turn id if it is known. Pass an `id` of your own to make retries \
                 idempotent."
            }
        }
    }

    fn input_schema(self) -> JsonObject {
        match self {
            Self::MarkHelpful | Self::MarkNotHelpful => schema::opinion_schema(),
            Self::RecordUsage => schema::usage_schema(),
            Self::Rerank => schema::rerank_schema(),
            Self::Strategies => schema::strategies_schema(),
            Self::Examples => schema::examples_schema(),
            Self::SubmitFeedback => schema::feedback_schema(),
        }
    }

    const fn is_read_only(self) -> bool {
        match self {
            Self::Rerank | Self::Strategies | Self::Examples => true,
            Self::MarkHelpful | Self::MarkNotHelpful | Self::RecordUsage | Self::SubmitFeedback => {
                false
            }
        }
    }

    /// The tool's entry in the MCP listing.
    pub(crate) fn to_tool(self) -> Tool {
        let mut hints = ToolAnnotations::default();
        hints.read_only_hint = Some(self.is_read_only());
        hints.destructive_hint = Some(false);
        // Feedback without an id is stored on every call.
        hints.idempotent_hint = Some(self != Self::SubmitFeedback);
        hints.open_world_hint = Some(false);
        Tool::new(self.name(), self.description(), Arc::new(self.input_schema()))
            .with_title(self.title())
            .with_annotations(hints)
    }

    /// The API calls of the tool. The response to the last one is the result.
    pub(crate) fn build_calls(self, mut arguments: Arguments) -> Result<Vec<ApiCall>, String> {
        let one = |path, body| Ok(vec![ApiCall { path, body }]);
        match self {
            Self::MarkHelpful | Self::MarkNotHelpful => {
                if arguments.take_value("helpful").is_some() {
                    return Err(
                        "helpful: unknown argument; call mark_helpful or mark_not_helpful instead"
                            .to_owned(),
                    );
                }
                one(
                    ITEM_FEEDBACK_PATH,
                    arguments.into_body_with("helpful", self == Self::MarkHelpful),
                )
            }
            Self::Rerank => one("/api/v1/retrieval/rerank", arguments.into_body()),
            Self::Strategies => one("/api/v1/strategies/search", arguments.into_body()),
            Self::Examples => one("/api/v1/examples/select", arguments.into_body()),
            Self::SubmitFeedback => feedback::feedback_calls(arguments),
            Self::RecordUsage => {
                check_usage(&arguments)?;
                let query = arguments.take_value("query").filter(is_present);
                let user = arguments.take_value("user_id").filter(is_present);
                let mut calls = Vec::new();
                if let Some(entities) = arguments.take_value("entities").filter(is_present) {
                    let mut returned =
                        json!({"query_id": arguments.copy_value("query_id"), "entities": entities});
                    for (name, value) in [("query", query), ("user_id", user)] {
                        if let Some(value) = value {
                            returned[name] = value;
                        }
                    }
                    calls.push(ApiCall { path: "/api/v1/retrieval/returned", body: returned });
                }
                calls
                    .push(ApiCall { path: "/api/v1/retrieval/usage", body: arguments.into_body() });
                Ok(calls)
            }
        }
    }
}

/// Language models often send an empty list or string for omitted arguments.
fn is_present(argument: &Value) -> bool {
    !argument.is_null() && *argument != json!([]) && *argument != json!("")
}

/// Validates the arguments before the first of two calls is made, so that none is stored alone.
fn check_usage(arguments: &Arguments) -> Result<(), String> {
    if !arguments.copy_value("response").is_string() {
        return Err("response: missing, expected the written text".to_owned());
    }
    let given = |name: &&str| is_present(&arguments.copy_value(name));
    let alone = ["query", "user_id"].into_iter().find(given).filter(|_| !given(&"entities"));
    if let Some(name) = alone {
        return Err(format!(
            "{name}: requires entities, expected the results that the search returned, or no {name}"
        ));
    }
    let kind = arguments.copy_value("kind");
    let fits =
        kind.is_null() || kind.as_str().is_some_and(|kind| ["response", "code"].contains(&kind));
    if fits { Ok(()) } else { Err(format!("kind is {kind}, expected response or code")) }
}

const ITEM_FEEDBACK_PATH: &str = "/api/v1/retrieval/feedback";

#[cfg(test)]
mod tests {
    use super::*;

    fn build_tool_calls(kind: ToolKind, arguments: &Value) -> Vec<ApiCall> {
        kind.build_calls(Arguments::new(arguments.as_object().cloned())).unwrap()
    }

    #[test]
    fn usage_report_posts_returned_entities_first() {
        let given = json!({"query_id": "q", "query": "login", "response": "see e1", "user_id": null,
            "entities": [{"entity_id": "e1"}]});
        let made = build_tool_calls(ToolKind::RecordUsage, &given);
        assert_eq!(made.len(), 2);
        assert_eq!(made[0].path, "/api/v1/retrieval/returned");
        assert_eq!(
            made[0].body,
            json!({"query_id": "q", "query": "login", "entities": [{"entity_id": "e1"}]})
        );
        assert_eq!(made[1].body, json!({"query_id": "q", "response": "see e1"}));

        let given = json!({"query_id": "q", "query": "", "response": "see e1", "user_id": "",
            "entities": [{"entity_id": "e1"}]});
        let made = build_tool_calls(ToolKind::RecordUsage, &given);
        assert_eq!(made[0].body, json!({"query_id": "q", "entities": [{"entity_id": "e1"}]}));

        assert_eq!(
            build_tool_calls(ToolKind::RecordUsage, &json!({"query_id": "q", "response": "x"}))
                .len(),
            1
        );
    }

    #[test]
    fn query_and_user_without_entities_are_rejected() {
        for (name, entities) in [("query", json!(null)), ("user_id", json!([]))] {
            let mut given = json!({"query_id": "q", "response": "x", "entities": entities});
            given[name] = json!("login");
            let made =
                ToolKind::RecordUsage.build_calls(Arguments::new(given.as_object().cloned()));
            let refused = made.unwrap_err();
            assert!(refused.starts_with(&format!("{name}: requires entities")), "{refused}");
        }
        let nothing = json!({"query_id": "q", "response": "x", "query": "", "user_id": null});
        assert_eq!(build_tool_calls(ToolKind::RecordUsage, &nothing).len(), 1);
    }

    #[test]
    fn helpful_flag_follows_the_tool_name() {
        let given = json!({"query_id": "q", "entity_id": "e"});
        assert_eq!(build_tool_calls(ToolKind::MarkHelpful, &given)[0].body["helpful"], true);
        assert_eq!(build_tool_calls(ToolKind::MarkNotHelpful, &given)[0].body["helpful"], false);
    }

    #[test]
    fn every_tool_argument_has_a_description() {
        for kind in TOOLS {
            let schema = kind.input_schema();
            let properties = schema["properties"].as_object().unwrap();
            for (name, property) in properties {
                let described = property["description"].as_str().is_some_and(|d| d.len() > 5);
                assert!(described, "{}.{name}", kind.name());
            }
            for needed in schema["required"].as_array().unwrap() {
                assert!(properties.contains_key(needed.as_str().unwrap()), "{needed}");
            }
            assert_eq!(ToolKind::find_by_name(kind.name()), Some(kind));
        }
    }
}
