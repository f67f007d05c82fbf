//! Labels a pattern with its distinctive terms, and gives it a stable id.
//!
//! A term is a word or a bigram. It scores p·ln(1 + p/q), where p is the share of the pattern's
//! turns that contain it and q the share of all other turns.

use std::collections::{BTreeMap, BTreeSet};

use model::hash::fnv1a_64;

use super::words::extract_content_words;

const MAX_TERMS: usize = 3;
/// Minimum score of a further term, relative to the first.
const MIN_TERM_SCORE_RATIO: f64 = 0.55;
/// Minimum score of a bigram that replaces a word, relative to the word.
const MIN_BIGRAM_SCORE_RATIO: f64 = 0.6;
const MIN_TERM_TURNS: u32 = 2;

/// Terms of one turn: stems and bigrams of stems, each with its spelling.
#[derive(Clone, Debug, Default)]
pub(super) struct Terms(BTreeMap<String, String>);

impl Terms {
    pub(super) fn from_texts<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        Self::default().with_texts(texts)
    }

    pub(super) fn with_texts<'t>(&self, texts: impl IntoIterator<Item = &'t str>) -> Self {
        let mut terms = self.0.clone();
        for text in texts {
            let words = extract_content_words(text);
            for word in &words {
                terms.entry(word.stem.clone()).or_insert_with(|| word.word.clone());
            }
            for pair in words.windows(2).filter(|pair| pair[0].position + 1 == pair[1].position) {
                let stems = format!("{} {}", pair[0].stem, pair[1].stem);
                terms.entry(stems).or_insert_with(|| format!("{} {}", pair[0].word, pair[1].word));
            }
        }
        Self(terms)
    }

    pub(super) fn stems(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

/// Number of turns that contain each term.
#[derive(Clone, Debug, Default)]
pub(super) struct TermCounts {
    turns: u32,
    counts: BTreeMap<String, u32>,
    spellings: BTreeMap<String, BTreeMap<String, u32>>,
}

impl TermCounts {
    pub(super) fn from_turns<'t>(turns: impl IntoIterator<Item = &'t Terms>) -> Self {
        let mut all = Self::default();
        for terms in turns {
            all.turns += 1;
            for (stem, word) in &terms.0 {
                *all.counts.entry(stem.clone()).or_default() += 1;
                *all.spellings.entry(stem.clone()).or_default().entry(word.clone()).or_default() +=
                    1;
            }
        }
        all
    }

    pub(super) fn turns(&self) -> u32 {
        self.turns
    }

    /// The term with this preferred spelling, and its count.
    pub(super) fn find_term(&self, spelling: &str) -> Option<(&str, u32)> {
        let is_term = |term: &&String| self.preferred_spelling(term) == spelling;
        let term = self.spellings.keys().find(is_term)?;
        Some((term, *self.counts.get(term)?))
    }

    /// True when at least a third of the turns contain the term with this preferred spelling.
    pub(super) fn is_common(&self, spelling: &str) -> bool {
        let found = self.find_term(spelling);
        found.is_some_and(|(_, count)| Self::is_common_count(count, self.turns))
    }

    pub(super) fn is_common_count(count: u32, turns: u32) -> bool {
        count >= MIN_TERM_TURNS && count * 3 >= turns
    }

    /// The most frequent spelling; ties go to the alphabetically first.
    fn preferred_spelling(&self, term: &str) -> String {
        let spellings = self.spellings.get(term).into_iter().flatten();
        let preferred = spellings.max_by(|a, b| a.1.cmp(b.1).then(b.0.cmp(a.0)));
        preferred.map_or_else(|| term.to_owned(), |(word, _)| word.clone())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Label {
    pub(super) terms: Vec<String>,
    /// The most distinctive stems, best first. They identify the pattern.
    pub(super) stems: Vec<String>,
}

/// Builds the label of the turns counted in `inside`, a subset of those in `all`.
pub(super) fn build_label(inside: &TermCounts, all: &TermCounts) -> Label {
    let mut scored: Vec<(f64, &str)> = inside
        .counts
        .iter()
        .filter(|(_, count)| **count >= MIN_TERM_TURNS)
        .map(|(term, count)| (score_term(*count, term, inside, all), term.as_str()))
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    let first = scored.first().map_or(0.0, |(score, _)| *score);
    let mut used: BTreeSet<&str> = BTreeSet::new();
    let mut terms = Vec::new();
    for (score, stem) in scored.iter().filter(|(_, term)| !term.contains(' ')) {
        if terms.len() == MAX_TERMS || *score < first * MIN_TERM_SCORE_RATIO {
            break;
        }
        if !used.iter().any(|known| have_common_prefix(known, stem)) {
            let term = find_bigram(stem, *score, &scored).unwrap_or(stem);
            // "oil, oil change" becomes "oil change".
            terms.retain(|known: &&str| !term.split(' ').any(|part| part == *known));
            used.extend(term.split(' '));
            terms.push(term);
        }
    }
    let terms = terms.into_iter().map(|term| inside.preferred_spelling(term)).collect();
    let words = scored.iter().filter(|(_, term)| !term.contains(' '));
    let stems = words.take(MAX_TERMS).map(|(_, stem)| (*stem).to_owned()).collect();
    Label { terms, stems }
}

fn score_term(count: u32, term: &str, inside: &TermCounts, all: &TermCounts) -> f64 {
    let elsewhere = all.counts.get(term).copied().unwrap_or(count).saturating_sub(count);
    score_share((count, inside.turns), (elsewhere, all.turns.saturating_sub(inside.turns)))
}

/// Turns with the term and all turns, inside and elsewhere.
pub(super) fn score_share((count, size): (u32, u32), (elsewhere, others): (u32, u32)) -> f64 {
    let share_inside = f64::from(count) / f64::from(size.max(1));
    // Smoothing: a term that occurs nowhere else is rare, not impossible.
    let share_elsewhere = (f64::from(elsewhere) + 0.5) / (f64::from(others) + 1.0);
    share_inside * (1.0 + share_inside / share_elsewhere).ln()
}

/// True for inflections such as "spend" and "spent". A label needs only one of them.
fn have_common_prefix(a: &str, b: &str) -> bool {
    const MIN_PREFIX_CHARS: usize = 4;
    let shared = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let shorter = a.chars().count().min(b.chars().count());
    a == b || (shared >= MIN_PREFIX_CHARS && shared * 4 >= shorter * 3)
}

fn find_bigram<'t>(stem: &str, score: f64, scored: &[(f64, &'t str)]) -> Option<&'t str> {
    let has = |term: &str| term.contains(' ') && term.split(' ').any(|part| part == stem);
    let best = scored.iter().find(|(_, term)| has(term))?;
    (best.0 >= score * MIN_BIGRAM_SCORE_RATIO).then_some(best.1)
}

#[derive(Clone, Debug)]
pub(super) struct PatternIdentity {
    pub(super) error_type: Option<String>,
    pub(super) stems: Vec<String>,
    pub(super) size: usize,
}

/// Returns stable ids of patterns sorted largest first, from the error type or the two most
/// distinctive stems.
///
/// A turn that joins or leaves rarely changes these stems; `bench/learning` measures how often. Of
/// two patterns with the same stems, the larger keeps the id and the other adds its third stem.
pub(super) fn assign_ids<'k>(
    patterns: impl IntoIterator<Item = &'k PatternIdentity>,
) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let id = |identity: &PatternIdentity| {
        let mut id = format_id(identity, 2, 0);
        for attempt in 0.. {
            if taken.insert(id.clone()) {
                break;
            }
            id = format_id(identity, 3, attempt);
        }
        id
    };
    patterns.into_iter().map(id).collect()
}

fn format_id(identity: &PatternIdentity, stems: usize, attempt: u32) -> String {
    let mut parts: Vec<&str> = match &identity.error_type {
        Some(error_type) => vec![error_type],
        None => identity.stems.iter().take(stems).map(String::as_str).collect(),
    };
    parts.sort_unstable();
    let kind = if identity.error_type.is_some() { "error" } else { "meaning" };
    let mut text = format!("{kind} {}", parts.join(" "));
    if attempt > 0 {
        text.push_str(&format!(" {attempt}"));
    }
    format!("fp_{:016x}", fnv1a_64(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(inside: &[&str], others: &[&str], expected: &str) {
        let inside: Vec<Terms> = inside.iter().map(|text| Terms::from_texts([*text])).collect();
        let others: Vec<Terms> = others.iter().map(|text| Terms::from_texts([*text])).collect();
        let all = TermCounts::from_turns(inside.iter().chain(&others));
        assert_eq!(build_label(&TermCounts::from_turns(&inside), &all).terms.join(", "), expected);
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

    fn identity(stems: &[&str]) -> PatternIdentity {
        PatternIdentity {
            error_type: None,
            stems: stems.iter().map(|s| (*s).to_owned()).collect(),
            size: 2,
        }
    }

    #[test]
    fn pattern_ids_ignore_stem_order_and_are_unique() {
        let patterns = [identity(&["order", "complet"]), identity(&["complet", "order", "region"])];
        let ids = assign_ids(&patterns);
        assert_eq!(ids[0], assign_ids(&[identity(&["complet", "order", "x"])])[0]);
        assert_ne!(ids[0], ids[1]);
        let same = vec![identity(&["a", "b", "c"]); 4];
        assert_eq!(assign_ids(&same).into_iter().collect::<BTreeSet<_>>().len(), 4);
    }
}
