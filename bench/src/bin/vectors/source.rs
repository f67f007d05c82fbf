//! Deterministic vectors: the same number always gives the same vector.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use vector_index::{Labels, Tier};

const USERS: u64 = 1_000;

/// Question vectors of the corpus, and some that are kept apart as queries.
pub(crate) struct Source {
    pub(crate) texts: Vec<Vec<f32>>,
    pub(crate) queries: Vec<Vec<f32>>,
}

impl Source {
    pub(crate) fn read(corpus: &Path, queries: usize) -> anyhow::Result<Self> {
        let mut texts = BTreeSet::new();
        for file in fs::read_dir(corpus)? {
            let path = file?.path();
            if path.extension().is_some_and(|extension| extension == "jsonl") {
                for line in fs::read_to_string(path)?.lines() {
                    let row: serde_json::Value = serde_json::from_str(line)?;
                    let asked = ["a", "b", "prompt", "prev_user", "user"];
                    let asked = asked.iter().filter_map(|field| row[field].as_str());
                    texts.extend(asked.map(str::to_owned));
                }
            }
        }
        let mut texts: Vec<String> = texts.into_iter().collect();
        texts.sort_by_cached_key(|text| {
            text.bytes().fold(0, |hash, byte| mix(hash ^ u64::from(byte)))
        });
        let vectors = texts.iter().map(|text| embed::built_in().embed(text));
        let pointing = vectors.filter(|vector| !vector.is_zero());
        let mut vectors: Vec<Vec<f32>> = pointing.map(|vector| vector.values().to_vec()).collect();
        let queries = vectors.split_off(vectors.len().saturating_sub(queries));
        anyhow::ensure!(!vectors.is_empty(), "the corpus has too few questions");
        Ok(Self { texts: vectors, queries })
    }

    pub(crate) fn dims(&self) -> usize {
        self.texts[0].len()
    }

    /// A question, or a mixture of 80% of one and 20% of another with some noise.
    pub(crate) fn vector(&self, at: usize) -> Vec<f32> {
        if let Some(text) = self.texts.get(at) {
            return text.clone();
        }
        let mut chance = at as u64;
        let mut next = || {
            chance = mix(chance);
            chance
        };
        let any = |chance: u64| &self.texts[(chance % self.texts.len() as u64) as usize];
        let (main, other) = (any(next()), any(next()));
        let mut noise = || (next() >> 40) as f32 / (1u64 << 24) as f32 * 0.04 - 0.02;
        let mixed = main.iter().zip(other).map(|(a, b)| 0.8 * a + 0.2 * b + noise());
        let mut mixed: Vec<f32> = mixed.collect();
        let length = mixed.iter().map(|v| v * v).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
        mixed.iter_mut().for_each(|v| *v /= length);
        mixed
    }
}

/// 35% accepted, 15% rejected; a thousand users.
pub(crate) fn labels(at: usize) -> Labels {
    let chance = mix(at as u64 ^ 0xabcd);
    let tier = match chance % 20 {
        0..7 => Tier::Accepted,
        7..10 => Tier::Rejected,
        _ => Tier::Neutral,
    };
    Labels { tier, user: user(at), ..Labels::default() }
}

/// The user of a turn or of a query.
pub(crate) fn user(at: usize) -> u32 {
    (mix(at as u64 ^ 0x1234_5678) % USERS) as u32 + 1
}

/// Splitmix64, a seeded random number generator.
fn mix(seed: u64) -> u64 {
    let mut mixed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
