//! A small wide-and-deep model: one weight per hashed feature, plus a narrow network over dense
//! features.
//!
//! Trained by training/fit, embedded in the binary and evaluated without a runtime.

use model::{Evidence, dot};

use crate::text::{Word, hash};

#[derive(Clone, Debug, Default)]
pub struct Features {
    pub sparse: Vec<SparseFeature>,
    pub dense: Vec<f32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SparseFeature {
    /// Full hash. The model uses the low bits, as many as its buckets need.
    pub hash: u32,
    pub start: u32,
    pub end: u32,
}

/// A word n-gram with the indexes of its first and last word.
pub(crate) struct WordNgram {
    pub first: usize,
    pub last: usize,
    pub feature: SparseFeature,
}

impl WordNgram {
    /// The n-gram in a certain position or role, as another feature.
    pub(crate) fn seeded_feature(&self, seed: u32) -> SparseFeature {
        SparseFeature { hash: hash(seed, &self.feature.hash.to_le_bytes()), ..self.feature }
    }
}

/// Word n-grams of length one to three.
pub(crate) fn word_ngrams(words: &[&Word]) -> impl Iterator<Item = WordNgram> {
    (0..words.len()).flat_map(move |first| {
        let start = words[first].start as u32;
        let mut ngram_hash = 0;
        (first..words.len()).zip(1u32..=3).map(move |(last, size)| {
            ngram_hash = hash(ngram_hash ^ size, &words[last].hash.to_le_bytes());
            let feature = SparseFeature { hash: ngram_hash, start, end: words[last].end as u32 };
            WordNgram { first, last, feature }
        })
    })
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct WideDeepModel {
    /// One weight per bucket; the count is a power of two.
    pub wide: Vec<f32>,
    pub inputs: usize,
    /// Hidden layer weights, `inputs` per unit.
    pub hidden: Vec<f32>,
    pub hidden_bias: Vec<f32>,
    pub output: Vec<f32>,
    /// Weights from the dense features directly to the sum.
    pub direct: Vec<f32>,
    pub bias: f32,
    /// Platt scaling of the sum: slope and offset.
    pub slope: f32,
    pub offset: f32,
}

const MAGIC: &[u8; 4] = b"UPTM";

impl WideDeepModel {
    pub fn raw_sum(&self, features: &Features) -> f32 {
        let wide: f32 = features.sparse.iter().map(|f| self.sparse_weight(f.hash)).sum();
        let direct = dot(&self.direct, &features.dense);
        let mut deep = 0.0;
        for (unit, bias) in self.hidden_bias.iter().enumerate() {
            let row = &self.hidden[unit * self.inputs..(unit + 1) * self.inputs];
            deep += self.output[unit] * (dot(row, &features.dense) + bias).max(0.0);
        }
        self.bias + wide / (features.sparse.len().max(1) as f32).sqrt() + direct + deep
    }

    pub fn predict_probability(&self, features: &Features) -> f32 {
        sigmoid(self.slope * self.raw_sum(features) + self.offset)
    }

    pub fn sparse_weight(&self, hash: u32) -> f32 {
        if self.wide.is_empty() { 0.0 } else { self.wide[hash as usize & (self.wide.len() - 1)] }
    }

    /// Span of the sparse feature with the highest positive weight.
    pub(crate) fn strongest_evidence<'a>(
        &self,
        features: impl Iterator<Item = &'a SparseFeature>,
        rule: &str,
    ) -> Option<Evidence> {
        let weight = |feature: &SparseFeature| self.sparse_weight(feature.hash);
        let strongest = features.max_by(|a, b| weight(a).total_cmp(&weight(b)))?;
        let (start, end) = (strongest.start as usize, strongest.end as usize);
        (weight(strongest) > 0.0).then(|| Evidence { start, end, rule: rule.to_owned() })
    }

    /// Serialises the model: counts, then floats, then the wide weights as one byte each with a
    /// common scale.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        for count in [1, self.wide.len(), self.inputs, self.hidden_bias.len()] {
            bytes.extend((count as u32).to_le_bytes());
        }
        let scale = self.wide.iter().fold(1e-8f32, |most, w| most.max(w.abs())) / 127.0;
        let numbers = [self.bias, self.slope, self.offset, scale];
        let all = [&numbers[..], &self.direct, &self.hidden, &self.hidden_bias, &self.output];
        bytes.extend(all.concat().iter().flat_map(|n| n.to_le_bytes()));
        bytes.extend(self.wide.iter().flat_map(|w| ((w / scale).round() as i8).to_le_bytes()));
        bytes
    }

    /// Loads a committed model. Panics when the file is invalid: a broken build must not pass for a
    /// model that is never confident.
    pub(crate) fn load_committed(bytes: &[u8]) -> Self {
        let model = Self::from_bytes(bytes);
        assert!(model.is_some(), "invalid model file; run `make models` to rebuild it");
        model.unwrap_or_default()
    }

    /// Returns `None` when the bytes are not a valid model.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let rest = bytes.strip_prefix(MAGIC)?;
        let (head, rest) = rest.split_at_checked(16)?;
        let counts: Vec<usize> = head
            .chunks_exact(4)
            .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as usize)
            .collect();
        let [1, wide, inputs, units] = counts[..] else { return None };
        let mut numbers =
            rest.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        let mut take = |count: usize| -> Option<Vec<f32>> {
            let taken: Vec<f32> = numbers.by_ref().take(count).collect();
            (taken.len() == count).then_some(taken)
        };
        let head = take(4)?;
        let (direct, hidden) = (take(inputs)?, take(inputs * units)?);
        let (hidden_bias, output) = (take(units)?, take(units)?);
        let at = 4 * (4 + inputs + inputs * units + 2 * units);
        let weights = rest.get(at..at + wide)?;
        let wide = weights.iter().map(|b| f32::from(i8::from_le_bytes([*b])) * head[3]).collect();
        let [bias, slope, offset, _] = head[..] else { return None };
        Some(Self { wide, inputs, hidden, hidden_bias, output, direct, bias, slope, offset })
    }
}

pub fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_round_trips_through_bytes() {
        let model = WideDeepModel {
            wide: vec![1.27, -0.5, 0.0, 0.25],
            inputs: 2,
            hidden: vec![1.0, -1.0, 0.5, 0.5],
            hidden_bias: vec![0.0, 0.1],
            output: vec![2.0, -1.0],
            direct: vec![0.3, 0.4],
            bias: -0.2,
            slope: 1.5,
            offset: 0.1,
        };
        let back = WideDeepModel::from_bytes(&model.to_bytes()).unwrap();
        let features = Features {
            sparse: vec![SparseFeature { hash: 4, start: 0, end: 1 }],
            dense: vec![1.0, 0.5],
        };
        assert!(
            (model.predict_probability(&features) - back.predict_probability(&features)).abs()
                < 0.01
        );
        assert_eq!(WideDeepModel::from_bytes(b""), None);
        assert_eq!(WideDeepModel::from_bytes(b"UPTMshort"), None);
        assert_eq!(WideDeepModel::from_bytes(&model.to_bytes()[..40]), None);
    }
}
