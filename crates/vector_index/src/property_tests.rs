//! Property tests: after any sequence of operations the index agrees with a plain list.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

const DIMS: usize = 8;

#[derive(Clone, Debug)]
enum Step {
    Insert(i64, Vec<f32>, Labels),
    Packed(i64, Vec<f32>, Labels),
    Relabel(i64, Labels),
    Remove(i64),
}

fn any_labels() -> impl Strategy<Value = Labels> {
    let tier = prop_oneof![Just(Tier::Accepted), Just(Tier::Neutral), Just(Tier::Rejected)];
    (tier, 0..3u32, 0..2u32).prop_map(|(tier, user, intent)| Labels {
        tier,
        user,
        intent,
        ..Labels::default()
    })
}

fn any_vector() -> impl Strategy<Value = Vec<f32>> {
    // Few distinct numbers, for ties and zeros.
    let number = prop_oneof![Just(0.0f32), Just(1.0), Just(-0.5), -1.0f32..1.0];
    proptest::collection::vec(number, DIMS)
}

fn any_step() -> impl Strategy<Value = Step> {
    let key = -3..40i64;
    prop_oneof![
        4 => (key.clone(), any_vector(), any_labels()).prop_map(|(k, v, l)| Step::Insert(k, v, l)),
        1 => (key.clone(), any_vector(), any_labels()).prop_map(|(k, v, l)| Step::Packed(k, v, l)),
        1 => (key.clone(), any_labels()).prop_map(|(k, l)| Step::Relabel(k, l)),
        3 => key.prop_map(Step::Remove),
    ]
}

type Model = BTreeMap<i64, (Vec<f32>, Labels)>;

fn apply(step: &Step, index: &mut Index, model: &mut Model) {
    match step {
        Step::Insert(key, vector, labels) => {
            assert!(index.insert(*key, vector, *labels));
            model.insert(*key, (vector.clone(), *labels));
        }
        Step::Packed(key, vector, labels) => {
            assert!(index.insert_packed(*key, &encode(vector), *labels));
            model.insert(*key, (vector.clone(), *labels));
        }
        Step::Relabel(key, labels) => {
            let known = model.get_mut(key).map(|(_, known)| *known = *labels).is_some();
            assert_eq!(index.relabel(*key, *labels), known);
        }
        Step::Remove(key) => assert_eq!(index.remove(*key), model.remove(key).is_some()),
    }
}

/// The expected result of a tier, by comparing with every packed vector.
fn expected(model: &Model, query: &[f32], filter: Filter, tier: Tier) -> BTreeMap<i64, f32> {
    let length = query.iter().map(|v| v * v).sum::<f32>().sqrt();
    let wanted = model.iter().filter(|(_, (vector, labels))| {
        labels.tier == tier
            && filter.user.is_none_or(|user| user == labels.user)
            && filter.intent.is_none_or(|intent| intent == labels.intent)
            && vector.iter().any(|v| *v != 0.0)
            && length > 0.0
    });
    let cosine = |vector: &[f32]| {
        let vector = unpack(&encode(vector)).unwrap();
        vector.iter().zip(query).map(|(a, b)| a * b).sum::<f32>() / length
    };
    wanted.map(|(key, (vector, _))| (*key, cosine(vector))).collect()
}

fn check(found: &[Near], expected: &BTreeMap<i64, f32>, most: usize) {
    assert_eq!(found.len(), expected.len().min(most));
    for near in found {
        assert!((near.similarity - expected[&near.key]).abs() < 1e-3, "{near:?}");
    }
    for pair in found.windows(2) {
        let ordered = (pair[0].similarity, pair[0].key) > (pair[1].similarity, pair[1].key);
        assert!(ordered, "{pair:?}");
    }
    // Vectors left out are no nearer than the last.
    if let Some(last) = found.last() {
        let out = expected.iter().filter(|(key, _)| !found.iter().any(|near| near.key == **key));
        for (key, similarity) in out {
            assert!(*similarity <= last.similarity + 1e-3, "{key}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn the_index_agrees_with_a_plain_list(
        steps in proptest::collection::vec(any_step(), 0..120),
        query in any_vector(),
        most in 0..20usize,
        user in proptest::option::of(0..3u32),
        intent in proptest::option::of(0..2u32),
        // With 0, sketches preselect; few vectors are all candidates.
        exact_limit in prop_oneof![Just(0usize), Just(1_000)],
    ) {
        let mut index = Index::with_exact_limit(DIMS, exact_limit);
        let mut model = Model::new();
        for step in &steps {
            apply(step, &mut index, &mut model);
            assert_eq!(index.len(), model.len());
        }
        let filter = Filter { user, intent };
        let found = index.search(&query, most, -1.0, filter);
        if exact_limit > 0 || most > 1 {
            let of = |tier| expected(&model, &query, filter, tier);
            check(&found.accepted, &of(Tier::Accepted), most);
            check(&found.neutral, &of(Tier::Neutral), most);
            check(&found.rejected, &of(Tier::Rejected), most);
        }
    }

    #[test]
    fn any_bytes_are_taken_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..20)) {
        let mut index = Index::new(DIMS);
        let taken = index.insert_packed(1, &bytes, Labels::default());
        assert_eq!(taken, unpack(&bytes).is_some_and(|vector| vector.len() == DIMS));
        for near in index.search(&[0.5; DIMS], 1, -1.0, Filter::default()).neutral {
            assert!((-1.0..=1.0).contains(&near.similarity));
        }
    }
}
