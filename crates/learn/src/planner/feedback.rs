//! The feedback section: the verdict on the previous response and the instructions that follow.

use model::{Contrast, CorrectionType, Strategy, Verdict, VerdictStatus};

use super::complaint::extract_complaint;
use super::contrast::filter_contrast;
use super::query_rewrite::{emphasise_difference, is_code, rewrite_query};
use super::{ClarifyReason, ContextFormat, JudgedPreviousTurn, PlannerContext, PlannerInput};
use crate::strategy::is_sure_acceptance;
use crate::text::{MAX_ANSWER_CHARS, MAX_QUOTED_CHARS, quote_text, to_bare_text};

/// Rejections in a row from which a clarifying question is better than an answer.
const MIN_CLARIFY_STREAK: u32 = 2;
/// Parameter names that may hold the query, most likely first.
pub(super) const QUERY_PARAMS: &[&str] = &["query", "q", "search", "question", "text", "prompt"];
const MAX_PARAMS: usize = 6;

/// The context without its Markdown, and the parts that only the Markdown shows.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Feedback {
    pub(super) detected: String,
    pub(super) user_said: Option<String>,
    pub(super) context: PlannerContext,
}

impl Feedback {
    pub(super) fn new(input: &PlannerInput<'_>) -> Self {
        let mut feedback = match &input.judged {
            Some(judged) => Self::from_verdict(input, judged),
            None => Self::without_verdict(input),
        };
        let is_streak = input.rejection_streak >= MIN_CLARIFY_STREAK;
        if is_streak {
            feedback.context.instructions.push(format_clarify_advice(input.rejection_streak));
        }
        let advice = input.unclear.and_then(describe_unclear_message);
        feedback.context.instructions.extend(advice.map(str::to_owned));
        let streak = is_streak.then_some(ClarifyReason::Rejections);
        feedback.context.clarify_reason = input.unclear.or(streak);
        feedback.context.suggest_clarify = feedback.context.clarify_reason.is_some();
        feedback
    }

    fn without_verdict(input: &PlannerInput<'_>) -> Self {
        let first = input.conversation.is_empty();
        let detected = if first {
            "No earlier turn in this conversation".to_owned()
        } else {
            format!("Turn {} says nothing clear about an earlier turn", input.turn)
        };
        let context = PlannerContext {
            markdown: String::new(),
            status: VerdictStatus::Neutral,
            judged: input.judged.map(|judged| judged.turn.clone()),
            suggest_clarify: false,
            clarify_reason: None,
            rejection_streak: input.rejection_streak,
            previous_strategy: None,
            what_went_wrong: None,
            instructions: Vec::new(),
            rewritten_query: None,
        };
        Self { detected, user_said: None, context }
    }

    fn from_verdict(input: &PlannerInput<'_>, judged: &JudgedPreviousTurn<'_>) -> Self {
        let status = judged.verdict.status;
        let mut feedback = Self::without_verdict(input);
        feedback.detected = describe_detection(input, judged);
        feedback.context.status = status;
        feedback.context.previous_strategy =
            Some(judged.strategy.map_or("not recorded".to_owned(), describe_strategy));
        match status {
            VerdictStatus::Neutral => {}
            VerdictStatus::Accepted if is_weak_acceptance(judged) => {}
            VerdictStatus::Accepted => feedback.context.instructions.push(format!(
                "The strategy {} worked and may be reused",
                name_turn(input, judged)
            )),
            VerdictStatus::Rejected => feedback.add_rejection(input, judged),
        }
        feedback
    }

    fn add_rejection(&mut self, input: &PlannerInput<'_>, judged: &JudgedPreviousTurn<'_>) {
        let verdict = judged.verdict;
        let message = verdict.user_said.as_deref().unwrap_or(input.message);
        let contrast = verdict.contrast.as_ref();
        let contrast =
            contrast.and_then(|contrast| filter_contrast(contrast, message, judged.question));
        let contrast = contrast.as_ref();
        let query = previous_query(judged);
        let rewritten_query = contrast.and_then(|contrast| rewrite_query(query, contrast));
        let mut instructions =
            vec![format!("Do NOT reuse the strategy {}", name_turn(input, judged))];
        let wish = contrast.and_then(|contrast| describe_wish(contrast, query));
        instructions
            .push(wish.unwrap_or_else(|| format_advice(verdict.correction_type, input.message)));
        instructions.extend(rewritten_query.as_deref().map(|query| {
            format!("Adjust search query to be specific: {}", quote_text(query, MAX_QUOTED_CHARS))
        }));
        let reason = contrast.and_then(describe_mismatch);
        let reason = reason.unwrap_or_else(|| describe_rejection(verdict));
        let said = verdict.user_said.as_deref();
        self.user_said = said.map(|text| quote_text(text, MAX_QUOTED_CHARS));
        self.context.what_went_wrong = Some(reason);
        self.context.instructions = instructions;
        self.context.rewritten_query = rewritten_query;
    }
}

/// The instruction for an unclear message.
fn describe_unclear_message(reason: ClarifyReason) -> Option<&'static str> {
    match reason {
        ClarifyReason::EmptyMessage => Some("Ask what the user wants: the message has no words"),
        ClarifyReason::AmbiguousWord => {
            Some("Ask what the user wants to know: the message is a single word")
        }
        ClarifyReason::UnresolvedReference => {
            Some("Ask what the user means: the message refers to something that was not said")
        }
        ClarifyReason::Rejections => None,
    }
}

/// Names the judged turn, in a prompt without its id.
fn name_turn(input: &PlannerInput<'_>, judged: &JudgedPreviousTurn<'_>) -> String {
    match input.format {
        ContextFormat::Sections => format!("from Turn {}", judged.turn),
        ContextFormat::Prompt if is_last_turn(input, judged) => "of the previous answer".to_owned(),
        ContextFormat::Prompt => {
            format!("of the answer to {}", quote_text(judged.question, MAX_QUOTED_CHARS))
        }
    }
}

pub(super) fn is_last_turn(input: &PlannerInput<'_>, judged: &JudgedPreviousTurn<'_>) -> bool {
    input.conversation.last().is_none_or(|last| last.turn == judged.turn)
}

/// True when the user only moved on, which does not show that the strategy worked.
pub(super) fn is_weak_acceptance(judged: &JudgedPreviousTurn<'_>) -> bool {
    let verdict = judged.verdict;
    verdict.status == VerdictStatus::Accepted
        && !is_sure_acceptance(verdict.status, verdict.confidence)
}

fn format_clarify_advice(streak: u32) -> String {
    format!(
        "Multiple rejections - be more careful: {streak} answers in a row were rejected. \
         Consider asking a clarifying question before answering"
    )
}

fn describe_detection(input: &PlannerInput<'_>, judged: &JudgedPreviousTurn<'_>) -> String {
    let (now, then) = (input.turn, judged.turn);
    match judged.verdict.status {
        VerdictStatus::Rejected => format!("Turn {now} detected that Turn {then} was rejected"),
        VerdictStatus::Accepted if is_weak_acceptance(judged) => {
            format!("Turn {now} moved on from Turn {then} without a remark about its answer")
        }
        VerdictStatus::Accepted => format!("Turn {now} detected that Turn {then} was accepted"),
        VerdictStatus::Neutral => format!("Turn {now} says nothing clear about Turn {then}"),
    }
}

/// Example: `commerce_search with query "laptops under $1000"`.
pub(super) fn describe_strategy(strategy: &Strategy) -> String {
    let query_first = |name: &&String| {
        let position = QUERY_PARAMS.iter().position(|position| position == name);
        position.unwrap_or(QUERY_PARAMS.len())
    };
    let mut names: Vec<&String> = strategy.params.keys().collect();
    names.sort_by_key(query_first);
    let mut shown: Vec<String> = names
        .iter()
        .take(MAX_PARAMS)
        .filter_map(|name| {
            let value = strategy.params.get(*name)?;
            let value = value.as_str().map_or_else(
                || to_bare_text(&value.to_string()),
                |text| quote_text(text, MAX_QUOTED_CHARS),
            );
            Some(format!("{} {value}", to_bare_text(name)))
        })
        .collect();
    if names.len() > MAX_PARAMS {
        shown.push(format!("{} more", names.len() - MAX_PARAMS));
    }
    let name = to_bare_text(&strategy.name);
    if shown.is_empty() { name } else { format!("{name} with {}", shown.join(", ")) }
}

/// The query parameter of the strategy, otherwise the question.
fn previous_query<'a>(judged: &JudgedPreviousTurn<'a>) -> &'a str {
    let params = judged.strategy.map(|strategy| &strategy.params);
    let query = params.and_then(|params| {
        QUERY_PARAMS
            .iter()
            .find_map(|name| params.get(*name)?.as_str().filter(|t| !t.trim().is_empty()))
    });
    query.filter(|query| !is_code(query)).unwrap_or(judged.question)
}

/// Example: "User wants GAMING laptops, not business laptops".
fn describe_wish(contrast: &Contrast, query: &str) -> Option<String> {
    match (&contrast.wants, &contrast.instead_of) {
        (Some(wants), Some(not)) => {
            Some(format!("User wants {}, not {not}", emphasise_difference(wants, not)))
        }
        (Some(wants), None) => Some(format!("User wants {}", emphasise_difference(wants, query))),
        (None, Some(not)) => Some(format!("User does not want {not}")),
        (None, None) => None,
    }
}

fn describe_mismatch(contrast: &Contrast) -> Option<String> {
    match (&contrast.wants, &contrast.instead_of) {
        (Some(wants), Some(got)) => Some(format!("Wanted {wants}, got {got}")),
        (Some(wants), None) => Some(format!("Wanted {wants}, got something else")),
        (None, Some(got)) => Some(format!("Got {got}, which was not wanted")),
        (None, None) => None,
    }
}

/// The reason without a contrast, in the user's words as far as they give one.
fn describe_rejection(verdict: &Verdict) -> String {
    let said = verdict.user_said.as_deref().unwrap_or_default();
    let quoted = |text: &str| quote_text(text, MAX_ANSWER_CHARS);
    let reason = extract_complaint(said);
    match (verdict.correction_type, reason) {
        (Some(CorrectionType::Explicit), Some(reason)) => {
            format!("The user objected: {}", quoted(&reason))
        }
        (Some(CorrectionType::Explicit), None) if said.trim().is_empty() => {
            "The user said that the answer was wrong".to_owned()
        }
        (Some(CorrectionType::Explicit), None) => {
            format!("The user gave no reason: {}", quoted(said))
        }
        (Some(CorrectionType::Rephrased), None) => {
            "The answer missed the question: the user asked again in other words".to_owned()
        }
        (Some(CorrectionType::Rephrased), Some(reason)) => {
            format!("The answer missed the question: the user asked again {}", quoted(&reason))
        }
        (Some(CorrectionType::Abandonment), None) => "The user gave up on this request".to_owned(),
        (Some(CorrectionType::Abandonment), Some(reason)) => {
            format!("The user gave up on this request: {}", quoted(&reason))
        }
        (None, Some(reason)) => format!("The user rejected the answer: {}", quoted(&reason)),
        (None, None) => "The user rejected the answer without saying why".to_owned(),
    }
}

fn format_advice(correction: Option<CorrectionType>, message: &str) -> String {
    match correction {
        Some(CorrectionType::Rephrased) => {
            format!(
                "Answer the question as it is asked now: {}",
                quote_text(message, MAX_ANSWER_CHARS)
            )
        }
        Some(CorrectionType::Abandonment) => {
            "Drop that request and plan only for what the user asks now".to_owned()
        }
        Some(CorrectionType::Explicit) | None => {
            "Change the approach, not only the wording of the answer".to_owned()
        }
    }
}
