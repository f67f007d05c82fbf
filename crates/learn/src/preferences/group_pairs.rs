//! Pairs from answers that were given to the same question at different times: rated up and down, or
//! by two variants of an experiment.

use std::collections::BTreeMap;

use model::{ConversationId, Vector};

use super::conversation_pairs::prompt;
use super::pair::{Origin, Pair, PairSource};
use super::question_similarity::{same_context, same_question, stands_alone};
use super::rows::Message;
use super::split::SplitShares;
use super::turn::{PreferenceTurn, ServedVariant, TurnRating};

/// An answer among others to the same question.
#[derive(Clone, Copy, Debug)]
pub struct AnsweredElsewhere<'a> {
    /// In which conversation.
    pub conversation: &'a ConversationId,
    /// What was said before, in that conversation.
    pub before: &'a [PreferenceTurn],
    /// The turn.
    pub turn: &'a PreferenceTurn,
    /// The direction of its question. Without one only the same words are the same question.
    pub vector: Option<&'a Vector>,
}

/// Pairs that one group makes at most for each reason: a question that everybody asks must not
/// drown the others.
const MOST_PAIRS: usize = 16;
/// And so many answers are looked at on each side.
const MOST_ANSWERS: usize = 64;

/// Answers in different parts of the data make no pair, since it would belong to both. Partners are
/// looked for within a part, so that only questions with nobody else to compare with lose theirs.
pub(super) fn pairs<'a>(
    group: &[AnsweredElsewhere<'a>],
    shares: SplitShares,
    context: usize,
) -> Vec<Pair<'a>> {
    let usable = group.iter().filter(|answer| answer.turn.has_answer());
    let group: Vec<AnsweredElsewhere<'a>> = usable.copied().collect();
    let fits = |better: &AnsweredElsewhere<'a>, worse: &AnsweredElsewhere<'a>| {
        shares.of(better.conversation) == shares.of(worse.conversation)
            && better.turn.id != worse.turn.id
            && better.turn.answer.trim() != worse.turn.answer.trim()
            && same_question(
                (&better.turn.question, better.vector),
                (&worse.turn.question, worse.vector),
            )
    };
    // What an experiment compared says more than the two ratings by themselves: of the same pair the
    // first that is found is the one that is written.
    let mut found = tried(&group, &fits, context);
    found.extend(rated(&group, &fits, context));
    agreed(found)
}

/// Of two answers that are each better than the other, the one for which more speaks; neither when it is
/// as much.
fn agreed(found: Vec<Pair<'_>>) -> Vec<Pair<'_>> {
    // In whole millionths, the sums of which are the same in any order.
    let margin = |pair: &Pair<'_>| (pair.margin * 1e6).round() as i64;
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

type Fits<'f, 'a> = &'f dyn Fn(&AnsweredElsewhere<'a>, &AnsweredElsewhere<'a>) -> bool;

fn rated<'a>(group: &[AnsweredElsewhere<'a>], fits: Fits<'_, 'a>, context: usize) -> Vec<Pair<'a>> {
    let value = |answer: &AnsweredElsewhere<'a>| answer.turn.rating.map_or(0.5, |r| r.value.get());
    let sure = |answer: &AnsweredElsewhere<'a>| {
        answer.turn.rating.map_or(0.0, |rating| rating.confidence.get())
    };
    let side = |up: bool| {
        let on_side = |answer: &&AnsweredElsewhere<'a>| {
            answer.turn.rating.is_some_and(|r| if up { r.is_up() } else { r.is_down() })
        };
        let mut side: Vec<AnsweredElsewhere<'a>> = group.iter().filter(on_side).copied().collect();
        // The surest and most decided first; of equals the newest.
        let key = |answer: &AnsweredElsewhere<'a>| sure(answer) * (value(answer) - 0.5).abs();
        side.sort_by(|a, b| key(b).total_cmp(&key(a)).then_with(|| newest_first(a, b)));
        side.truncate(MOST_ANSWERS);
        side
    };
    let matched = match_up(&side(true), &side(false), fits);
    let pair = |(better, worse): (AnsweredElsewhere<'a>, AnsweredElsewhere<'a>)| {
        let margin = value(&better) - value(&worse);
        let confidence = sure(&better).min(sure(&worse));
        pair(better, worse, PairSource::Rating, margin, confidence, context)
    };
    matched.into_iter().filter_map(pair).collect()
}

/// Answers by two variants of one experiment, the one found good and the other bad.
fn tried<'a>(group: &[AnsweredElsewhere<'a>], fits: Fits<'_, 'a>, context: usize) -> Vec<Pair<'a>> {
    let side = |good: bool| {
        let judged = group.iter().filter_map(|answer| {
            let worth = answer.turn.worth().filter(|_| !answer.turn.arms.is_empty())?;
            let on_side = if good { worth.is_up() } else { worth.is_down() };
            on_side.then_some((*answer, worth))
        });
        let mut side: Vec<(AnsweredElsewhere<'a>, TurnRating)> = judged.collect();
        let key = |worth: &TurnRating| worth.confidence.get() * (worth.value.get() - 0.5).abs();
        side.sort_by(|(a, x), (b, y)| key(y).total_cmp(&key(x)).then_with(|| newest_first(a, b)));
        side.truncate(MOST_ANSWERS);
        side.into_iter().map(|(answer, _)| answer).collect::<Vec<_>>()
    };
    let differs = |better: &AnsweredElsewhere<'a>, worse: &AnsweredElsewhere<'a>| {
        experiment_of(better.turn, worse.turn).is_some() && fits(better, worse)
    };
    let matched = match_up(&side(true), &side(false), &differs);
    let pair = |(better, worse): (AnsweredElsewhere<'a>, AnsweredElsewhere<'a>)| {
        let (good, bad) = (better.turn.worth()?, worse.turn.worth()?);
        let margin = good.value.get() - bad.value.get();
        let confidence = good.confidence.get().min(bad.confidence.get());
        let made = pair(better, worse, PairSource::Experiment, margin, confidence, context)?;
        Some(Pair { experiment: experiment_of(better.turn, worse.turn)?, ..made })
    };
    matched.into_iter().filter_map(pair).collect()
}

/// The name of the experiment of which two turns had different variants.
fn experiment_of<'a>(one: &'a PreferenceTurn, other: &PreferenceTurn) -> Option<&'a str> {
    let differs = |arm: &&ServedVariant| {
        let same = |known: &&ServedVariant| known.experiment == arm.experiment;
        other.arms.iter().find(same).is_some_and(|known| known.variant != arm.variant)
    };
    one.arms.iter().find(differs).map(|arm| arm.name.as_str())
}

fn newest_first(a: &AnsweredElsewhere<'_>, b: &AnsweredElsewhere<'_>) -> std::cmp::Ordering {
    b.turn.asked_at.cmp(&a.turn.asked_at).then_with(|| a.turn.id.cmp(&b.turn.id))
}

/// Gives every answer a partner that fits, each time beginning with another one, so that many
/// answers are used rather than one often.
fn match_up<'a>(
    better: &[AnsweredElsewhere<'a>],
    worse: &[AnsweredElsewhere<'a>],
    fits: Fits<'_, 'a>,
) -> Vec<(AnsweredElsewhere<'a>, AnsweredElsewhere<'a>)> {
    let mut matched = Vec::new();
    if better.is_empty() || worse.is_empty() {
        return matched;
    }
    for at in 0..better.len().max(worse.len()).min(MOST_PAIRS) {
        let bad = &worse[at % worse.len()];
        let mut tried = (0..better.len()).map(|step| &better[(at + step) % better.len()]);
        if let Some(good) = tried.find(|good| fits(good, bad)) {
            matched.push((*good, *bad));
        }
    }
    matched
}

/// `None` when the two have no prompt in common: the question leans on what was said before, and
/// that differs.
fn pair<'a>(
    better: AnsweredElsewhere<'a>,
    worse: AnsweredElsewhere<'a>,
    source: PairSource,
    margin: f64,
    confidence: f64,
    context: usize,
) -> Option<Pair<'a>> {
    Some(Pair {
        prompt: common_prompt(better, worse, context)?,
        chosen: better.turn.answer.trim(),
        rejected: worse.turn.answer.trim(),
        source,
        experiment: "",
        margin,
        confidence,
        better: Origin { conversation: better.conversation, turn: &better.turn.id },
        worse: Origin { conversation: worse.conversation, turn: &worse.turn.id },
    })
}

fn common_prompt(
    better: AnsweredElsewhere<'_>,
    worse: AnsweredElsewhere<'_>,
    context: usize,
) -> Option<Vec<Message>> {
    let question = &better.turn.question;
    if better.conversation == worse.conversation {
        // Asked twice: both answer what was asked the first time.
        let first = if better.before.len() <= worse.before.len() { better } else { worse };
        return Some(prompt(first.before, question, context));
    }
    if same_context(better.before, worse.before) {
        return Some(prompt(better.before, question, context));
    }
    stands_alone(question).then(|| vec![Message::user(question)])
}
