//! A floor under every arm's chance, so that the log of choices stays usable for evaluation.

use super::sampler::Draws;

/// Floors together never take more than this.
const MOST: f64 = 0.5;

/// Lifts chances to their floors; the others give in proportion to what they have.
pub(crate) fn lift(raw: &[f64], floors: &mut [f64], lifted: &mut [f64]) {
    let asked: f64 = floors.iter().sum();
    if asked > MOST {
        floors.iter_mut().for_each(|floor| *floor *= MOST / asked);
    }
    lifted.copy_from_slice(raw);
    // Giving can push another one below its floor, so once more for each.
    for _ in 0..raw.len() {
        let (mut kept, mut free) = (0.0, 0.0);
        for ((chance, floor), raw) in lifted.iter().zip(floors.iter()).zip(raw) {
            if *chance <= *floor {
                kept += floor;
            } else {
                free += raw;
            }
        }
        if free <= 0.0 {
            break;
        }
        let share = (1.0 - kept) / free;
        let mut again = false;
        for ((chance, floor), raw) in lifted.iter_mut().zip(floors.iter()).zip(raw) {
            if *chance <= *floor {
                *chance = *floor;
            } else {
                *chance = raw * share;
                again |= *chance < *floor;
            }
        }
        if !again {
            break;
        }
    }
}

/// The arm that was drawn by the raw chances, or another one, so that the lifted chances hold.
pub(super) fn divert(draws: &mut Draws, drawn: usize, raw: &[f64], lifted: &[f64]) -> usize {
    let u = draws.uniform();
    if lifted[drawn] >= raw[drawn] || u * raw[drawn] < lifted[drawn] {
        return drawn;
    }
    let mut left = draws.uniform() * gain(raw, lifted).sum::<f64>();
    let mut last = drawn;
    for (index, more) in gain(raw, lifted).enumerate().filter(|(_, more)| *more > 0.0) {
        last = index;
        if left < more {
            break;
        }
        left -= more;
    }
    last
}

fn gain(raw: &[f64], lifted: &[f64]) -> impl Iterator<Item = f64> {
    raw.iter().zip(lifted).map(|(raw, lifted)| (lifted - raw).max(0.0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_arm_has_its_floor_and_all_add_up(
            weights in prop::collection::vec(0.0..1.0, 1..12),
            floor in 0.0..0.2,
        ) {
            let sum: f64 = weights.iter().sum::<f64>() + 1e-9;
            let raw: Vec<f64> = weights.iter().map(|w| (w + 1e-9 / weights.len() as f64) / sum).collect();
            let mut floors = vec![floor; raw.len()];
            let mut lifted = vec![0.0; raw.len()];
            lift(&raw, &mut floors, &mut lifted);
            prop_assert!((lifted.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            prop_assert!(lifted.iter().zip(&floors).all(|(chance, floor)| *chance >= floor - 1e-12));
        }
    }

    #[test]
    fn what_is_drawn_follows_the_lifted_chances() {
        let raw = [0.9, 0.1, 0.0];
        let (mut floors, mut lifted) = ([0.15; 3], [0.0; 3]);
        lift(&raw, &mut floors, &mut lifted);
        let mut draws = Draws::new(3);
        let mut counts = [0.0; 3];
        for _ in 0..20_000 {
            let drawn = draws.pick(&raw).unwrap();
            counts[divert(&mut draws, drawn, &raw, &lifted)] += 1.0 / 20_000.0;
        }
        for (count, chance) in counts.iter().zip(lifted) {
            assert!((count - chance).abs() < 0.01, "{counts:?} {lifted:?}");
        }
    }
}
