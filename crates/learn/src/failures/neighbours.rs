//! The nearest neighbours of every vector, exactly.
//!
//! Vectors become whole numbers of 16 bits, so that a similarity is the same on every machine and
//! is computed with the widest registers there are. Each pair is compared once.

/// Numbers are scaled by this: products of two vectors of length 1 stay inside 32 bits, rounding
/// included, and so does every part of the sum (Cauchy and Schwarz).
const SCALE: f32 = 32_000.0;
/// Vectors are compared in squares of this many, which stay in the cache.
const SIDE: usize = 64;

/// A neighbour and how alike it is, -1 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Neighbour {
    pub(super) of: u32,
    pub(super) similarity: f32,
}

/// For each vector of length 1 its `most` nearest that are at least `floor` alike, nearest first.
pub(super) fn neighbours(vectors: &[Vec<f32>], most: usize, floor: f32) -> Vec<Vec<Neighbour>> {
    let dims = vectors.first().map_or(0, Vec::len);
    let whole = |v: &f32| (v * SCALE).round() as i16;
    let rows: Vec<i16> = vectors.iter().flat_map(|vector| vector.iter().map(whole)).collect();
    let lists = pulp::Arch::new().dispatch(Comparison { rows: &rows, dims, most, floor });
    let similarity = |dot: i32| dot as f32 / (SCALE * SCALE);
    let list = |near: Vec<(i32, u32)>| {
        near.into_iter().map(|(dot, of)| Neighbour { of, similarity: similarity(dot) }).collect()
    };
    lists.into_iter().map(list).collect()
}

/// Everything is inlined into one function, so that `pulp` compiles it for wide registers.
struct Comparison<'a> {
    rows: &'a [i16],
    dims: usize,
    most: usize,
    floor: f32,
}

impl pulp::NullaryFnOnce for Comparison<'_> {
    type Output = Vec<Vec<(i32, u32)>>;

    #[inline(always)]
    fn call(self) -> Self::Output {
        let rows: Vec<&[i16]> = self.rows.chunks_exact(self.dims.max(1)).collect();
        let least = (self.floor * SCALE * SCALE) as i32;
        let mut lists = vec![Vec::with_capacity(self.most + 1); rows.len()];
        for first in (0..rows.len()).step_by(SIDE) {
            for second in (first..rows.len()).step_by(SIDE) {
                for left in first..rows.len().min(first + SIDE) {
                    for right in second.max(left + 1)..rows.len().min(second + SIDE) {
                        let dot = dot(rows[left], rows[right]);
                        if dot >= least {
                            offer(&mut lists[left], (dot, right as u32), self.most);
                            offer(&mut lists[right], (dot, left as u32), self.most);
                        }
                    }
                }
            }
        }
        lists
    }
}

#[inline(always)]
fn dot(a: &[i16], b: &[i16]) -> i32 {
    a.iter().zip(b).map(|(x, y)| i32::from(*x) * i32::from(*y)).sum()
}

/// Keeps the list sorted and short. Equal similarities go by index, so that the order in which
/// pairs come does not matter.
#[inline(always)]
fn offer(list: &mut Vec<(i32, u32)>, new: (i32, u32), most: usize) {
    let before = |a: (i32, u32), b: (i32, u32)| (-i64::from(a.0), a.1) < (-i64::from(b.0), b.1);
    if list.len() == most && list.last().is_none_or(|last| !before(new, *last)) {
        return;
    }
    let at = list.partition_point(|old| before(*old, new));
    list.insert(at, new);
    list.truncate(most);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_sorted_and_filtered_by_similarity() {
        let turned = |degrees: f32| vec![degrees.to_radians().cos(), degrees.to_radians().sin()];
        let vectors: Vec<Vec<f32>> = [0.0, 10.0, 30.0, 170.0].map(turned).into();
        let lists = neighbours(&vectors, 2, 0.3);
        let near = |i: usize| lists[i].iter().map(|n| n.of).collect::<Vec<_>>();
        assert_eq!((near(0), near(1), near(3)), (vec![1, 2], vec![0, 2], vec![]));
        assert!((lists[0][0].similarity - 10f32.to_radians().cos()).abs() < 1e-3);
    }

    #[test]
    fn neighbours_handle_empty_input_and_duplicates() {
        assert!(neighbours(&[], 5, 0.0).is_empty());
        let same = vec![vec![1.0, 0.0]; 200];
        let lists = neighbours(&same, 3, 0.3);
        assert_eq!(lists[199].iter().map(|n| n.of).collect::<Vec<_>>(), [0, 1, 2]);
    }
}
