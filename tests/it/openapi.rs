//! The OpenAPI document is correct and covers every endpoint.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};

use crate::keys::create;
use crate::layers::rust_files;
use crate::server::{Client, Server};

const METHODS: [&str; 5] = ["put", "post", "patch", "get", "delete"];

/// Every operation of the document: method, path with example ids, example body.
pub(crate) fn operations(document: &Value, ids: &[(&str, &str)]) -> Vec<(String, String, Value)> {
    let mut found = Vec::new();
    for tag in document["tags"].as_array().unwrap() {
        for method in METHODS {
            for (path, methods) in document["paths"].as_object().unwrap() {
                let operation = &methods[method];
                if operation["tags"][0] != tag["name"] {
                    continue;
                }
                let mut path =
                    ids.iter().fold(path.clone(), |path, (from, to)| path.replace(from, to));
                if (method, path.as_str()) == ("get", "/api/v1/decisions") {
                    path.push_str("?session_id=c1");
                }
                let example =
                    operation["requestBody"]["content"]["application/json"]["example"].clone();
                found.push((method.to_owned(), path, example));
            }
        }
    }
    let paths = document["paths"].as_object().unwrap().values();
    let all: usize = paths.map(|methods| methods.as_object().unwrap().len()).sum();
    assert_eq!(found.len(), all, "an operation has a tag that is not in the list");
    found
}

pub(crate) const EXAMPLES: [(&str, &str); 14] = [
    ("{suggestion_id}", "none"),
    ("experiments/{id}", "experiments/greeting"),
    ("{action}", "start"),
    ("{entity_id}", "e1"),
    ("{name}", "chat"),
    ("feedback/{id}", "feedback/e1"),
    ("dead-letters/{id}", "dead-letters/none"),
    ("decisions/{id}", "decisions/d1"),
    ("{tenant}", "default"),
    ("{project}", "default"),
    ("{conversation_id}", "c1"),
    ("{turn_id}", "t1"),
    ("{user_id}", "ann"),
    ("{topic}", "feedback-events"),
];
const NOTHING: [(&str, &str); 14] = [
    ("{suggestion_id}", "nobody"),
    ("experiments/{id}", "experiments/none"),
    ("{action}", "start"),
    ("{entity_id}", "none"),
    ("{name}", "none"),
    ("feedback/{id}", "feedback/none"),
    ("dead-letters/{id}", "dead-letters/other"),
    ("decisions/{id}", "decisions/none"),
    ("{tenant}", "default"),
    ("{project}", "default"),
    ("{conversation_id}", "none"),
    ("{turn_id}", "none"),
    ("{user_id}", "nobody"),
    ("{topic}", "feedback-events"),
];

pub(crate) fn call(
    client: &Client,
    (method, path, body): &(String, String, Value),
) -> (u16, Value) {
    match method.as_str() {
        "get" => client.get(path),
        "post" => client.post(path, body),
        "put" => client.put(path, body),
        "patch" => client.patch(path, body),
        _ => client.delete(path),
    }
}

pub(crate) fn document(server: &Server) -> Value {
    let (status, document) = server.get("/openapi.json");
    assert_eq!(status, 200);
    document
}

fn client_with_key(server: &Server, key: &str) -> Client {
    server.client().with_header("Authorization", &format!("Bearer {key}"))
}

#[test]
fn openapi_document_equals_the_one_in_the_repository() {
    let server = Server::start();
    let now = serde_json::to_string_pretty(&document(&server)).unwrap() + "\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/openapi.json");
    if std::env::vars_os().any(|(name, _)| name == "UPTAKE_UPDATE_SNAPSHOTS") {
        std::fs::write(&path, &now).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        now == kept,
        "the API changed; if that was meant: UPTAKE_UPDATE_SNAPSHOTS=1 cargo test --test it openapi"
    );
}

/// With two shapes of one name, the document would describe only one of them.
#[test]
fn openapi_schema_names_are_unique() {
    let mut names = BTreeSet::new();
    for file in rust_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/api/src")) {
        let text = std::fs::read_to_string(&file).unwrap();
        for behind in text.split("ToSchema)]").skip(1) {
            let mut words = behind
                .split(|c: char| !c.is_alphanumeric() && c != '_')
                .skip_while(|word| !["struct", "enum"].contains(word));
            let name = words.nth(1).unwrap().to_owned();
            assert!(names.insert(name.clone()), "{name} of {} is another one", file.display());
        }
    }
    assert!(names.contains("ExampleBody"), "nothing was found: {names:?}");
}

#[test]
fn openapi_examples_succeed() {
    let server = Server::start();
    let (status, page) = server.get("/docs");
    let page = page.as_str().unwrap().to_owned();
    assert_eq!(status, 200);
    let mut all = operations(&document(&server), &EXAMPLES);
    // No unit is assigned before the experiment is started.
    all.sort_by_key(|(_, path, _)| path.ends_with("/assign"));
    for operation in all {
        let (method, path, body) = &operation;
        // These need objects that no example can create.
        let made_elsewhere = ["{id}", "dead-letters/", "suggestions/"];
        if path == "/api/v1/keys" || made_elsewhere.iter().any(|part| path.contains(part)) {
            continue;
        }
        let (status, answer) = call(&server.client(), &operation);
        assert!((200..300).contains(&status), "{method} {path} {body}: {status} {answer}");
        let line = format!("http://127.0.0.1:8787{}", path.replace('&', "&amp;"));
        assert!(page.contains(&line), "{line} is not in /docs");
    }
}

#[test]
fn every_endpoint_requires_a_key_with_the_right_role() {
    let server = Server::start();
    let document = document(&server);
    for operation in operations(&document, &EXAMPLES).iter().take(6) {
        call(&server.client(), operation);
    }
    let roles = ["widget", "ingest", "read", "admin"];
    let keys = roles.map(|role| create(&server, &["--tenant", "default", "--role", role]));
    let revoked = create(&server, &["--tenant", "default", "--role", "admin"]);
    let id = revoked.split('_').nth(1).unwrap();
    assert_eq!(client_with_key(&server, &keys[3]).delete(&format!("/api/v1/keys/{id}")).0, 200);
    for mut operation in operations(&document, &EXAMPLES) {
        if operation.1 == "/api/v1/feedback" {
            // Widgets cannot choose ids.
            operation.2.as_object_mut().unwrap().remove("id");
        }
        let (method, path, _) = &operation;
        if path.starts_with("/health") {
            continue;
        }
        assert_eq!(call(&server.client(), &operation).0, 401, "{method} {path} without a key");
        for wrong in ["uk_x_y", &revoked] {
            assert_eq!(
                call(&client_with_key(&server, wrong), &operation).0,
                401,
                "{method} {path}"
            );
        }
        let allowed = roles_for(method, path);
        for (role, key) in roles.iter().zip(&keys) {
            let (status, answer) = call(&client_with_key(&server, key), &operation);
            let refused = status == 403;
            assert_eq!(!refused, allowed.contains(role), "{role} {method} {path}: {answer}");
        }
    }
}

fn roles_for(method: &str, path: &str) -> &'static [&'static str] {
    let report = [
        "conversations-in-period",
        "turns-with-feedbacks",
        "artifacts/search",
        "policies/evaluate",
        "prompts/suggestions",
    ];
    let used = ["strategies/search", "examples/select", "retrieval/rerank"];
    let erases = method == "delete" && !path.ends_with("/history");
    let routers = path.contains("/routers/") && method != "get";
    let experiments = path.contains("/experiment") && method != "get" && !path.ends_with("/assign");
    let managed = path.contains("/keys")
        || path.contains("/privacy")
        || path.contains("/targets")
        || erases
        || routers
        || experiments;
    if managed {
        &["admin"]
    } else if used.iter().any(|part| path.contains(part)) {
        &["ingest", "read", "admin"]
    } else if method == "get" || report.iter().any(|part| path.contains(part)) {
        &["read", "admin"]
    } else if path.ends_with("/t1/feedback") || path == "/api/v1/feedback" {
        &["widget", "ingest", "admin"]
    } else {
        &["ingest", "admin"]
    }
}

#[test]
fn key_of_another_tenant_cannot_detect_existing_objects() {
    let server = Server::start();
    let document = document(&server);
    for operation in operations(&document, &EXAMPLES) {
        if operation.0 != "delete" && !operation.1.contains("/keys") {
            call(&server.client(), &operation);
        }
    }
    let own =
        client_with_key(&server, &create(&server, &["--tenant", "default", "--role", "admin"]));
    let before = own.get("/api/v1/events").1;
    let there = operations(&document, &EXAMPLES);
    let nowhere = operations(&document, &NOTHING);
    // A fresh tenant for each request, so that earlier writes do not matter.
    for (n, (real, unreal)) in there.iter().zip(&nowhere).enumerate() {
        let look = |tenant: String, operation: &(String, String, Value)| {
            let key = create(&server, &["--tenant", &tenant, "--role", "admin"]);
            let (status, mut answer) = call(&client_with_key(&server, &key), operation);
            for name in [
                "request_id",
                "key",
                "id",
                "created_at",
                "keys",
                "window",
                "tenant",
                "position",
                "computed_at",
                "changed_at",
            ] {
                answer.as_object_mut().map(|fields| fields.remove(name));
            }
            let ids =
                ["t1", "c1", "d1", "e1", "ann", "chat", "greeting", "none", "nobody", "other"];
            let text = ids.iter().fold(answer.to_string(), |text, id| {
                // The detail of a 404 names the id of the request.
                text.replace(&format!("\"{id}\""), "ID")
                    .replace(&format!(" {id} not found"), " ID not found")
            });
            (status, text)
        };
        if real.1.contains("/health") || real.1 == "/metrics" {
            continue;
        }
        let (seen, blank) = (look(format!("a{n}"), real), look(format!("b{n}"), unreal));
        assert_eq!(seen, blank, "{} {}", real.0, real.1);
    }
    assert_eq!(own.get("/api/v1/events").1, before, "nothing of the first tenant changed");
    assert_eq!(before["items"][0]["tenant_id"], json!("default"));
}
