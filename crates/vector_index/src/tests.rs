//! The index's guarantees, on reproducible random vectors.

use super::row_table::hash;
use super::*;

const DIMS: usize = 64;
const ALL: Filter = Filter { user: None, intent: None };

/// A pseudo-random number from -1 to 1.
fn chance(seed: u64) -> f32 {
    hash(seed.cast_signed()) as f32 / u64::MAX as f32 * 2.0 - 1.0
}

/// A vector near one of forty centres.
fn clustered(seed: u64) -> Vec<f32> {
    let middle = hash(seed.cast_signed()) % 40;
    let value = |at: u64| chance(middle << 32 | at) + 0.8 * chance(seed << 20 | 1 << 19 | at);
    (0..DIMS as u64).map(value).collect()
}

fn axis(at: usize) -> Vec<f32> {
    (0..DIMS).map(|dim| f32::from(u8::from(dim == at))).collect()
}

fn labels(tier: Tier, user: u32, intent: u32) -> Labels {
    Labels { tier, user, intent, ..Labels::default() }
}

fn filled(exact_limit: usize, size: u64) -> Index {
    let mut index = Index::with_exact_limit(DIMS, exact_limit);
    for seed in 0..size {
        let of = labels(Tier::Neutral, (seed % 100) as u32, (seed % 7) as u32);
        assert!(index.insert(seed as i64, &clustered(seed), of));
    }
    index
}

/// The nearest by the original vectors.
fn nearest(query: &[f32], keys: impl Iterator<Item = u64>, most: usize) -> Vec<i64> {
    let length = |v: &[f32]| v.iter().map(|v| v * v).sum::<f32>().sqrt();
    let cosine = |v: &[f32]| {
        let product: f32 = v.iter().zip(query).map(|(a, b)| a * b).sum();
        product / length(v) / length(query)
    };
    let mut all: Vec<(f32, i64)> = keys.map(|key| (cosine(&clustered(key)), key as i64)).collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    all.into_iter().take(most).map(|(_, key)| key).collect()
}

fn keys(near: &[Near]) -> Vec<i64> {
    near.iter().map(|near| near.key).collect()
}

/// The recall of the ten nearest, over some queries.
fn recall(index: &Index, filter: Filter, takes: fn(&u64) -> bool) -> f64 {
    let queries = 9_000_000..9_000_020u64;
    let (hits, wanted) = queries.fold((0, 0), |(hits, all), seed| {
        let query = clustered(seed);
        let found = keys(&index.search(&query, 10, -1.0, filter).neutral);
        let wanted = nearest(&query, (0..index.len() as u64).filter(takes), 10);
        let hit = wanted.iter().filter(|key| found.contains(key)).count();
        (hits + hit, all + wanted.len())
    });
    hits as f64 / wanted as f64
}

#[test]
fn few_vectors_are_all_compared() {
    let index = filled(500, 500);
    assert!(index.search(&clustered(7), 10, -1.0, ALL).exact);
    assert!(recall(&index, ALL, |_| true) >= 0.97);
}

#[test]
fn many_are_sorted_out_and_nearly_all_of_the_nearest_found() {
    let index = filled(500, 4_000);
    assert!(!index.search(&clustered(7), 10, -1.0, ALL).exact);
    let recall = recall(&index, ALL, |_| true);
    assert!(recall >= 0.95, "{recall}");
}

#[test]
fn a_narrow_filter_misses_nothing() {
    let index = filled(500, 4_000);
    let one = Filter { user: Some(3), intent: None };
    assert!(index.search(&clustered(7), 10, -1.0, one).exact);
    assert!(recall(&index, one, |key| key % 100 == 3) >= 0.97);
    let both = Filter { user: Some(3), intent: Some(1) };
    assert!(recall(&index, both, |key| key % 100 == 3 && key % 7 == 1) >= 0.97);
    let nobody = index.search(&clustered(7), 10, -1.0, Filter { user: Some(999), intent: None });
    assert_eq!(nobody, Found { exact: true, ..Found::default() });
}

#[test]
fn each_tier_has_its_own_list() {
    for limit in [0, 500] {
        let mut index = Index::with_exact_limit(DIMS, limit);
        for (key, tier) in [(1, Tier::Accepted), (2, Tier::Neutral), (3, Tier::Rejected)] {
            assert!(index.insert(key, &axis(0), labels(tier, 0, 0)));
        }
        let lists = || {
            let found = index.search(&axis(0), 5, 0.9, ALL);
            [keys(&found.accepted), keys(&found.neutral), keys(&found.rejected)]
        };
        assert_eq!(lists(), [[1], [2], [3]]);
        assert!(index.relabel(1, labels(Tier::Rejected, 0, 0)));
        assert!(!index.relabel(4, Labels::default()));
        let found = index.search(&axis(0), 5, 0.9, ALL);
        assert_eq!((keys(&found.accepted), keys(&found.rejected)), (vec![], vec![3, 1]));
    }
}

#[test]
fn equal_ones_come_latest_first_and_the_floor_holds() {
    let mut index = Index::new(DIMS);
    for (key, at) in [(5, 0), (9, 0), (7, 0), (1, 1)] {
        assert!(index.insert(key, &axis(at), Labels::default()));
    }
    let found = |most, floor| keys(&index.search(&axis(0), most, floor, ALL).neutral);
    assert_eq!(found(2, 0.5), [9, 7]);
    assert_eq!(found(9, 0.5), [9, 7, 5]);
    assert_eq!(found(9, -1.0), [9, 7, 5, 1]);
    assert_eq!(found(0, -1.0), [0; 0]);
    assert_eq!(index.search(&axis(0), 1, 0.5, ALL).neutral[0].similarity, 1.0);
}

#[test]
fn key_has_one_vector_until_removed() {
    for limit in [0, 9_000] {
        let mut index = filled(limit, 3_000);
        assert!(index.insert(5, &axis(0), Labels::default()));
        assert_eq!(index.len(), 3_000);
        assert_eq!(keys(&index.search(&axis(0), 1, 0.9, ALL).neutral), [5]);
        for key in (0..3_000).step_by(3) {
            assert!(index.remove(key));
        }
        assert!(!index.remove(0));
        assert_eq!(index.len(), 2_000);
        let left = index.search(&clustered(3), usize::MAX, -1.0, ALL);
        assert!(left.exact);
        assert_eq!(left.neutral.len(), 2_000);
        assert!(left.neutral.iter().all(|near| near.key % 3 != 0));
        let before = index.bytes();
        (0..3_000).for_each(|key| _ = index.remove(key));
        assert!(index.is_empty());
        assert!(index.bytes() < before / 5, "{}", index.bytes());
    }
}

#[test]
fn zero_vector_is_kept_but_never_found() {
    for limit in [0, 500] {
        let mut index = Index::with_exact_limit(DIMS, limit);
        assert!(index.insert(1, &[0.0; DIMS], Labels::default()));
        assert!(index.insert(2, &[f32::NAN; DIMS], Labels::default()));
        assert!(index.insert(3, &axis(1), Labels::default()));
        assert_eq!(index.len(), 3);
        assert_eq!(keys(&index.search(&axis(0), 5, -1.0, ALL).neutral), [3]);
        for nowhere in [[0.0; DIMS], [f32::NAN; DIMS], [f32::INFINITY; DIMS]] {
            assert!(index.search(&nowhere, 5, -1.0, ALL).neutral.is_empty());
        }
        assert!(index.remove(1) && index.remove(2));
    }
}

#[test]
fn other_lengths_and_broken_bytes_are_refused() {
    let mut index = Index::new(DIMS);
    assert!(!index.insert(1, &[1.0; DIMS + 1], Labels::default()));
    assert!(!index.insert_packed(1, &encode(&[1.0; 3]), Labels::default()));
    assert!(!index.insert_packed(1, &[255; DIMS + 4], Labels::default()));
    assert!(!index.insert_packed(1, &[], Labels::default()));
    assert!(!Index::new(0).insert(1, &[], Labels::default()));
    assert!(index.is_empty());
    assert_eq!(index.search(&[1.0], 5, -1.0, ALL), Found { exact: true, ..Found::default() });
}

#[test]
fn a_packed_vector_is_found_like_the_one_it_came_from() {
    let (mut plain, mut packed) = (Index::new(DIMS), Index::new(DIMS));
    for seed in 0..50 {
        let vector = clustered(seed);
        assert!(plain.insert(seed as i64, &vector, Labels::default()));
        assert!(packed.insert_packed(seed as i64, &encode(&vector), Labels::default()));
    }
    let search = |index: &Index| index.search(&clustered(99), 20, -1.0, ALL);
    assert_eq!(search(&plain), search(&packed));
}

#[test]
fn a_vector_comes_back_nearly_as_it_went_in() {
    let mut index = filled(EXACT_LIMIT, 40);
    let query = clustered(7);
    let length = query.iter().map(|v| v * v).sum::<f32>().sqrt();
    let back = index.vector(7).unwrap();
    assert!(back.iter().zip(&query).all(|(a, b)| (a - b / length).abs() < 0.005), "{back:?}");
    assert!(index.remove(7));
    assert_eq!(index.vector(7), None);
}
