//! Pairs answers to the same question by rating or by experiment variant.

use std::collections::BTreeMap;

use model::{ConversationId, Vector};

use super::conversation_pairs::build_prompt;
use super::pair::{AnswerOrigin, PairEvidence, PairSource, PreferencePair};
use super::question_similarity::{is_same_context, is_same_question, is_self_contained};
use super::rows::Message;
use super::split::SplitShares;
use super::turn::{PreferenceTurn, ServedVariant, TurnRating};

#[derive(Clone, Copy, Debug)]
pub struct GroupedAnswer<'a> {
    pub conversation: &'a ConversationId,
    pub before: &'a [PreferenceTurn],
    pub turn: &'a PreferenceTurn,
    /// Vector of the question. Without one, only identical words match.
    pub vector: Option<&'a Vector>,
}

/// Maximum pairs per group and source, so that popular questions do not dominate.
const MAX_PAIRS_PER_SOURCE: usize = 16;
const MAX_ANSWERS_PER_SIDE: usize = 64;

/// Both answers of a pair must be in the same split.
pub(super) fn extract_pairs<'a>(
    group: &[GroupedAnswer<'a>],
    shares: SplitShares,
    max_turns: usize,
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
    // Experiments are stronger evidence, and the first of two equal pairs is exported.
    let differs = |better: &GroupedAnswer<'a>, worse: &GroupedAnswer<'a>| {
        find_shared_experiment(better.turn, worse.turn).is_some() && fits(better, worse)
    };
    let mut found = pair_by_rating(&group, &differs, PairSource::Experiment, max_turns, |turn| {
        turn.effective_rating().filter(|_| !turn.arms.is_empty())
    });
    let rated = pair_by_rating(&group, &fits, PairSource::Rating, max_turns, |turn| turn.rating);
    found.extend(rated);
    drop_contradictions(found)
}

/// Of two opposite pairs, keeps the one with the higher total margin; neither when equal.
fn drop_contradictions(found: Vec<PreferencePair<'_>>) -> Vec<PreferencePair<'_>> {
    // Whole millionths add up to the same sum in any order.
    let margin = |pair: &PreferencePair<'_>| (pair.evidence.margin * 1e6).round() as i64;
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

type RatedMember<'a> = (GroupedAnswer<'a>, TurnRating);

/// Pairs answers that `rating_of` rates up with answers that it rates down.
fn pair_by_rating<'a>(
    group: &[GroupedAnswer<'a>],
    fits: PairPredicate<'_, 'a>,
    source: PairSource,
    max_turns: usize,
    rating_of: impl Fn(&PreferenceTurn) -> Option<TurnRating>,
) -> Vec<PreferencePair<'a>> {
    let side = |keep: fn(TurnRating) -> bool| {
        let rated = group.iter().filter_map(|answer| {
            rating_of(answer.turn).filter(|rating| keep(*rating)).map(|rating| (*answer, rating))
        });
        let mut side: Vec<RatedMember<'a>> = rated.collect();
        // Highest confidence and margin first, then newest.
        let key = |rating: &TurnRating| rating.confidence.get() * (rating.value.get() - 0.5).abs();
        side.sort_by(|(a, x), (b, y)| {
            key(y).total_cmp(&key(x)).then_with(|| compare_newest_first(a, b))
        });
        side.truncate(MAX_ANSWERS_PER_SIDE);
        side
    };
    let matched = match_partners(&side(TurnRating::is_up), &side(TurnRating::is_down), fits);
    let pair = |((better, good), (worse, bad)): (RatedMember<'a>, RatedMember<'a>)| {
        let margin = good.value.get() - bad.value.get();
        let confidence = good.confidence.get().min(bad.confidence.get());
        let is_experiment = source == PairSource::Experiment;
        let experiment =
            if is_experiment { find_shared_experiment(better.turn, worse.turn)? } else { "" };
        Some(PreferencePair {
            prompt: find_common_prompt(better, worse, max_turns)?,
            chosen: better.turn.answer.trim(),
            rejected: worse.turn.answer.trim(),
            evidence: PairEvidence { source, experiment, margin, confidence },
            better: AnswerOrigin { conversation: better.conversation, turn: &better.turn.id },
            worse: AnswerOrigin { conversation: worse.conversation, turn: &worse.turn.id },
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

/// Each search starts at another candidate, so that many answers are used.
fn match_partners<'a>(
    better: &[RatedMember<'a>],
    worse: &[RatedMember<'a>],
    fits: PairPredicate<'_, 'a>,
) -> Vec<(RatedMember<'a>, RatedMember<'a>)> {
    let mut matched = Vec::new();
    if better.is_empty() || worse.is_empty() {
        return matched;
    }
    for at in 0..better.len().max(worse.len()).min(MAX_PAIRS_PER_SOURCE) {
        let bad = &worse[at % worse.len()];
        let mut candidates = (0..better.len()).map(|step| &better[(at + step) % better.len()]);
        if let Some(good) = candidates.find(|good| fits(&good.0, &bad.0)) {
            matched.push((*good, *bad));
        }
    }
    matched
}

/// Returns `None` when the question depends on context and the contexts differ.
fn find_common_prompt(
    better: GroupedAnswer<'_>,
    worse: GroupedAnswer<'_>,
    max_turns: usize,
) -> Option<Vec<Message>> {
    let question = &better.turn.question;
    if better.conversation == worse.conversation {
        // Asked twice in one conversation: both answer the first question.
        let first = if better.before.len() <= worse.before.len() { better } else { worse };
        return Some(build_prompt(first.before, question, max_turns));
    }
    if is_same_context(better.before, worse.before) {
        return Some(build_prompt(better.before, question, max_turns));
    }
    is_self_contained(question).then(|| vec![Message::user(question)])
}
