//! Pairs of answers to the same question in different turns: rated up and down, or by two variants
//! of an experiment.

use std::collections::BTreeMap;

use model::{ConversationId, Vector};

use super::conversation_pairs::build_prompt;
use super::pair::{AnswerOrigin, PairSource, PreferencePair};
use super::question_similarity::{is_same_context, is_same_question, is_self_contained};
use super::rows::Message;
use super::split::SplitShares;
use super::turn::{PreferenceTurn, ServedVariant, TurnRating};

#[derive(Clone, Copy, Debug)]
pub struct GroupedAnswer<'a> {
    pub conversation: &'a ConversationId,
    /// Earlier turns of its conversation.
    pub before: &'a [PreferenceTurn],
    pub turn: &'a PreferenceTurn,
    /// Vector of the question. Without one, only identical words match.
    pub vector: Option<&'a Vector>,
}

/// Maximum pairs per group and source, so that popular questions do not dominate.
const MAX_PAIRS_PER_SOURCE: usize = 16;
const MAX_ANSWERS_PER_SIDE: usize = 64;

/// Extracts the pairs of a group. Both answers must be in the same split, since a pair belongs to
/// one.
pub(super) fn extract_pairs<'a>(
    group: &[GroupedAnswer<'a>],
    shares: SplitShares,
    context: usize,
) -> Vec<PreferencePair<'a>> {
    let usable = group.iter().filter(|answer| answer.turn.has_answer());
    let group: Vec<GroupedAnswer<'a>> = usable.copied().collect();
    let fits = |better: &GroupedAnswer<'a>, worse: &GroupedAnswer<'a>| {
        shares.assign_split(better.conversation) == shares.assign_split(worse.conversation)
            && better.turn.id != worse.turn.id
            && better.turn.answer.trim() != worse.turn.answer.trim()
            && is_same_question(
                (&better.turn.question, better.vector),
                (&worse.turn.question, worse.vector),
            )
    };
    // Experiments come first, because they are stronger evidence and the first of two equal pairs
    // is exported.
    let mut found = experiment_pairs(&group, &fits, context);
    found.extend(rating_pairs(&group, &fits, context));
    drop_contradictions(found)
}

/// Of two opposite pairs, keeps the one with the higher total margin; neither when equal.
fn drop_contradictions(found: Vec<PreferencePair<'_>>) -> Vec<PreferencePair<'_>> {
    // Whole millionths add up to the same sum in any order.
    let margin = |pair: &PreferencePair<'_>| (pair.margin * 1e6).round() as i64;
    let mut sums: BTreeMap<(&str, &str), i64> = BTreeMap::new();
    for pair in &found {
        *sums.entry((pair.chosen, pair.rejected)).or_default() += margin(pair);
    }
    let mut kept = Vec::with_capacity(found.len());
    for pair in &found {
        let (own, against) = ((pair.chosen, pair.rejected), (pair.rejected, pair.chosen));
        kept.push(sums.get(&against).is_none_or(|against| sums.get(&own) > Some(against)));
    }
    found.into_iter().zip(kept).filter_map(|(pair, kept)| kept.then_some(pair)).collect()
}

type PairPredicate<'f, 'a> = &'f dyn Fn(&GroupedAnswer<'a>, &GroupedAnswer<'a>) -> bool;

fn rating_pairs<'a>(
    group: &[GroupedAnswer<'a>],
    fits: PairPredicate<'_, 'a>,
    context: usize,
) -> Vec<PreferencePair<'a>> {
    let value = |answer: &GroupedAnswer<'a>| answer.turn.rating.map_or(0.5, |r| r.value.get());
    let sure = |answer: &GroupedAnswer<'a>| {
        answer.turn.rating.map_or(0.0, |rating| rating.confidence.get())
    };
    let side = |up: bool| {
        let on_side = |answer: &&GroupedAnswer<'a>| {
            answer.turn.rating.is_some_and(|r| if up { r.is_up() } else { r.is_down() })
        };
        let mut side: Vec<GroupedAnswer<'a>> = group.iter().filter(on_side).copied().collect();
        // Highest confidence and margin first, then newest.
        let key = |answer: &GroupedAnswer<'a>| sure(answer) * (value(answer) - 0.5).abs();
        side.sort_by(|a, b| key(b).total_cmp(&key(a)).then_with(|| compare_newest_first(a, b)));
        side.truncate(MAX_ANSWERS_PER_SIDE);
        side
    };
    let matched = match_partners(&side(true), &side(false), fits);
    let pair = |(better, worse): (GroupedAnswer<'a>, GroupedAnswer<'a>)| {
        let margin = value(&better) - value(&worse);
        let confidence = sure(&better).min(sure(&worse));
        build_pair(better, worse, PairSource::Rating, margin, confidence, context)
    };
    matched.into_iter().filter_map(pair).collect()
}

/// Pairs answers of two variants of one experiment, one judged good and one bad.
fn experiment_pairs<'a>(
    group: &[GroupedAnswer<'a>],
    fits: PairPredicate<'_, 'a>,
    context: usize,
) -> Vec<PreferencePair<'a>> {
    let side = |good: bool| {
        let judged = group.iter().filter_map(|answer| {
            let worth = answer.turn.effective_rating().filter(|_| !answer.turn.arms.is_empty())?;
            let on_side = if good { worth.is_up() } else { worth.is_down() };
            on_side.then_some((*answer, worth))
        });
        let mut side: Vec<(GroupedAnswer<'a>, TurnRating)> = judged.collect();
        let key = |worth: &TurnRating| worth.confidence.get() * (worth.value.get() - 0.5).abs();
        side.sort_by(|(a, x), (b, y)| {
            key(y).total_cmp(&key(x)).then_with(|| compare_newest_first(a, b))
        });
        side.truncate(MAX_ANSWERS_PER_SIDE);
        side.into_iter().map(|(answer, _)| answer).collect::<Vec<_>>()
    };
    let differs = |better: &GroupedAnswer<'a>, worse: &GroupedAnswer<'a>| {
        find_shared_experiment(better.turn, worse.turn).is_some() && fits(better, worse)
    };
    let matched = match_partners(&side(true), &side(false), &differs);
    let pair = |(better, worse): (GroupedAnswer<'a>, GroupedAnswer<'a>)| {
        let (good, bad) = (better.turn.effective_rating()?, worse.turn.effective_rating()?);
        let margin = good.value.get() - bad.value.get();
        let confidence = good.confidence.get().min(bad.confidence.get());
        let made = build_pair(better, worse, PairSource::Experiment, margin, confidence, context)?;
        Some(PreferencePair {
            experiment: find_shared_experiment(better.turn, worse.turn)?,
            ..made
        })
    };
    matched.into_iter().filter_map(pair).collect()
}

/// Name of an experiment in which the turns had different variants.
fn find_shared_experiment<'a>(one: &'a PreferenceTurn, other: &PreferenceTurn) -> Option<&'a str> {
    let differs = |arm: &&ServedVariant| {
        let same = |known: &&ServedVariant| known.experiment == arm.experiment;
        other.arms.iter().find(same).is_some_and(|known| known.variant != arm.variant)
    };
    one.arms.iter().find(differs).map(|arm| arm.name.as_str())
}

fn compare_newest_first(a: &GroupedAnswer<'_>, b: &GroupedAnswer<'_>) -> std::cmp::Ordering {
    b.turn.asked_at.cmp(&a.turn.asked_at).then_with(|| a.turn.id.cmp(&b.turn.id))
}

/// Finds a partner for every answer. Each search starts at another candidate, so that many answers
/// are used.
fn match_partners<'a>(
    better: &[GroupedAnswer<'a>],
    worse: &[GroupedAnswer<'a>],
    fits: PairPredicate<'_, 'a>,
) -> Vec<(GroupedAnswer<'a>, GroupedAnswer<'a>)> {
    let mut matched = Vec::new();
    if better.is_empty() || worse.is_empty() {
        return matched;
    }
    for at in 0..better.len().max(worse.len()).min(MAX_PAIRS_PER_SOURCE) {
        let bad = &worse[at % worse.len()];
        let mut tried = (0..better.len()).map(|step| &better[(at + step) % better.len()]);
        if let Some(good) = tried.find(|good| fits(good, bad)) {
            matched.push((*good, *bad));
        }
    }
    matched
}

/// Returns `None` when the question depends on context and the contexts differ.
fn build_pair<'a>(
    better: GroupedAnswer<'a>,
    worse: GroupedAnswer<'a>,
    source: PairSource,
    margin: f64,
    confidence: f64,
    context: usize,
) -> Option<PreferencePair<'a>> {
    Some(PreferencePair {
        prompt: find_common_prompt(better, worse, context)?,
        chosen: better.turn.answer.trim(),
        rejected: worse.turn.answer.trim(),
        source,
        experiment: "",
        margin,
        confidence,
        better: AnswerOrigin { conversation: better.conversation, turn: &better.turn.id },
        worse: AnswerOrigin { conversation: worse.conversation, turn: &worse.turn.id },
    })
}

fn find_common_prompt(
    better: GroupedAnswer<'_>,
    worse: GroupedAnswer<'_>,
    context: usize,
) -> Option<Vec<Message>> {
    let question = &better.turn.question;
    if better.conversation == worse.conversation {
        // Asked twice in one conversation: both answer the first question.
        let first = if better.before.len() <= worse.before.len() { better } else { worse };
        return Some(build_prompt(first.before, question, context));
    }
    if is_same_context(better.before, worse.before) {
        return Some(build_prompt(better.before, question, context));
    }
    is_self_contained(question).then(|| vec![Message::user(question)])
}
