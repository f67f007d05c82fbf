//! Preference export: rows that training libraries read, without erased users.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::conversation_calls::{TestConversation, past_time};
use crate::feedback_calls::react;
use crate::server::{Server, uptake};

const SHAPES: [&str; 5] = ["dpo", "kto", "sft", "reward", "openai_dpo"];
const PARQUET: &str = "application/vnd.apache.parquet";

fn bytes(server: &Server, query: &str, accept: Option<&str>) -> Vec<u8> {
    let agent = ureq::Agent::new_with_defaults();
    let mut request = agent.get(format!("{}/api/v1/preferences/export?{query}", server.url));
    if let Some(accept) = accept {
        request = request.header("Accept", accept);
    }
    let mut response = request.call().unwrap();
    let media = response.headers().get("content-type").unwrap().to_str().unwrap().to_owned();
    assert_eq!(media, accept.unwrap_or("application/x-ndjson"));
    response.body_mut().with_config().limit(1 << 30).read_to_vec().unwrap()
}

fn rows(server: &Server, query: &str) -> Vec<Value> {
    let text = String::from_utf8(bytes(server, query, None)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn filter_source<'a>(rows: &'a [Value], source: &str) -> Vec<&'a Value> {
    rows.iter().filter(|row| row["source"] == source).collect()
}

/// The chosen and the rejected answer of a row.
fn answers(row: &Value) -> (&str, &str) {
    let of = |name: &str| row[name][0]["content"].as_str().unwrap();
    (of("chosen"), of("rejected"))
}

fn correct(server: &Server, body: &Value) {
    let (status, answer) = server.post("/api/v1/feedback/correction", body);
    assert_eq!(status, 201, "{answer}");
}

fn send(
    server: &Server,
    place: (&str, &str, &str),
    secs: u32,
    question: &str,
    answer: &str,
) -> Value {
    let (conversation, turn, user) = place;
    let body = json!({"ts": past_time(secs), "response": answer});
    TestConversation::new(server, conversation, user).send(turn, question, &body)
}

/// Sends feedback for every source of rows, in several conversations.
fn send_every_source(server: &Server) {
    // A corrected SQL statement, with the earlier messages.
    send(server, ("sql", "s1", "ann"), 0, "Which tables are there?", "orders and customers");
    send(server, ("sql", "s2", "ann"), 9, "Show total sales by region", "SELECT 1");
    correct(
        server,
        &json!({"message_id": "s2", "user_id": "ann", "data": {
        "original_sql": "SELECT 1", "corrected_sql": "SELECT region, sum(x) FROM orders GROUP BY region"}}),
    );
    correct(
        server,
        &json!({"id": "alone", "data": {"query": "List late orders",
        "original": "SELECT 2", "corrected": "SELECT * FROM orders WHERE late"}}),
    );
    // The same question in many conversations, rated up and down.
    for n in 0..24 {
        let id = format!("r{n}");
        let answer = format!("{} answer number {n}", if n % 2 == 0 { "good" } else { "bad" });
        send(server, (&id, &id, "bob"), n, "How do I reset my account password?", &answer);
        let reaction = if n % 2 == 0 { "ok" } else { "not_ok" };
        react(server, &id, &id, &json!({"reaction": reaction, "user_id": "bob"}));
    }
    // Rejected, rephrased, accepted.
    send(server, ("chat", "c1", "eve"), 0, "Laptops under 1000", "Here are business laptops.");
    let heard = send(
        server,
        ("chat", "c2", "eve"),
        20,
        "No, I meant gaming laptops, not business laptops",
        "Here are gaming laptops.",
    );
    assert_eq!(heard["previous"]["status"], "rejected", "{heard}");
    let heard = send(server, ("chat", "c3", "eve"), 40, "Perfect, thank you so much!", "Gladly.");
    assert_eq!(heard["previous"]["status"], "accepted", "{heard}");
    // Regenerated with a button.
    send(server, ("again", "g1", "eve"), 0, "Write a haiku about rain", "Rain. Rain. Rain.");
    let pressed = json!({"type": "implicit", "source": "user_interaction", "category": "quality",
        "session_id": "again", "message_id": "g1", "data": {"kind": "regenerate"}});
    assert_eq!(server.post("/api/v1/feedback", &pressed).0, 201);
    send(server, ("again", "g2", "eve"), 30, "Write a haiku about rain", "Soft rain on the roof");
}

/// Two variants of an experiment answer the same question of many users, who prefer one of them.
fn run_experiment(server: &Server) {
    let client = server.client();
    let definition = json!({"id": "hours", "name": "shorter answers", "unit": "user",
        "metric": "satisfaction", "variants": [{"name": "control"}, {"name": "treatment"}]});
    assert_eq!(client.post("/api/v1/experiments", &definition).0, 201);
    assert_eq!(client.post("/api/v1/experiments/hours/start", &json!({})).0, 200);
    for n in 0..24 {
        let id = format!("x{n}");
        let unit = json!({"unit_id": id});
        let variant = client.post("/api/v1/experiments/hours/assign", &unit).1["variant"].clone();
        let talk = TestConversation::new(server, &id, &id);
        let question = if n % 3 == 0 {
            "When does the shop open on Sundays?"
        } else {
            "when does the shop open on sundays"
        };
        let liked = variant == "treatment";
        let answer = json!({"response": format!("{} answer {n}", variant.as_str().unwrap())});
        talk.send(&id, question, &answer);
        if n % 2 == 0 {
            let reaction = if liked { "ok" } else { "not_ok" };
            react(server, &id, &id, &json!({"reaction": reaction, "user_id": id}));
        } else {
            // No button is pressed; the next message is the signal.
            let said = if liked { "Perfect, thank you so much!" } else { "No, that is wrong" };
            let heard = talk.send(&format!("{id}-2"), said, &json!({"response": "I see."}));
            let expected = if liked { "accepted" } else { "rejected" };
            assert_eq!(heard["previous"]["status"], expected, "{heard}");
        }
    }
}

#[test]
fn experiment_variants_make_pairs_also_after_a_restart() {
    let server = Server::start();
    run_experiment(&server);
    let tried = rows(&server, "sources=experiment");
    assert!(tried.len() >= 4, "{}", tried.len());
    for row in &tried {
        let (better, worse) = answers(row);
        assert!(better.starts_with("treatment") && worse.starts_with("control"), "{row}");
        assert_eq!(row["experiment"], "shorter answers");
        assert_eq!(row["margin"], 1.0);
        let turns: Vec<&str> =
            row["turn_ids"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
        let number = |answer: &str| format!("x{}", answer.rsplit(' ').next().unwrap());
        assert_eq!(turns, [number(better), number(worse)]);
    }
    let by_message = |row: &&Value| row["confidence"].as_f64().unwrap() < 1.0;
    assert!(tried.iter().any(|row| by_message(&row)), "what messages say counts too");
    assert!(filter_source(&rows(&server, ""), "experiment").len() == tried.len());
    let rated = rows(&server, "sources=rating");
    assert!(rated.iter().all(|row| row["experiment"] == ""), "{rated:?}");
    let server = server.kill_and_restart();
    assert_eq!(rows(&server, "sources=experiment"), tried);
    // The experiment has ended; its rows remain.
    assert_eq!(server.client().post("/api/v1/experiments/hours/complete", &json!({})).0, 200);
    assert_eq!(rows(&server, "sources=experiment"), tried);
}

#[test]
fn every_source_makes_rows_with_its_name() {
    let server = Server::start();
    send_every_source(&server);
    let all = rows(&server, "format=dpo");
    let corrected = filter_source(&all, "correction");
    assert_eq!(corrected.len(), 2, "{corrected:?}");
    let sql = corrected.iter().find(|row| row["turn_ids"][0] == "s2").unwrap();
    let better = "SELECT region, sum(x) FROM orders GROUP BY region";
    assert_eq!(answers(sql), (better, "SELECT 1"));
    let prompt = json!([
        {"role": "user", "content": "Which tables are there?"},
        {"role": "assistant", "content": "orders and customers"},
        {"role": "user", "content": "Show total sales by region"}]);
    assert_eq!(sql["prompt"], prompt);
    assert_eq!((&sql["margin"], &sql["confidence"]), (&json!(1.0), &json!(1.0)));
    assert_eq!(sql["conversation_ids"], json!(["sql", "sql"]));
    let alone = corrected.iter().find(|row| row["turn_ids"][0] != "s2").unwrap();
    assert_eq!(answers(alone), ("SELECT * FROM orders WHERE late", "SELECT 2"));
    let (_, event) = server.get("/api/v1/feedback/alone");
    assert_eq!(alone["turn_ids"][0], event["message_id"], "the quoted turn");
    let rated = filter_source(&all, "rating");
    assert!(rated.len() >= 6, "{}", rated.len());
    for row in &rated {
        let (better, worse) = answers(row);
        assert!(better.starts_with("good") && worse.starts_with("bad"), "{row}");
    }
    let rephrased = filter_source(&all, "rephrase");
    assert_eq!(answers(rephrased[0]), ("Here are gaming laptops.", "Here are business laptops."));
    let again = filter_source(&all, "regeneration");
    assert_eq!(answers(again[0]), ("Soft rain on the roof", "Rain. Rain. Rain."));
    assert_eq!((rephrased.len(), again.len()), (1, 1));
    assert_eq!(all.len(), 4 + rated.len());

    let only = rows(&server, "sources=correction,regeneration");
    assert_eq!(only.len(), 3, "{only:?}");
    assert_eq!(rows(&server, "cap=1").len(), 4);
    assert_eq!(rows(&server, "cap=rating:2").len(), 6);
    // Filtered by time: the correction itself is from now.
    let early = format!("since={}&until={}", past_time(0), past_time(5));
    let early: BTreeSet<String> =
        rows(&server, &early).iter().map(|r| r["source"].to_string()).collect();
    assert_eq!(early, ["\"rating\"".to_owned()].into());
    // The rejected answer belongs to the earlier question.
    let late = rows(&server, &format!("since={}", past_time(30)));
    assert!(filter_source(&late, "regeneration").is_empty(), "{late:?}");
    let sure = rows(&server, "min_confidence=1");
    assert!(filter_source(&sure, "regeneration").is_empty() && sure.len() >= 3, "{}", sure.len());
    let rest = rows(&server, &format!("after={}", all[1]["id"].as_str().unwrap()));
    assert_eq!(rest, all[2..], "taken up again behind a row");
    let other = server.client().with_header("X-Uptake-Tenant", "other");
    assert_eq!(other.get("/api/v1/preferences/export"), (200, json!("")));
}

/// Compares the rewards of a row with those of its turns.
fn check_rewards(server: &Server, row: &Value) {
    let ids = row["turn_ids"].as_array().unwrap();
    for name in ["rewards", "reward_weights"] {
        assert_eq!(row[name].as_array().unwrap().len(), ids.len(), "{row}");
    }
    for (at, id) in ids.iter().enumerate() {
        let turn = server.get(&format!("/api/v1/turns/{}", id.as_str().unwrap())).1;
        for (column, field) in [("rewards", "reward"), ("reward_weights", "reward_weight")] {
            let (exported, shown) = (row[column][at].as_f64(), turn[field].as_f64());
            assert!((exported.unwrap() - shown.unwrap()).abs() < 1e-6, "{column} {row} {turn}");
        }
    }
}

#[test]
fn rows_have_the_rewards_of_their_turns() {
    let server = Server::start();
    send_every_source(&server);
    // The router of a turn defines how its signals are weighed.
    let router = json!({"arms": [{"id": "a"}, {"id": "b"}],
        "reward": {"explicit_weight": 0.5, "implicit_weight": 0.5}});
    assert_eq!(server.client().put("/api/v1/routers/chat", &router).0, 200);
    let asked = json!({"turn_id": "routed", "conversation_id": "routed", "user_id": "kim",
        "text": "Which plan is cheapest?", "include": ["route"], "router": "chat"});
    let arm = server.post("/api/v1/turns", &asked).1["route"]["arm"].clone();
    let done = json!({"response": "The basic plan.", "model": arm, "latency_ms": 20_000});
    assert_eq!(server.post("/api/v1/turns/routed/complete", &done).0, 200);
    let praise = json!({"reaction": "ok", "user_id": "kim"});
    assert_eq!(server.post("/api/v1/turns/routed/feedback", &praise).0, 200);
    let check = |server: &Server| {
        for shape in SHAPES {
            let all = rows(server, &format!("format={shape}"));
            assert!(!all.is_empty(), "{shape}");
            all.iter().for_each(|row| check_rewards(server, row));
        }
        let all = rows(server, "format=kto");
        let routed = all.iter().find(|row| row["turn_ids"][0] == "routed").unwrap();
        // Half a thumbs up, half an answer after 20 seconds.
        assert_eq!(
            (&routed["rewards"], &routed["reward_weights"]),
            (&json!([0.85]), &json!([1.0]))
        );
    };
    check(&server);
    check(&server.kill_and_restart());
}

#[test]
fn splits_share_no_conversation_and_exports_are_reproducible() {
    let server = Server::start();
    send_every_source(&server);
    run_experiment(&server);
    let before: Vec<Vec<u8>> =
        SHAPES.iter().map(|shape| bytes(&server, &format!("format={shape}"), None)).collect();
    let columns = bytes(&server, "format=dpo", Some(PARQUET));
    let mut parts: BTreeMap<String, String> = BTreeMap::new();
    let mut by_part = 0;
    for split in ["train", "validation", "test"] {
        for row in rows(&server, &format!("split={split}")) {
            assert_eq!(row["split"], split);
            by_part += 1;
            for conversation in row["conversation_ids"].as_array().unwrap() {
                let known = parts.insert(conversation.to_string(), split.to_owned());
                assert!(known.is_none_or(|known| known == split), "{conversation}");
            }
        }
    }
    assert_eq!(by_part, rows(&server, "format=dpo").len());
    let server = server.kill_and_restart();
    for (shape, before) in SHAPES.iter().zip(before) {
        assert!(!before.is_empty());
        assert_eq!(bytes(&server, &format!("format={shape}"), None), before, "{shape}");
    }
    assert_eq!(bytes(&server, "format=dpo", Some(PARQUET)), columns);
}

#[test]
fn scan_of_the_exported_log_writes_the_same_rows() {
    let server = Server::start();
    send_every_source(&server);
    let folder = tempfile::tempdir().unwrap();
    let (log, pairs) = (folder.path().join("log.jsonl"), folder.path().join("pairs.jsonl"));
    let (log, pairs) = (log.to_str().unwrap(), pairs.to_str().unwrap());
    assert_eq!(uptake(server.folder(), &["export", "--output", log]).0, Some(0));
    for shape in ["dpo", "kto"] {
        let arguments = ["scan", log, "--pairs", pairs, "--format", shape, "--json"];
        let (code, said, wrong) = uptake(folder.path(), &arguments);
        assert_eq!(code, Some(0), "{said}{wrong}");
        let by_id = |rows: Vec<Value>| -> BTreeMap<String, Value> {
            rows.into_iter().map(|row| (row["id"].to_string(), row)).collect()
        };
        let text = fs::read_to_string(pairs).unwrap();
        let scanned = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let (scanned, stored) = (by_id(scanned), by_id(rows(&server, &format!("format={shape}"))));
        let ids = |rows: &BTreeMap<String, Value>| rows.keys().cloned().collect::<Vec<_>>();
        assert_eq!(ids(&scanned), ids(&stored), "{shape}");
        for (id, row) in &scanned {
            let columns = ["source", "margin", "split", "turn_ids", "conversation_ids", "prompt"];
            // A scan does not see that a user repeats a question in another conversation.
            let is_alone = row["source"] != "rating";
            let rewards = ["rewards", "reward_weights"].into_iter().filter(|_| is_alone);
            for column in columns.into_iter().chain(rewards) {
                assert_eq!(row[column], stored[id][column], "{column} {row}");
            }
        }
    }
}

#[test]
fn training_libraries_read_every_format() {
    let server = Server::start();
    send_every_source(&server);
    run_experiment(&server);
    let folder = tempfile::tempdir().unwrap();
    let mut files = Vec::new();
    for shape in SHAPES {
        let query = format!("format={shape}");
        for (accept, ending) in [(None, "jsonl"), (Some(PARQUET), "parquet")] {
            let file = folder.path().join(format!("{shape}.{ending}"));
            let written = bytes(&server, &query, accept);
            fs::write(&file, &written).unwrap();
            // The command reads the folder while the server holds it, and writes the same rows.
            let from_command = folder.path().join(format!("command.{ending}"));
            let wanted = ["export", "--preferences", shape, "--json", "--output"];
            let wanted = [&wanted[..], &[from_command.to_str().unwrap()]].concat();
            let (code, said, wrong) = uptake(server.folder(), &wanted);
            assert_eq!(code, Some(0), "{said}{wrong}");
            let said: Value = serde_json::from_str(&said).unwrap();
            assert!(said["rows"].as_u64().unwrap() > 0, "{said}");
            assert!(fs::read(&from_command).unwrap() == written, "{shape} {ending}");
            files.push(format!("{shape}={}", file.display()));
        }
    }
    check(&files);
    let half = folder.path().join("half.parquet");
    let whole = fs::read(folder.path().join("dpo.parquet")).unwrap();
    fs::write(&half, &whole[..whole.len() / 2]).unwrap();
    assert!(!reads(&[format!("dpo={}", half.display())]).0, "the check can fail");
}

fn reads(files: &[String]) -> (bool, String) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let done = Command::new(root.join("scripts/check-preferences")).args(files).output().unwrap();
    let said = [done.stdout, done.stderr].concat();
    (done.status.success(), String::from_utf8_lossy(&said).into_owned())
}

#[track_caller]
fn check(files: &[String]) {
    let (fit, said) = reads(files);
    assert!(fit, "{said}");
    assert_eq!(said.matches("rows match").count(), files.len(), "{said}");
}

#[test]
fn rows_contain_no_erased_users_and_no_secrets() {
    let server = Server::start();
    send_every_source(&server);
    send(&server, ("key", "k1", "kim"), 0, "My mail is kim@example.com, who am I?", "wrong");
    correct(
        &server,
        &json!({"message_id": "k1", "data": {"corrected": "You are kim@example.com"}}),
    );
    let text = String::from_utf8(bytes(&server, "", None)).unwrap();
    assert!(text.contains("GROUP BY region") && text.contains("who am I"), "{text}");
    assert!(!text.contains("kim@example.com"), "{text}");
    assert_eq!(server.client().delete("/api/v1/users/ann").0, 200);
    let left = rows(&server, "");
    assert!(
        left.iter().all(|row| !row["conversation_ids"].to_string().contains("sql")),
        "{left:?}"
    );
    assert_eq!(filter_source(&left, "correction").len(), 2, "{left:?}");
    assert!(!String::from_utf8(bytes(&server, "", None)).unwrap().contains("region"));
}

#[test]
fn invalid_export_requests_are_refused_with_the_field() {
    let server = Server::start();
    for (query, field) in [
        ("format=csv", "format"),
        ("split=rest", "split"),
        ("since=soon", "since"),
        ("min_confidence=2", "min_confidence"),
        ("sources=dreams", "sources"),
        ("cap=many", "cap"),
        ("wish=1", "wish"),
    ] {
        let (status, problem) = server.get(&format!("/api/v1/preferences/export?{query}"));
        assert_eq!((status, &problem["field"]), (422, &json!(field)), "{problem}");
    }
    let arguments = ["export", "--preferences", "csv"];
    let (code, _, wrong) = uptake(server.folder(), &arguments);
    assert!(code == Some(1) && wrong.contains("one of dpo, kto"), "{wrong}");
}
