//! Which turn a remark is about: the last one, or one further back that it resembles.

use std::time::Duration;

use event::{TurnId, Vector};

use crate::lexicon::lexicon;
use crate::utterance::Utterance;

/// How candidates are weighed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TargetRule {
    /// Weight of the likeness; recency has the rest.
    pub similarity_weight: f64,
    /// After this long recency counts half.
    pub half_life: Duration,
    /// Older turns are not looked at.
    pub oldest: Duration,
    /// How many come back.
    pub top_k: usize,
    /// Below this score nobody is blamed.
    pub floor: f64,
}

impl Default for TargetRule {
    fn default() -> Self {
        const DAY: u64 = 24 * 60 * 60;
        Self {
            similarity_weight: 0.85,
            half_life: Duration::from_secs(7 * DAY),
            oldest: Duration::from_secs(365 * DAY),
            top_k: 5,
            floor: 0.35,
        }
    }
}

/// A turn that the remark might be about.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// The turn.
    pub turn: &'a TurnId,
    /// The direction of its question.
    pub question: &'a Vector,
    /// The direction of its answer, if there is one.
    pub answer: Option<&'a Vector>,
    /// Time since.
    pub age: Duration,
}

/// A candidate and how well it fits.
#[derive(Clone, Debug, PartialEq)]
pub struct Located {
    /// The turn.
    pub turn: TurnId,
    /// Likeness and recency together.
    pub score: f64,
    /// The better of the likeness to question and answer.
    pub similarity: f64,
}

/// Ranks the candidates; only those above the floor, the best first.
pub fn locate(rule: &TargetRule, remark: &Vector, candidates: &[Candidate<'_>]) -> Vec<Located> {
    let mut found: Vec<Located> = candidates
        .iter()
        .filter(|candidate| candidate.age <= rule.oldest)
        .map(|candidate| score(rule, remark, candidate))
        .filter(|located| located.score >= rule.floor)
        .collect();
    found.sort_by(|a, b| {
        b.score.total_cmp(&a.score).then_with(|| a.turn.as_str().cmp(b.turn.as_str()))
    });
    found.truncate(rule.top_k);
    found
}

fn score(rule: &TargetRule, remark: &Vector, candidate: &Candidate<'_>) -> Located {
    let likeness = |other: &Vector| remark.cosine(other).map_or(0.0, f64::from);
    let similarity =
        likeness(candidate.question).max(candidate.answer.map_or(0.0, likeness)).max(0.0);
    let recency = (-candidate.age.as_secs_f64() / rule.half_life.as_secs_f64()).exp2();
    let score = rule.similarity_weight * similarity + (1.0 - rule.similarity_weight) * recency;
    Located { turn: candidate.turn.clone(), score, similarity }
}

/// A remark with hardly any content of its own ("no, wrong", "thanks!") is about the last turn.
pub fn is_bare(remark: &Utterance) -> bool {
    const FEW: usize = 2;
    let words = lexicon();
    let said: Vec<bool> = {
        let mut covered = vec![false; remark.spoken.len()];
        for hit in &remark.hits {
            covered[hit.first..=hit.last].fill(true);
        }
        covered
    };
    let own = remark.spoken.iter().zip(said).filter(|(word, cue)| !cue && !words.is_common(**word));
    own.count() < FEW
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: u64 = 24 * 60 * 60;

    fn ranked(remark: &str, turns: &[(&str, u64)]) -> Vec<String> {
        let ids: Vec<TurnId> =
            (0..turns.len()).map(|n| TurnId::new(format!("t{n}")).unwrap()).collect();
        let vectors: Vec<Vector> =
            turns.iter().map(|(text, _)| embed::built_in().embed(text)).collect();
        let candidates: Vec<Candidate<'_>> = (0..turns.len())
            .map(|n| Candidate {
                turn: &ids[n],
                question: &vectors[n],
                answer: None,
                age: Duration::from_secs(turns[n].1),
            })
            .collect();
        let remark = embed::built_in().embed(remark);
        locate(&TargetRule::default(), &remark, &candidates)
            .into_iter()
            .map(|l| l.turn.to_string())
            .collect()
    }

    #[test]
    fn content_finds_an_earlier_turn() {
        let turns =
            [("draw the sequence diagram of the login", 3_600), ("what is for lunch today", 60)];
        assert_eq!(ranked("the login diagram was fine", &turns)[0], "t0");
    }

    #[test]
    fn of_equals_the_recent_one_comes_first() {
        let turns = [("sales in March", 8 * DAY), ("sales in March", 60)];
        assert_eq!(ranked("the March sales were wrong", &turns), ["t1", "t0"]);
    }

    #[test]
    fn nobody_is_blamed_below_the_floor_or_after_a_year() {
        assert!(
            ranked("the soup recipe was great", &[("restart the kubernetes pod", 30 * DAY)])
                .is_empty()
        );
        assert!(ranked("sales in March", &[("sales in March", 366 * DAY)]).is_empty());
        assert!(ranked("", &[("sales", 0)]).is_empty());
    }

    #[test]
    fn a_bare_remark_has_no_content() {
        for bare in ["no, wrong", "thanks!", "that's not what I asked", "", "try again please"] {
            assert!(is_bare(&Utterance::read(bare)), "{bare}");
        }
        assert!(!is_bare(&Utterance::read("the first sequence diagram was fine")));
    }
}
