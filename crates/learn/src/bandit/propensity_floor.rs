//! Propensity floors keep the choice log usable for off-policy evaluation.

use super::sampler::Sampler;

const MAX_TOTAL_FLOOR: f64 = 0.5;

/// Raises probabilities to their floors, at the proportional expense of the others.
pub(crate) fn raise_to_floors(raw: &[f64], floors: &mut [f64], lifted: &mut [f64]) {
    let total: f64 = floors.iter().sum();
    if total > MAX_TOTAL_FLOOR {
        floors.iter_mut().for_each(|floor| *floor *= MAX_TOTAL_FLOOR / total);
    }
    lifted.copy_from_slice(raw);
    // Scaling down can push another arm below its floor, so repeat per arm.
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

/// Redirects an arm drawn with raw probabilities so that samples follow the lifted ones.
pub(super) fn resample_with_floors(
    sampler: &mut Sampler,
    drawn: usize,
    raw: &[f64],
    lifted: &[f64],
) -> usize {
    let u = sampler.sample_uniform();
    if lifted[drawn] >= raw[drawn] || u * raw[drawn] < lifted[drawn] {
        return drawn;
    }
    let gains = raw.iter().zip(lifted).map(|(raw, lifted)| (lifted - raw).max(0.0));
    sampler.sample_index(gains).unwrap_or(drawn)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn lifted_propensities_respect_floors_and_sum_to_one(
            weights in prop::collection::vec(0.0..1.0, 1..12),
            floor in 0.0..0.2,
        ) {
            let sum: f64 = weights.iter().sum::<f64>() + 1e-9;
            let raw: Vec<f64> = weights.iter().map(|w| (w + 1e-9 / weights.len() as f64) / sum).collect();
            let mut floors = vec![floor; raw.len()];
            let mut lifted = vec![0.0; raw.len()];
            raise_to_floors(&raw, &mut floors, &mut lifted);
            prop_assert!((lifted.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            prop_assert!(lifted.iter().zip(&floors).all(|(chance, floor)| *chance >= floor - 1e-12));
        }
    }

    #[test]
    fn draws_follow_the_lifted_propensities() {
        let raw = [0.9, 0.1, 0.0];
        let (mut floors, mut lifted) = ([0.15; 3], [0.0; 3]);
        raise_to_floors(&raw, &mut floors, &mut lifted);
        let mut sampler = Sampler::new(3);
        let mut counts = [0.0; 3];
        for _ in 0..20_000 {
            let drawn = sampler.sample_index(raw.into_iter()).unwrap();
            counts[resample_with_floors(&mut sampler, drawn, &raw, &lifted)] += 1.0 / 20_000.0;
        }
        for (count, chance) in counts.iter().zip(lifted) {
            assert!((count - chance).abs() < 0.01, "{counts:?} {lifted:?}");
        }
    }
}
