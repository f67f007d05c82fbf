//! Sample conversations, sent as an application sends them.

use serde_json::json;

use crate::server::Client;

pub(super) const CONVERSATIONS: [&str; 5] = ["c-dates", "c-leave", "c-error", "c-laptop", "c-mail"];

/// A question with its answer and further fields.
fn turn(
    client: &Client,
    id: &str,
    conversation: &str,
    user: &str,
    asked: &str,
    answer: Option<&str>,
) {
    let model = if user == "bob" { "m-small" } else { "m-large" };
    let mut body = json!({"conversation_id": conversation, "turn_id": id, "user_id": user, "text": asked,
        "model": model, "latency_ms": 1250, "tokens_in": 200, "tokens_out": 40, "cost": 0.002,
        "prompt": {"id": "assistant", "version": "3"}});
    match answer {
        Some(answer) => body["response"] = answer.into(),
        None => {
            body["status"] = "error".into();
            body["error"] = "upstream timed out".into();
        }
    }
    let (status, said) = client.post("/api/v1/turns", &body);
    assert_eq!(status, 201, "{said}");
}

/// Sends the conversations.
pub(super) fn play(client: &Client) {
    let revenue = "Revenue in March: EMEA 1.2 M, AMER 2.4 M, by booked date.";
    turn(
        client,
        "dates-1",
        "c-dates",
        "ann",
        "What was our revenue in March by region?",
        Some(revenue),
    );
    let said = "No, I meant by order date, not booked date";
    turn(client, "dates-2", "c-dates", "ann", said, Some("By order date: EMEA 1.1 M, AMER 2.5 M."));
    turn(client, "dates-3", "c-dates", "ann", "Perfect, thanks!", Some("You are welcome."));
    turn(
        client,
        "leave-1",
        "c-leave",
        "bob",
        "How many vacation days do I have left?",
        Some("You have 12."),
    );
    turn(client, "leave-2", "c-leave", "bob", "Thanks, that is what I needed", Some("Any time."));
    turn(client, "error-1", "c-error", "cid", "Which customers churned this quarter?", None);
    let laptops = "Three fit: the A14, the Nimbus 15 and the Vela 13.";
    turn(client, "laptop-1", "c-laptop", "bob", "Laptops under $1000 with 32 GB?", Some(laptops));
    turn(
        client,
        "laptop-2",
        "c-laptop",
        "bob",
        "What about the Vela, how heavy is it?",
        Some("It weighs 1.1 kg."),
    );
    turn(
        client,
        "mail-1",
        "c-mail",
        "dan",
        "Translate the welcome mail into German",
        Some("Guten Tag!"),
    );
    for (turn, conversation, user, reaction) in
        [("dates-2", "c-dates", "ann", "ok"), ("mail-1", "c-mail", "dan", "not_ok")]
    {
        let event = json!({"type": "explicit", "source": "user_rating", "category": "quality",
            "session_id": conversation, "message_id": turn, "user_id": user,
            "data": {"rating": if reaction == "ok" { "positive" } else { "negative" }}});
        assert_eq!(client.post("/api/v1/feedback", &event).0, 201);
    }
}

/// Texts that would do harm if they were not escaped.
pub(super) fn hostile(client: &Client) {
    let script =
        "<script>window.hacked = 1</script><img src=x onerror=\"window.hacked=1\">\u{202e}gnp.exe";
    let long = format!("{}<b>{}", "نص طويل جدا ".repeat(20), "x".repeat(99_700));
    turn(client, "hostile-1", "c-hostile", "\"><script>window.hacked=1<p>", script, Some(&long));
    turn(
        client,
        "hostile-2",
        "c-hostile",
        "\"><script>window.hacked=1<p>",
        "No, that is wrong </mark><script>",
        Some(&long),
    );
}

/// A router, an experiment and a retrieved item of this name.
pub(super) fn learn(client: &Client, name: &str) {
    let router =
        json!({"arms": [{"id": format!("{name}-small")}, {"id": format!("{name}-large")}]});
    assert_eq!(client.put(&format!("/api/v1/routers/{name}-router"), &router).0, 200);
    let trial = json!({"id": format!("{name}-trial"), "name": format!("{name}-greeting"), "unit": "user",
        "metric": "satisfaction", "variants": [{"name": "control"}, {"name": "treatment"}]});
    assert_eq!(client.post("/api/v1/experiments", &trial).0, 201);
    assert_eq!(client.post(&format!("/api/v1/experiments/{name}-trial/start"), &json!({})).0, 200);
    for n in 0..6 {
        let (user, turn) = (format!("user-{n}"), format!("{name}-{n}"));
        let asked = json!({"router": format!("{name}-router"), "text": "How heavy is it?", "turn_id": turn,
            "conversation_id": turn, "user_id": user});
        let (status, route) = client.post("/api/v1/route", &asked);
        assert_eq!(status, 200, "{route}");
        let path = format!("/api/v1/experiments/{name}-trial/assign");
        assert_eq!(client.post(&path, &json!({"unit_id": user})).0, 200);
        let fact = "The Vela weighs one kilogram.";
        let body = json!({"conversation_id": turn, "turn_id": turn, "user_id": user,
            "text": "How heavy is it?", "response": fact, "model": route["arm"],
            "decision_id": route["decision_id"], "retrieved": [
                {"entity_id": format!("{name}-doc"), "content": fact, "rank": 1},
                {"entity_id": format!("{name}-other"), "content": "A party in June.", "rank": 2}]});
        assert_eq!(client.post("/api/v1/turns", &body).0, 201);
    }
}

/// The same complaint by several users.
pub(super) fn complain(client: &Client) {
    for n in 0..6 {
        let (user, conversation) = (format!("user-{n}"), format!("c-{n}"));
        let turn = |place: u32, text: &str, answer: &str| {
            let body = json!({"conversation_id": conversation, "turn_id": format!("{conversation}-{place}"),
                "user_id": user, "text": text, "response": answer, "model": "m1"});
            assert_eq!(client.post("/api/v1/turns", &body).0, 201);
        };
        turn(1, "What was our revenue in March by region?", "EMEA 1.2 M by booked date.");
        turn(2, "No, I meant by order date, not booked date", "EMEA 1.1 M.");
    }
}
