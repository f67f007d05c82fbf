//! Packed vectors: one byte per number, in memory and in the database.

/// Keeps dot products within 32 bits.
pub(super) const MAX_DIMS: usize = 1 << 16;
/// Bytes of the scale in front of the numbers.
const SCALE: usize = 4;

/// Packs a vector: a scale (f32, little-endian), then one signed byte per number. A zero or
/// non-finite vector becomes all zero.
pub fn encode(values: &[f32]) -> Vec<u8> {
    let codes = codes(values);
    let mut bytes = Vec::with_capacity(SCALE + codes.len());
    bytes.extend(compute_scale(&codes).to_le_bytes());
    bytes.extend(codes.into_iter().map(i8::cast_unsigned));
    bytes
}

/// Unpacks a vector, of length 1 or zero. `None` for invalid bytes.
pub fn unpack(bytes: &[u8]) -> Option<Vec<f32>> {
    let (scale, codes) = split(bytes)?;
    Some(codes.iter().map(|code| f32::from(code.cast_signed()) * scale).collect())
}

/// Splits scale and numbers. A scale within 0 and 1 keeps products finite.
pub(super) fn split(bytes: &[u8]) -> Option<(f32, &[u8])> {
    let (scale, codes) = bytes.split_first_chunk::<SCALE>()?;
    let scale = f32::from_le_bytes(*scale);
    ((0.0..=1.0).contains(&scale) && codes.len() <= MAX_DIMS).then_some((scale, codes))
}

/// Signed bytes, scaled so that the largest is 127.
pub(super) fn codes(values: &[f32]) -> Vec<i8> {
    spread(values, 127.0).map_or_else(|| vec![0; values.len()], |v| v.map(|v| v as i8).collect())
}

/// The factor that gives the numbers length 1; 0 for a zero vector.
pub(super) fn compute_scale(codes: &[i8]) -> f32 {
    scale(codes.iter().map(|code| i64::from(*code)))
}

/// A query in 16 bits per number, finer than packed vectors, so that it adds no error.
pub(super) struct Query {
    pub(super) values: Vec<i16>,
    pub(super) scale: f32,
}

impl Query {
    /// `None` for a zero vector, which is similar to nothing.
    pub(super) fn new(values: &[f32]) -> Option<Self> {
        // The finest scale whose dot products fit 32 bits.
        let finest = (i32::MAX / 128 / values.len().max(1) as i32).min(i32::from(i16::MAX));
        let values: Vec<i16> = spread(values, finest as f32)?.map(|v| v as i16).collect();
        let scale = scale(values.iter().map(|value| i64::from(*value)));
        (scale > 0.0).then_some(Self { values, scale })
    }
}

/// Rounds the numbers, scaled so that the largest is `most`. `None` for a zero vector.
fn spread(values: &[f32], most: f32) -> Option<impl Iterator<Item = f32>> {
    let largest = values.iter().fold(0.0f32, |largest, value| largest.max(value.abs()));
    let ratio = most / largest;
    let points = values.iter().all(|value| value.is_finite()) && ratio.is_finite();
    points.then(|| values.iter().map(move |value| (value * ratio).round()))
}

fn scale(values: impl Iterator<Item = i64>) -> f32 {
    let square: i64 = values.map(|value| value * value).sum();
    if square == 0 { 0.0 } else { (1.0 / (square as f64).sqrt()) as f32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_vector_round_trips_approximately() {
        let values = [0.6, -0.64, 0.48, 0.0];
        let back = unpack(&encode(&values)).unwrap();
        assert!(values.iter().zip(&back).all(|(a, b)| (a - b).abs() < 0.005), "{back:?}");
        assert_eq!(encode(&back), encode(&values));
        assert_eq!(encode(&values).len(), 4 + values.len());
    }

    #[test]
    fn zero_vector_packs_as_zero() {
        for bad in [0.0, f32::NAN, f32::INFINITY, 1e-45] {
            assert_eq!(unpack(&encode(&[bad, 0.0])).unwrap(), [0.0, 0.0], "{bad}");
            assert!(Query::new(&[bad, 0.0]).is_none(), "{bad}");
        }
        assert_eq!(unpack(&encode(&[f32::MAX, 0.0])).unwrap(), [1.0, 0.0]);
        assert_eq!(unpack(&encode(&[])).unwrap(), [0.0; 0]);
    }

    #[test]
    fn invalid_packed_bytes_are_rejected() {
        assert_eq!(unpack(&[0, 0, 0]), None);
        for scale in [f32::NAN, f32::INFINITY, -0.1, 1.5] {
            let bytes: Vec<u8> = scale.to_le_bytes().into_iter().chain([1, 2]).collect();
            assert_eq!(unpack(&bytes), None, "{scale}");
        }
        assert_eq!(unpack(&vec![0; MAX_DIMS + 5]), None);
    }
}
