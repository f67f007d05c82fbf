//! The memory of the vectors: rows in blocks, filled one after another.
//!
//! Blocks are all full but the last, so the memory grows without copying and without peaks. What is
//! removed is overwritten, and the last row takes its place.

use super::entry::{Labels, Tier};

/// Rows in a block.
pub(super) const ROWS: usize = 64;

/// Some vectors: their numbers, their bits, and what is kept beside each.
pub(super) struct Block {
    /// Row after row.
    pub(super) codes: Box<[i8]>,
    /// The first word of every row, then the second: so all rows are compared side by side.
    pub(super) sketches: Box<[[u64; ROWS]]>,
    pub(super) rows: Box<Rows>,
}

/// One column for each thing, so that a search reads only what it needs.
pub(super) struct Rows {
    pub(super) keys: [i64; ROWS],
    /// Zero for a vector that points nowhere.
    pub(super) scales: [f32; ROWS],
    pub(super) users: [u32; ROWS],
    pub(super) intents: [u32; ROWS],
    pub(super) tiers: [Tier; ROWS],
}

/// A vector with all that belongs to it.
pub(super) struct Row {
    pub(super) key: i64,
    pub(super) labels: Labels,
    pub(super) scale: f32,
    pub(super) codes: Vec<i8>,
    pub(super) sketch: Vec<u64>,
}

/// All blocks. A place is the number of a row.
pub(super) struct Blocks {
    dims: usize,
    words: usize,
    all: Vec<Block>,
    len: usize,
}

impl Blocks {
    pub(super) fn new(dims: usize, words: usize) -> Self {
        Self { dims, words, all: Vec::new(), len: 0 }
    }

    pub(super) fn bytes(&self) -> usize {
        let each = size_of::<Rows>() + (self.dims + self.words * size_of::<u64>()) * ROWS;
        self.all.len() * each + self.all.capacity() * size_of::<Block>()
    }

    /// The blocks, each with how many of its rows are filled.
    pub(super) fn filled(&self) -> impl Iterator<Item = (&Block, usize)> {
        let filled = |at: usize| (self.len - at * ROWS).min(ROWS);
        self.all.iter().enumerate().map(move |(at, block)| (block, filled(at)))
    }

    /// The block of a place, and which of its rows it is.
    pub(super) fn at(&self, place: u32) -> (&Block, usize) {
        let (block, row) = parts(place);
        (&self.all[block], row)
    }

    pub(super) fn key(&self, place: u32) -> i64 {
        let (block, row) = self.at(place);
        block.rows.keys[row]
    }

    pub(super) fn codes(&self, place: u32) -> &[i8] {
        let (block, row) = self.at(place);
        &block.codes[row * self.dims..][..self.dims]
    }

    pub(super) fn label(&mut self, place: u32, labels: Labels) {
        let (block, row) = parts(place);
        self.all[block].rows.label(row, labels);
    }

    /// Adds a row and says where.
    pub(super) fn push(&mut self, row: &Row) -> u32 {
        if self.len == self.all.len() * ROWS {
            self.all.push(Block {
                codes: vec![0; self.dims * ROWS].into(),
                sketches: vec![[0; ROWS]; self.words].into(),
                rows: Box::default(),
            });
        }
        let place = self.len as u32;
        self.len += 1;
        self.write(place, row);
        place
    }

    /// Removes a row. The last one takes its place: its key comes back if there was one to move.
    pub(super) fn swap_remove(&mut self, place: u32) -> Option<Moved> {
        let last = self.len.checked_sub(1)? as u32;
        let moved = (place != last).then(|| {
            let row = self.read(last);
            self.write(place, &row);
            Moved { key: row.key, from: last }
        });
        let (codes, sketch) = (vec![0; self.dims], vec![0; self.words]);
        self.write(last, &Row { key: 0, labels: Labels::default(), scale: 0.0, codes, sketch });
        self.len -= 1;
        self.all.truncate(self.len.div_ceil(ROWS));
        moved
    }

    fn read(&self, place: u32) -> Row {
        let (block, row) = self.at(place);
        let Rows { keys, scales, .. } = &*block.rows;
        Row {
            key: keys[row],
            labels: block.rows.labels(row),
            scale: scales[row],
            codes: self.codes(place).to_vec(),
            sketch: block.sketches.iter().map(|words| words[row]).collect(),
        }
    }

    fn write(&mut self, place: u32, from: &Row) {
        let (block, row) = parts(place);
        let Block { codes, sketches, rows } = &mut self.all[block];
        codes[row * self.dims..][..self.dims].copy_from_slice(&from.codes);
        sketches.iter_mut().zip(&from.sketch).for_each(|(words, word)| words[row] = *word);
        rows.keys[row] = from.key;
        rows.scales[row] = from.scale;
        rows.label(row, from.labels);
    }
}

/// A row that changed its place.
pub(super) struct Moved {
    pub(super) key: i64,
    pub(super) from: u32,
}

impl Rows {
    fn label(&mut self, row: usize, labels: Labels) {
        self.users[row] = labels.user;
        self.intents[row] = labels.intent;
        self.tiers[row] = labels.tier;
    }

    fn labels(&self, row: usize) -> Labels {
        Labels { tier: self.tiers[row], user: self.users[row], intent: self.intents[row] }
    }
}

impl Default for Rows {
    fn default() -> Self {
        Self {
            keys: [0; ROWS],
            scales: [0.0; ROWS],
            users: [0; ROWS],
            intents: [0; ROWS],
            tiers: [Tier::default(); ROWS],
        }
    }
}

/// A place as block and row.
fn parts(place: u32) -> (usize, usize) {
    let place = place as usize;
    (place / ROWS, place % ROWS)
}
