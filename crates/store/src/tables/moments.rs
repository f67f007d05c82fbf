//! Sums over units as bytes: 16 for each sum, the lowest first.

use model::{Moments, PartSum};

const SUM: usize = size_of::<i128>();
const ONE: usize = Moments::COUNT * SUM;

/// One after the other.
pub(super) fn pack(all: &[Moments]) -> Vec<u8> {
    let sums = all.iter().flat_map(Moments::values);
    sums.flat_map(|sum| sum.parts().to_le_bytes()).collect()
}

/// `None` when bytes are missing.
pub(super) fn unpack(bytes: &[u8]) -> Option<Vec<Moments>> {
    let (all, rest) = bytes.as_chunks::<ONE>();
    rest.is_empty().then(|| all.iter().map(one).collect())
}

fn one(bytes: &[u8; ONE]) -> Moments {
    let mut values = Moments::default().values();
    let (sums, _) = bytes.as_chunks::<SUM>();
    for (value, sum) in values.iter_mut().zip(sums) {
        *value = PartSum::from_parts(i128::from_le_bytes(*sum));
    }
    Moments::from_values(values)
}

#[cfg(test)]
mod tests {
    use model::UnitTotals;

    use super::*;

    #[test]
    fn what_is_packed_comes_out_again_and_a_part_of_it_does_not() {
        let totals = UnitTotals { value: -3.5, count: 7.0, before: Some(0.1) };
        let all = [Moments::from_totals(totals), Moments::default()];
        let bytes = pack(&all);
        assert_eq!(unpack(&bytes).unwrap(), all);
        assert!(unpack(&[]).unwrap().is_empty());
        assert_eq!(unpack(&bytes[1..]), None);
    }
}
