//! One complaint by many users, in wordings and about questions that the tests do not contain.

use std::time::Instant;

use anyhow::ensure;
use learn::{
    AnsweredTotals, FailedTurn, FailureKind, FailureWindow, PatternRule, extract_changes,
    find_failure_patterns,
};

const WORDINGS: [&str; 12] = [
    "please only finished orders, status completed",
    "we count completed orders here",
    "you must restrict this to completed orders",
    "orders have to be completed to count",
    "completed ones only, see our definition of an order",
    "why are open and cancelled orders in there? completed only",
    "not all orders, the completed ones",
    "add a filter for completed status",
    "the {what} has to be computed on completed orders",
    "our {what} always means completed orders",
    "pending orders should not be part of this, only completed",
    "completed orders, as always",
];
const WHATS: [&str; 10] = [
    "turnover",
    "sales",
    "basket value",
    "order volume",
    "repeat purchases",
    "delivery time",
    "voucher use",
    "cost of goods",
    "commission",
    "number of buyers",
];
const FRAMES: [&str; 8] = [
    "{what} in {where} last quarter",
    "Give me {what} by country",
    "Which branch in {where} leads in {what}?",
    "{what} per day since {where} opened",
    "Trend of {what} in {where}",
    "Is {what} in {where} above plan?",
    "List {what} for the ten largest accounts",
    "{what} of new against old clients, {where}",
];
const PLACES: [&str; 9] =
    ["Ghent", "Malmo", "Quito", "Hanoi", "Turin", "Leeds", "Omaha", "Nantes", "Split"];
/// Unrelated questions and messages.
const OTHERS: [(&str, &str); 6] = [
    ("Opening hours of the branch in {where}", "these are the hours of another branch"),
    ("Draft a letter to the landlord in {where}", "the tone is far too polite"),
    ("Distance from {where} to the airport", "in kilometres, not miles"),
    ("Chart of {what} in {where}", "the axis must start at zero"),
    ("Summarize the minutes of the {where} meeting", "that leaves out the decisions"),
    ("Forecast {what} for {where}", ""),
];

struct Row {
    id: String,
    question: String,
    said: Option<String>,
    changes: Vec<learn::AnswerChange>,
}

fn crowd(size: usize) -> Vec<Row> {
    let filled = |text: &str, n: usize| {
        text.replace("{what}", WHATS[(n / 8) % 10]).replace("{where}", PLACES[(n / 5) % 9])
    };
    let complaint = |n: usize| {
        let sql = format!("SELECT sum(x{}) FROM orders o", n % 5);
        let better = format!("{sql} WHERE o.status = 'completed'");
        // Two of three correct the answer, the others only complain.
        let changes = if n.is_multiple_of(3) { Vec::new() } else { extract_changes(&sql, &better) };
        let said = filled(WORDINGS[(n * 7 + n / 12) % 12], n / 3);
        Row { id: format!("c{n}"), question: filled(FRAMES[n % 8], n), said: Some(said), changes }
    };
    let other = |n: usize| {
        let (question, said) = OTHERS[n % 6];
        let said = Some(said.to_owned()).filter(|said| !said.is_empty());
        Row { id: format!("o{n}"), question: filled(question, n), said, changes: Vec::new() }
    };
    (0..size).map(complaint).chain((0..size / 2).map(other)).collect()
}

/// Number of patterns of the complaint at each size. Fails when it is not close to one.
#[expect(clippy::disallowed_methods, reason = "measures how long it takes")]
pub(crate) fn measure() -> anyhow::Result<()> {
    println!(
        "\n| with the complaint | others | its patterns | in the largest | of the largest | all patterns | seconds |"
    );
    println!("|---|---|---|---|---|---|---|");
    let model = embed::built_in();
    for size in [10, 30, 100, 1_000, 10_000] {
        let rows = crowd(size);
        let vector = |text: &str| model.embed(text).values().to_vec();
        let vectors: Vec<_> = rows
            .iter()
            .map(|row| (vector(&row.question), row.said.as_deref().map(vector)))
            .collect();
        let turns: Vec<FailedTurn<'_>> = rows
            .iter()
            .zip(&vectors)
            .map(|(row, (asked, said))| failed(row, asked, said.as_deref()))
            .collect();
        let started = Instant::now();
        let found =
            find_failure_patterns(&turns, &AnsweredTotals::default(), &PatternRule::default());
        let took = started.elapsed().as_secs_f64();
        let own = |turns: &[String]| turns.iter().filter(|turn| turn.starts_with('c')).count();
        let with = found.iter().filter(|pattern| own(&pattern.turns) > 0).count();
        let largest = found.iter().map(|p| (own(&p.turns), p.turns.len())).max().unwrap_or((0, 1));
        let (held, pure) = (largest.0 as f64 / size as f64, largest.0 as f64 / largest.1 as f64);
        println!(
            "| {size} | {} | {with} | {:.1}% | {:.1}% | {} | {took:.3} |",
            size / 2,
            held * 100.0,
            pure * 100.0,
            found.len()
        );
        ensure!(with <= 2 && held >= 0.9 && pure >= 0.9, "the complaint is not one pattern");
    }
    Ok(())
}

fn failed<'a>(row: &'a Row, asked: &'a [f32], said: Option<&'a [f32]>) -> FailedTurn<'a> {
    FailedTurn {
        turn_id: &row.id,
        question: &row.question,
        question_vector: Some(asked),
        remark: row.said.as_deref(),
        remark_vector: said,
        contrast: None,
        changes: &row.changes,
        kind: FailureKind::Rejected,
        error_type: None,
        model: None,
        prompt: None,
        strategy: None,
        when_ms: 0,
        window: FailureWindow::Current,
    }
}
