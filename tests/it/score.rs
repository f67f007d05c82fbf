//! Rows through `uptake score`.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::scan::{ASKED, GIVEN, WRONG};

/// The output of `uptake score` for some lines, and its exit code.
pub(crate) fn run_score(
    arguments: &[&str],
    lines: &[u8],
    environment: &[(&str, &str)],
) -> (Option<i32>, Vec<Value>) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_uptake"))
        .arg("score")
        .args(arguments)
        .envs(environment.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let output = std::thread::scope(|scope| {
        // Fed beside the reading, so that neither pipe fills up.
        scope.spawn(move || input.write_all(lines).unwrap());
        child.wait_with_output().unwrap()
    });
    let rows = String::from_utf8(output.stdout).unwrap();
    (output.status.code(), rows.lines().map(|row| serde_json::from_str(row).unwrap()).collect())
}

#[test]
fn scored_rows_keep_their_own_fields() {
    let row =
        json!({"set": "x", "label": true, "prev_user": ASKED, "assistant": GIVEN, "user": WRONG});
    let (code, rows) = run_score(&["--task", "verdict"], format!("{row}\n").as_bytes(), &[]);
    assert_eq!(code, Some(0));
    assert_eq!(
        (&rows[0]["set"], &rows[0]["label"], &rows[0]["pred"]),
        (&json!("x"), &json!(true), &json!(true))
    );
    assert_eq!(
        (&rows[0]["status"], &rows[0]["correction_type"]),
        (&json!("rejected"), &json!("explicit"))
    );
    assert!(rows[0]["p"].as_f64().unwrap() > 0.7);

    let refusal = json!({"response": "I'm sorry, but I can't help with that request."});
    let (_, rows) = run_score(&["--task", "refusal"], format!("{refusal}\n").as_bytes(), &[]);
    assert_eq!((&rows[0]["pred"], &rows[0]["error_type"]), (&json!(true), &json!("model_refusal")));

    let pairs = [
        json!({"a": "How do I install Docker?", "b": "how do i install docker"}),
        json!({"a": "How do I install Docker?", "b": "How do I uninstall Docker?"}),
    ];
    let lines: String = pairs.iter().map(|pair| format!("{pair}\n")).collect();
    let (_, rows) = run_score(&["--task", "pair"], lines.as_bytes(), &[]);
    assert_eq!((&rows[0]["pred"], &rows[1]["pred"]), (&json!(true), &json!(false)));

    let (_, rows) = run_score(&["--task", "embed"], b"{\"text\":\"hello\"}\n", &[]);
    assert_eq!(rows[0]["vector"].as_array().unwrap().len(), 256);
}

#[test]
fn invalid_line_becomes_an_error_row_in_place() {
    let lines = b"{\"user\":\"thanks\"}\nnonsense\n{\"user\":1}\n[]\n{\"user\":\"wrong\"}\n";
    let (code, rows) = run_score(&["--task", "verdict"], lines, &[]);
    assert_eq!((code, rows.len()), (Some(1), 5));
    for place in [1, 2, 3] {
        assert!(rows[place]["error"].is_string(), "{}", rows[place]);
    }
    assert_eq!(rows[4]["status"], "rejected");
}
