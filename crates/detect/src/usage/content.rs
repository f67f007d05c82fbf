//! How much of an item's content is in an answer: runs of words, identifiers, and telling words.

use rustc_hash::FxHashSet;

use super::identifiers::{identifiers_of, imported};
use super::reading::{Gap, Reading, Sort};
use super::rule::UsageRule;
use super::weight::{Weight, is_telling, weight_of};
use super::written::{RUN, Written, key_of};

/// What an answer shares with one item.
#[derive(Clone, Debug, Default)]
pub(super) struct Shared {
    /// Runs of the item, at most as many as the share is taken of.
    all_runs: usize,
    runs: usize,
    all_identifiers: usize,
    identifiers: usize,
    unmistakable: bool,
    /// The rarest of the shared runs.
    rarest_run: f32,
    all_rare: usize,
    rare: usize,
    /// Words in the answer that bear out a name.
    pub(super) support: usize,
    /// Pieces of the answer: the longest stretch of shared runs, or the first shared identifier.
    run_at: Option<(usize, usize)>,
    identifier_at: Option<(usize, usize)>,
    word_at: Option<(usize, usize)>,
}

impl Shared {
    /// Reads the content into `reading`, which is only there to be used again.
    pub(super) fn of(
        rule: &UsageRule,
        answer: &Written<'_>,
        content: &str,
        name_words: &FxHashSet<u32>,
        reading: &mut Reading,
    ) -> Self {
        let content = &content[..content.floor_char_boundary(rule.most_content_bytes)];
        reading.read(content);
        let mut shared = Self::default();
        shared.count_runs(rule, answer, reading);
        shared.count_identifiers(answer, content, reading);
        let mut seen = FxHashSet::default();
        let telling = reading.pieces.iter().map(|p| p.hash).filter(|h| answer.telling.contains(h));
        shared.support = telling.filter(|h| !name_words.contains(h) && seen.insert(*h)).count();
        if shared.support >= rule.least_words {
            shared.count_words(answer, reading);
        }
        shared
    }

    /// Where the answer shows that it used the content, if it shares enough.
    pub(super) fn evidence(&self, rule: &UsageRule) -> Option<(usize, usize, f64)> {
        let share = |some: usize, all: usize| if all == 0 { 0.0 } else { some as f64 / all as f64 };
        let of_runs = share(self.runs, self.all_runs);
        let enough = self.runs >= rule.least_runs || self.rarest_run >= rule.lone_run_rarity;
        if enough && of_runs >= rule.run_share {
            return self.run_at.map(|(first, last)| (first, last, of_runs.min(1.0)));
        }
        let of_identifiers = share(self.identifiers, self.all_identifiers);
        let enough = self.identifiers >= rule.least_identifiers || self.unmistakable;
        if enough && of_identifiers >= rule.identifier_share {
            return self.identifier_at.map(|(first, last)| (first, last, of_identifiers));
        }
        let of_words = share(self.rare, self.all_rare);
        if self.rare >= rule.least_words && of_words >= rule.word_share {
            return self.word_at.map(|(first, last)| (first, last, of_words));
        }
        None
    }

    fn count_runs(&mut self, rule: &UsageRule, answer: &Written<'_>, reading: &Reading) {
        // Signs are half words: a run of five is shorter than five words.
        let (mut signs, mut words) = (0, 0);
        let mut stretch: Option<(usize, usize)> = None;
        for window in reading.pieces.windows(RUN) {
            if window[1..].iter().any(|p| p.gap == Gap::Break) {
                continue;
            }
            self.all_runs += 1;
            let Some(run) = answer.runs.get(&key_of(window)) else { continue };
            let at = run.at as usize;
            self.rarest_run = self.rarest_run.max(run.rarity);
            if window.iter().all(|p| p.sort == Sort::Sign) {
                signs += 1;
            } else {
                words += 1;
            }
            let grown = match stretch {
                Some((first, last)) if last + 1 == at + RUN - 1 => (first, last + 1),
                _ => (at, at + RUN - 1),
            };
            stretch = Some(grown);
            let length = |(first, last): (usize, usize)| last - first;
            if self.run_at.is_none_or(|longest| length(grown) > length(longest)) {
                self.run_at = Some(grown);
            }
        }
        self.runs = words + signs / 2;
        self.all_runs = self.all_runs.min(rule.most_runs);
    }

    /// Rare words and figures. Only looked at when there are some: weighing words costs more than
    /// looking them up.
    fn count_words(&mut self, answer: &Written<'_>, reading: &Reading) {
        let mut seen = FxHashSet::default();
        for piece in reading.pieces.iter().filter(|p| p.sort != Sort::Sign) {
            let rare = || weight_of(reading, piece) == Weight::Rare;
            if !seen.insert(piece.hash) || !rare() || !is_telling(piece, Weight::Rare) {
                continue;
            }
            self.all_rare += 1;
            if answer.telling.contains(&piece.hash) {
                self.rare += 1;
                if self.word_at.is_none() {
                    let at = answer.reading.pieces.iter().position(|p| p.hash == piece.hash);
                    self.word_at = at.map(|at| (at, at));
                }
            }
        }
    }

    fn count_identifiers(&mut self, answer: &Written<'_>, content: &str, reading: &Reading) {
        let imported = imported(content);
        let mut seen = FxHashSet::default();
        for found in identifiers_of(content, reading) {
            if imported.contains(&found.key) || !seen.insert(found.key) {
                continue;
            }
            self.all_identifiers += 1;
            if let Some(there) = answer.identifiers.get(&found.key) {
                self.identifiers += 1;
                self.unmistakable |= there.unmistakable;
                self.identifier_at.get_or_insert((there.first as usize, there.last as usize));
            }
        }
    }
}
