//! Tenants and projects do not affect each other.

use serde_json::{Value, json};

use crate::engine::tamper;
use crate::experiments::experiment_calls::{events, until};
use crate::server::{Client, Server};

fn tenant(server: &Server, name: &str) -> Client {
    server.client().with_header("X-Uptake-Tenant", name)
}

fn rate(client: &Client, rating: &str) {
    let body = json!({"type": "explicit", "source": "user_rating", "category": "quality",
        "data": {"rating": rating}});
    assert_eq!(client.post("/api/v1/feedback", &body).0, 201);
}

#[test]
fn unreadable_metrics_of_one_tenant_do_not_block_alerts_of_others() {
    let server = Server::start();
    for project in 0..8 {
        rate(
            &tenant(&server, "broken").with_header("X-Uptake-Project", &format!("p{project}")),
            "positive",
        );
    }
    let (_, folder) = server.stop();
    let theirs = "SELECT key FROM projects WHERE tenant = 'broken'";
    // In the last hour of a day, the report reads the sums of days.
    for table in ["quality", "quality_days"] {
        tamper(
            folder.path(),
            &format!("UPDATE {table} SET ok = 'x' WHERE project IN ({theirs})"),
            &format!(
                "UPDATE {table} SET ok = 9223372036854775807 WHERE project IN ({theirs});
                 CREATE TEMP TABLE more AS SELECT * FROM {table} WHERE project IN ({theirs});
                 UPDATE more SET model = 'x'; INSERT INTO {table} SELECT * FROM more"
            ),
        );
    }
    let server = Server::start_in(folder);
    let figures = "/api/v1/feedback/quality/broken?period_days=1";
    assert_eq!(tenant(&server, "broken").get(figures).0, 503, "it is broken indeed");
    let fine = tenant(&server, "fine");
    let targets = json!({"satisfaction": {"min": 0.85}});
    assert_eq!(fine.put("/api/v1/tenants/fine/targets", &targets).0, 200);
    for _ in 0..9 {
        rate(&fine, "negative");
    }
    // No request for alerts: the background job finds it.
    until("the alert", || !events(&fine, "quality", |data| data["finding"] == "alert").is_empty());
}

/// Three answers of a project with the same correction.
fn corrected(client: &Client, table: &str, condition: &str) {
    for place in ["Texas", "Lima", "Kyoto"] {
        let turn = format!("{table}-{place}");
        let sql = format!("SELECT SUM(amount) FROM {table} WHERE region = '{place}'");
        let asked = json!({"conversation_id": turn, "turn_id": turn, "user_id": place,
            "text": format!("What do the {table} in {place} add up to?"), "response": sql});
        assert_eq!(client.post("/api/v1/turns", &asked).0, 201);
        let better = json!({"message_id": turn, "user_id": place, "data": {"original_sql": sql,
            "corrected_sql": format!("{sql} AND {condition}")}});
        assert_eq!(client.post("/api/v1/feedback/correction", &better).0, 201);
    }
}

#[test]
fn suggestions_use_one_project_only() {
    let server = Server::start();
    let project = |name: &str| server.client().with_header("X-Uptake-Project", name);
    corrected(&project("p1"), "orders", "status = 'completed'");
    corrected(&project("p2"), "payments", "refunded = 0");
    let suggested = |client: &Client| {
        let (status, response) = client.post("/api/v1/prompts/suggestions", &json!({}));
        assert_eq!(status, 200, "{response}");
        response["suggestions"].clone()
    };
    let (first, second) = (suggested(&project("p1")), suggested(&project("p2")));
    let text = |found: &Value| found.to_string();
    assert!(text(&first).contains("completed") && !text(&first).contains("payments"), "{first}");
    assert!(text(&second).contains("refunded") && !text(&second).contains("orders"), "{second}");
    // A project without data gets no suggestions of the tenant's other projects.
    assert_eq!(suggested(&server.client()), json!([]));
    let all = server.get("/api/v1/failures").1;
    assert!(text(&all).contains("orders") && text(&all).contains("payments"), "{all}");
}
