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
            Self::Rerank => "Rerank retrieved items by what was learnt",
            Self::Strategies => "Find strategies that worked for similar questions",
            Self::SubmitFeedback => "Submit feedback on an answer",
        }
    }

    /// The description for language models.
    const fn description(self) -> &'static str {
        match self {
            Self::Examples => {
                "Before answering: questions like this one with answers that people corrected, rated \
                 well or accepted, to follow as examples. None comes back when nothing is alike \
                 enough."
            }
            Self::MarkHelpful => {
                "Say that an item found by a search (a memory, a document, a piece of code) helped. It counts \
                 at once: from five signals on, the more helpful of them the higher it is ranked. The last word on \
                 an item of one search stands, so repeating it changes nothing."
            }
            Self::MarkNotHelpful => {
                "Say that an item found by a search was wrong, outdated or beside the point. It counts \
                 at once: from five signals on it is ranked lower for it. The last word on an item of one search \
                 stands."
            }
            Self::RecordUsage => {
                "After answering or writing code with the help of search results: report the text that was \
                 written. Uptake finds out which results it used and which it ignored, by name, citation \
                 and content, and learns from both. Give `entities` unless the results of this \
                 `query_id` were reported before. May be called again when more was written; \
                 the same report counts once."
            }
            Self::Rerank => {
                "Reorder search results by what earlier answers used, ignored or were told about them. \
                 Call it between searching and reading. Items nothing is known of keep their score. \
                 Each result comes back with its new score, the multiplier and the reason."
            }
            Self::Strategies => {
                "Before choosing how to answer: which strategies (tools, searches, queries with their \
                 parameters) were accepted for questions like this one, best first, and which were \
                 rejected and should be avoided, with what the user said."
            }
            Self::SubmitFeedback => {
                "Record what was said about an answer: a rating, a comment, a corrected answer, or several of \
                 them. Name the turn it is about if it is known. Give an `id` of your own to make a \
                 repeat harmless."
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
                    return Err("helpful: no such argument; the tool's name says it".to_owned());
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
        return Err("response: missing, expected the text that was written".to_owned());
    }
    let given = |name: &&str| is_present(&arguments.copy_value(name));
    let alone = ["query", "user_id"].into_iter().find(given).filter(|_| !given(&"entities"));
    if let Some(name) = alone {
        return Err(format!(
            "{name}: goes with entities, expected the results that the search returned, or no {name}"
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
    fn a_report_of_use_brings_its_results_first() {
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
    fn who_asked_for_what_is_refused_without_the_results_it_goes_with() {
        for (name, entities) in [("query", json!(null)), ("user_id", json!([]))] {
            let mut given = json!({"query_id": "q", "response": "x", "entities": entities});
            given[name] = json!("login");
            let made =
                ToolKind::RecordUsage.build_calls(Arguments::new(given.as_object().cloned()));
            let refused = made.unwrap_err();
            assert!(refused.starts_with(&format!("{name}: goes with entities")), "{refused}");
        }
        let nothing = json!({"query_id": "q", "response": "x", "query": "", "user_id": null});
        assert_eq!(build_tool_calls(ToolKind::RecordUsage, &nothing).len(), 1);
    }

    #[test]
    fn opinions_differ_in_one_word() {
        let given = json!({"query_id": "q", "entity_id": "e"});
        assert_eq!(build_tool_calls(ToolKind::MarkHelpful, &given)[0].body["helpful"], true);
        assert_eq!(build_tool_calls(ToolKind::MarkNotHelpful, &given)[0].body["helpful"], false);
    }

    #[test]
    fn every_tool_says_what_each_argument_means() {
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
