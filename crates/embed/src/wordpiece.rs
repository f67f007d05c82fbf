//! A word into pieces of the vocabulary, longest first.

use rustc_hash::FxHashMap;

/// Longer words are one unknown token, as in BERT.
const LONGEST_WORD: usize = 100;
/// The token of a word that has none.
const UNKNOWN: u32 = 100;

/// The vocabulary: pieces that begin a word and pieces that continue one.
pub(crate) struct Vocabulary {
    starts: FxHashMap<&'static [u8], u32>,
    continues: FxHashMap<&'static [u8], u32>,
    /// No piece is longer, in bytes.
    longest: usize,
}

impl Vocabulary {
    /// One token a line, its number the line's.
    pub(crate) fn new(lines: &'static str) -> Self {
        let (mut starts, mut continues) = (FxHashMap::default(), FxHashMap::default());
        let mut longest = 0;
        for (id, token) in (0u32..).zip(lines.lines()) {
            longest = longest.max(token.len());
            match token.strip_prefix("##") {
                Some(rest) if !rest.is_empty() => continues.insert(rest.as_bytes(), id),
                Some(_) | None => starts.insert(token.as_bytes(), id),
            };
        }
        Self { starts, continues, longest }
    }

    /// The token that a folded word is by itself.
    pub(crate) fn whole(&self, word: &str) -> Option<u32> {
        self.starts.get(word.as_bytes()).copied()
    }

    /// Calls `piece` for each piece of a folded word.
    pub(crate) fn pieces(&self, word: &str, mut piece: impl FnMut(u32)) {
        if let Some(&id) = self.starts.get(word.as_bytes()) {
            return piece(id);
        }
        let mut found = [0u32; LONGEST_WORD];
        let mut count = 0;
        let mut at = 0;
        if word.len() > LONGEST_WORD * 4 || word.chars().count() > LONGEST_WORD {
            return piece(UNKNOWN);
        }
        while at < word.len() {
            let Some((id, end)) = self.longest_at(word, at) else { return piece(UNKNOWN) };
            found[count] = id;
            count += 1;
            at = end;
        }
        found[..count].iter().for_each(|&id| piece(id));
    }

    fn longest_at(&self, word: &str, at: usize) -> Option<(u32, usize)> {
        let pieces = if at == 0 { &self.starts } else { &self.continues };
        let last = word.len().min(at + self.longest);
        (at + 1..=last)
            .rev()
            .filter(|&end| word.is_char_boundary(end))
            .find_map(|end| pieces.get(&word.as_bytes()[at..end]).map(|&id| (id, end)))
    }
}
