//! Pairs from one conversation: corrections, regenerated answers, rejected answers that were followed by
//! an accepted one.

use model::{UnitInterval, VerdictStatus};

use super::pair::{Origin, Pair, PairSource, Single};
use super::rejection_chain::{JudgedTurn, chain_pairs};
use super::rows::Message;
use super::turn::{PreferenceConversation, PreferenceTurn, TurnCorrection};
use crate::question::QuestionKey;

/// Somebody who asks for another answer and stays with it says so by a click, not in words: less
/// than a rating, and no word on how much better.
const REGENERATED: f64 = 0.8;
const REGENERATED_MARGIN: f64 = 0.5;

/// What was said before a turn, the latest `most` exchanges, and then the question. Turns without an
/// answer are left out, and so are answers that were thrown away: the model did not see them.
pub(super) fn prompt(before: &[PreferenceTurn], question: &str, most: usize) -> Vec<Message> {
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

/// All pairs of a conversation, the surest sources first.
pub(super) fn pairs(conversation: &PreferenceConversation, context: usize) -> Vec<Pair<'_>> {
    let corrected =
        (0..conversation.turns.len()).filter_map(|at| correction(conversation, at, context));
    let mut pairs: Vec<Pair<'_>> = corrected.collect();
    pairs.extend(
        (0..conversation.turns.len()).filter_map(|at| regeneration(conversation, at, context)),
    );
    pairs.extend(rephrased(conversation, context));
    pairs
}

/// Answers that somebody rated, each by itself.
pub(super) fn singles(conversation: &PreferenceConversation, context: usize) -> Vec<Single<'_>> {
    let turns = conversation.turns.iter().enumerate();
    let single =
        |(at, turn): (usize, &'_ PreferenceTurn)| turn.has_answer().then_some((at, turn.rating?));
    let rated = turns.filter_map(single);
    let made = rated.map(|(at, rating)| {
        let turn = &conversation.turns[at];
        Single {
            prompt: prompt(&conversation.turns[..at], &turn.question, context),
            answer: turn.answer.trim(),
            good: rating.is_up(),
            rating: Some(rating.value.get()),
            source: PairSource::Rating,
            experiment: "",
            margin: (rating.value.get() - 0.5).abs() * 2.0,
            confidence: rating.confidence.get(),
            given: origin(conversation, at),
        }
    });
    made.collect()
}

fn origin(conversation: &PreferenceConversation, at: usize) -> Origin<'_> {
    Origin { conversation: &conversation.id, turn: &conversation.turns[at].id }
}

/// The latest correction of a turn against what it corrects.
fn correction(
    conversation: &PreferenceConversation,
    at: usize,
    context: usize,
) -> Option<Pair<'_>> {
    let turn = &conversation.turns[at];
    let given = turn.corrections.iter().filter(|given| !given.corrected.trim().is_empty());
    let latest: &TurnCorrection = given.max_by_key(|given| given.when)?;
    let original = latest.original.as_deref().unwrap_or(&turn.answer);
    Some(Pair {
        prompt: prompt(&conversation.turns[..at], &turn.question, context),
        chosen: latest.corrected.trim(),
        rejected: original.trim(),
        source: PairSource::Correction,
        experiment: "",
        margin: 1.0,
        confidence: latest.confidence.get(),
        better: origin(conversation, at),
        worse: origin(conversation, at),
    })
}

/// An answer that was thrown away against the one that was kept in its place, if nobody rejected
/// that one too.
fn regeneration(
    conversation: &PreferenceConversation,
    at: usize,
    context: usize,
) -> Option<Pair<'_>> {
    let thrown_away = |t: &&PreferenceTurn| t.regenerated && t.has_answer() && !t.context_only;
    let discarded = Some(&conversation.turns[at]).filter(thrown_away)?;
    let question = QuestionKey::of(&discarded.question)?;
    let again = conversation.turns.iter().enumerate().skip(at + 1);
    let mut again = again.take_while(|(_, turn)| QuestionKey::of(&turn.question) == Some(question));
    let (kept_at, kept) = again.find(|(_, turn)| !turn.regenerated)?;
    let rejected = kept.judged().is_some_and(|judged| judged.status == VerdictStatus::Rejected);
    let rated_down = kept.rating.is_some_and(|rating| rating.is_down());
    (kept.has_answer() && !rejected && !rated_down).then(|| Pair {
        prompt: prompt(&conversation.turns[..at], &discarded.question, context),
        chosen: kept.answer.trim(),
        rejected: discarded.answer.trim(),
        source: PairSource::Regeneration,
        experiment: "",
        margin: REGENERATED_MARGIN,
        confidence: REGENERATED,
        better: origin(conversation, kept_at),
        worse: origin(conversation, at),
    })
}

fn rephrased(conversation: &PreferenceConversation, context: usize) -> Vec<Pair<'_>> {
    let turns = &conversation.turns;
    let judged: Vec<JudgedTurn<'_>> = turns.iter().map(judged).collect();
    let chains = chain_pairs(&judged).into_iter();
    let pair = |chain: super::rejection_chain::ChainPair| {
        let (worse, better) = (&turns[chain.worse], &turns[chain.better]);
        let sure = |turn: &PreferenceTurn| judged_confidence(turn).get();
        (!worse.failed).then(|| Pair {
            prompt: prompt(&turns[..chain.worse], &chain.prompt, context),
            chosen: better.answer.trim(),
            rejected: worse.answer.trim(),
            source: PairSource::Rephrase,
            experiment: "",
            margin: f64::midpoint(sure(worse), sure(better)),
            confidence: chain.confidence.get(),
            better: origin(conversation, chain.better),
            worse: origin(conversation, chain.worse),
        })
    };
    chains.filter_map(pair).collect()
}

fn judged(turn: &PreferenceTurn) -> JudgedTurn<'_> {
    let judged = turn.judged();
    JudgedTurn {
        question: &turn.question,
        answer: &turn.answer,
        status: judged.map(|judged| judged.status),
        correction_type: judged.and_then(|judged| judged.correction_type),
        confidence: judged_confidence(turn),
        failed: turn.failed,
    }
}

fn judged_confidence(turn: &PreferenceTurn) -> UnitInterval {
    turn.judged().map_or(UnitInterval::ZERO, |judged| judged.confidence)
}
