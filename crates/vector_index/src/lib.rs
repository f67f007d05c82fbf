//! An in-memory index for nearest-neighbour search. Pure and deterministic: no I/O, no clock, no
//! threads.
//!
//! Small indexes are searched exactly. In large ones, the Hamming distance of short sketches
//! preselects candidates. The index needs no training: inserts and removals take effect at once.

mod entry;
mod packed;
mod row_table;
mod sketch;
mod blocks;
mod best;
mod candidates;
mod scan;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod property_tests;

pub use entry::{Filter, Found, Labels, Near, Quality, Tier};
pub use packed::{encode, unpack};

use blocks::{Blocks, Row};
use packed::Query;
use row_table::RowTable;
use scan::{Search, Wanted};
use sketch::Sketcher;

/// Up to this many vectors, a search compares all.
pub const EXACT_LIMIT: usize = 20_000;

/// Vectors of one dimension by key, with labels.
pub struct Index {
    dims: usize,
    exact_limit: usize,
    sketcher: Sketcher,
    /// The CPU's vector instructions, detected at run time.
    arch: pulp::Arch,
    /// Separate, because a search returns the nearest rows of each tier.
    tiers: [Blocks; 3],
    places: RowTable,
}

/// A row's location: the tier in the two highest bits, the row in the others.
#[derive(Clone, Copy)]
struct Place {
    tier: usize,
    row: u32,
}

const ROW_BITS: u32 = 30;

impl Place {
    fn packed(self) -> u32 {
        (self.tier as u32) << ROW_BITS | self.row
    }

    fn unpack(packed: u32) -> Self {
        Self { tier: (packed >> ROW_BITS) as usize, row: packed & ((1 << ROW_BITS) - 1) }
    }
}

fn key_at(tiers: &[Blocks; 3], packed: u32) -> i64 {
    let place = Place::unpack(packed);
    tiers[place.tier].key(place.row)
}

impl Index {
    pub fn new(dims: usize) -> Self {
        Self::with_exact_limit(dims, EXACT_LIMIT)
    }

    pub fn with_exact_limit(dims: usize, exact_limit: usize) -> Self {
        let sketcher = Sketcher::new(dims.min(packed::MAX_DIMS));
        let tiers = std::array::from_fn(|_| Blocks::new(dims, sketcher.words));
        let (arch, places) = (pulp::Arch::new(), RowTable::new());
        Self { dims, exact_limit, sketcher, arch, tiers, places }
    }

    pub fn len(&self) -> usize {
        self.places.len()
    }

    pub fn has(&self, key: i64) -> bool {
        self.place(key).is_some()
    }

    /// The vector of a key, of length 1 or zero, after packing.
    pub fn vector(&self, key: i64) -> Option<Vec<f32>> {
        let place = self.place(key)?;
        let (block, row) = self.tiers[place.tier].locate(place.row);
        let scale = block.scales[row];
        Some(block.codes(row).iter().map(|code| f32::from(*code) * scale).collect())
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn bytes(&self) -> usize {
        let tiers: usize = self.tiers.iter().map(Blocks::bytes).sum();
        size_of::<Self>() + tiers + self.places.bytes()
    }

    /// Inserts or replaces a vector. Returns false for another dimension.
    #[must_use]
    pub fn insert(&mut self, key: i64, values: &[f32], labels: Labels) -> bool {
        self.put(key, labels, packed::codes(values))
    }

    /// Like `insert`, for a vector packed by `encode`. Returns false for invalid bytes.
    #[must_use]
    pub fn insert_packed(&mut self, key: i64, bytes: &[u8], labels: Labels) -> bool {
        let Some((_, codes)) = packed::split(bytes) else { return false };
        self.put(key, labels, codes.iter().map(|code| code.cast_signed()).collect())
    }

    fn put(&mut self, key: i64, labels: Labels, codes: Vec<i8>) -> bool {
        if codes.len() != self.dims || !(1..=packed::MAX_DIMS).contains(&self.dims) {
            return false;
        }
        self.remove(key);
        let (scale, sketch) = (packed::compute_scale(&codes), self.sketcher.sketch(&codes));
        self.add(labels.tier, &Row { key, labels, scale, codes, sketch });
        true
    }

    fn add(&mut self, tier: Tier, row: &Row) {
        let tier = tier as usize;
        let place = Place { tier, row: self.tiers[tier].push(row) };
        self.places.add(row.key, place.packed(), |packed| key_at(&self.tiers, packed));
    }

    /// Changes the labels of a key. Returns false for an unknown key.
    pub fn relabel(&mut self, key: i64, labels: Labels) -> bool {
        let Some(place) = self.place(key) else { return false };
        if place.tier == labels.tier as usize {
            self.tiers[place.tier].label(place.row, labels);
            return true;
        }
        let row = Row { labels, ..self.tiers[place.tier].read(place.row) };
        self.take_out(key, place);
        self.add(labels.tier, &row);
        true
    }

    /// Removes a key and overwrites its vector. Returns false for an unknown key.
    pub fn remove(&mut self, key: i64) -> bool {
        let place = self.place(key);
        place.inspect(|place| self.take_out(key, *place)).is_some()
    }

    /// Removes this many rows: first the oldest neutral ones, then the oldest of the others. Older
    /// rows have smaller keys.
    pub fn evict_oldest(&mut self, count: usize) {
        let mut left = count;
        for tiers in [&[Tier::Neutral][..], &[Tier::Accepted, Tier::Rejected]] {
            let mut keys: Vec<i64> =
                tiers.iter().flat_map(|tier| self.tiers[*tier as usize].keys()).collect();
            let evicted = left.min(keys.len());
            if evicted == 0 {
                continue;
            }
            if evicted < keys.len() {
                keys.select_nth_unstable(evicted);
            }
            for key in &keys[..evicted] {
                self.remove(*key);
            }
            left -= evicted;
        }
    }

    fn take_out(&mut self, key: i64, place: Place) {
        self.places.remove(key, place.packed());
        if let Some((moved, row)) = self.tiers[place.tier].swap_remove(place.row) {
            self.places.change(moved, Place { row, ..place }.packed(), place.packed());
        }
    }

    fn place(&self, key: i64) -> Option<Place> {
        self.places.get(key, |packed| key_at(&self.tiers, packed)).map(Place::unpack)
    }

    /// The `most` nearest rows of each tier with at least `floor` similarity. A zero query, or one
    /// of another dimension, finds nothing.
    pub fn search(&self, query: &[f32], most: usize, floor: f32, filter: Filter) -> Found {
        let asked = Some(query).filter(|query| query.len() == self.dims);
        let Some(fine) = asked.and_then(Query::new) else {
            return Found { exact: true, ..Found::default() };
        };
        let wanted = Wanted { query: &fine, most, floor, filter };
        let all = self.len() <= self.exact_limit;
        let sketch = self.sketcher.sketch(&packed::codes(query));
        let mut exact = true;
        let [accepted, neutral, rejected] = self.tiers.each_ref().map(|blocks| {
            let sketch = (!all).then_some(&sketch[..]);
            let (nearest, whole) = self.arch.dispatch(Search { wanted: &wanted, blocks, sketch });
            exact &= whole;
            nearest
        });
        Found { accepted, neutral, rejected, exact }
    }
}
