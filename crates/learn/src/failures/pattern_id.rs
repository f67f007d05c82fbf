//! Stable ids of patterns, from the error type or the two most distinctive stems.
//!
//! A turn that joins or leaves rarely changes these stems; `bench/learning` measures how often. Of
//! two patterns with the same stems, the larger keeps the id and the other adds its third stem.

use std::collections::BTreeSet;

use model::hash::fnv1a_64;

#[derive(Clone, Debug)]
pub(super) struct PatternIdentity {
    pub(super) error_type: Option<String>,
    pub(super) stems: Vec<String>,
    pub(super) size: usize,
}

/// Returns the ids of patterns sorted largest first.
pub(super) fn assign_ids<'k>(
    patterns: impl IntoIterator<Item = &'k PatternIdentity>,
) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let id = |identity: &PatternIdentity| {
        let mut id = format_id(identity, 2, 0);
        for attempt in 0.. {
            if taken.insert(id.clone()) {
                break;
            }
            id = format_id(identity, 3, attempt);
        }
        id
    };
    patterns.into_iter().map(id).collect()
}

fn format_id(identity: &PatternIdentity, stems: usize, attempt: u32) -> String {
    let mut parts: Vec<&str> = match &identity.error_type {
        Some(error_type) => vec![error_type],
        None => identity.stems.iter().take(stems).map(String::as_str).collect(),
    };
    parts.sort_unstable();
    let kind = if identity.error_type.is_some() { "error" } else { "meaning" };
    let mut text = format!("{kind} {}", parts.join(" "));
    if attempt > 0 {
        text.push_str(&format!(" {attempt}"));
    }
    format!("fp_{:016x}", fnv1a_64(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(stems: &[&str]) -> PatternIdentity {
        PatternIdentity {
            error_type: None,
            stems: stems.iter().map(|s| (*s).to_owned()).collect(),
            size: 2,
        }
    }

    #[test]
    fn pattern_ids_ignore_stem_order_and_are_unique() {
        let patterns = [identity(&["order", "complet"]), identity(&["complet", "order", "region"])];
        let ids = assign_ids(&patterns);
        assert_eq!(ids[0], assign_ids(&[identity(&["complet", "order", "x"])])[0]);
        assert_ne!(ids[0], ids[1]);
        let same = vec![identity(&["a", "b", "c"]); 4];
        assert_eq!(assign_ids(&same).into_iter().collect::<BTreeSet<_>>().len(), 4);
    }
}
