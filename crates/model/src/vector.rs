//! Embedding vectors of texts.

use std::sync::Arc;

/// A text's embedding and its model. Vectors of different models are not comparable.
#[derive(Clone, Debug, PartialEq)]
pub struct Vector {
    model: Arc<str>,
    values: Box<[f32]>,
}

impl Vector {
    /// Normalises to length 1. Non-finite numbers make the whole vector zero.
    pub fn new(model: Arc<str>, mut values: Vec<f32>) -> Self {
        let length = values.iter().map(|v| v * v).sum::<f32>().sqrt();
        if length.is_finite() && length > 0.0 {
            let scale = 1.0 / length;
            values.iter_mut().for_each(|v| *v *= scale);
        } else {
            values.fill(0.0);
        }
        Self { model, values: values.into() }
    }

    pub fn model(&self) -> &Arc<str> {
        &self.model
    }

    /// A unit vector, or all zeros.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// True for the zero vector, as of an empty text.
    pub fn is_zero(&self) -> bool {
        self.values.iter().all(|v| *v == 0.0)
    }

    /// Cosine similarity, -1 to 1; `None` across models or dimensions.
    pub fn cosine(&self, other: &Self) -> Option<f32> {
        let same_space = self.model == other.model && self.values.len() == other.values.len();
        same_space.then(|| dot(&self.values, &other.values).clamp(-1.0, 1.0))
    }
}

/// Dot product with eight partial sums, so that the compiler can vectorise it.
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0f32; 8];
    let (left, right) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f32 = left.remainder().iter().zip(right.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in left.zip(right) {
        for lane in 0..8 {
            sums[lane] += x[lane] * y[lane];
        }
    }
    sums.iter().sum::<f32>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(model: &str, values: &[f32]) -> Vector {
        Vector::new(model.into(), values.to_vec())
    }

    #[test]
    fn vectors_compare_only_within_a_model() {
        let a = vector("m", &[3.0, 4.0]);
        assert_eq!(a.values(), [0.6, 0.8]);
        assert_eq!(a.cosine(&vector("m", &[30.0, 40.0])), Some(1.0));
        assert_eq!(a.cosine(&vector("m", &[-3.0, -4.0])), Some(-1.0));
        assert_eq!(a.cosine(&vector("n", &[3.0, 4.0])), None);
        assert_eq!(a.cosine(&vector("m", &[3.0, 4.0, 0.0])), None);
    }

    #[test]
    fn zero_vector_is_similar_to_nothing() {
        for bad in [&[0.0, 0.0], &[f32::NAN, 1.0], &[f32::INFINITY, 1.0], &[f32::MAX, f32::MAX]] {
            let none = vector("m", bad);
            assert!(none.is_zero(), "{bad:?}");
            assert_eq!(none.cosine(&vector("m", &[1.0, 0.0])), Some(0.0), "{bad:?}");
        }
    }
}
