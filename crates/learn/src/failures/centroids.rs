//! Groups by their middle: who is nearer to another group moves there, who is near none leaves.

use model::dot;

use super::neighbours::Neighbour;

/// Which group each vector is in; `None` for none.
pub(super) type Groups = Vec<Option<u32>>;

/// More rounds move next to nobody.
const ROUNDS: usize = 5;

/// The middle of each group, and how many it is the middle of.
#[derive(Clone, Debug)]
pub(super) struct Centres {
    middles: Vec<Vec<f32>>,
    lengths: Vec<f32>,
    sizes: Vec<u32>,
}

impl Centres {
    pub(super) fn of(vectors: &[Vec<f32>], groups: &Groups) -> Self {
        let dims = vectors.first().map_or(0, Vec::len);
        let count = groups.iter().flatten().max().map_or(0, |last| *last as usize + 1);
        let mut middles = vec![vec![0.0; dims]; count];
        let mut sizes = vec![0; count];
        for (vector, group) in vectors.iter().zip(groups) {
            if let Some(group) = group.map(|group| group as usize) {
                middles[group].iter_mut().zip(vector).for_each(|(sum, value)| *sum += value);
                sizes[group] += 1;
            }
        }
        let length = |sum: &Vec<f32>| dot(sum, sum).sqrt().max(f32::MIN_POSITIVE);
        let lengths: Vec<f32> = middles.iter().map(length).collect();
        for (middle, length) in middles.iter_mut().zip(&lengths) {
            middle.iter_mut().for_each(|value| *value /= length);
        }
        Self { middles, lengths, sizes }
    }

    pub(super) fn count(&self) -> usize {
        self.middles.len()
    }

    /// The middles, each of length 1, and how many each is the middle of.
    pub(super) fn middles(&self) -> (&[Vec<f32>], Vec<usize>) {
        (&self.middles, self.sizes.iter().map(|size| *size as usize).collect())
    }

    /// How near a vector is to the middle of a group, -1 to 1.
    pub(super) fn nearness(&self, group: usize, vector: &[f32]) -> f32 {
        dot(&self.middles[group], vector)
    }

    /// The same without the vector itself, which is a member. Alone, it is near nothing.
    pub(super) fn nearness_to_the_others(&self, group: usize, vector: &[f32]) -> f32 {
        let (sum, near) = (self.lengths[group], self.nearness(group, vector));
        // Of s - v, where v has length 1: its product with v, and its length.
        let product = sum * near - 1.0;
        let length = (sum * sum - 2.0 * sum * near + 1.0).max(0.0).sqrt();
        if length > 1e-3 { product / length } else { 0.0 }
    }
}

/// Moves each vector to the nearest of the groups that it or a neighbour of it is in, if that is
/// at least `floor` near; groups of one are dissolved.
pub(super) fn refined(
    vectors: &[Vec<f32>],
    near: &[Vec<Neighbour>],
    mut groups: Groups,
    floor: f32,
) -> Groups {
    for _ in 0..ROUNDS {
        let centres = Centres::of(vectors, &groups);
        let next = (0..vectors.len()).map(|at| {
            let of_neighbours = near[at].iter().filter_map(|n| groups[n.of as usize]);
            let mut reached: Vec<u32> = of_neighbours.chain(groups[at]).collect();
            reached.sort_unstable();
            reached.dedup();
            let nearness = |group: u32| centres.nearness(group as usize, &vectors[at]);
            reached
                .into_iter()
                .filter(|group| centres.sizes[*group as usize] > 1)
                .map(|group| (nearness(group), group))
                .filter(|(nearness, _)| *nearness >= floor)
                // Of equals the first.
                .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)))
                .map(|(_, group)| group)
        });
        let next: Groups = next.collect();
        if next == groups {
            break;
        }
        groups = next;
    }
    without_loners(&groups)
}

/// Groups of at least two, numbered from 0 without gaps.
fn without_loners(groups: &Groups) -> Groups {
    let count = groups.iter().flatten().max().map_or(0, |last| *last as usize + 1);
    let mut sizes = vec![0u32; count];
    groups.iter().flatten().for_each(|group| sizes[*group as usize] += 1);
    let mut next = 0;
    let numbers: Vec<Option<u32>> = sizes
        .iter()
        .map(|size| {
            (*size > 1).then(|| {
                next += 1;
                next - 1
            })
        })
        .collect();
    groups.iter().map(|group| group.and_then(|group| numbers[group as usize])).collect()
}
