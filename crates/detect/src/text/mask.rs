//! Masks code, quotations and quoted lines with spaces, byte for byte.

/// Maximum bytes of a quotation. A stray quotation mark must not mask the rest of an answer.
const MAX_QUOTE_BYTES: usize = 400;

/// Replaces code blocks, inline code, quotations and `>` lines with spaces.
pub(crate) fn mask_code_and_quotes(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    mask_code_blocks(text, &mut bytes);
    mask_quoted_lines(text, &mut bytes);
    mask_paired_marks(text, &mut bytes);
    // Only whole characters are masked, so the lossy conversion replaces nothing.
    String::from_utf8_lossy(&bytes).into_owned()
}

fn mask_range(bytes: &mut [u8], start: usize, end: usize) {
    bytes[start..end].iter_mut().filter(|b| **b != b'\n').for_each(|b| *b = b' ');
}

fn mask_code_blocks(text: &str, bytes: &mut [u8]) {
    let mut from = 0;
    while let Some(open) = text[from..].find("```").map(|at| from + at) {
        let body = open + 3;
        let end = text[body..].find("```").map_or(text.len(), |at| body + at + 3);
        mask_range(bytes, open, end);
        from = end;
    }
}

fn mask_quoted_lines(text: &str, bytes: &mut [u8]) {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with('>') {
            mask_range(bytes, at, at + line.len());
        }
        at += line.len();
    }
}

/// Masks inline code and quotations, from an opening mark to the next matching closing mark.
fn mask_paired_marks(text: &str, bytes: &mut [u8]) {
    let mut open: Option<(usize, char)> = None;
    for (at, c) in text.char_indices() {
        if bytes[at] == b' ' && c != ' ' {
            continue;
        }
        if let Some((start, closing)) = open {
            if c == closing {
                mask_range(bytes, start, at + c.len_utf8());
                open = None;
                continue;
            }
            if at - start > MAX_QUOTE_BYTES {
                open = None;
            }
        }
        if open.is_none() {
            let closing = if c == '`' { Some('`') } else { closing_quote(c) };
            open = closing.map(|closing| (at, closing));
        }
    }
}

/// Closing quotation mark for an opening one.
pub(crate) fn closing_quote(c: char) -> Option<char> {
    match c {
        '"' => Some('"'),
        '“' => Some('”'),
        '„' => Some('“'),
        '«' => Some('»'),
        '「' => Some('」'),
        '『' => Some('』'),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_and_quotes_are_masked_at_equal_length() {
        let rows = [
            ("Use ```\nError: no\n``` now", "Use    \n         \n    now"),
            ("He said \"I cannot\" twice", "He said            twice"),
            ("Run `Error:` then go", "Run          then go"),
            ("> I cannot\nFine", "          \nFine"),
            ("a stray \" quote stays", "a stray \" quote stays"),
            ("„Nein“ sagte er", "           sagte er"),
            ("「はい」と言った", "            と言った"),
            ("『はい』と言った", "            と言った"),
        ];
        for (text, expected) in rows {
            assert_eq!(mask_code_and_quotes(text), expected, "{text}");
            assert_eq!(mask_code_and_quotes(text).len(), text.len());
        }
    }
}
