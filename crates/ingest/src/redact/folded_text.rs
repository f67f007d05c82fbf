//! A text as patterns read it: full-width characters, dashes and spaces of all kinds as ASCII, and
//! without invisible characters.

use std::ops::Range;

pub(super) struct FoldedText {
    pub(super) text: String,
    /// For each byte of `text`, the start of its character in the original. Ends with the length.
    offsets: Vec<usize>,
}

impl FoldedText {
    /// `None` if folding would change nothing that matters.
    pub(super) fn new(original: &str) -> Option<Self> {
        let (mut changes, mut signs) = (false, 0);
        for c in original.chars() {
            let folded = match fold(c) {
                Fold::Keep => c,
                Fold::Change(ascii) => {
                    changes = true;
                    ascii
                }
                Fold::Remove => {
                    changes = true;
                    continue;
                }
            };
            let is_sign = folded.is_ascii_digit();
            signs += usize::from(is_sign) + usize::from(folded == '@') * FEWEST_SIGNS;
        }
        if !changes || signs < FEWEST_SIGNS {
            return None;
        }
        let mut folded = Self { text: String::with_capacity(original.len()), offsets: Vec::new() };
        for (at, c) in original.char_indices() {
            match fold(c) {
                Fold::Keep => folded.text.push(c),
                Fold::Change(ascii) => folded.text.push(ascii),
                Fold::Remove => {}
            }
            folded.offsets.resize(folded.text.len(), at);
        }
        folded.offsets.push(original.len());
        Some(folded)
    }

    /// The range in the original. Invisible characters within it belong to it.
    pub(super) fn original_range(&self, range: &Range<usize>) -> Range<usize> {
        self.offsets[range.start]..self.offsets[range.end]
    }
}

/// Digits of the shortest number, or an at sign: nothing shorter is affected.
const FEWEST_SIGNS: usize = 6;

enum Fold {
    Keep,
    Change(char),
    Remove,
}

fn fold(c: char) -> Fold {
    let digit_of = |zero: u32| char::from(b'0' + (u32::from(c) - zero) as u8);
    match c {
        '\0'..='\u{9f}' => Fold::Keep,
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => {
            Fold::Change(' ')
        }
        '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' => Fold::Remove,
        '\u{2010}'..='\u{2015}' | '\u{2212}' => Fold::Change('-'),
        '\u{660}'..='\u{669}' => Fold::Change(digit_of(0x660)),
        '\u{6f0}'..='\u{6f9}' => Fold::Change(digit_of(0x6f0)),
        '\u{966}'..='\u{96f}' => Fold::Change(digit_of(0x966)),
        '\u{ff01}'..='\u{ff5e}' => {
            char::from_u32(u32::from(c) - 0xfee0).map_or(Fold::Keep, Fold::Change)
        }
        _ => Fold::Keep,
    }
}
