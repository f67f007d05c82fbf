//! Groups turns by question, and pairs answers to the same question by rating or by experiment
//! variant. Only rated turns and judged turns of experiments are grouped, in a few bytes each.

use std::collections::{BTreeMap, BTreeSet};

use model::{ConversationId, Vector, dot};

use super::conversation_pairs::build_prompt;
use super::export_rule::SplitShares;
use super::pair::{AnswerOrigin, PairEvidence, PairSource, PreferencePair};
use super::rows::Message;
use super::turn::{PreferenceTurn, ServedVariant, TurnRating};
use crate::question::{QuestionKey, normalise_question};
use crate::text::list_contains;

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
            better: AnswerOrigin::new(better.conversation, better.turn),
            worse: AnswerOrigin::new(worse.conversation, worse.turn),
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

const MIN_SAME_COSINE: f32 = 0.95;
/// This many letters of an unspaced script carry as much as two words.
const MIN_UNSPACED_CHARS: usize = 6;

/// True for identical words, or for similar vectors with identical numbers. Vectors barely
/// distinguish years or versions.
fn is_same_question(a: (&str, Option<&Vector>), b: (&str, Option<&Vector>)) -> bool {
    let (left, right) = (normalise_question(a.0), normalise_question(b.0));
    if left.is_empty() || right.is_empty() {
        return false;
    }
    if left == right {
        return true;
    }
    let cosine = a.1.zip(b.1).filter(|(x, y)| x.model() == y.model()).map(|(x, y)| {
        let same_length = x.values().len() == y.values().len();
        if same_length { dot(x.values(), y.values()) } else { 0.0 }
    });
    cosine.is_some_and(|cosine| cosine >= MIN_SAME_COSINE)
        && words_with_digits(&left) == words_with_digits(&right)
}

fn words_with_digits(question: &str) -> Vec<&str> {
    question.split(' ').filter(|word| word.bytes().any(|b| b.is_ascii_digit())).collect()
}

fn is_same_context(a: &[PreferenceTurn], b: &[PreferenceTurn]) -> bool {
    a.len() == b.len()
        && a.iter().zip(b).all(|(x, y)| {
            normalise_question(&x.question) == normalise_question(&y.question)
                && x.answer == y.answer
        })
}

/// Words that refer back or carry no information.
const UNINFORMATIVE_WORDS: &str = " it its this that these those they them their he she him her there then one ones same other \
    others another else instead again also too more less further above previous last former latter such yes no ok okay \
    sure please thanks thank and or but so what which who when where why how about is are was were be been do does did \
    can could will would should the a an of in on at by for with from to as me my i you your we us our tell show give \
    explain continue go ahead try now just not dont es sie das dies diese dieser den dem ihn ihm ihr dort dann noch \
    weiter mehr ja nein bitte und oder aber ello eso esto ese esta lo la le los las más otra otro sí por favor ça cela \
    ceci celui celle encore plus oui non ";
/// Words that always refer back.
const BACK_REFERENCES: &str = " it this that these those they them instead same again also above previous es das dies diese \
    dieser dort eso esto ese ça cela ceci ";

/// True when a question needs no context: "show total sales", but not "and for 2023?".
fn is_self_contained(question: &str) -> bool {
    let plain = normalise_question(question);
    if plain.split(' ').any(|word| list_contains(BACK_REFERENCES, word)) {
        return false;
    }
    let informative = || plain.split(' ').filter(|word| !list_contains(UNINFORMATIVE_WORDS, word));
    let unspaced = plain.chars().filter(|c| *c >= '\u{2e80}').count();
    informative().count() >= 2 || unspaced >= MIN_UNSPACED_CHARS
}

/// Collects turns by question. `T` is the caller's reference to a turn.
#[derive(Clone, Debug)]
pub struct QuestionGroups<T> {
    turns: BTreeSet<(QuestionKey, T)>,
    /// Union-find parents of merged questions.
    same_as: BTreeMap<QuestionKey, QuestionKey>,
}

impl<T> Default for QuestionGroups<T> {
    fn default() -> Self {
        Self { turns: BTreeSet::new(), same_as: BTreeMap::new() }
    }
}

impl<T: Copy + Ord> QuestionGroups<T> {
    /// Adds a turn that can be paired, and returns its question.
    pub fn add_turn(&mut self, turn: &PreferenceTurn, place: T) -> Option<QuestionKey> {
        let rated = turn.rating.is_some_and(|rating| rating.is_up() || rating.is_down());
        let judged = || !turn.arms.is_empty() && turn.effective_rating().is_some();
        let pairable = turn.has_answer() && (rated || judged());
        let question = QuestionKey::from_text(&turn.question).filter(|_| pairable)?;
        self.turns.insert((question, place));
        Some(question)
    }

    /// Merges two similar questions. Each pair is checked later, so a false merge is harmless.
    pub fn merge_questions(&mut self, one: QuestionKey, other: QuestionKey) {
        let (one, other) = (self.find_root(one), self.find_root(other));
        if one != other {
            // The smaller key is the root, whatever the order of calls.
            self.same_as.insert(one.max(other), one.min(other));
        }
    }

    /// Returns the turns of each question with more than one turn, ordered by question.
    pub fn into_groups(self) -> impl Iterator<Item = Vec<T>> {
        let mut by_question: BTreeMap<QuestionKey, Vec<T>> = BTreeMap::new();
        for (question, place) in &self.turns {
            by_question.entry(self.find_root(*question)).or_default().push(*place);
        }
        by_question.into_values().filter(|places| places.len() > 1).map(|mut places| {
            places.sort_unstable();
            places
        })
    }

    fn find_root(&self, question: QuestionKey) -> QuestionKey {
        let mut here = question;
        while let Some(next) = self.same_as.get(&here) {
            here = *next;
        }
        here
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(x: f32, y: f32) -> Vector {
        Vector::new("m".into(), vec![x, y])
    }

    #[test]
    fn same_question_matches_words_or_vectors() {
        let (here, near, far) = (vector(1.0, 0.0), vector(1.0, 0.2), vector(1.0, 0.5));
        let check = |a, va, b, vb, expected| {
            assert_eq!(is_same_question((a, va), (b, vb)), expected, "{a} / {b}");
        };
        check("Total sales?", None, "total SALES", None, true);
        check("total sales", Some(&here), "sales in total", Some(&near), true);
        check("total sales", Some(&here), "sales in total", Some(&far), false);
        check("total sales", Some(&here), "sales in total", None, false);
        check("sales of 2023", Some(&here), "sales of 2024", Some(&near), false);
        check("???", Some(&here), "???", Some(&here), false);
        let other = Vector::new("n".into(), vec![1.0, 0.0]);
        check("total sales", Some(&here), "sales in total", Some(&other), false);
    }

    #[test]
    fn context_dependent_questions_are_not_self_contained() {
        for alone in [
            "Show total sales",
            "reset my password",
            "How do I cancel my contract?",
            "売上の合計を表示して",
        ] {
            assert!(is_self_contained(alone), "{alone}");
        }
        for leaning in [
            "yes please",
            "and for 2023?",
            "tell me more",
            "what about Germany",
            "does it work offline",
            "",
            "はい",
        ] {
            assert!(!is_self_contained(leaning), "{leaning}");
        }
    }
}
