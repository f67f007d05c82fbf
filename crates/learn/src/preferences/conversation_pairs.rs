//! Pairs within one conversation: corrections, regenerations and rephrased questions.

use model::{UnitInterval, VerdictStatus};

use super::pair::{AnswerOrigin, PairSource, PreferencePair, RatedAnswer};
use super::rejection_chain::{JudgedTurn, find_chain_pairs};
use super::rows::Message;
use super::turn::{PreferenceConversation, PreferenceTurn, TurnCorrection};
use crate::question::QuestionKey;

/// A regeneration is weaker evidence than a rating and has no strength of preference.
const REGENERATION_CONFIDENCE: f64 = 0.8;
const REGENERATION_MARGIN: f64 = 0.5;

/// Builds a prompt from the latest `most` exchanges and the question.
///
/// Turns without an answer are left out. So are discarded answers, because the model did not see
/// them.
pub(super) fn build_prompt(before: &[PreferenceTurn], question: &str, most: usize) -> Vec<Message> {
    let mut said: Vec<&PreferenceTurn> =
        before.iter().rev().filter(|t| t.has_answer() && !t.regenerated).take(most).collect();
    said.reverse();
    let mut messages = Vec::with_capacity(said.len() * 2 + 1);
    for turn in said {
        messages.push(Message::user(&turn.question));
        messages.push(Message::assistant(&turn.answer));
    }
    messages.push(Message::user(question));
    messages
}

/// Extracts all pairs, most reliable sources first.
pub(super) fn extract_pairs(
    conversation: &PreferenceConversation,
    context: usize,
) -> Vec<PreferencePair<'_>> {
    let corrected =
        (0..conversation.turns.len()).filter_map(|at| correction_pair(conversation, at, context));
    let mut pairs: Vec<PreferencePair<'_>> = corrected.collect();
    pairs.extend(
        (0..conversation.turns.len()).filter_map(|at| regeneration_pair(conversation, at, context)),
    );
    pairs.extend(rephrase_pairs(conversation, context));
    pairs
}

pub(super) fn extract_rated_answers(
    conversation: &PreferenceConversation,
    context: usize,
) -> Vec<RatedAnswer<'_>> {
    let turns = conversation.turns.iter().enumerate();
    let single =
        |(at, turn): (usize, &'_ PreferenceTurn)| turn.has_answer().then_some((at, turn.rating?));
    let rated = turns.filter_map(single);
    let made = rated.map(|(at, rating)| {
        let turn = &conversation.turns[at];
        RatedAnswer {
            prompt: build_prompt(&conversation.turns[..at], &turn.question, context),
            answer: turn.answer.trim(),
            good: rating.is_up(),
            rating: Some(rating.value.get()),
            source: PairSource::Rating,
            experiment: "",
            margin: (rating.value.get() - 0.5).abs() * 2.0,
            confidence: rating.confidence.get(),
            origin: origin_of_turn(conversation, at),
        }
    });
    made.collect()
}

fn origin_of_turn(conversation: &PreferenceConversation, at: usize) -> AnswerOrigin<'_> {
    AnswerOrigin { conversation: &conversation.id, turn: &conversation.turns[at].id }
}

/// Pairs the latest correction of a turn with the corrected text.
fn correction_pair(
    conversation: &PreferenceConversation,
    at: usize,
    context: usize,
) -> Option<PreferencePair<'_>> {
    let turn = &conversation.turns[at];
    let given = turn.corrections.iter().filter(|given| !given.corrected.trim().is_empty());
    let latest: &TurnCorrection = given.max_by_key(|given| given.when)?;
    let original = latest.original.as_deref().unwrap_or(&turn.answer);
    Some(PreferencePair {
        prompt: build_prompt(&conversation.turns[..at], &turn.question, context),
        chosen: latest.corrected.trim(),
        rejected: original.trim(),
        source: PairSource::Correction,
        experiment: "",
        margin: 1.0,
        confidence: latest.confidence.get(),
        better: origin_of_turn(conversation, at),
        worse: origin_of_turn(conversation, at),
    })
}

/// Pairs a discarded answer with the one kept in its place, unless that was rejected too.
fn regeneration_pair(
    conversation: &PreferenceConversation,
    at: usize,
    context: usize,
) -> Option<PreferencePair<'_>> {
    let thrown_away = |t: &&PreferenceTurn| t.regenerated && t.has_answer() && !t.context_only;
    let discarded = Some(&conversation.turns[at]).filter(thrown_away)?;
    let question = QuestionKey::from_text(&discarded.question)?;
    let again = conversation.turns.iter().enumerate().skip(at + 1);
    let mut again =
        again.take_while(|(_, turn)| QuestionKey::from_text(&turn.question) == Some(question));
    let (kept_at, kept) = again.find(|(_, turn)| !turn.regenerated)?;
    let rejected =
        kept.effective_verdict().is_some_and(|judged| judged.status == VerdictStatus::Rejected);
    let rated_down = kept.rating.is_some_and(|rating| rating.is_down());
    (kept.has_answer() && !rejected && !rated_down).then(|| PreferencePair {
        prompt: build_prompt(&conversation.turns[..at], &discarded.question, context),
        chosen: kept.answer.trim(),
        rejected: discarded.answer.trim(),
        source: PairSource::Regeneration,
        experiment: "",
        margin: REGENERATION_MARGIN,
        confidence: REGENERATION_CONFIDENCE,
        better: origin_of_turn(conversation, kept_at),
        worse: origin_of_turn(conversation, at),
    })
}

fn rephrase_pairs(
    conversation: &PreferenceConversation,
    context: usize,
) -> Vec<PreferencePair<'_>> {
    let turns = &conversation.turns;
    let judged: Vec<JudgedTurn<'_>> = turns.iter().map(to_judged_turn).collect();
    let chains = find_chain_pairs(&judged).into_iter();
    let pair = |chain: super::rejection_chain::ChainPair| {
        let (worse, better) = (&turns[chain.worse], &turns[chain.better]);
        let sure = |turn: &PreferenceTurn| verdict_confidence(turn).get();
        (!worse.failed).then(|| PreferencePair {
            prompt: build_prompt(&turns[..chain.worse], &chain.prompt, context),
            chosen: better.answer.trim(),
            rejected: worse.answer.trim(),
            source: PairSource::Rephrase,
            experiment: "",
            margin: f64::midpoint(sure(worse), sure(better)),
            confidence: chain.confidence.get(),
            better: origin_of_turn(conversation, chain.better),
            worse: origin_of_turn(conversation, chain.worse),
        })
    };
    chains.filter_map(pair).collect()
}

fn to_judged_turn(turn: &PreferenceTurn) -> JudgedTurn<'_> {
    let judged = turn.effective_verdict();
    JudgedTurn {
        question: &turn.question,
        answer: &turn.answer,
        status: judged.map(|judged| judged.status),
        correction_type: judged.and_then(|judged| judged.correction_type),
        confidence: verdict_confidence(turn),
        failed: turn.failed,
    }
}

fn verdict_confidence(turn: &PreferenceTurn) -> UnitInterval {
    turn.effective_verdict().map_or(UnitInterval::ZERO, |judged| judged.confidence)
}
