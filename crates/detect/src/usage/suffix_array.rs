//! A suffix array over the tokens of an answer.
//!
//! A name is found by binary search, so its cost does not depend on how often the answer starts to
//! match.

use std::cmp::Ordering;

use super::tokenizer::Reading;

/// Bytes by which suffixes are sorted; the rest is compared on lookup.
const SORTED: usize = 64;
/// Bytes that are compared as one integer.
const KEY: usize = 8;
/// Maximum matches per name. Further matches do not raise the certainty.
const MOST_PLACES: usize = 32;

#[derive(Clone, Debug)]
pub(super) struct Places {
    sorted: Vec<(u64, u32)>,
}

impl Places {
    pub(super) fn of(reading: &Reading) -> Self {
        let mut sorted: Vec<(u64, u32)> =
            (0u32..).zip(&reading.pieces).map(|(at, p)| (key(reading, p.from), at)).collect();
        let tail = |at: u32| following(reading, at).get(KEY..).unwrap_or_default();
        sorted.sort_unstable_by(|(one, a), (other, b)| {
            one.cmp(other).then_with(|| tail(*a).cmp(tail(*b))).then(a.cmp(b))
        });
        Self { sorted }
    }

    /// Tokens at which the folded text starts with `joined`, compared up to the sorted bytes.
    pub(super) fn saying<'a>(
        &'a self,
        reading: &'a Reading,
        joined: &str,
    ) -> impl Iterator<Item = usize> + use<'a> {
        let sought = &joined.as_bytes()[..joined.len().min(SORTED)];
        let compare = |at: u32| {
            let there = following(reading, at);
            there[..there.len().min(sought.len())].cmp(sought)
        };
        let first = self.sorted.partition_point(|(_, at)| compare(*at) == Ordering::Less);
        let rest = &self.sorted[first..];
        let count = if sought.is_empty() {
            0
        } else {
            rest.partition_point(|(_, at)| compare(*at) == Ordering::Equal)
        };
        rest[..count].iter().take(MOST_PLACES).map(|(_, at)| *at as usize)
    }
}

fn following(reading: &Reading, at: u32) -> &[u8] {
    let from = reading.pieces[at as usize].from as usize;
    let bytes = &reading.folded.as_bytes()[from..];
    &bytes[..bytes.len().min(SORTED)]
}

/// The first bytes as a big-endian integer, which sorts like the bytes.
fn key(reading: &Reading, from: u32) -> u64 {
    let bytes = &reading.folded.as_bytes()[from as usize..];
    (0..KEY).fold(0, |sum, at| sum << 8 | u64::from(bytes.get(at).copied().unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_at_all_its_places_and_no_others() {
        let reading = Reading::of("log in, login, a logbook, LogIn and blog in");
        let places = Places::of(&reading);
        let at = |name: &str| {
            let mut found: Vec<usize> = places.saying(&reading, name).collect();
            found.sort_unstable();
            found
        };
        assert_eq!(at("login"), [0, 2, 5]);
        assert_eq!(at("log"), [0, 2, 4, 5]);
        assert_eq!(at("logins"), [] as [usize; 0]);
        assert_eq!(at(""), [] as [usize; 0]);
    }

    #[test]
    fn few_places_are_looked_at_however_many_there_are() {
        let reading = Reading::of(&"a b ".repeat(5_000));
        let places = Places::of(&reading);
        assert_eq!(places.saying(&reading, &"ab".repeat(50)).count(), MOST_PLACES);
    }
}
