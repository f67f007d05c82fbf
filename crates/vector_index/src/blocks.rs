//! The memory of the vectors: rows in blocks, filled one after another.
//!
//! Blocks are all full but the last, so a large index grows without copying and without peaks, and a
//! small one stays small. What is removed is overwritten, and the last row takes its place.

use super::bits::SIDE;
use super::entry::{Labels, Quality, Tier};

/// Rows in a full block. Many, so that a search reads long runs of memory: with a sixteenth of them
/// a search of a million took half as long again.
pub(super) const ROWS: usize = 16_384;

/// Some vectors: one column for each thing, so that a search reads only what it needs.
#[derive(Default)]
pub(super) struct Block {
    pub(super) keys: Vec<i64>,
    /// Zero for a vector that points nowhere.
    pub(super) scales: Vec<f32>,
    pub(super) users: Vec<u32>,
    pub(super) intents: Vec<u32>,
    qualities: Vec<Quality>,
    marks: Vec<(bool, bool)>,
    times: Vec<i64>,
    codes: Vec<i8>,
    /// For every few rows: the first word of each, the second word of each, and so on.
    sketches: Vec<[u64; SIDE]>,
}

/// A vector with all that belongs to it.
pub(super) struct Row {
    pub(super) key: i64,
    pub(super) labels: Labels,
    pub(super) scale: f32,
    pub(super) codes: Vec<i8>,
    pub(super) sketch: Vec<u64>,
}

/// A row that changed its place.
pub(super) struct Moved {
    pub(super) key: i64,
    pub(super) from: u32,
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
        self.all.iter().map(Block::bytes).sum()
    }

    /// The blocks, each with the place of its first row.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &Block)> {
        (0..).step_by(ROWS).zip(&self.all)
    }

    /// The block of a place, and which of its rows it is.
    pub(super) fn locate(&self, place: u32) -> (&Block, usize) {
        let (block, row) = parts(place);
        (&self.all[block], row)
    }

    pub(super) fn key(&self, place: u32) -> i64 {
        let (block, row) = self.locate(place);
        block.keys[row]
    }

    pub(super) fn label(&mut self, place: u32, labels: Labels) {
        let (block, row) = parts(place);
        self.all[block].label(row, labels);
    }

    /// A copy of a row. Whose blocks these are says of which tier it is.
    pub(super) fn read(&self, place: u32) -> Row {
        let (block, row) = self.locate(place);
        block.read(row, self.dims, self.words)
    }

    /// Adds a row and says where.
    pub(super) fn push(&mut self, row: &Row) -> u32 {
        let place = self.len as u32;
        let (block, at) = parts(place);
        if block == self.all.len() {
            self.all.push(Block::default());
        }
        self.all[block].resize(at + 1, self.dims, self.words);
        self.all[block].write(at, row);
        self.len += 1;
        place
    }

    /// Overwrites a row with the last one, which it names, and the last with nothing.
    pub(super) fn swap_remove(&mut self, place: u32) -> Option<Moved> {
        let last = self.len.checked_sub(1)? as u32;
        let (block, row) = parts(last);
        let moved = (place != last).then(|| {
            let moving = self.all[block].read(row, self.dims, self.words);
            let (to, to_row) = parts(place);
            self.all[to].write(to_row, &moving);
            Moved { key: moving.key, from: last }
        });
        let (codes, sketch) = (vec![0; self.dims], vec![0; self.words]);
        let nothing = Row { key: 0, labels: Labels::default(), scale: 0.0, codes, sketch };
        self.all[block].write(row, &nothing);
        self.all[block].resize(row, self.dims, self.words);
        self.all.truncate(block + usize::from(row > 0));
        self.len -= 1;
        moved
    }
}

impl Block {
    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// The numbers of its rows, one after another.
    pub(super) fn vectors(&self) -> impl Iterator<Item = &[i8]> {
        self.codes.chunks_exact(self.codes.len() / self.len())
    }

    pub(super) fn codes(&self, row: usize) -> &[i8] {
        let dims = self.codes.len() / self.len();
        &self.codes[row * dims..][..dims]
    }

    /// The bits of all rows in one piece.
    pub(super) fn words(&self) -> &[[u64; SIDE]] {
        &self.sketches
    }

    /// The bits of every few rows.
    pub(super) fn sketches(&self) -> impl Iterator<Item = &[[u64; SIDE]]> {
        self.sketches.chunks_exact(self.sketches.len() / self.len().div_ceil(SIDE))
    }

    fn bytes(&self) -> usize {
        let beside = 2 * size_of::<i64>()
            + size_of::<f32>()
            + 2 * size_of::<u32>()
            + size_of::<Quality>()
            + size_of::<(bool, bool)>();
        let sketches = self.sketches.capacity() * size_of::<[u64; SIDE]>();
        size_of::<Self>() + self.keys.capacity() * beside + self.codes.capacity() + sketches
    }

    /// Makes it so many rows long. Room doubles, and never exceeds a full block.
    fn resize(&mut self, rows: usize, dims: usize, words: usize) {
        if rows > self.keys.capacity() {
            let more = rows.next_power_of_two().clamp(SIDE, ROWS) - self.len();
            self.keys.reserve_exact(more);
            self.scales.reserve_exact(more);
            self.users.reserve_exact(more);
            self.intents.reserve_exact(more);
            self.qualities.reserve_exact(more);
            self.marks.reserve_exact(more);
            self.times.reserve_exact(more);
            self.codes.reserve_exact(more * dims);
            self.sketches.reserve_exact(more.div_ceil(SIDE) * words);
        }
        self.keys.resize(rows, 0);
        self.scales.resize(rows, 0.0);
        self.users.resize(rows, 0);
        self.intents.resize(rows, 0);
        self.qualities.resize(rows, Quality::default());
        self.marks.resize(rows, (false, false));
        self.times.resize(rows, 0);
        self.codes.resize(rows * dims, 0);
        self.sketches.resize(rows.div_ceil(SIDE) * words, [0; SIDE]);
    }

    fn label(&mut self, row: usize, labels: Labels) {
        self.users[row] = labels.user;
        self.intents[row] = labels.intent;
        self.qualities[row] = labels.quality;
        self.marks[row] = (labels.has_strategy, labels.silent);
        self.times[row] = labels.ts;
    }

    /// What is known of a row. Whose block this is says of which tier it is.
    pub(super) fn labels(&self, row: usize) -> Labels {
        let (has_strategy, silent) = self.marks[row];
        Labels {
            tier: Tier::default(),
            user: self.users[row],
            intent: self.intents[row],
            quality: self.qualities[row],
            has_strategy,
            silent,
            ts: self.times[row],
        }
    }

    fn read(&self, row: usize, dims: usize, words: usize) -> Row {
        let sketch = &self.sketches[row / SIDE * words..][..words];
        Row {
            key: self.keys[row],
            labels: self.labels(row),
            scale: self.scales[row],
            codes: self.codes[row * dims..][..dims].to_vec(),
            sketch: sketch.iter().map(|word| word[row % SIDE]).collect(),
        }
    }

    fn write(&mut self, row: usize, from: &Row) {
        let (dims, words) = (from.codes.len(), from.sketch.len());
        self.keys[row] = from.key;
        self.scales[row] = from.scale;
        self.label(row, from.labels);
        self.codes[row * dims..][..dims].copy_from_slice(&from.codes);
        let sketch = &mut self.sketches[row / SIDE * words..][..words];
        sketch.iter_mut().zip(&from.sketch).for_each(|(cell, word)| cell[row % SIDE] = *word);
    }
}

/// A place as block and row.
fn parts(place: u32) -> (usize, usize) {
    let place = place as usize;
    (place / ROWS, place % ROWS)
}
