//! Pairs within one conversation: corrections, regenerations and rephrased questions.

use model::{UnitInterval, VerdictStatus};

use super::pair::{AnswerOrigin, PairEvidence, PairSource, PreferencePair, RatedAnswer};
use super::rejection_chain::{JudgedTurn, find_chain_pairs};
use super::rows::Message;
use super::turn::{PreferenceConversation, PreferenceTurn, TurnCorrection};
use crate::question::QuestionKey;

/// A regeneration is weaker evidence than a rating and has no strength of preference.
const REGENERATION_CONFIDENCE: f64 = 0.8;
const REGENERATION_MARGIN: f64 = 0.5;

/// Builds a prompt from the latest `max_turns` exchanges and the question. Discarded answers are
/// left out, because the model did not see them.
pub(super) fn build_prompt(
    before: &[PreferenceTurn],
    question: &str,
    max_turns: usize,
) -> Vec<Message> {
    let mut exchanges: Vec<&PreferenceTurn> =
        before.iter().rev().filter(|t| t.has_answer() && !t.regenerated).take(max_turns).collect();
    exchanges.reverse();
    let mut messages = Vec::with_capacity(exchanges.len() * 2 + 1);
    for turn in exchanges {
        messages.push(Message::user(&turn.question));
        messages.push(Message::assistant(&turn.answer));
    }
    messages.push(Message::user(question));
    messages
}

/// Extracts all pairs, most reliable sources first.
pub(super) fn extract_pairs(
    conversation: &PreferenceConversation,
    max_turns: usize,
) -> Vec<PreferencePair<'_>> {
    let corrected =
        (0..conversation.turns.len()).filter_map(|at| correction_pair(conversation, at, max_turns));
    let mut pairs: Vec<PreferencePair<'_>> = corrected.collect();
    pairs.extend(
        (0..conversation.turns.len())
            .filter_map(|at| regeneration_pair(conversation, at, max_turns)),
    );
    pairs.extend(rephrase_pairs(conversation, max_turns));
    pairs
}

pub(super) fn extract_rated_answers(
    conversation: &PreferenceConversation,
    max_turns: usize,
) -> Vec<RatedAnswer<'_>> {
    let turns = conversation.turns.iter().enumerate();
    let single =
        |(at, turn): (usize, &'_ PreferenceTurn)| turn.has_answer().then_some((at, turn.rating?));
    let rated = turns.filter_map(single);
    let made = rated.map(|(at, rating)| {
        let turn = &conversation.turns[at];
        RatedAnswer {
            prompt: build_prompt(&conversation.turns[..at], &turn.question, max_turns),
            answer: turn.answer.trim(),
            good: rating.is_up(),
            rating: Some(rating.value.get()),
            evidence: PairEvidence::new(
                PairSource::Rating,
                (rating.value.get() - 0.5).abs() * 2.0,
                rating.confidence.get(),
            ),
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
    max_turns: usize,
) -> Option<PreferencePair<'_>> {
    let turn = &conversation.turns[at];
    let given = turn.corrections.iter().filter(|given| !given.corrected.trim().is_empty());
    let latest: &TurnCorrection = given.max_by_key(|given| given.when)?;
    let original = latest.original.as_deref().unwrap_or(&turn.answer);
    Some(PreferencePair {
        prompt: build_prompt(&conversation.turns[..at], &turn.question, max_turns),
        chosen: latest.corrected.trim(),
        rejected: original.trim(),
        evidence: PairEvidence::new(PairSource::Correction, 1.0, latest.confidence.get()),
        better: origin_of_turn(conversation, at),
        worse: origin_of_turn(conversation, at),
    })
}

/// Pairs a discarded answer with the one kept in its place, unless that was rejected too.
fn regeneration_pair(
    conversation: &PreferenceConversation,
    at: usize,
    max_turns: usize,
) -> Option<PreferencePair<'_>> {
    let is_discarded = |t: &&PreferenceTurn| t.regenerated && t.has_answer() && !t.context_only;
    let discarded = Some(&conversation.turns[at]).filter(is_discarded)?;
    let question = QuestionKey::from_text(&discarded.question)?;
    let repeats = conversation.turns.iter().enumerate().skip(at + 1);
    let mut repeats =
        repeats.take_while(|(_, turn)| QuestionKey::from_text(&turn.question) == Some(question));
    let (kept_at, kept) = repeats.find(|(_, turn)| !turn.regenerated)?;
    let rejected =
        kept.effective_verdict().is_some_and(|judged| judged.status == VerdictStatus::Rejected);
    let rated_down = kept.rating.is_some_and(|rating| rating.is_down());
    (kept.has_answer() && !rejected && !rated_down).then(|| PreferencePair {
        prompt: build_prompt(&conversation.turns[..at], &discarded.question, max_turns),
        chosen: kept.answer.trim(),
        rejected: discarded.answer.trim(),
        evidence: PairEvidence::new(
            PairSource::Regeneration,
            REGENERATION_MARGIN,
            REGENERATION_CONFIDENCE,
        ),
        better: origin_of_turn(conversation, kept_at),
        worse: origin_of_turn(conversation, at),
    })
}

fn rephrase_pairs(
    conversation: &PreferenceConversation,
    max_turns: usize,
) -> Vec<PreferencePair<'_>> {
    let turns = &conversation.turns;
    let judged: Vec<JudgedTurn<'_>> = turns.iter().map(to_judged_turn).collect();
    let chains = find_chain_pairs(&judged).into_iter();
    let pair = |chain: super::rejection_chain::ChainPair| {
        let (worse, better) = (&turns[chain.worse], &turns[chain.better]);
        let confidence = |turn: &PreferenceTurn| verdict_confidence(turn).get();
        (!worse.failed).then(|| PreferencePair {
            prompt: build_prompt(&turns[..chain.worse], &chain.prompt, max_turns),
            chosen: better.answer.trim(),
            rejected: worse.answer.trim(),
            evidence: PairEvidence::new(
                PairSource::Rephrase,
                f64::midpoint(confidence(worse), confidence(better)),
                chain.confidence.get(),
            ),
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
