//! Finds the nearest vectors, in memory. Pure: no I/O, no clock, no threads, the same every time.
//!
//! Few vectors are all compared. Of many, a search first counts in how many bits short sketches
//! differ, and compares with the likeliest. There is nothing to train: a vector is found as soon as
//! it is in, and gone as soon as it is removed.

mod entry;
mod packed;
mod dot;
mod places;
mod sketch;
mod bits;
mod blocks;
mod best;
mod likely;
mod scan;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod any_order;

pub use entry::{Filter, Found, Labels, Near, Tier};
pub use packed::{encode, unpack};

use blocks::{Blocks, Row};
use packed::Query;
use places::Places;
use scan::Wanted;
use sketch::Sketcher;

/// Up to so many vectors, a search compares all.
pub const EXACT_LIMIT: usize = 20_000;

/// Vectors of one length by key, with labels.
pub struct Index {
    dims: usize,
    exact_limit: usize,
    sketcher: Sketcher,
    blocks: Blocks,
    places: Places,
}

impl Index {
    /// An empty index for vectors of this length.
    pub fn new(dims: usize) -> Self {
        Self::with_exact_limit(dims, EXACT_LIMIT)
    }

    /// One that compares all up to another number of vectors.
    pub fn with_exact_limit(dims: usize, exact_limit: usize) -> Self {
        let sketcher = Sketcher::new(dims.min(packed::MOST_DIMS));
        let blocks = Blocks::new(dims, sketcher.words);
        Self { dims, exact_limit, sketcher, blocks, places: Places::new() }
    }

    /// How long its vectors are.
    pub fn dims(&self) -> usize {
        self.dims
    }

    /// How many vectors it has.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Memory, about.
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + self.blocks.bytes() + self.places.bytes()
    }

    /// Puts a vector in, in place of the key's earlier one. Found at once. `false`, and nothing
    /// changed, when it has another length.
    #[must_use]
    pub fn insert(&mut self, key: i64, values: &[f32], labels: Labels) -> bool {
        self.put(key, labels, packed::codes(values))
    }

    /// The same for a vector that `encode` has packed. `false` also for bytes that are none.
    #[must_use]
    pub fn insert_packed(&mut self, key: i64, bytes: &[u8], labels: Labels) -> bool {
        let Some((_, codes)) = packed::split(bytes) else { return false };
        self.put(key, labels, codes.iter().map(|code| code.cast_signed()).collect())
    }

    fn put(&mut self, key: i64, labels: Labels, codes: Vec<i8>) -> bool {
        if codes.len() != self.dims || !(1..=packed::MOST_DIMS).contains(&self.dims) {
            return false;
        }
        self.remove(key);
        let (scale, sketch) = (packed::scale_of(&codes), self.sketcher.sketch(&codes));
        let place = self.blocks.push(&Row { key, labels, scale, codes, sketch });
        self.places.add(key, place, |place| self.blocks.key(place));
        true
    }

    /// Changes what is known of a key. `false` when it is not here.
    pub fn relabel(&mut self, key: i64, labels: Labels) -> bool {
        let place = self.place(key);
        place.inspect(|place| self.blocks.label(*place, labels)).is_some()
    }

    /// Forgets a key and overwrites its vector. `false` when it is not here.
    pub fn remove(&mut self, key: i64) -> bool {
        let Some(place) = self.place(key) else { return false };
        self.places.remove(key, place);
        if let Some(moved) = self.blocks.swap_remove(place) {
            self.places.change(moved.key, moved.from, place);
        }
        true
    }

    fn place(&self, key: i64) -> Option<u32> {
        self.places.get(key, |place| self.blocks.key(place))
    }

    /// The `most` nearest of each tier, none with a similarity under `floor`. A query that points
    /// nowhere, or has another length, finds nothing.
    pub fn search(&self, query: &[f32], most: usize, floor: f32, filter: Filter) -> Found {
        let asked = Some(query).filter(|query| query.len() == self.dims);
        let Some(fine) = asked.and_then(Query::new) else {
            return Found { exact: true, ..Found::default() };
        };
        let wanted = Wanted { query: &fine, most, floor, filter };
        if self.len() <= self.exact_limit {
            return wanted.among_all(&self.blocks);
        }
        let sketch = self.sketcher.sketch(&packed::codes(query));
        wanted.among_likely(&self.blocks, &sketch)
    }
}
