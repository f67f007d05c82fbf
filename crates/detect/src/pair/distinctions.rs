//! Classes of words that exclude each other: "March" and "May", "buy" and "sell", "km" and "miles".

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::text::{FoldedText, WordHasher, hash};

/// One class per line, as `class: group | group`. Words of one group mean the same.
const CLASSES: &str = include_str!("../phrases/distinctions.txt");

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Membership {
    class: u16,
    group: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    /// Two names of one thing: "km" and "kilometers".
    Same,
    /// Words that exclude each other: "March" and "May".
    Exclusive,
    Unrelated,
}

/// Relation of two words with these memberships.
pub(super) fn relate(a: &[Membership], b: &[Membership]) -> Relation {
    if a.iter().any(|one| b.contains(one)) {
        Relation::Same
    } else if a.iter().any(|one| b.iter().any(|other| one.class == other.class)) {
        Relation::Exclusive
    } else {
        Relation::Unrelated
    }
}

#[derive(Default)]
struct Classes {
    words: FxHashMap<u32, Vec<Membership>>,
    /// By the hash of a word's beginning.
    beginnings: FxHashMap<u32, Vec<Membership>>,
}

static LOADED: LazyLock<Classes> = LazyLock::new(|| {
    let mut classes = Classes::default();
    let lines = CLASSES.lines().filter(|line| !line.starts_with('#'));
    let lists = lines.filter_map(|line| line.split_once(": ")).map(|(_, groups)| groups);
    for (class, groups) in (0u16..).zip(lists) {
        for (group, words) in (0u16..).zip(groups.split(" | ")) {
            words.split(' ').for_each(|word| classes.insert(word, Membership { class, group }));
        }
    }
    classes
});

impl Classes {
    fn insert(&mut self, word: &str, membership: Membership) {
        let (word, map) = match word.strip_suffix('*') {
            Some(beginning) => (beginning, &mut self.beginnings),
            None => (word, &mut self.words),
        };
        let folded = FoldedText::new(word);
        let hashed = match folded.words.as_slice() {
            [only] => only.hash,
            all => {
                hash(0, all.iter().map(|w| folded.folded_word(w)).collect::<String>().as_bytes())
            }
        };
        map.entry(hashed).or_default().push(membership);
    }
}

const MIN_BEGINNING_CHARS: usize = 2;

/// The groups that a folded word belongs to.
pub(super) fn find_memberships(folded: &str) -> Vec<Membership> {
    let mut found = Vec::new();
    let mut hashing = WordHasher::new(0);
    let mut chars = 0;
    for (at, byte) in folded.bytes().enumerate() {
        hashing = hashing.add_byte(byte);
        if folded.is_char_boundary(at + 1) {
            chars += 1;
            if chars >= MIN_BEGINNING_CHARS {
                found.extend(LOADED.beginnings.get(&hashing.finish()).into_iter().flatten());
            }
        }
    }
    found.extend(LOADED.words.get(&hashing.finish()).into_iter().flatten());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relation(a: &str, b: &str) -> Relation {
        relate(&find_memberships(a), &find_memberships(b))
    }

    #[test]
    fn words_of_one_group_are_the_same_and_of_two_exclude_each_other() {
        let rows = [
            ("march", "may", Relation::Exclusive),
            ("января", "январь", Relation::Same),
            ("июнь", "июль", Relation::Exclusive),
            ("km", "kilometers", Relation::Same),
            ("km", "miles", Relation::Exclusive),
            ("高", "低", Relation::Exclusive),
            ("kaufen", "verkaufen", Relation::Exclusive),
            ("kaufen", "einkaufen", Relation::Same),
            ("march", "miles", Relation::Unrelated),
            ("", "march", Relation::Unrelated),
        ];
        for (a, b, expected) in rows {
            assert_eq!(relation(a, b), expected, "{a} {b}");
            assert_eq!(relation(b, a), expected, "{b} {a}");
        }
    }
}
