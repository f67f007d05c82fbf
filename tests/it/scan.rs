//! Chat logs through `uptake scan`.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::server::uptake;

pub(crate) const ASKED: &str = "find laptops under $1000";
pub(crate) const GIVEN: &str = "Here are three business laptops: ThinkPad, Latitude and ProBook.";
pub(crate) const WRONG: &str = "No, I meant gaming laptops, not business laptops";
const BETTER: &str = "For gaming under $1000: the Katana 15 and the TUF A15.";
const GLAD: &str = "Perfect, thanks, I'll take the TUF";

fn messages() -> Value {
    json!([
        {"role": "user", "content": ASKED}, {"role": "assistant", "content": GIVEN},
        {"role": "user", "content": WRONG}, {"role": "assistant", "content": BETTER},
        {"role": "user", "content": GLAD}, {"role": "assistant", "content": "Enjoy!"},
    ])
}

/// The same conversation in every supported format.
pub(crate) fn all_formats() -> Vec<(&'static str, Vec<Value>)> {
    let pairs = [(ASKED, GIVEN), (WRONG, BETTER), (GLAD, "Enjoy!")];
    let share_gpt: Vec<Value> = pairs
        .iter()
        .flat_map(|(q, a)| {
            [json!({"from": "human", "value": q}), json!({"from": "gpt", "value": a})]
        })
        .collect();
    let turns = |make: &dyn Fn(usize, &str, &str) -> Value| -> Vec<Value> {
        pairs.iter().enumerate().map(|(at, (q, a))| make(at, q, a)).collect()
    };
    vec![
        ("openai", vec![json!({"id": "x1", "messages": messages()})]),
        ("sharegpt", vec![json!({"id": "x1", "conversations": share_gpt})]),
        ("lmsys", vec![json!({"conversation_id": "x1", "model": "m", "conversation": messages()})]),
        (
            "langfuse",
            turns(&|at, q, a| {
                json!({"id": format!("t{at}"), "sessionId": "x1", "input": q, "output": a,
                       "timestamp": format!("2026-05-01T10:0{at}:00Z")})
            }),
        ),
        (
            "langsmith",
            turns(&|at, q, a| {
                json!({"id": format!("r{at}"), "trace_id": format!("r{at}"), "run_type": "chain",
                       "session_id": "project", "inputs": {"input": q}, "outputs": {"output": a},
                       "start_time": format!("2026-05-01T10:0{at}:00"),
                       "extra": {"metadata": {"thread_id": "x1"}}})
            }),
        ),
        ("ours", turns(&|_, q, a| json!({"conversation_id": "x1", "text": q, "response": a}))),
    ]
}

pub(crate) fn write_file(folder: &Path, name: &str, lines: &[Value]) -> PathBuf {
    let path = folder.join(name);
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(&path, text).unwrap();
    path
}

fn run_scan(folder: &Path, arguments: &[&str]) -> Value {
    let mut all = vec!["scan", "--json"];
    all.extend(arguments);
    let (code, out, err) = uptake(folder, &all);
    assert_eq!(code, Some(0), "{err}");
    serde_json::from_str(&out).unwrap()
}

#[test]
fn every_log_format_gives_the_same_report_and_pairs() {
    let folder = TempDir::new().unwrap();
    for (name, lines) in all_formats() {
        let log = write_file(folder.path(), &format!("{name}.jsonl"), &lines);
        let (pairs, verdicts) = (folder.path().join("pairs"), folder.path().join("verdicts"));
        let report = run_scan(
            folder.path(),
            &[
                log.to_str().unwrap(),
                "--pairs",
                pairs.to_str().unwrap(),
                "--verdicts",
                verdicts.to_str().unwrap(),
            ],
        );
        assert_eq!(report["turns"], 3, "{name}");
        assert_eq!(
            report["verdicts"],
            json!({"rejected": 1, "accepted": 1, "neutral": 0}),
            "{name}"
        );
        let worst = &report["worst"][0];
        assert_eq!(worst["conversation_id"], "x1", "{name}");
        assert_eq!(worst["excerpts"][0]["next"], WRONG, "{name}");
        assert_eq!(worst["excerpts"][0]["evidence"][0]["rule"], "negation_start", "{name}");
        assert_eq!(report["contrasts"][0]["wants"], "gaming laptops", "{name}");
        let pair: Value = serde_json::from_str(&fs::read_to_string(&pairs).unwrap()).unwrap();
        let said = |column: &str| pair[column][0]["content"].as_str();
        assert_eq!((said("chosen"), said("rejected")), (Some(BETTER), Some(GIVEN)), "{pair}");
        assert_eq!(
            (&pair["source"], &pair["conversation_ids"][0]),
            (&json!("rephrase"), &json!("x1"))
        );
        assert_eq!(pair["turn_ids"].as_array().unwrap().len(), 2, "{pair}");
        assert_eq!(report["pairs"]["sources"], json!({"rephrase": 1}), "{name}");
        assert_eq!(fs::read_to_string(&verdicts).unwrap().lines().count(), 3, "{name}");
    }
}

#[test]
fn json_array_is_read_by_item_and_invalid_lines_are_counted() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("array.json");
    let items = json!([{"id": "a", "messages": messages()}, {"id": "b", "messages": messages()}]);
    fs::write(&path, serde_json::to_string_pretty(&items).unwrap()).unwrap();
    assert_eq!(run_scan(folder.path(), &[path.to_str().unwrap()])["conversations"], 2);

    let path = folder.path().join("broken.jsonl");
    let mut bytes = b"not json\n{\"foo\":1}\n\xff\xfe\n\n".to_vec();
    bytes.extend(format!("{}\n", json!({"id": "a", "messages": messages()})).bytes());
    // Invalid UTF-8 inside a message does not stop the scan.
    bytes.extend(b"{\"messages\":[{\"role\":\"user\",\"content\":\"\xe9\xe9\"},{\"role\":\"assistant\",\"content\":\"ok then\"}]}\n");
    fs::write(&path, bytes).unwrap();
    let report = run_scan(folder.path(), &[path.to_str().unwrap()]);
    assert_eq!((&report["conversations"], &report["unreadable_lines"]), (&json!(2), &json!(3)));
}

#[test]
fn thread_count_does_not_change_the_result() {
    let folder = TempDir::new().unwrap();
    let lines: Vec<Value> =
        (0..300).map(|n| json!({"id": format!("c{n:03}"), "messages": messages()})).collect();
    let log = write_file(folder.path(), "many.jsonl", &lines);
    let run = |threads: &str| {
        let verdicts = folder.path().join(format!("v{threads}"));
        let arguments =
            [log.to_str().unwrap(), "--threads", threads, "--verdicts", verdicts.to_str().unwrap()];
        (run_scan(folder.path(), &arguments), fs::read_to_string(verdicts).unwrap())
    };
    assert_eq!(run("1"), run("4"));
}

#[test]
fn scan_prints_a_report_and_reports_a_missing_file() {
    let folder = TempDir::new().unwrap();
    let log =
        write_file(folder.path(), "log.jsonl", &[json!({"id": "c1", "messages": messages()})]);
    let (code, out, _) = uptake(folder.path(), &["scan", log.to_str().unwrap()]);
    assert_eq!(code, Some(0));
    assert!(out.contains("Satisfaction") && out.contains("»No«, I meant gaming laptops"), "{out}");
    let (code, _, err) = uptake(folder.path(), &["scan", "nowhere.jsonl"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("cannot read nowhere.jsonl"), "{err}");
}

#[test]
fn invalid_detector_settings_are_refused() {
    let folder = TempDir::new().unwrap();
    let config = folder.path().join("c.toml");
    fs::write(&config, "[detect]\nretry_similarity = 8.5\n").unwrap();
    for command in ["scan", "serve"] {
        let mut arguments = vec![command, "--config", config.to_str().unwrap()];
        if command == "scan" {
            arguments.push("x.jsonl");
        }
        let (code, _, err) = uptake(folder.path(), &arguments);
        assert_eq!(code, Some(1));
        assert!(err.contains("detect.retry_similarity is 8.5, expected 0 to 1"), "{err}");
    }
}

#[test]
fn unordered_turns_are_judged_by_time() {
    let folder = TempDir::new().unwrap();
    let trace = |at: usize, asked: &str, answered: &str| {
        json!({"id": format!("t{at}"), "sessionId": "s1", "input": asked, "output": answered,
               "timestamp": format!("2026-05-01T10:0{at}:00Z"), "model": format!("m{at}")})
    };
    let mut slow = trace(3, GLAD, "Enjoy!");
    slow["latency"] = json!(45.0);
    let mut failed = trace(4, "and a mouse?", "");
    failed["level"] = json!("ERROR");
    let log = write_file(
        folder.path(),
        "log.jsonl",
        &[trace(2, WRONG, BETTER), failed, trace(1, ASKED, GIVEN), slow],
    );
    let report = run_scan(folder.path(), &[log.to_str().unwrap()]);
    assert_eq!(report["verdicts"]["rejected"], 1);
    // Each answer has its own model, time and error.
    assert_eq!(report["models"]["m1"], json!({"turns": 1, "judged": 1, "rejected": 1}));
    assert_eq!(report["models"]["m2"]["rejected"], 0);
    assert_eq!(report["latency"]["low"], 1);
    assert_eq!(report["failures"]["execution_error"], 1);
}

#[test]
fn scan_reports_write_errors() {
    let folder = TempDir::new().unwrap();
    let lines: Vec<Value> =
        (0..3_000).map(|n| json!({"id": format!("c{n}"), "messages": messages()})).collect();
    let log = write_file(folder.path(), "many.jsonl", &lines);
    let arguments = ["scan", log.to_str().unwrap(), "--verdicts", "/dev/full"];
    let (code, _, err) = uptake(folder.path(), &arguments);
    assert_eq!(code, Some(1));
    assert!(err.contains("No space left"), "{err}");
}

#[test]
fn unnamed_conversations_are_named_by_line() {
    let folder = TempDir::new().unwrap();
    let dull = json!({"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello there"}]});
    let mut lines = vec![dull; 99];
    lines.push(json!({"messages": messages()}));
    let log = write_file(folder.path(), "log.jsonl", &lines);
    let report = run_scan(folder.path(), &[log.to_str().unwrap()]);
    assert_eq!(report["worst"][0]["conversation_id"], "(line 100)");
    let nothing = write_file(folder.path(), "nothing.jsonl", &[json!({"foo": 1})]);
    let (code, _, err) = uptake(folder.path(), &["scan", nothing.to_str().unwrap()]);
    assert_eq!(code, Some(1));
    assert!(err.contains("no conversation with an answer found"), "{err}");
}

/// The rows that a scan writes.
fn scan_pairs(folder: &Path, log: &Path, more: &[&str]) -> Vec<Value> {
    let pairs = folder.join("pairs.jsonl");
    let arguments = [&[log.to_str().unwrap(), "--pairs", pairs.to_str().unwrap()], more].concat();
    run_scan(folder, &arguments);
    let rows = fs::read_to_string(pairs).unwrap();
    rows.lines().map(|row| serde_json::from_str(row).unwrap()).collect()
}

fn talk(id: usize, turns: &[(&str, &str, Value)]) -> Value {
    let messages = turns.iter().flat_map(|(asked, answered, more)| {
        let mut answer = json!({"role": "assistant", "content": answered});
        answer.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        [json!({"role": "user", "content": asked}), answer]
    });
    json!({"id": format!("c{id}"), "messages": messages.collect::<Vec<_>>()})
}

/// Lines with every source of pairs that a file can contain.
fn rated_lines() -> Vec<Value> {
    let nothing = json!({});
    let mut lines = vec![
        json!({"id": "x1", "messages": messages()}),
        talk(
            1,
            &[("Show total sales", "SELECT 1", json!({"corrected": "SELECT sum(x) FROM orders"}))],
        ),
        talk(
            2,
            &[
                ("Write a haiku about rain", "Rain. Rain. Rain.", json!({"regenerated": true})),
                ("Write a haiku about rain", "Soft rain on the roof", nothing.clone()),
            ],
        ),
        talk(3, &[("My mail is kim@example.com, who am I?", "Bob", json!({"corrected": "Kim"}))]),
    ];
    for n in 10..30 {
        let (rating, answer) =
            if n % 2 == 0 { (json!("positive"), "good") } else { (json!(1), "bad") };
        let question = ["How do I reset my password?", "how do i reset my password"][n % 2];
        lines.push(talk(n, &[(question, &format!("{answer} {n}"), json!({"rating": rating}))]));
    }
    for (n, value) in [(40, 1), (41, 0)] {
        lines.push(json!({"id": format!("trace{n}"), "sessionId": format!("c{n}"),
            "input": "When does the shop open?", "output": format!("answer {value}"),
            "scores": [{"name": "user-feedback", "value": value}, {"name": "toxicity", "value": 0.5}]}));
    }
    lines
}

#[test]
fn scan_writes_pairs_of_every_source() {
    let folder = TempDir::new().unwrap();
    let lines = rated_lines();
    let log = write_file(folder.path(), "log.jsonl", &lines);
    let rows = scan_pairs(folder.path(), &log, &[]);
    let of = |source: &str| rows.iter().filter(|row| row["source"] == source).collect::<Vec<_>>();
    let said = |row: &Value, column: &str| row[column][0]["content"].as_str().unwrap().to_owned();
    let corrected = of("correction");
    assert_eq!(corrected.len(), 2, "{corrected:?}");
    assert_eq!(said(corrected[0], "chosen"), "SELECT sum(x) FROM orders");
    assert_eq!(
        (&corrected[0]["margin"], &corrected[0]["conversation_ids"][0]),
        (&json!(1.0), &json!("c1"))
    );
    let asked = corrected[1]["prompt"][0]["content"].as_str().unwrap();
    assert!(asked.contains("[email]") && !asked.contains("kim@"), "{asked}");
    assert_eq!(said(of("regeneration")[0], "rejected"), "Rain. Rain. Rain.");
    assert_eq!(said(of("rephrase")[0], "chosen"), BETTER);
    let rated = of("rating");
    assert!(rated.len() >= 5, "{rated:?}");
    for row in &rated {
        let (better, worse) = (said(row, "chosen"), said(row, "rejected"));
        let fits = better.starts_with("good") && worse.starts_with("bad")
            || (better.as_str(), worse.as_str()) == ("answer 1", "answer 0");
        assert!(
            fits && row["split"].is_string() && row["turn_ids"].as_array().unwrap().len() == 2,
            "{row}"
        );
    }
    assert!(
        rated.iter().any(|row| said(row, "chosen") == "answer 1"),
        "Langfuse scores: {rated:?}"
    );
    assert!(scan_pairs(folder.path(), &log, &["--threads", "4"]) == rows);
    let few = scan_pairs(folder.path(), &log, &["--sources", "correction,rating", "--cap", "1"]);
    assert_eq!(few.len(), 2, "{few:?}");
    let kto = scan_pairs(folder.path(), &log, &["--format", "kto"]);
    assert!(kto.iter().all(|row| row["label"].is_boolean()) && kto.len() > rows.len());
    let bad = ["scan", log.to_str().unwrap(), "--pairs", "p.jsonl", "--format", "csv"];
    let (code, _, err) = uptake(folder.path(), &bad);
    assert!(code == Some(1) && err.contains("one of dpo, kto"), "{err}");
}

#[test]
fn scan_reports_failure_patterns() {
    let folder = TempDir::new().unwrap();
    let words = ["revenue", "turnover", "sales", "income"];
    let mut lines: Vec<Value> = (0..12)
        .map(|n| {
            let asked = format!("What is the {} of region {n}?", words[n % 4]);
            talk(
                n,
                &[
                    (&asked, "SELECT sum(total) FROM orders", json!({})),
                    ("No, I meant completed orders, not all orders", "SELECT 2", json!({})),
                    ("Perfect, thanks", "Gladly.", json!({})),
                ],
            )
        })
        .collect();
    lines.extend((20..26).map(|n| {
        talk(
            n,
            &[(
                "Translate this letter into French",
                "I'm sorry, but I can't help with that.",
                json!({}),
            )],
        )
    }));
    let log = write_file(folder.path(), "log.jsonl", &lines);
    let report = run_scan(folder.path(), &[log.to_str().unwrap()]);
    let found = &report["failure_patterns"];
    assert_eq!((&found["negatives"], &found["looked_at"]), (&json!(18), &json!(18)), "{found}");
    let (first, second) = (&found["patterns"][0], &found["patterns"][1]);
    assert_eq!((&first["count"], &second["count"]), (&json!(12), &json!(6)), "{found}");
    assert!(first["label"].as_str().unwrap().contains("completed"), "{first}");
    assert_eq!(first["contrasts"][0]["wants"], "completed orders", "{first}");
    assert!((first["share"].as_f64().unwrap() - 12.0 / 18.0).abs() < 1e-9);
    let asked = first["examples"][0]["question"].as_str().unwrap();
    assert!(asked.starts_with("What is the"), "{asked}");
    assert_eq!(second["error_type"], "model_refusal", "{second}");
    let (code, out, _) = uptake(folder.path(), &["scan", log.to_str().unwrap()]);
    assert_eq!(code, Some(0));
    let counts = ["Failure patterns, of 18 answers", "completed orders, not all orders (12 times)"];
    assert!(counts.iter().all(|line| out.contains(line)), "{out}");
    let (_, out, _) = uptake(folder.path(), &["scan", "--patterns", "0", log.to_str().unwrap()]);
    assert!(!out.contains("Failure patterns"), "{out}");
}

#[test]
fn scan_uses_ratings_and_comments_of_an_exported_log() {
    let folder = TempDir::new().unwrap();
    let mut lines = Vec::new();
    for n in 0..6 {
        let common = |id: &str| {
            json!({"id": format!("{id}{n}"), "session_id": format!("c{n}"), "user_id": format!("u{n}"),
                "message_id": format!("t{n}"), "timestamp": format!("2026-01-01T00:0{n}:00Z")})
        };
        let with = |id: &str, more: Value| {
            let mut line = common(id);
            line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            line
        };
        lines.push(with(
            "o",
            json!({"type": "turn", "source": "application", "category": "turn",
            "data": {"phase": "opened", "text": "What are the total sales?"}}),
        ));
        lines.push(with(
            "d",
            json!({"type": "turn", "source": "application", "category": "turn",
            "data": {"phase": "completed", "response": "The total is 1.", "status": "success"}}),
        ));
        let given = if n < 4 {
            json!({"rating": "negative", "comment": "completed orders only"})
        } else {
            json!({"rating": 5, "comment": "lovely chart colours"})
        };
        lines.push(with(
            "r",
            json!({"type": "explicit", "source": "user_rating",
            "category": "quality", "data": given}),
        ));
    }
    let log = write_file(folder.path(), "log.jsonl", &lines);
    let report = run_scan(folder.path(), &[log.to_str().unwrap()]);
    let counts = &report["satisfaction"];
    assert_eq!(counts["count"], 6, "{report}");
    assert!((counts["rate"].as_f64().unwrap() - 2.0 / 6.0).abs() < 1e-9, "{report}");
    let found = &report["failure_patterns"];
    assert_eq!(found["negatives"], 4, "{found}");
    assert_eq!(found["patterns"][0]["examples"][0]["said"], "completed orders only", "{found}");
}
