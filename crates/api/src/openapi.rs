//! The OpenAPI document, made of what is written at each handler.

use serde_json::{Value, json};
use utoipa::OpenApi;

use crate::routes;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Uptake",
        description = "A feedback engine for LLM applications. Errors are application/problem+json and \
            name the field that is to blame. What stores what it is sent may carry an Idempotency-Key."
    ),
    paths(
        routes::turns::open_turn,
        routes::turns::complete_turn,
        routes::turns::show_turn,
        routes::turns::show_metadata,
        routes::turns::review_turn,
        routes::turns::show_turn_log,
        routes::conversations::show_timeline,
        routes::strategies::search_strategies,
        routes::examples::select_examples,
        routes::preferences::export_preferences,
        routes::calibration::show_calibration,
        routes::routers::set_router,
        routes::routers::show_router,
        routes::routers::list_routers,
        routes::routers::reset_router,
        routes::routers::choose_route,
        routes::routers::submit_reward,
        routes::routers::evaluate_policy,
        routes::experiments::create_experiment,
        routes::experiments::list_experiments,
        routes::experiments::show_experiment,
        routes::experiments::act_on_experiment,
        routes::experiments::assign_variant,
        routes::experiments::show_results,
        routes::retrieval::record_returned,
        routes::retrieval::record_usage,
        routes::retrieval::record_signals,
        routes::retrieval::record_feedback,
        routes::retrieval::show_stats,
        routes::retrieval::list_most_helpful,
        routes::retrieval::list_most_ignored,
        routes::retrieval::rerank_results,
        routes::reactions::submit_reaction,
        routes::reports::report_period,
        routes::reports::report_period_by_query,
        routes::reports::report_conversation,
        routes::reports::report_conversation_by_query,
        routes::quality::show_quality,
        routes::failures::show_insights,
        routes::quality::set_targets,
        routes::quality::show_targets,
        routes::quality::list_alerts,
        routes::failures::list_failures,
        routes::failures::suggest_prompts,
        routes::failures::create_suggestion_experiment,
        routes::artifacts::search_artifacts,
        routes::feedback::submit_event,
        routes::feedback::submit_correction,
        routes::batch::submit_batch,
        routes::feedback::show_event,
        routes::events::list_events,
        routes::events::list_topic_events,
        routes::decisions::record_decision,
        routes::decisions::record_outcome,
        routes::decisions::show_decision,
        routes::decisions::list_decisions,
        routes::decisions::list_session_decisions,
        routes::tenants::set_profile,
        routes::tenants::show_profile,
        routes::tenants::erase_user,
        routes::tenants::show_question_history,
        routes::tenants::forget_questions,
        routes::tenants::set_privacy,
        routes::tenants::show_privacy,
        routes::keys::create_key,
        routes::keys::list_keys,
        routes::keys::revoke_key,
        routes::dead_letters::list_dead_letters,
        routes::dead_letters::replay_dead_letter,
        routes::demo::show_demo,
        routes::demo::remove_demo,
        routes::health::check_live,
        routes::health::check_ready,
        routes::metrics::show_metrics,
    )
)]
struct Document;

/// What operations are about, in the order in which a newcomer reads them and the examples work.
const TAGS: [&str; 14] = [
    "turns",
    "strategies",
    "routing",
    "experiments",
    "retrieval",
    "quality",
    "learning",
    "reactions",
    "reports",
    "events",
    "decisions",
    "users",
    "management",
    "operation",
];

/// The document as JSON, with the answers that every address can give.
pub(crate) fn build_document() -> Value {
    let mut document = serde_json::to_value(Document::openapi()).unwrap_or_default();
    if let Some(paths) = document["paths"].as_object_mut() {
        for (path, operations) in paths {
            let Some(operations) = operations.as_object_mut() else { continue };
            for (method, operation) in operations {
                add_errors(path, method, operation);
                add_headers(path, method, operation);
                operation["operationId"] = operation_id(path, method).into();
            }
        }
    }
    document["tags"] = TAGS.iter().map(|tag| json!({"name": tag})).collect();
    join_turn_halves(&mut document["components"]["schemas"]);
    make_strategies_optional(&mut document["components"]["schemas"]);
    document["components"]["schemas"]["Problem"] = problem_schema();
    document["components"]["securitySchemes"] = json!({
        "bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "uk_<id>_<secret>"},
        "header": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
        "basic": {"type": "http", "scheme": "basic"},
    });
    // Nothing at all is enough as long as there are no keys.
    document["security"] = json!([{"bearer": []}, {"header": []}, {"basic": []}, {}]);
    for path in ["/api/v1/events", "/api/v1/topics/{topic}"] {
        document["paths"][path]["get"]["responses"]["200"]["content"]["text/event-stream"] =
            json!({"schema": {"type": "string"}});
    }
    document["paths"]["/api/v1/preferences/export"]["get"]["responses"]["200"]["content"]["application/vnd.apache.parquet"] =
        json!({"schema": {"type": "string", "format": "binary"}});
    let batch = &mut document["paths"]["/api/v1/feedback/batch"]["post"]["requestBody"]["content"];
    batch["application/x-ndjson"] = json!({"schema": {"type": "string"}});
    document
}

/// Headers that requests may carry.
fn add_headers(path: &str, method: &str, operation: &mut Value) {
    let header = |name: &str, description: &str| {
        json!({"name": name, "in": "header", "required": false, "description": description,
            "schema": {"type": "string", "pattern": "^[!-.0-~]{1,100}$"}})
    };
    let mut headers = Vec::new();
    if path.starts_with("/api/v1") {
        headers
            .push(header("X-Uptake-Project", "The project, for keys of several and without keys"));
        headers.push(header("X-Uptake-Tenant", "The tenant, without keys"));
    }
    if matches!(method, "post" | "patch") && accepts_idempotency_key(path) {
        headers.push(header("Idempotency-Key", "Makes a repeat of this very request safe"));
    }
    let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
    operation["parameters"] = parameters.into_iter().chain(headers).collect();
}

/// Whether a repeat is known there by its key. Elsewhere nothing is stored, or each time the same, or
/// something new that the sender must not take for the first: a choice, a secret.
fn accepts_idempotency_key(path: &str) -> bool {
    const WITHOUT_KEY: [&str; 10] = [
        "/api/v1/keys",
        "/api/v1/route",
        "/api/v1/routers/{name}/reset",
        "/api/v1/policies/evaluate",
        "/api/v1/prompts/suggestions",
        "/api/v1/experiments/{id}/assign",
        "/api/v1/retrieval/rerank",
        "/api/v1/dead-letters/{id}/replay",
        "/conversations/{tenant}/{project}/feedback/conversations-in-period",
        "/conversations/{tenant}/{project}/{conversation_id}/turns-with-feedbacks",
    ];
    !is_read_only(path) && !WITHOUT_KEY.contains(&path)
}

/// Whether nothing is stored there.
fn is_read_only(path: &str) -> bool {
    path.contains("search") || path.ends_with("/select")
}

/// Bodies there name a turn, a query or a router that may not be there.
const NAMES_IN_BODY: [&str; 5] = [
    "/api/v1/turns",
    "/api/v1/rewards",
    "/api/v1/route",
    "/api/v1/policies/evaluate",
    "/api/v1/retrieval/usage",
];

fn add_errors(path: &str, method: &str, operation: &mut Value) {
    let has_202 = !operation["responses"]["202"].is_null();
    let mut add = |status: u16, description: &str| {
        operation["responses"][status.to_string()] = json!({
            "description": description,
            "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
        });
    };
    if path.starts_with("/health") {
        add(503, "Not now");
        return;
    }
    add(401, "No key, or one that is not valid");
    add(403, "The key may not do this, or not here");
    add(422, "A field does not fit; field names it");
    add(429, "Too many requests with this key");
    add(503, "Not possible right now; try again");
    let names_something = path.contains('{') && !path.contains("privacy");
    if names_something || path.ends_with("/feedback") || NAMES_IN_BODY.contains(&path) {
        add(404, "There is no such thing");
    }
    if (method, path) == ("delete", "/api/v1/users/{user_id}") {
        add(409, "Nobody in particular cannot be erased");
    }
    if matches!(method, "post" | "put" | "patch") {
        if !has_202 {
            add(202, "Accepted and set aside; see dead letters");
        }
        add(400, "The body could not be read, or the reaction is none");
        if !is_read_only(path) && !path.contains("privacy") && !path.contains("keys") {
            add(409, "The id or key was used before with another body, or not possible now");
        }
        add(413, "The body is too large");
        add(415, "The body is not JSON");
    }
}

/// Unique, and readable in generated clients: `get_api_v1_turns_turn_id`.
fn operation_id(path: &str, method: &str) -> String {
    let word = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let words: String = path.chars().map(word).collect();
    let parts: Vec<&str> = words.split('_').filter(|part| !part.is_empty()).collect();
    format!("{method}_{}", parts.join("_"))
}

/// Each half refuses fields it does not know, so the two together are one object with the fields of
/// both.
fn join_turn_halves(schemas: &mut Value) {
    let mut joined = schemas["OpeningRequest"].clone();
    let other = schemas["CompletionRequest"]["properties"].as_object().cloned();
    if let Some(properties) = joined["properties"].as_object_mut() {
        properties.extend(other.unwrap_or_default());
    }
    joined["description"] = "A question, perhaps with its answer.".into();
    schemas["TurnRequest"] = joined;
}

/// The answer to a turn has the fields of strategies beside its own, or none of them: `null` can stand for an object, but
/// not for some fields of one.
fn make_strategies_optional(schemas: &mut Value) {
    let properties = schemas["StrategiesBody"]["properties"].clone();
    schemas["OpenResponse"]["allOf"][0] = json!({"type": "object", "properties": properties});
}

fn problem_schema() -> Value {
    json!({
        "type": "object",
        "required": ["type", "title", "status", "detail", "request_id"],
        "properties": {
            "type": {"type": "string"}, "title": {"type": "string"}, "status": {"type": "integer"},
            "detail": {"type": "string"}, "field": {"type": "string"},
            "request_id": {"type": "string"},
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_may_be_answered_without_strategies() {
        let document = build_document();
        let answer = &document["components"]["schemas"]["OpenResponse"]["allOf"];
        assert!(answer[0]["properties"]["avoid"].is_object(), "{answer}");
        assert!(answer[0]["required"].is_null(), "{answer}");
        assert!(answer[1]["properties"]["turn_id"].is_object(), "{answer}");
    }

    #[test]
    fn only_where_a_repeat_is_known_by_its_key_one_may_be_sent() {
        let document = build_document();
        let takes_key = |method: &str, path: &str| {
            let operation = &document["paths"][path][method];
            let parameters = operation["parameters"].as_array().unwrap();
            parameters.iter().any(|one| one["name"] == "Idempotency-Key")
        };
        for (path, expected) in [
            ("/api/v1/turns", true),
            ("/api/v1/rewards", true),
            ("/api/v1/experiments/{id}/{action}", true),
            ("/api/v1/prompts/suggestions/{suggestion_id}/experiment", true),
            ("/api/v1/prompts/suggestions", false),
            ("/api/v1/route", false),
            ("/api/v1/keys", false),
            ("/api/v1/artifacts/search", false),
        ] {
            assert_eq!(takes_key("post", path), expected, "{path}");
        }
    }
}
