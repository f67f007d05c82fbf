//! WordPiece tokenization: greedy longest match.

use rustc_hash::FxHashMap;

/// Longer words map to the unknown token, as in BERT.
const MAX_WORD_CHARS: usize = 100;
const UNKNOWN_TOKEN: u32 = 100;

/// Vocabulary of pieces that start a word and pieces that continue one.
pub(crate) struct Vocabulary {
    starts: FxHashMap<&'static [u8], u32>,
    continues: FxHashMap<&'static [u8], u32>,
    max_piece_bytes: usize,
}

impl Vocabulary {
    /// One token per line; its id is the line index.
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
        Self { starts, continues, max_piece_bytes: longest }
    }

    pub(crate) fn whole_token(&self, word: &str) -> Option<u32> {
        self.starts.get(word.as_bytes()).copied()
    }

    /// Calls `piece` with each token id of a folded word.
    pub(crate) fn for_each_piece(&self, word: &str, mut piece: impl FnMut(u32)) {
        if let Some(&id) = self.starts.get(word.as_bytes()) {
            return piece(id);
        }
        let mut found = [0u32; MAX_WORD_CHARS];
        let mut count = 0;
        let mut at = 0;
        if word.len() > MAX_WORD_CHARS * 4 || word.chars().count() > MAX_WORD_CHARS {
            return piece(UNKNOWN_TOKEN);
        }
        while at < word.len() {
            let Some((id, end)) = self.longest_piece(word, at) else { return piece(UNKNOWN_TOKEN) };
            found[count] = id;
            count += 1;
            at = end;
        }
        found[..count].iter().for_each(|&id| piece(id));
    }

    fn longest_piece(&self, word: &str, at: usize) -> Option<(u32, usize)> {
        let pieces = if at == 0 { &self.starts } else { &self.continues };
        let last = word.len().min(at + self.max_piece_bytes);
        (at + 1..=last)
            .rev()
            .filter(|&end| word.is_char_boundary(end))
            .find_map(|end| pieces.get(&word.as_bytes()[at..end]).map(|&id| (id, end)))
    }
}
