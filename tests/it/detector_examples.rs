//! Examples that the detectors must get right, and rows of other writers that nothing was trained
//! or tuned on (bench/detect/README.md).

use serde_json::{Value, json};

use crate::score::run_score;

const INSTANT: [(&str, &str); 1] = [("UPTAKE__DETECT__READER", "off")];
const READER: [(&str, &str); 1] = [("UPTAKE__DETECT__READER", "auto")];

fn score(task: &str, rows: &[Value], environment: &[(&str, &str)]) -> Vec<Value> {
    let lines: String = rows.iter().map(|row| format!("{row}\n")).collect();
    let (code, scored) = run_score(&["--task", task], lines.as_bytes(), environment);
    assert_eq!((code, scored.len()), (Some(0), rows.len()));
    scored
}

fn held_out(name: &str) -> Vec<Value> {
    let path = format!("{}/bench/detect/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn messages_are_judged_by_meaning() {
    let rows = [
        // A bare fact as a correction.
        (
            "how many orders did we ship in march",
            "You shipped 1,240 orders in March.",
            "the warehouse report says 1,412",
            "rejected",
        ),
        (
            "how do I read the config in python",
            "Use `json.load(open('config.json'))`.",
            "Traceback (most recent call last):\n  File \"app.py\", line 3, in <module>\njson.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
            "rejected",
        ),
        (
            "how do I speed up this loop over the rows",
            "Replace it with `df['total'] = df.price * df.qty`.",
            "now it throws a KeyError on qty",
            "rejected",
        ),
        (
            "write a short bio for my profile",
            "Painter of birds, exhibited in three galleries worldwide.",
            "thanks, but I have never exhibited anywhere",
            "rejected",
        ),
        // A complaint taken back in the same message.
        (
            "what is 17 times 23",
            "391",
            "that's wrong... oh wait, I mistyped it, 391 is right",
            "accepted",
        ),
        // Quoted words of others.
        (
            "translate this review to German: 'this is wrong, terrible service'",
            "'Das ist falsch, schrecklicher Service'",
            "and now this one: 'I want my money back, nothing works'",
            "accepted",
        ),
        // A reply to the assistant's own question.
        (
            "my printer does not print",
            "Is the light on the front red?",
            "no, it's green",
            "neutral",
        ),
    ];
    let lines: Vec<Value> = rows
        .iter()
        .map(|(asked, answered, message, _)| {
            json!({"prev_user": asked, "assistant": answered, "user": message})
        })
        .collect();
    for ((_, _, message, expected), found) in rows.iter().zip(score("verdict", &lines, &READER)) {
        assert_eq!(found["status"], *expected, "{message}: {found}");
    }
}

#[test]
fn wanted_and_unwanted_things_are_named() {
    let rows = [
        (
            "find laptops under $1000",
            "Here are three business laptops.",
            "No, I meant gaming laptops",
            json!({"wants": "gaming laptops"}),
        ),
        (
            "write tests for parse_date",
            "import unittest\nclass TestParseDate(unittest.TestCase): pass",
            "use pytest instead",
            json!({"wants": "pytest"}),
        ),
        (
            "what was our revenue last year",
            "Gross revenue was 4.1 million.",
            "net, not gross",
            json!({"wants": "net", "instead_of": "gross"}),
        ),
    ];
    let lines: Vec<Value> = rows
        .iter()
        .map(|(asked, answered, message, _)| {
            json!({"prev_user": asked, "assistant": answered, "user": message})
        })
        .collect();
    for environment in [&INSTANT, &READER] {
        for ((_, _, message, expected), found) in
            rows.iter().zip(score("verdict", &lines, environment))
        {
            assert_eq!(
                (&found["contrast"], &found["status"]),
                (expected, &json!("rejected")),
                "{message}: {found}"
            );
        }
    }
}

#[test]
fn remark_about_an_earlier_answer_judges_that_answer() {
    let turns = json!([
        {"user": "Draw a diagram of the login flow",
         "assistant": "Here is the login flow diagram: the user enters a password, then the session is created, then a token is issued."},
        {"user": "What is the capital of Peru?", "assistant": "The capital of Peru is Lima."}]);
    let message = "Ah, the login flow diagram was wrong, the token comes first";
    let row = json!({"turns": turns, "user": message});
    for environment in [&INSTANT, &READER] {
        let found = &score("target", std::slice::from_ref(&row), environment)[0];
        assert_eq!(
            (&found["target"], &found["status"]),
            (&json!(1), &json!("rejected")),
            "{found}"
        );
    }
}

#[test]
fn texts_of_gateways_and_loops_are_failures() {
    let rows = [
        ("summarise my mails", "upstream request timeout", "error_text"),
        (
            "summarise my mails",
            "<html><head><title>502 Bad Gateway</title></head><body><center><h1>502 Bad Gateway</h1></center><hr><center>nginx</center></body></html>",
            "error_text",
        ),
        ("summarise my mails", "null", "error_text"),
        (
            "write a function that adds two numbers in python",
            "Sure:\n```python\ndef add(a, b):\n    return a +",
            "truncated",
        ),
        (
            "what is the weather like in Berlin today",
            "Heute ist es in Berlin sonnig bei etwa zwanzig Grad, am Abend kann es regnen.",
            "wrong_language",
        ),
        (
            "tell me about cats",
            "Cats are animals. Cats are animals. Cats are animals. Cats are animals. Cats are animals. Cats are animals.",
            "repetition",
        ),
    ];
    let lines: Vec<Value> = rows
        .iter()
        .map(|(asked, answered, _)| json!({"prompt": asked, "response": answered}))
        .collect();
    for ((_, answered, expected), found) in rows.iter().zip(score("refusal", &lines, &INSTANT)) {
        assert_eq!(found["error_type"], *expected, "{answered}: {found}");
    }
}

/// Share of hits among all that pass a filter.
fn share(rows: &[Value], among: impl Fn(&Value) -> bool, hit: impl Fn(&Value) -> bool) -> f64 {
    let all: Vec<&Value> = rows.iter().filter(|row| among(row)).collect();
    all.iter().filter(|row| hit(row)).count() as f64 / all.len() as f64
}

#[test]
fn failures_of_300_held_out_answers_are_found() {
    let lines: Vec<Value> = held_out("failures")
        .iter()
        .map(|row| json!({"prompt": row["question"], "response": row["answer"], "label": row["label"]}))
        .collect();
    assert!(lines.len() >= 300);
    let found = score("refusal", &lines, &INSTANT);
    let fails = |row: &Value| row["label"] != "none";
    let is_found = |row: &Value| !row["error_type"].is_null();
    let (precision, recall) = (share(&found, is_found, fails), share(&found, fails, is_found));
    assert!(precision >= 0.97 && recall >= 0.9, "precision {precision}, recall {recall}");
    for label in ["model_refusal", "error_text", "truncated", "wrong_language", "repetition"] {
        let recall = share(&found, |row| row["label"] == label, |row| row["error_type"] == label);
        assert!(recall >= 0.8, "{label}: {recall}");
    }
}

#[test]
fn contrasts_of_600_held_out_corrections_are_never_inverted() {
    let lines: Vec<Value> = held_out("corrections")
        .iter()
        .map(|row| {
            json!({"prev_user": row["question"], "assistant": row["answer"], "user": row["message"],
                "wanted": row["wants"], "unwanted": row["instead_of"]})
        })
        .collect();
    let found = score("verdict", &lines, &INSTANT);
    let is = |row: &Value, side: &str, phrases: &str| {
        let phrases = row[phrases].as_array().unwrap();
        row["contrast"][side].is_string() && phrases.contains(&row["contrast"][side])
    };
    let extracted = found.iter().filter(|row| row["contrast"].is_object()).count();
    assert!(extracted >= 100, "{extracted}");
    for row in &found {
        assert!(!is(row, "wants", "unwanted") && !is(row, "instead_of", "wanted"), "{row}");
    }
}
