//! The section on the previous response: how it was taken, what was wrong, what to do now.

use model::{Contrast, CorrectionType, Strategy, VerdictStatus};

use super::contrast::things;
use super::input::{JudgedPrevious, PlannerInput};
use super::query_rewrite::{emphasised, is_code, rewrite};
use super::quoting::{ANSWER, QUOTED, bare, quoted};

/// From so many rejections in a row on, asking is better than answering.
const CLARIFY_FROM: u32 = 2;
/// Names of parameters that hold the query, the likeliest first.
const QUERY_NAMES: &[&str] = &["query", "q", "search", "question", "text", "prompt"];
/// Parameters of a strategy that are shown.
const MOST_PARAMS: usize = 6;

/// What is said about the previous response.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Feedback {
    pub(super) status: VerdictStatus,
    pub(super) detected: String,
    pub(super) user_said: Option<String>,
    pub(super) previous_strategy: Option<String>,
    pub(super) what_went_wrong: Option<String>,
    pub(super) instructions: Vec<String>,
    pub(super) rewritten_query: Option<String>,
    pub(super) suggest_clarify: bool,
}

impl Feedback {
    pub(super) fn of(input: &PlannerInput<'_>) -> Self {
        let suggest_clarify = input.rejection_streak >= CLARIFY_FROM;
        let mut feedback = match &input.judged {
            Some(judged) => Self::on(input, judged),
            None => Self::none(input),
        };
        if suggest_clarify {
            feedback.instructions.push(clarify(input.rejection_streak));
        }
        Self { suggest_clarify, ..feedback }
    }

    fn none(input: &PlannerInput<'_>) -> Self {
        let first = input.conversation.is_empty();
        let detected = if first {
            "No earlier turn in this conversation".to_owned()
        } else {
            format!("Turn {} says nothing clear about an earlier turn", input.turn)
        };
        Self {
            status: VerdictStatus::Neutral,
            detected,
            user_said: None,
            previous_strategy: None,
            what_went_wrong: None,
            instructions: Vec::new(),
            rewritten_query: None,
            suggest_clarify: false,
        }
    }

    fn on(input: &PlannerInput<'_>, judged: &JudgedPrevious<'_>) -> Self {
        let status = judged.verdict.status;
        let feedback = Self {
            status,
            detected: detected(input, judged),
            previous_strategy: Some(judged.strategy.map_or("not recorded".to_owned(), described)),
            ..Self::none(input)
        };
        match status {
            VerdictStatus::Neutral => feedback,
            VerdictStatus::Accepted => {
                let worked =
                    format!("The strategy from Turn {} worked and may be reused", judged.turn);
                Self { instructions: vec![worked], ..feedback }
            }
            VerdictStatus::Rejected => feedback.rejected(input, judged),
        }
    }

    fn rejected(self, input: &PlannerInput<'_>, judged: &JudgedPrevious<'_>) -> Self {
        let verdict = judged.verdict;
        let said = verdict.user_said.as_deref().unwrap_or(input.message);
        let contrast = verdict.contrast.as_ref();
        let contrast = contrast.and_then(|contrast| things(contrast, said, judged.question));
        let contrast = contrast.as_ref();
        let query = query_of(judged);
        let rewritten_query = contrast.and_then(|contrast| rewrite(query, contrast));
        let mut instructions = vec![format!("Do NOT reuse the strategy from Turn {}", judged.turn)];
        let wish = contrast.and_then(|contrast| wish(contrast, query));
        instructions.push(wish.unwrap_or_else(|| advice(verdict.correction_type, input.message)));
        instructions.extend(
            rewritten_query.as_deref().map(|query| {
                format!("Adjust search query to be specific: {}", quoted(query, QUOTED))
            }),
        );
        let wrong = contrast.and_then(got_instead);
        let wrong = wrong.unwrap_or_else(|| kind_of_wrong(verdict.correction_type).to_owned());
        Self {
            user_said: verdict.user_said.as_deref().map(|said| quoted(said, QUOTED)),
            what_went_wrong: Some(wrong),
            instructions,
            rewritten_query,
            ..self
        }
    }
}

fn clarify(streak: u32) -> String {
    format!(
        "Multiple rejections - be more careful: {streak} answers in a row were rejected. \
         Consider asking a clarifying question before answering"
    )
}

fn detected(input: &PlannerInput<'_>, judged: &JudgedPrevious<'_>) -> String {
    let (now, then) = (input.turn, judged.turn);
    match judged.verdict.status {
        VerdictStatus::Rejected => format!("Turn {now} detected that Turn {then} was rejected"),
        VerdictStatus::Accepted => format!("Turn {now} detected that Turn {then} was accepted"),
        VerdictStatus::Neutral => format!("Turn {now} says nothing clear about Turn {then}"),
    }
}

/// `commerce_search with query "laptops under $1000"`.
fn described(strategy: &Strategy) -> String {
    let query_first = |name: &&String| {
        let known = QUERY_NAMES.iter().position(|known| known == name);
        known.unwrap_or(QUERY_NAMES.len())
    };
    let mut names: Vec<&String> = strategy.params.keys().collect();
    names.sort_by_key(query_first);
    let mut shown: Vec<String> = names
        .iter()
        .take(MOST_PARAMS)
        .filter_map(|name| {
            let value = strategy.params.get(*name)?;
            let value = value
                .as_str()
                .map_or_else(|| bare(&value.to_string()), |text| quoted(text, QUOTED));
            Some(format!("{} {value}", bare(name)))
        })
        .collect();
    if names.len() > MOST_PARAMS {
        shown.push(format!("{} more", names.len() - MOST_PARAMS));
    }
    let name = bare(&strategy.name);
    if shown.is_empty() { name } else { format!("{name} with {}", shown.join(", ")) }
}

/// The text that was searched for: the strategy's own, or else what was asked.
fn query_of<'a>(judged: &JudgedPrevious<'a>) -> &'a str {
    let params = judged.strategy.map(|strategy| &strategy.params);
    let query = params.and_then(|params| {
        QUERY_NAMES
            .iter()
            .find_map(|name| params.get(*name)?.as_str().filter(|t| !t.trim().is_empty()))
    });
    query.filter(|query| !is_code(query)).unwrap_or(judged.question)
}

/// "User wants GAMING laptops, not business laptops".
fn wish(contrast: &Contrast, query: &str) -> Option<String> {
    match (&contrast.wants, &contrast.instead_of) {
        (Some(wants), Some(not)) => {
            Some(format!("User wants {}, not {not}", emphasised(wants, not)))
        }
        (Some(wants), None) => Some(format!("User wants {}", emphasised(wants, query))),
        (None, Some(not)) => Some(format!("User does not want {not}")),
        (None, None) => None,
    }
}

fn got_instead(contrast: &Contrast) -> Option<String> {
    match (&contrast.wants, &contrast.instead_of) {
        (Some(wants), Some(got)) => Some(format!("Wanted {wants}, got {got}")),
        (Some(wants), None) => Some(format!("Wanted {wants}, got something else")),
        (None, Some(got)) => Some(format!("Got {got}, which was not wanted")),
        (None, None) => None,
    }
}

fn kind_of_wrong(correction: Option<CorrectionType>) -> &'static str {
    match correction {
        Some(CorrectionType::Explicit) => "The user said that the answer was wrong",
        Some(CorrectionType::Rephrased) => {
            "The answer missed the question: the user asked again in other words"
        }
        Some(CorrectionType::Abandonment) => "The user gave up on this request",
        None => "The user rejected the answer without saying why",
    }
}

fn advice(correction: Option<CorrectionType>, message: &str) -> String {
    match correction {
        Some(CorrectionType::Rephrased) => {
            format!("Answer the question as it is asked now: {}", quoted(message, ANSWER))
        }
        Some(CorrectionType::Abandonment) => {
            "Drop that request and plan only for what the user asks now".to_owned()
        }
        Some(CorrectionType::Explicit) | None => {
            "Change the approach, not only the wording of the answer".to_owned()
        }
    }
}
