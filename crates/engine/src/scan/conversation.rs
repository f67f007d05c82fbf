//! Runs every detector over one conversation. Each step needs the last turn and the ten latest
//! questions; a message that may name an earlier turn needs older turns too.

use std::collections::VecDeque;
use std::time::Duration;

use detect::{
    Answer, Exchange, MAX_NAMED_TURNS, PastQuestion, Target, Utterance, find_named_turn,
    find_target, is_clear_judgement, may_count_turns, may_name_earlier_turn,
};
use ingest::{ChatRecord, MIN_MACHINE_CONFIDENCE, Sign, conversation_name, turn_name};
use learn::TurnRating;
use model::{
    ConversationId, Correction, Failure, Pace, Retry, Timestamp, TurnId, TurnStatus, Verdict,
    VerdictStatus,
};

use crate::changes::truncate_for_embedding;
use crate::detectors::Detectors;

#[derive(Clone, Debug)]
pub struct ScannedConversation {
    /// The id that an import would assign.
    pub id: ConversationId,
    /// Its name in the log.
    pub conversation: Option<String>,
    /// Line number in the file.
    pub line: u64,
    pub turns: Vec<ScannedTurn>,
}

#[derive(Clone, Debug)]
pub struct ScannedTurn {
    /// The id that an import would assign.
    pub id: TurnId,
    /// Number of its exchange, by which a retry names it.
    pub number: usize,
    pub asked_at: Option<Timestamp>,
    pub question: String,
    pub answer: String,
    pub model: Option<String>,
    /// Failure detected in the answer itself.
    pub failure: Failure,
    /// Latency and its tolerance.
    pub pace: Option<Pace>,
    /// Set when the question repeats an earlier one.
    pub retry: Option<Retry>,
    /// The verdict of the next message, or of a later one that names this turn.
    pub verdict: Option<Verdict>,
    /// The message that gave the verdict.
    pub next: Option<String>,
    pub feedback: ScannedFeedback,
}

/// Feedback in the log itself.
#[derive(Clone, Debug, Default)]
pub struct ScannedFeedback {
    /// The latest rating.
    pub rating: Option<TurnRating>,
    /// The comment given with the rating.
    pub rated_because: Option<String>,
    /// Corrections in order.
    pub corrections: Vec<Correction>,
    /// The latest comment.
    pub comment: Option<String>,
    /// True when the user requested another answer.
    pub regenerated: bool,
}

impl ScannedFeedback {
    fn apply_sign(&mut self, sign: Sign) {
        match sign {
            Sign::Rated { value, confidence, said } => {
                let rating = TurnRating { value, confidence };
                (self.rating, self.rated_because) = (Some(rating), said);
            }
            Sign::Cleared => (self.rating, self.rated_because) = (None, None),
            Sign::Corrected(given) => self.corrections.push(*given),
            Sign::Said(text) => self.comment = Some(text),
            Sign::Regenerated => self.regenerated = true,
        }
    }
}

struct PastTurn {
    turn: TurnId,
    question: Utterance,
    at: Option<Timestamp>,
}

struct LastAnswer {
    question: Utterance,
    answer: Answer,
    text: String,
    at: Option<Timestamp>,
}

pub(super) fn detect_conversation(
    detectors: &Detectors,
    line: u64,
    record: &ChatRecord,
) -> Option<ScannedConversation> {
    let name = conversation_name(record);
    let id = ConversationId::new(name.as_str()).ok()?;
    let mut turns: Vec<ScannedTurn> = Vec::new();
    let mut history: VecDeque<PastTurn> = VecDeque::new();
    let mut last: Option<LastAnswer> = None;
    for (number, (asked, answered)) in record.exchanges().into_iter().enumerate() {
        let message = Utterance::read(&asked.text);
        // Some logs have only the answer's time.
        let at = asked.at.or(answered.as_ref().and_then(|answer| answer.at));
        if let Some(before) = &last {
            let since = gap(before.at, at);
            let (judged, verdict) = judge_named_turn(detectors, &message, at, since, &turns)
                .unwrap_or_else(|| {
                    let exchange = Exchange {
                        question: Some(&before.question),
                        answer: Some(&before.answer),
                        gap: since,
                        ..Exchange::new(&message)
                    };
                    let verdict = detectors.detect_verdict_fully(&exchange, &before.text);
                    (turns.len() - 1, verdict)
                });
            turns[judged].verdict = Some(verdict);
            turns[judged].next = Some(asked.text.clone());
        }
        let retry = find_retry(detectors, &message, at, &history);
        let Some(answered) = answered else { continue };
        let answer = Answer::read(Some(&message), &answered.text);
        let error = answered.error.as_deref();
        let status = if error.is_some() { TurnStatus::Error } else { TurnStatus::Success };
        let turn = turn_name(record, &name, (line, number), &asked);
        let mut turn = ScannedTurn {
            id: TurnId::new(turn).ok()?,
            number,
            asked_at: at,
            failure: detectors.detect_failure(
                Some(&message),
                &answered.text,
                &answer,
                status,
                error,
            ),
            pace: answered.latency_seconds.and_then(|s| detectors.detect_pace(&message, s, true)),
            model: answered.model.clone(),
            question: asked.text.clone(),
            answer: answered.text.clone(),
            retry,
            verdict: None,
            next: None,
            feedback: ScannedFeedback::default(),
        };
        answered.signs.into_iter().for_each(|sign| turn.feedback.apply_sign(sign));
        turns.push(turn);
        push_history(&mut history, number, &message, at, detectors.retry.max_questions);
        last = Some(LastAnswer { question: message, answer, text: answered.text, at: answered.at });
    }
    Some(ScannedConversation { id, conversation: record.conversation.clone(), line, turns })
}

/// The earlier turn that a message names, with the message's clear verdict on it.
fn judge_named_turn(
    detectors: &Detectors,
    message: &Utterance,
    at: Option<Timestamp>,
    since: Option<Duration>,
    turns: &[ScannedTurn],
) -> Option<(usize, Verdict)> {
    let view = |turn| view_turn(turn, at);
    if !may_name_earlier_turn(message, &view(turns.last()?)) {
        return None;
    }
    let reach = if may_count_turns(message) { turns.len() } else { MAX_NAMED_TURNS + 1 };
    let past: Vec<_> = turns.iter().rev().take(reach).map(view).collect();
    let named = find_named_turn(&detectors.target, message, &past)?;
    let index = turns.iter().position(|turn| turn.id == named.turn)?;
    let question = Utterance::read(&turns[index].question);
    let text = &turns[index].answer;
    let answer = Answer::read(Some(&question), text);
    let exchange = Exchange {
        question: Some(&question),
        answer: Some(&answer),
        gap: since,
        ..Exchange::new(message)
    };
    let verdict = detectors.detect_verdict_fully(&exchange, text);
    let confirmed = matches!(
        find_target(&detectors.target, &verdict, message, &past),
        Target::Earlier(found) if found.turn == named.turn
    );
    let is_sure = verdict.confidence.get() >= MIN_MACHINE_CONFIDENCE;
    (confirmed && is_sure && is_clear_judgement(&verdict)).then_some((index, verdict))
}

fn view_turn(turn: &ScannedTurn, now: Option<Timestamp>) -> detect::PastTurn<'_> {
    // A user who moved on has not praised the answer yet.
    let clear = turn.verdict.as_ref().filter(|verdict| is_clear_judgement(verdict));
    detect::PastTurn {
        turn: &turn.id,
        question: truncate_for_embedding(&turn.question),
        answer: &turn.answer,
        age: gap(turn.asked_at, now).unwrap_or_default(),
        status: clear.map_or(VerdictStatus::Neutral, |verdict| verdict.status),
    }
}

fn find_retry(
    detectors: &Detectors,
    message: &Utterance,
    at: Option<Timestamp>,
    history: &VecDeque<PastTurn>,
) -> Option<Retry> {
    let past: Vec<PastQuestion<'_>> = history
        .iter()
        .map(|past| PastQuestion {
            turn: &past.turn,
            question: &past.question,
            // Without times, only the order indicates a retry.
            age: gap(past.at, at),
        })
        .collect();
    detectors.detect_retry(message, &past)
}

fn push_history(
    history: &mut VecDeque<PastTurn>,
    number: usize,
    message: &Utterance,
    at: Option<Timestamp>,
    most: usize,
) {
    if let Ok(turn) = TurnId::new(number.to_string()) {
        history.push_front(PastTurn { turn, question: message.clone(), at });
    }
    history.truncate(most);
}

/// Time between two messages. `None` if the clock ran backwards.
fn gap(from: Option<Timestamp>, to: Option<Timestamp>) -> Option<Duration> {
    let millis = to?.as_unix_millis().checked_sub(from?.as_unix_millis())?;
    Some(Duration::from_millis(millis))
}
