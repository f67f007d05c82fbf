//! The dot product of integer vectors. Nearly all time of an exact search is spent here.

/// The dot product of a packed vector and a query.
///
/// Eight accumulators with two products per step let the compiler use `pmaddwd`, which every x86-64
/// has. A plain loop is three times slower.
#[inline(always)]
pub(super) fn dot(codes: &[i8], values: &[i16]) -> i32 {
    let mut sums = [0i32; 8];
    let (left, left_rest) = codes.as_chunks::<16>();
    let (right, right_rest) = values.as_chunks::<16>();
    for (x, y) in left.iter().zip(right) {
        let product = |at: usize| i32::from(x[at]) * i32::from(y[at]);
        for (lane, sum) in sums.iter_mut().enumerate() {
            *sum += product(lane) + product(lane + 8);
        }
    }
    let rest = left_rest.iter().zip(right_rest).map(|(x, y)| i32::from(*x) * i32::from(*y));
    sums.iter().sum::<i32>() + rest.sum::<i32>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dot_product_holds_at_every_length() {
        for length in 0..70 {
            let codes: Vec<i8> = (0..length).map(|i| (i * 37 % 255 - 127) as i8).collect();
            let values: Vec<i16> =
                (0..length).map(|i| (i * 911 % 65_535 - 32_767) as i16).collect();
            let products = codes.iter().zip(&values).map(|(x, y)| i32::from(*x) * i32::from(*y));
            assert_eq!(dot(&codes, &values), products.sum::<i32>(), "{length}");
        }
    }
}
