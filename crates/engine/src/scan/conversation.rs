//! One conversation through every detector, turn by turn: each step looks at the last turn and at
//! the ten latest questions, never at the whole.

use std::collections::VecDeque;
use std::time::Duration;

use detect::{Answer, Exchange, PastQuestion, Utterance};
use ingest::{ChatRecord, Sign, conversation_name, turn_name};
use learn::TurnRating;
use model::{
    ConversationId, Correction, Failure, Pace, Retry, Timestamp, TurnId, TurnStatus, Verdict,
};

use crate::detectors::Detectors;

/// A conversation and what was found in it.
#[derive(Clone, Debug)]
pub struct Scanned {
    /// By what an import would call it.
    pub id: ConversationId,
    /// Its name in the log, if it has one.
    pub conversation: Option<String>,
    /// Where it begins in the file.
    pub line: u64,
    /// Its turns.
    pub turns: Vec<ScannedTurn>,
}

/// A turn and what was found about it.
#[derive(Clone, Debug)]
pub struct ScannedTurn {
    /// By what an import would call it.
    pub id: TurnId,
    /// When it was asked, if the log says so.
    pub asked_at: Option<Timestamp>,
    /// What was asked.
    pub question: String,
    /// What was answered.
    pub answer: String,
    /// Who answered, if known.
    pub model: Option<String>,
    /// Whether the answer failed by itself.
    pub failure: Failure,
    /// How the time it took is borne.
    pub pace: Option<Pace>,
    /// Whether the question asks again what was asked before.
    pub retry: Option<Retry>,
    /// What the next message says about the answer.
    pub verdict: Option<Verdict>,
    /// That message.
    pub next: Option<String>,
    /// How it was rated last.
    pub rating: Option<TurnRating>,
    /// What was written with that.
    pub rated_because: Option<String>,
    /// What people wrote instead, in order.
    pub corrections: Vec<Correction>,
    /// What was last said about it.
    pub comment: Option<String>,
    /// The user had it answered again.
    pub regenerated: bool,
}

impl ScannedTurn {
    fn hear(&mut self, sign: Sign) {
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

struct Past {
    turn: TurnId,
    question: Utterance,
    at: Option<Timestamp>,
}

struct Last {
    question: Utterance,
    answer: Answer,
    at: Option<Timestamp>,
}

pub(super) fn judge(detectors: &Detectors, line: u64, record: &ChatRecord) -> Option<Scanned> {
    let name = conversation_name(record);
    let id = ConversationId::new(name.as_str()).ok()?;
    let mut turns: Vec<ScannedTurn> = Vec::new();
    let mut history: VecDeque<Past> = VecDeque::new();
    let mut last: Option<Last> = None;
    for (number, (asked, answered)) in record.exchanges().into_iter().enumerate() {
        let message = Utterance::read(&asked.text);
        // Some logs have the answer's time only.
        let at = asked.at.or(answered.as_ref().and_then(|answer| answer.at));
        if let (Some(before), Some(turn)) = (&last, turns.last_mut()) {
            let exchange = Exchange {
                question: Some(&before.question),
                answer: Some(&before.answer),
                gap: gap(before.at, at),
                ..Exchange::new(&message)
            };
            turn.verdict = Some(detectors.detect_verdict(&exchange));
            turn.next = Some(asked.text.clone());
        }
        let retry = find_retry(detectors, &message, at, &history);
        let Some(answered) = answered else { continue };
        let answer = Answer::read(Some(&message), &answered.text);
        let error = answered.error.as_deref();
        let status = if error.is_some() { TurnStatus::Error } else { TurnStatus::Success };
        let turn = turn_name(record, &name, (line, number), &asked);
        let mut turn = ScannedTurn {
            id: TurnId::new(turn).ok()?,
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
            rating: None,
            rated_because: None,
            corrections: Vec::new(),
            comment: None,
            regenerated: false,
        };
        answered.signs.into_iter().for_each(|sign| turn.hear(sign));
        turns.push(turn);
        remember(&mut history, number, &message, at, detectors.retry.max_questions);
        last = Some(Last { question: message, answer, at: answered.at });
    }
    Some(Scanned { id, conversation: record.conversation.clone(), line, turns })
}

fn find_retry(
    detectors: &Detectors,
    message: &Utterance,
    at: Option<Timestamp>,
    history: &VecDeque<Past>,
) -> Option<Retry> {
    let past: Vec<PastQuestion<'_>> = history
        .iter()
        .map(|past| PastQuestion {
            turn: &past.turn,
            question: &past.question,
            // Without times the order alone speaks for "soon".
            age: gap(past.at, at),
        })
        .collect();
    detectors.detect_retry(message, &past)
}

fn remember(
    history: &mut VecDeque<Past>,
    number: usize,
    message: &Utterance,
    at: Option<Timestamp>,
    most: usize,
) {
    if let Ok(turn) = TurnId::new(number.to_string()) {
        history.push_front(Past { turn, question: message.clone(), at });
    }
    history.truncate(most);
}

/// Time between two messages; clocks that run backwards say nothing.
fn gap(from: Option<Timestamp>, to: Option<Timestamp>) -> Option<Duration> {
    let millis = to?.as_unix_millis().checked_sub(from?.as_unix_millis())?;
    Some(Duration::from_millis(millis))
}
