//! The subject of a pattern's questions, tested against chance.
//!
//! In any group of questions some word is frequent. A topic must score higher than the best word of
//! 19 in 20 random groups of the same size, drawn from all questions (a permutation of the labels).
//! The draws are seeded, so the same turns give the same topic.

use std::collections::BTreeMap;

use model::hash::SplitMix64;

use super::label::{TermCounts, Terms, build_label, score_share};
use super::pattern::MAX_LABEL_CHARS;
use crate::text::truncate_chars;

const RANDOM_GROUPS: u32 = 199;
/// Random groups that may score as high as the pattern, for a significance of 0.05.
const MAX_CHANCE_GROUPS: u32 = 9;
const SEED: u64 = 24;

/// The questions that topics are tested against, with terms as numbers.
pub(super) struct QuestionPool {
    counts: TermCounts,
    numbers: BTreeMap<String, u32>,
    questions: Vec<Vec<u32>>,
    totals: Vec<u32>,
}

impl QuestionPool {
    pub(super) fn new<'t>(questions: impl IntoIterator<Item = &'t Terms> + Clone) -> Self {
        let counts = TermCounts::from_turns(questions.clone());
        let mut numbers: BTreeMap<String, u32> = BTreeMap::new();
        let mut totals = Vec::new();
        let mut number = |term: &str| {
            let next = totals.len() as u32;
            let number = *numbers.entry(term.to_owned()).or_insert(next);
            if number == next {
                totals.push(0);
            }
            totals[number as usize] += 1;
            number
        };
        let mut read = |terms: &Terms| terms.stems().map(&mut number).collect::<Vec<u32>>();
        let questions = questions.into_iter().map(&mut read).collect();
        Self { counts, numbers, questions, totals }
    }

    /// The subject of most of a pattern's questions; empty when chance explains it.
    pub(super) fn find_topic<'t>(&self, members: impl Iterator<Item = &'t Terms>) -> String {
        let inside = TermCounts::from_turns(members);
        let terms = build_label(&inside, &self.counts).terms.into_iter();
        let mut common = terms.filter(|term| inside.is_common(term));
        let Some(topic) = common.next() else { return String::new() };
        let score = inside.find_term(&topic).and_then(|(term, count)| {
            let number = *self.numbers.get(term)? as usize;
            Some(self.score(count, number, inside.turns()))
        });
        match score.filter(|score| self.is_beyond_chance(*score, inside.turns())) {
            Some(_) => truncate_chars(&topic, MAX_LABEL_CHARS),
            None => String::new(),
        }
    }

    fn score(&self, count: u32, number: usize, size: u32) -> f64 {
        let elsewhere = self.totals[number].saturating_sub(count);
        let others = (self.questions.len() as u32).saturating_sub(size);
        score_share((count, size), (elsewhere, others))
    }

    fn is_beyond_chance(&self, score: f64, size: u32) -> bool {
        if size as usize >= self.questions.len() {
            return false;
        }
        let mut draw = SplitMix64(SEED);
        let mut order: Vec<u32> = (0..self.questions.len() as u32).collect();
        let mut counts = vec![0_u32; self.totals.len()];
        let mut as_high = 0;
        for _ in 0..RANDOM_GROUPS {
            as_high += u32::from(
                self.best_random_score(size, &mut draw, &mut order, &mut counts) >= score,
            );
            if as_high > MAX_CHANCE_GROUPS {
                return false;
            }
        }
        true
    }

    /// The score of the best common term in a random group. Leaves `counts` zero.
    fn best_random_score(
        &self,
        size: u32,
        draw: &mut SplitMix64,
        order: &mut [u32],
        counts: &mut [u32],
    ) -> f64 {
        let mut seen = Vec::new();
        for at in 0..size as usize {
            let left = (order.len() - at) as u64;
            order.swap(at, at + (draw.next_u64() % left) as usize);
            for number in &self.questions[order[at] as usize] {
                if counts[*number as usize] == 0 {
                    seen.push(*number as usize);
                }
                counts[*number as usize] += 1;
            }
        }
        let mut best = 0.0;
        for number in seen {
            let count = std::mem::take(&mut counts[number]);
            if TermCounts::is_common_count(count, size) {
                best = f64::max(best, self.score(count, number, size));
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MONTHS: [&str; 4] = ["july", "july", "march", "may"];
    const SUBJECTS: [&str; 5] = ["revenue", "margin", "returns", "visitors", "baskets"];

    /// Every combination of subject and month, `rounds` times.
    fn questions(rounds: usize) -> Vec<Terms> {
        let each = SUBJECTS.iter().flat_map(|subject| {
            MONTHS.iter().map(move |month| format!("What was the {subject} in {month}?"))
        });
        let all: Vec<String> = each.collect();
        let texts = all.iter().cycle().take(rounds * all.len());
        texts.map(|text| Terms::from_texts([text.as_str()])).collect()
    }

    #[test]
    fn topic_of_a_random_part_of_the_questions_is_empty() {
        let all = questions(20);
        let pool = QuestionPool::new(&all);
        let mut draw = SplitMix64(3);
        let found = (0..50).filter(|_| {
            let mut members = Vec::new();
            while members.len() < 20 {
                members.push(&all[(draw.next_u64() % all.len() as u64) as usize]);
            }
            !pool.find_topic(members.into_iter()).is_empty()
        });
        assert!(found.count() <= 5, "about one in twenty at most");
    }

    #[test]
    fn subject_of_a_real_group_is_found() {
        let all = questions(20);
        let pool = QuestionPool::new(&all);
        let about = Terms::from_texts(["What was the margin in july?"]);
        let other = Terms::from_texts(["What was the margin in may?"]);
        let members = [&about, &other].into_iter().cycle().take(12);
        assert_eq!(pool.find_topic(members), "margin");
    }

    #[test]
    fn group_of_all_questions_has_no_topic() {
        let all = questions(1);
        assert_eq!(QuestionPool::new(&all).find_topic(all.iter()), "");
    }
}
