//! Serializes moments: 16 bytes per sum, little-endian.

use model::{Moments, PartSum};

const SUM_BYTES: usize = size_of::<i128>();
const MOMENTS_BYTES: usize = Moments::COUNT * SUM_BYTES;

pub(crate) fn pack(all: &[Moments]) -> Vec<u8> {
    let sums = all.iter().flat_map(Moments::values);
    sums.flat_map(|sum| sum.parts().to_le_bytes()).collect()
}

/// `None` when the length is wrong.
pub(crate) fn unpack(bytes: &[u8]) -> Option<Vec<Moments>> {
    let (all, rest) = bytes.as_chunks::<MOMENTS_BYTES>();
    rest.is_empty().then(|| all.iter().map(read_moments).collect())
}

fn read_moments(bytes: &[u8; MOMENTS_BYTES]) -> Moments {
    let mut values = Moments::default().values();
    let (sums, _) = bytes.as_chunks::<SUM_BYTES>();
    for (value, sum) in values.iter_mut().zip(sums) {
        *value = PartSum::of_parts(i128::from_le_bytes(*sum));
    }
    Moments::from_values(values)
}

#[cfg(test)]
mod tests {
    use model::UnitTotals;

    use super::*;

    #[test]
    fn moments_round_trip_and_truncation_fails() {
        let totals = UnitTotals { value: -3.5, count: 7.0, before: Some(0.1) };
        let all = [Moments::of(totals), Moments::default()];
        let bytes = pack(&all);
        assert_eq!(unpack(&bytes).unwrap(), all);
        assert!(unpack(&[]).unwrap().is_empty());
        assert_eq!(unpack(&bytes[1..]), None);
    }
}
