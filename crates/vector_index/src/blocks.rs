//! The storage of the vectors: rows in blocks.
//!
//! All blocks but the last are full, so a large index grows without copying. Removal overwrites a
//! row with the last one.

use super::entry::{Labels, Quality, Tier};

/// Rows per block. A sixteenth of it made a search of a million rows 50% slower.
pub(super) const ROWS: usize = 16_384;

/// Rows of which a search counts differing bits at once, for wide registers.
pub(super) const SIDE: usize = 8;

/// A block in columns, so that a search reads only what it needs.
#[derive(Default)]
pub(super) struct Block {
    pub(super) keys: Vec<i64>,
    /// 0 for a zero vector.
    pub(super) scales: Vec<f32>,
    pub(super) users: Vec<u32>,
    pub(super) intents: Vec<u32>,
    qualities: Vec<Quality>,
    marks: Vec<(bool, bool)>,
    times: Vec<i64>,
    codes: Vec<i8>,
    /// Interleaved per group of rows: all first words, then all second words.
    sketches: Vec<[u64; SIDE]>,
}

pub(super) struct Row {
    pub(super) key: i64,
    pub(super) labels: Labels,
    pub(super) scale: f32,
    pub(super) codes: Vec<i8>,
    pub(super) sketch: Vec<u64>,
}

/// All blocks of a tier, addressed by row number.
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

    /// The blocks with the number of their first row.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &Block)> {
        (0..).step_by(ROWS).zip(&self.all)
    }

    pub(super) fn locate(&self, place: u32) -> (&Block, usize) {
        let (block, row) = parts(place);
        (&self.all[block], row)
    }

    pub(super) fn key(&self, place: u32) -> i64 {
        let (block, row) = self.locate(place);
        block.keys[row]
    }

    pub(super) fn keys(&self) -> Vec<i64> {
        self.all.iter().flat_map(|block| &block.keys).copied().collect()
    }

    pub(super) fn label(&mut self, place: u32, labels: Labels) {
        let (block, row) = parts(place);
        self.all[block].label(row, labels);
    }

    /// A copy of a row. The tier is the caller's.
    pub(super) fn read(&self, place: u32) -> Row {
        let (block, row) = self.locate(place);
        block.read(row, self.dims, self.words)
    }

    /// Returns the new row's number.
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

    /// Moves the last row over a removed one. Returns the moved row's key and old number.
    pub(super) fn swap_remove(&mut self, place: u32) -> Option<(i64, u32)> {
        let last = self.len.checked_sub(1)? as u32;
        let (block, row) = parts(last);
        let moved = (place != last).then(|| {
            let moving = self.all[block].read(row, self.dims, self.words);
            let (to, to_row) = parts(place);
            self.all[to].write(to_row, &moving);
            (moving.key, last)
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

    pub(super) fn vectors(&self) -> impl Iterator<Item = &[i8]> {
        self.codes.chunks_exact(self.codes.len() / self.len())
    }

    pub(super) fn codes(&self, row: usize) -> &[i8] {
        let dims = self.codes.len() / self.len();
        &self.codes[row * dims..][..dims]
    }

    pub(super) fn words(&self) -> &[[u64; SIDE]] {
        &self.sketches
    }

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

    /// Resizes the block. Capacity doubles up to a full block.
    fn resize(&mut self, rows: usize, dims: usize, words: usize) {
        let room = if rows > self.keys.capacity() {
            rows.next_power_of_two().clamp(SIDE, ROWS)
        } else {
            self.keys.capacity()
        };
        resize_column(&mut self.keys, rows, room);
        resize_column(&mut self.scales, rows, room);
        resize_column(&mut self.users, rows, room);
        resize_column(&mut self.intents, rows, room);
        resize_column(&mut self.qualities, rows, room);
        resize_column(&mut self.marks, rows, room);
        resize_column(&mut self.times, rows, room);
        resize_column(&mut self.codes, rows * dims, room * dims);
        let groups = |rows: usize| rows.div_ceil(SIDE) * words;
        resize_column(&mut self.sketches, groups(rows), groups(room));
    }

    fn label(&mut self, row: usize, labels: Labels) {
        self.users[row] = labels.user;
        self.intents[row] = labels.intent;
        self.qualities[row] = labels.quality;
        self.marks[row] = (labels.has_strategy, labels.silent);
        self.times[row] = labels.ts;
    }

    /// A row's labels. The tier is the caller's.
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

fn resize_column<T: Clone + Default>(column: &mut Vec<T>, len: usize, capacity: usize) {
    column.reserve_exact(capacity.saturating_sub(column.len()));
    column.resize(len, T::default());
}

fn parts(place: u32) -> (usize, usize) {
    let place = place as usize;
    (place / ROWS, place % ROWS)
}
