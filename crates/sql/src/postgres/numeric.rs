//! Reads NUMERIC sums of 64-bit columns, which fit into 64 bits.

/// Reads the binary form; `None` when the number does not fit.
pub(super) fn whole_number(bytes: &[u8]) -> Option<i64> {
    let word = |at: usize| Some(i16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
    let (digits, weight, sign) = (word(0)?, word(2)?, word(4)?);
    let mut number: i128 = 0;
    for at in 0..=weight.max(-1) {
        let digit = if at < digits { word(8 + 2 * at as usize)? } else { 0 };
        number = number.checked_mul(10_000)?.checked_add(i128::from(digit))?;
    }
    let fraction = (weight + 1).max(0)..digits;
    let is_whole = fraction.into_iter().all(|at| word(8 + 2 * at as usize) == Some(0));
    if sign == 0x4000 {
        number = -number;
    }
    if is_whole && (sign == 0 || sign == 0x4000) { i64::try_from(number).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_numerics_are_read() {
        let number = |digits: &[i16], weight: i16, sign: i16| {
            let head = [digits.len() as i16, weight, sign, 0];
            head.iter().chain(digits).flat_map(|word| word.to_be_bytes()).collect::<Vec<u8>>()
        };
        assert_eq!(whole_number(&number(&[], 0, 0)), Some(0));
        assert_eq!(whole_number(&number(&[42], 0, 0)), Some(42));
        assert_eq!(whole_number(&number(&[1, 2], 1, 0x4000)), Some(-10_002));
        assert_eq!(whole_number(&number(&[3], 2, 0)), Some(300_000_000));
        assert_eq!(whole_number(&number(&[1, 5000], 0, 0)), None, "1.5");
        assert_eq!(whole_number(&number(&[9999; 6], 5, 0)), None, "too large");
        assert_eq!(whole_number(&[0]), None);
    }
}
