//! Serves the OpenAPI document, as JSON and as a self-contained HTML page.

use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use serde_json::Value;

use crate::openapi;

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:2rem auto;\
    padding:0 1rem;color:#1c2430;background:#fff}h1{margin-bottom:0}h2{margin-top:2.5rem;\
    border-bottom:1px solid #d5dbe3}h3{margin:1.8rem 0 .3rem;font-size:1rem}code,pre{font:14px/1.45 \
    ui-monospace,monospace;background:#f2f4f7;border-radius:4px}code{padding:.1em .3em}\
    pre{padding:.7rem;overflow-x:auto}.m{color:#0b57a4;text-transform:uppercase}\
    .s{font-size:.85rem;color:#566372}\
    @media(prefers-color-scheme:dark){body{color:#dfe5ec;background:#14181d}code,pre{background:#1f262e}\
    h2{border-color:#333c46}.m{color:#7fb8f0}.s{color:#9aa7b5}}";

/// Rendered once and leaked: they are needed as long as the process runs.
#[derive(Clone, Debug)]
pub(crate) struct ApiDocs {
    document: &'static str,
    page: &'static str,
}

impl ApiDocs {
    pub(crate) fn new(routes: utoipa::openapi::OpenApi) -> Self {
        let document = openapi::build_document(routes);
        let page = render_page(&document);
        Self { document: document.to_string().leak(), page: page.leak() }
    }
}

pub(crate) async fn show_openapi(State(docs): State<ApiDocs>) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], docs.document)
}

pub(crate) async fn show_reference(State(docs): State<ApiDocs>) -> impl IntoResponse {
    let policy = "default-src 'none'; style-src 'unsafe-inline'";
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, policy),
    ];
    (headers, docs.page)
}

fn render_page(document: &Value) -> String {
    let mut page = String::from("<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">");
    page += "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">";
    page += &format!("<title>Uptake API reference</title><style>{STYLE}</style>");
    page += "<h1>Uptake API reference</h1>";
    let text = |value: &Value| escape_html(value.as_str().unwrap_or_default());
    page += &format!("<p>{}</p>", text(&document["info"]["description"]));
    page += "<p>Machine-readable: <a href=\"/openapi.json\">openapi.json</a></p>";
    for tag in tag_names(document) {
        page += &format!("<h2>{}</h2>", escape_html(tag));
        for (path, method, operation) in operations_with_tag(document, tag) {
            page += &render_operation(document, path, method, operation);
        }
    }
    page += "</html>";
    page
}

fn operations_with_tag<'a>(
    document: &'a Value,
    tag: &'a str,
) -> impl Iterator<Item = (&'a String, &'a String, &'a Value)> {
    let paths = document["paths"].as_object().into_iter().flatten();
    paths
        .flat_map(|(path, methods)| {
            let methods = methods.as_object().into_iter().flatten();
            methods.map(move |(method, operation)| (path, method, operation))
        })
        .filter(move |(_, _, operation)| operation["tags"][0] == tag)
}

fn tag_names(document: &Value) -> impl Iterator<Item = &str> {
    document["tags"].as_array().into_iter().flatten().filter_map(|tag| tag["name"].as_str())
}

fn render_operation(document: &Value, path: &str, method: &str, operation: &Value) -> String {
    let mut text = format!(
        "<h3><span class=\"m\">{}</span> <code>{}</code></h3><p>{}</p>",
        escape_html(method),
        escape_html(path),
        escape_html(operation["summary"].as_str().unwrap_or_default())
    );
    let parameters = operation["parameters"].as_array().into_iter().flatten();
    let in_query = parameters.filter(|parameter| parameter["in"] == "query");
    let query: Vec<String> = in_query
        .filter_map(|parameter| Some(format!("<code>{}</code>", parameter["name"].as_str()?)))
        .collect();
    if !query.is_empty() {
        text += &format!("<p>Parameters: {}</p>", query.join(" "));
    }
    text += &format!("<pre>{}</pre>", escape_html(&curl_command(path, method, operation)));
    let body = &operation["requestBody"]["content"]["application/json"]["schema"];
    let fields = body_fields(document, body);
    if !fields.is_empty() {
        text += &format!("<p>Fields (* required): {}</p>", fields.join(" "));
    }
    text += &format!("<p class=\"s\">{}</p>", render_responses(operation));
    text
}

/// Field names of a body with their types.
fn body_fields(document: &Value, schema: &Value) -> Vec<String> {
    let schema = if schema["items"].is_object() { &schema["items"] } else { schema };
    let schema = resolve_ref(document, schema);
    let required = |name: &str| {
        schema["required"].as_array().is_some_and(|names| names.iter().any(|one| one == name))
    };
    let properties = schema["properties"].as_object().into_iter().flatten();
    let field = |(name, value): (&String, &Value)| {
        let star = if required(name) { "*" } else { "" };
        format!("<code>{}{star}</code> {}", escape_html(name), type_name(document, value))
    };
    properties.map(field).collect()
}

fn resolve_ref<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    let name = schema["$ref"].as_str().and_then(|text| text.rsplit('/').next());
    name.map_or(schema, |name| &document["components"]["schemas"][name])
}

fn type_name(document: &Value, schema: &Value) -> &'static str {
    let named = |one: &&Value| one["$ref"].is_string();
    let schema = match schema["oneOf"].as_array().and_then(|all| all.iter().find(named)) {
        Some(one) => resolve_ref(document, one),
        None => resolve_ref(document, schema),
    };
    let types = &schema["type"];
    match types.as_str().or_else(|| types[0].as_str()) {
        Some("string") => "string",
        Some("array") => "list",
        Some("boolean") => "boolean",
        Some("integer" | "number") => "number",
        Some("object") => "object",
        Some(_) | None => "any",
    }
}

fn render_responses(operation: &Value) -> String {
    let responses = operation["responses"].as_object().into_iter().flatten();
    let answer = |(status, value): (&String, &Value)| {
        let words = value["description"].as_str().unwrap_or_default();
        format!("<b>{}</b> {}", escape_html(status), escape_html(words))
    };
    responses.map(answer).collect::<Vec<_>>().join(" · ")
}

/// A command that works when pasted, with the ids of the examples.
pub(crate) fn curl_command(path: &str, method: &str, operation: &Value) -> String {
    let examples = [
        ("{tenant}", "default"),
        ("{project}", "default"),
        ("{conversation_id}", "c1"),
        ("{turn_id}", "t1"),
        ("{name}", "chat"),
        ("{entity_id}", "e1"),
        ("{user_id}", "ann"),
        ("{topic}", "feedback-events"),
        ("experiments/{id}", "experiments/greeting"),
        ("{action}", "start"),
    ];
    let mut path = examples.iter().fold(path.to_owned(), |path, (from, to)| path.replace(from, to));
    path = match path.as_str() {
        "/api/v1/decisions/{id}" => "/api/v1/decisions/d1".to_owned(),
        "/api/v1/decisions" if method == "get" => "/api/v1/decisions?session_id=c1".to_owned(),
        "/api/v1/feedback/{id}" => "/api/v1/feedback/e1".to_owned(),
        other => other.replace("{id}", "ID"),
    };
    let mut line = "curl -s".to_owned();
    if !matches!(method, "get" | "post") {
        line += &format!(" -X {}", method.to_uppercase());
    }
    line += &format!(" 'http://127.0.0.1:8787{path}'");
    let example = &operation["requestBody"]["content"]["application/json"]["example"];
    if !example.is_null() {
        let body = example.to_string().replace('\'', "'\\''");
        line += &format!(" -H 'Content-Type: application/json' \\\n  -d '{body}'");
    }
    line
}

fn escape_html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
