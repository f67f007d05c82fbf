//! Generates many users with one complaint in many wordings, mixed with other complaints. The data
//! is a function of the turn number.

use super::{AnswerChange, OwnedTurn, make_turn};

const WORDINGS: &[&str] = &[
    "completed orders only",
    "should only count completed orders",
    "only the completed orders please",
    "No, I want orders that are completed",
    "you forgot to filter by status = 'completed'",
    "please leave out orders that were never completed",
    "that includes cancelled and pending ones, completed orders only",
    "status must be completed",
    "we report completed orders and nothing else",
    "orders in {place} count when they are completed",
    "this counts cancelled orders too",
    "for {subject} use completed orders only!",
    "wrong, it has to be completed orders",
    "filter on completed",
];
const SUBJECTS: &[&str] = &[
    "revenue",
    "orders",
    "customers",
    "average basket",
    "shipping costs",
    "discounts",
    "products sold",
    "returns",
    "sales reps",
    "conversion",
    "margin",
    "gift cards",
];
const PLACES: &[&str] = &[
    "Bavaria", "Texas", "Ontario", "Kyoto", "Lazio", "Bergen", "Perth", "Lima", "Accra", "Dublin",
    "Porto",
];
const FRAMES: &[&str] = &[
    "What is the total of {subject} for {place}?",
    "Top ten by {subject} in {place}",
    "How did {subject} develop in {place} since March?",
    "Compare {subject} of {place} with last year",
    "Show {subject} per week",
    "Which store in {place} has the best {subject}?",
    "Give me a table of {subject} by month and channel",
];
/// Questions and remarks of other complaints.
const OTHERS: &[(&str, &str)] = &[
    ("How do I reset my password for the {place} portal?", "the reset link never arrives"),
    ("Weather in {place} tomorrow", "that is the weather of today"),
    ("Find flights to {place} next week", "these flights leave from the wrong airport"),
    ("Vegetarian recipe from {place}", "that has bacon in it"),
    ("Translate the menu of a restaurant in {place}", "the translation is too formal"),
    ("Plot {subject} in {place} as a chart", "show percentages, not raw numbers"),
    ("What is the margin of {subject}?", "use net revenue, not gross"),
    ("Who manages the office in {place}?", ""),
    ("Book a meeting room in {place}", "no"),
];

fn fill_template(template: &str, n: usize) -> String {
    let subject = SUBJECTS[(n / 7) % SUBJECTS.len()];
    template.replace("{subject}", subject).replace("{place}", PLACES[(n / 3) % PLACES.len()])
}

/// `size` turns with the complaint, whose ids start with "c", and half as many others.
pub(super) fn make_crowd(size: usize) -> Vec<OwnedTurn> {
    let mut turns: Vec<OwnedTurn> = (0..size)
        .map(|n| {
            let question = fill_template(FRAMES[n % FRAMES.len()], n);
            // Another stride than the questions, so that all combinations occur.
            let said = fill_template(WORDINGS[(n * 5 + n / 14) % WORDINGS.len()], n / 2);
            let mut turn = make_turn(&format!("c{n:05}"), &question, Some(&said));
            if !n.is_multiple_of(3) {
                let text = "Filter:  -> status = 'completed'".to_owned();
                turn.changes = vec![AnswerChange { about: "status".to_owned(), text }];
            }
            turn
        })
        .collect();
    turns.extend((0..size / 2).map(|n| {
        let (question, said) = OTHERS[n % OTHERS.len()];
        let said = Some(said).filter(|said| !said.is_empty());
        make_turn(&format!("o{n:05}"), &fill_template(question, n), said)
    }));
    turns
}
