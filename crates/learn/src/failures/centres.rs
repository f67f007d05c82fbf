//! Groups by their middle: who is nearer to another group moves there, who is near none leaves.

use event::dot;

use super::neighbours::Neighbour;

/// Which group each vector is in; `None` for none.
pub(super) type Groups = Vec<Option<u32>>;

/// More rounds move next to nobody.
const ROUNDS: usize = 5;

/// Sums of the members of each group, and how many there are.
#[derive(Clone, Debug)]
pub(super) struct Centres {
    pub(super) sums: Vec<Vec<f32>>,
    pub(super) sizes: Vec<u32>,
}

impl Centres {
    pub(super) fn of(vectors: &[Vec<f32>], groups: &Groups) -> Self {
        let dims = vectors.first().map_or(0, Vec::len);
        let count = groups.iter().flatten().max().map_or(0, |last| *last as usize + 1);
        let mut sums = vec![vec![0.0; dims]; count];
        let mut sizes = vec![0; count];
        for (vector, group) in vectors.iter().zip(groups) {
            if let Some(group) = group.map(|group| group as usize) {
                sums[group].iter_mut().zip(vector).for_each(|(sum, value)| *sum += value);
                sizes[group] += 1;
            }
        }
        Self { sums, sizes }
    }

    /// How near a vector is to the middle of a group, -1 to 1.
    pub(super) fn nearness(&self, group: usize, vector: &[f32]) -> f32 {
        let sum = &self.sums[group];
        let length = dot(sum, sum).sqrt();
        if length > f32::EPSILON { dot(sum, vector) / length } else { 0.0 }
    }

    /// The same without the vector itself, which is a member. Alone, it is near nothing.
    pub(super) fn nearness_to_the_others(&self, group: usize, vector: &[f32]) -> f32 {
        let others: Vec<f32> = self.sums[group].iter().zip(vector).map(|(s, v)| s - v).collect();
        let length = dot(&others, &others).sqrt();
        if length > f32::EPSILON { dot(&others, vector) / length } else { 0.0 }
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
        let lengths: Vec<f32> = centres.sums.iter().map(|sum| dot(sum, sum).sqrt()).collect();
        let next = (0..vectors.len()).map(|at| {
            let of_neighbours = near[at].iter().filter_map(|n| groups[n.of as usize]);
            let mut reached: Vec<u32> = of_neighbours.chain(groups[at]).collect();
            reached.sort_unstable();
            reached.dedup();
            let nearness = |group: u32| {
                dot(&centres.sums[group as usize], &vectors[at]) / lengths[group as usize]
            };
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
