//! What a pattern is about, in its own words.
//!
//! A term (a word, or two that stand side by side) scores p·ln(1 + p/q), where p is the share of
//! the pattern's turns that have it and q of all others: how common it is here, times how much
//! commoner than elsewhere.

use std::collections::{BTreeMap, BTreeSet};

use super::words::content_words;

/// Terms of a label at most.
const MOST_TERMS: usize = 3;
/// A further term must score this part of the first.
const WORTH_ADDING: f64 = 0.55;
/// Two words take the place of one when they score this part of it.
const AS_DISTINCTIVE: f64 = 0.6;
/// A term must be in this many turns of the pattern.
const LEAST_TURNS: u32 = 2;

/// The terms of one turn: stems and pairs of stems, each with a way to write it.
#[derive(Clone, Debug, Default)]
pub(super) struct Terms(BTreeMap<String, String>);

impl Terms {
    pub(super) fn of<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        Self::default().with(texts)
    }

    /// Those of further texts too.
    pub(super) fn with<'t>(&self, texts: impl IntoIterator<Item = &'t str>) -> Self {
        let mut terms = self.0.clone();
        for text in texts {
            let words = content_words(text);
            for word in &words {
                terms.entry(word.stem.clone()).or_insert_with(|| word.word.clone());
            }
            for pair in words.windows(2).filter(|pair| pair[0].place + 1 == pair[1].place) {
                let stems = format!("{} {}", pair[0].stem, pair[1].stem);
                terms.entry(stems).or_insert_with(|| format!("{} {}", pair[0].word, pair[1].word));
            }
        }
        Self(terms)
    }
}

/// In how many turns each term is.
#[derive(Clone, Debug, Default)]
pub(super) struct TermCounts {
    turns: u32,
    counts: BTreeMap<String, u32>,
    written: BTreeMap<String, BTreeMap<String, u32>>,
}

impl TermCounts {
    pub(super) fn of<'t>(turns: impl IntoIterator<Item = &'t Terms>) -> Self {
        let mut all = Self::default();
        for terms in turns {
            all.turns += 1;
            for (stem, word) in &terms.0 {
                *all.counts.entry(stem.clone()).or_default() += 1;
                *all.written.entry(stem.clone()).or_default().entry(word.clone()).or_default() += 1;
            }
        }
        all
    }

    /// Whether a third of the turns have a term, which is told as most of them write it.
    pub(super) fn is_in_a_third(&self, written: &str) -> bool {
        let is_it = |term: &&String| self.written(term) == written;
        let count = self.written.keys().find(is_it).and_then(|term| self.counts.get(term));
        count.is_some_and(|count| *count * 3 >= self.turns)
    }

    /// The way most turns write it; of equals the first in the alphabet.
    fn written(&self, term: &str) -> String {
        let ways = self.written.get(term).into_iter().flatten();
        let most = ways.max_by(|a, b| a.1.cmp(b.1).then(b.0.cmp(a.0)));
        most.map_or_else(|| term.to_owned(), |(word, _)| word.clone())
    }
}

/// A label and what it was made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Label {
    /// For people, best term first.
    pub(super) terms: Vec<String>,
    /// The best words without their endings, best first: what a pattern is known by.
    pub(super) stems: Vec<String>,
}

/// The label of the turns counted in `inside`, which are among those counted in `all`.
pub(super) fn label(inside: &TermCounts, all: &TermCounts) -> Label {
    let mut scored: Vec<(f64, &str)> = inside
        .counts
        .iter()
        .filter(|(_, count)| **count >= LEAST_TURNS)
        .map(|(term, count)| (score(*count, term, inside, all), term.as_str()))
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    let first = scored.first().map_or(0.0, |(score, _)| *score);
    let mut used: BTreeSet<&str> = BTreeSet::new();
    let mut terms = Vec::new();
    for (score, stem) in scored.iter().filter(|(_, term)| !term.contains(' ')) {
        if terms.len() == MOST_TERMS || *score < first * WORTH_ADDING {
            break;
        }
        if !used.iter().any(|known| about_the_same(known, stem)) {
            let term = pair_with(stem, *score, &scored).unwrap_or(stem);
            // "oil, oil change" is "oil change".
            terms.retain(|told: &&str| !term.split(' ').any(|part| part == *told));
            used.extend(term.split(' '));
            terms.push(term);
        }
    }
    let terms = terms.into_iter().map(|term| inside.written(term)).collect();
    let words = scored.iter().filter(|(_, term)| !term.contains(' '));
    let stems = words.take(MOST_TERMS).map(|(_, stem)| (*stem).to_owned()).collect();
    Label { terms, stems }
}

fn score(count: u32, term: &str, inside: &TermCounts, all: &TermCounts) -> f64 {
    let here = f64::from(count) / f64::from(inside.turns.max(1));
    let elsewhere = all.counts.get(term).copied().unwrap_or(count).saturating_sub(count);
    let others = all.turns.saturating_sub(inside.turns);
    // Half a turn more, so that what is nowhere else is rare and not impossible.
    let there = (f64::from(elsewhere) + 0.5) / (f64::from(others) + 1.0);
    here * (1.0 + here / there).ln()
}

/// "spend" and "spent", "meet" and "meeting": a label needs one of them.
fn about_the_same(a: &str, b: &str) -> bool {
    const LEAST: usize = 4;
    let shared = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let shorter = a.chars().count().min(b.chars().count());
    a == b || (shared >= LEAST && shared * 4 >= shorter * 3)
}

fn pair_with<'t>(stem: &str, score: f64, scored: &[(f64, &'t str)]) -> Option<&'t str> {
    let has = |term: &str| term.contains(' ') && term.split(' ').any(|part| part == stem);
    let best = scored.iter().find(|(_, term)| has(term))?;
    (best.0 >= score * AS_DISTINCTIVE).then_some(best.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(inside: &[&str], others: &[&str], expected: &str) {
        let inside: Vec<Terms> = inside.iter().map(|text| Terms::of([*text])).collect();
        let others: Vec<Terms> = others.iter().map(|text| Terms::of([*text])).collect();
        let all = TermCounts::of(inside.iter().chain(&others));
        assert_eq!(label(&TermCounts::of(&inside), &all).terms.join(", "), expected);
    }

    #[test]
    fn label_prefers_a_distinctive_bigram() {
        check(
            &["only completed orders", "completed orders please", "count completed orders"],
            &["cancel my subscription", "orders by region are missing"],
            "completed orders",
        );
    }

    #[test]
    fn label_ignores_terms_common_to_all_patterns() {
        check(
            &["dashboard shows revenue twice", "revenue on the dashboard is twice"],
            &["dashboard login fails", "dashboard login loop", "dashboard colours"],
            "revenue, twice",
        );
    }

    #[test]
    fn label_drops_inflections_and_repeated_words() {
        check(&["spend it", "spent it", "spend on it", "I spent it"], &["save"], "spend");
        let oil =
            ["oil change", "an oil change", "the oil change", "change it, the oil", "oil", "oil"];
        check(&oil, &["tyres"; 9], "oil change");
    }

    #[test]
    fn label_needs_terms_of_at_least_two_turns() {
        check(&["alpha beta", "gamma delta"], &["epsilon"], "");
    }
}
