//! A text as a direction in the space of one model.

use std::sync::Arc;

/// Numbers that stand for a text, and the model that made them: vectors of two models never compare.
#[derive(Clone, Debug, PartialEq)]
pub struct Vector {
    model: Arc<str>,
    values: Box<[f32]>,
}

impl Vector {
    /// Scaled to length 1. Numbers that are not finite make the whole vector zero: no direction.
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

    /// Which model made it.
    pub fn model(&self) -> &Arc<str> {
        &self.model
    }

    /// The numbers, of length 1 together, or all zero.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// Whether it points anywhere: an empty text does not.
    pub fn is_zero(&self) -> bool {
        self.values.iter().all(|v| *v == 0.0)
    }

    /// How alike two directions are, -1 to 1; `None` across models or dimensions.
    pub fn cosine(&self, other: &Self) -> Option<f32> {
        let same_space = self.model == other.model && self.values.len() == other.values.len();
        same_space.then(|| dot(&self.values, &other.values).clamp(-1.0, 1.0))
    }
}

/// The sum of products, in eight sums side by side so that the compiler can use wide registers.
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
    fn directions_compare_within_a_model_only() {
        let a = vector("m", &[3.0, 4.0]);
        assert_eq!(a.values(), [0.6, 0.8]);
        assert_eq!(a.cosine(&vector("m", &[30.0, 40.0])), Some(1.0));
        assert_eq!(a.cosine(&vector("m", &[-3.0, -4.0])), Some(-1.0));
        assert_eq!(a.cosine(&vector("n", &[3.0, 4.0])), None);
        assert_eq!(a.cosine(&vector("m", &[3.0, 4.0, 0.0])), None);
    }

    #[test]
    fn what_has_no_direction_is_alike_to_nothing() {
        for bad in [&[0.0, 0.0], &[f32::NAN, 1.0], &[f32::INFINITY, 1.0], &[f32::MAX, f32::MAX]] {
            let none = vector("m", bad);
            assert!(none.is_zero(), "{bad:?}");
            assert_eq!(none.cosine(&vector("m", &[1.0, 0.0])), Some(0.0), "{bad:?}");
        }
    }
}
