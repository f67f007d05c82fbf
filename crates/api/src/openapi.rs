//! Builds the OpenAPI document from the annotations of the handlers.

use serde_json::{Value, json};
use utoipa::OpenApi;
use utoipa::openapi::OpenApi as OpenApiDocument;

#[derive(OpenApi)]
#[openapi(info(
    title = "Uptake",
    description = "A feedback engine for LLM applications. Errors are \
            application/problem+json and name the invalid field. Routes that store data accept an \
            Idempotency-Key header, which makes retries safe."
))]
pub(crate) struct Document;

/// Tags in reading order. The examples work when they are sent in this order.
const TAGS: [&str; 15] = [
    "turns",
    "traces",
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

/// Returns the document with the error responses and headers that routes share.
pub(crate) fn build_document(routes: OpenApiDocument) -> Value {
    let mut document = serde_json::to_value(routes).unwrap_or_default();
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
    // The empty entry: no key is needed as long as the server has none.
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

fn add_headers(path: &str, method: &str, operation: &mut Value) {
    let header = |name: &str, description: &str| {
        json!({"name": name, "in": "header", "required": false, "description": description,
            "schema": {"type": "string", "pattern": "^[!-.0-~]{1,100}$"}})
    };
    let mut headers = Vec::new();
    if path.starts_with("/api/v1") {
        headers.push(header(
            "X-Uptake-Project",
            "The project, for keys that cover several projects and for servers without keys",
        ));
        headers.push(header("X-Uptake-Tenant", "The tenant, for servers without keys"));
    }
    if matches!(method, "post" | "patch") && accepts_idempotency_key(path) {
        headers.push(header(
            "Idempotency-Key",
            "Makes a retry of this request safe: it is stored once",
        ));
    }
    let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
    operation["parameters"] = parameters.into_iter().chain(headers).collect();
}

/// False for routes that store nothing, are idempotent, or return something new each time, such as
/// a routing choice or a secret.
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

fn is_read_only(path: &str) -> bool {
    path.contains("search") || path.ends_with("/select")
}

/// Routes whose body names a turn, query or router that may not exist.
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
        add(503, "The store is unavailable or the node is draining");
        return;
    }
    add(401, "The API key is missing, unknown or revoked");
    add(403, "The role, scope or origin of the key does not allow this");
    add(422, "A field is invalid; `field` names it");
    add(429, "The rate limit of the key is exhausted; see Retry-After");
    add(503, "Temporarily unavailable; retry after Retry-After seconds");
    let has_id = path.contains('{') && !path.contains("privacy");
    if has_id || path.ends_with("/feedback") || NAMES_IN_BODY.contains(&path) {
        add(404, "Not found; `detail` names what was not found");
    }
    if (method, path) == ("delete", "/api/v1/users/{user_id}") {
        add(409, "The id stands for anonymous users, who cannot be erased");
    }
    if matches!(method, "post" | "put" | "patch") {
        if !has_202 {
            add(202, "Accepted but not stored yet; see the dead letters");
        }
        add(400, "The body is malformed, or the reaction is unknown");
        if !is_read_only(path) && !path.contains("privacy") && !path.contains("keys") {
            add(
                409,
                "The id or Idempotency-Key was used with a different body, or the current state does not allow this",
            );
        }
        add(413, "The body is too large");
        add(415, "The body is not JSON");
    }
}

/// Unique and readable in generated clients, for example `get_api_v1_turns_turn_id`.
fn operation_id(path: &str, method: &str) -> String {
    let word = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let words: String = path.chars().map(word).collect();
    let parts: Vec<&str> = words.split('_').filter(|part| !part.is_empty()).collect();
    format!("{method}_{}", parts.join("_"))
}

/// Both schemas refuse unknown fields, so `allOf` cannot combine them. The fields are merged.
fn join_turn_halves(schemas: &mut Value) {
    let mut joined = schemas["OpeningRequest"].clone();
    let other = schemas["CompletionRequest"]["properties"].as_object().cloned();
    if let Some(properties) = joined["properties"].as_object_mut() {
        properties.extend(other.unwrap_or_default());
    }
    joined["description"] = "A question, optionally with its answer.".into();
    schemas["TurnRequest"] = joined;
}

/// The response to a turn contains either all fields of `StrategiesBody` or none of them. Optional
/// flattened fields are not expressible by annotations.
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
    use engine::CopySettings;

    use super::*;
    use crate::middleware::client_address::TrustedProxies;
    use crate::middleware::metrics::RequestMetrics;
    use crate::router::{Settings, documented_routes};

    fn api_document() -> Value {
        let settings = Settings {
            body_bytes: 0,
            batch_bytes: 0,
            copies: CopySettings { place: None, previous_places: Vec::new() },
            owner_token: String::new(),
            trusted_proxies: TrustedProxies::default(),
        };
        build_document(documented_routes(settings, RequestMetrics::default()).into_openapi())
    }

    #[test]
    fn open_turn_response_does_not_require_strategies() {
        let document = api_document();
        let answer = &document["components"]["schemas"]["OpenResponse"]["allOf"];
        assert!(answer[0]["properties"]["avoid"].is_object(), "{answer}");
        assert!(answer[0]["required"].is_null(), "{answer}");
        assert!(answer[1]["properties"]["turn_id"].is_object(), "{answer}");
    }

    #[test]
    fn idempotency_key_is_documented_only_where_it_is_supported() {
        let document = api_document();
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
