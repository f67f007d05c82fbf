//! Ids of patterns that stay while turns come and go.
//!
//! An id is made of what distinguishes the pattern: the type of its errors, or its two most
//! distinctive stems in alphabetical order, so that it does not matter which of the two leads.
//! A turn more or less seldom changes those; the middle turn and the first turn change whenever
//! that turn leaves the window (`bench/learning` counts). Of two patterns with the same two, the
//! larger keeps the id and the other is known by its third stem too.

use std::collections::BTreeSet;

/// What a pattern is known by.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) error_type: Option<String>,
    pub(super) stems: Vec<String>,
    pub(super) size: usize,
}

/// The ids of patterns that come largest first.
pub(super) fn ids_of<'k>(patterns: impl IntoIterator<Item = &'k Known>) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let id = |known: &Known| {
        let mut id = id_of(known, 2, 0);
        for further in 0.. {
            if taken.insert(id.clone()) {
                break;
            }
            id = id_of(known, 3, further);
        }
        id
    };
    patterns.into_iter().map(id).collect()
}

fn id_of(known: &Known, stems: usize, further: u32) -> String {
    let mut parts: Vec<&str> = match &known.error_type {
        Some(error_type) => vec![error_type],
        None => known.stems.iter().take(stems).map(String::as_str).collect(),
    };
    parts.sort_unstable();
    let kind = if known.error_type.is_some() { "error" } else { "meaning" };
    let mut text = format!("{kind} {}", parts.join(" "));
    if further > 0 {
        text.push_str(&format!(" {further}"));
    }
    format!("fp_{:016x}", fnv(text.as_bytes()))
}

/// FNV-1a of 64 bits: the same everywhere and for ever.
fn fnv(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(stems: &[&str]) -> Known {
        Known { error_type: None, stems: stems.iter().map(|s| (*s).to_owned()).collect(), size: 2 }
    }

    #[test]
    fn pattern_ids_ignore_stem_order_and_are_unique() {
        let patterns = [known(&["order", "complet"]), known(&["complet", "order", "region"])];
        let ids = ids_of(&patterns);
        assert_eq!(ids[0], ids_of(&[known(&["complet", "order", "x"])])[0]);
        assert_ne!(ids[0], ids[1]);
        let same = vec![known(&["a", "b", "c"]); 4];
        assert_eq!(ids_of(&same).into_iter().collect::<BTreeSet<_>>().len(), 4);
    }
}
