//! Passages that an answer restates in other words.

use super::super::*;
use super::result_names;

const VISA: &str = "Applicants must apply for a visa no later than six weeks before departure.";
const LUGGAGE: &str = "Each traveller may check in two suitcases of at most 23 kg.";

fn detect(answer: &str, question: Option<&str>, contents: &[&str]) -> Vec<&'static str> {
    let rule = UsageRule::default();
    let mut parsed = ParsedAnswer::parse(&rule, answer, AnswerKind::Response);
    if let Some(question) = question {
        parsed = parsed.with_question(question);
    }
    let item =
        |content| ReturnedItem { entity_id: "q", content: Some(content), ..Default::default() };
    let items: Vec<ReturnedItem<'_>> = contents.iter().copied().map(item).collect();
    result_names(&detect_item_use(&rule, &parsed, &items))
}

#[test]
fn restated_sentence_uses_its_item_alone() {
    for (answer, expected) in [
        (
            "You have to request your visa at least six weeks before you leave.",
            ["paraphrase", "ignored"],
        ),
        ("You can bring two suitcases, each up to 23 kg.", ["ignored", "paraphrase"]),
        ("You can bring two suitcases, each up to 32 kg and 40 inches.", ["ignored", "ignored"]),
        ("Bring a warm coat, because the evenings are cold at the coast.", ["ignored", "ignored"]),
        ("Ask the embassy of the country for its rules on long stays.", ["ignored", "ignored"]),
    ] {
        assert_eq!(detect(answer, None, &[VISA, LUGGAGE]), expected, "{answer}");
    }
}

#[test]
fn number_that_contradicts_is_no_paraphrase() {
    let answer = "You have to request your visa at least 3 weeks before you leave.";
    assert_eq!(detect(answer, None, &[VISA, LUGGAGE]), ["ignored", "ignored"]);
}

#[test]
fn sentence_near_two_items_or_the_question_is_no_paraphrase() {
    let answer = "You have to request your visa at least six weeks before you leave.";
    let twin = "Travellers have to request the visa six weeks ahead of their departure.";
    assert_eq!(detect(answer, None, &[VISA, twin]), ["ignored", "ignored"]);
    let question = "Do I have to request my visa six weeks before I leave?";
    assert_eq!(detect(answer, Some(question), &[VISA, LUGGAGE]), ["ignored", "ignored"]);
    let other = "What papers does the trip require?";
    assert_eq!(detect(answer, Some(other), &[VISA, LUGGAGE]), ["paraphrase", "ignored"]);
}

#[test]
fn short_and_copied_sentences_are_no_paraphrases() {
    for (answer, content) in [
        ("Best regards from Ann.", "Best wishes from Ann."),
        ("Prices may vary by region.\nThe hotel is by the lake.", "Prices may vary by region."),
        ("```\nlet visa = request_visa(six_weeks);\n```", "request the visa six weeks before"),
    ] {
        assert_eq!(detect(answer, None, &[content, LUGGAGE]), ["ignored", "ignored"], "{answer}");
    }
}
