//! Masks code, quotations and quoted lines with spaces, byte for byte.

/// Maximum bytes of a quotation. A stray quotation mark must not mask the rest of an answer.
const LONGEST_QUOTE: usize = 400;

/// Replaces code blocks, inline code, quotations and `>` lines with spaces.
pub(crate) fn speech_only(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    blank_fences(text, &mut bytes);
    blank_quoted_lines(text, &mut bytes);
    blank_pairs(text, &mut bytes);
    // Only whole characters are masked, so the lossy conversion replaces nothing.
    String::from_utf8_lossy(&bytes).into_owned()
}

fn blank(bytes: &mut [u8], start: usize, end: usize) {
    bytes[start..end].iter_mut().filter(|b| **b != b'\n').for_each(|b| *b = b' ');
}

fn blank_fences(text: &str, bytes: &mut [u8]) {
    let mut from = 0;
    while let Some(open) = text[from..].find("```").map(|at| from + at) {
        let body = open + 3;
        let end = text[body..].find("```").map_or(text.len(), |at| body + at + 3);
        blank(bytes, open, end);
        from = end;
    }
}

fn blank_quoted_lines(text: &str, bytes: &mut [u8]) {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with('>') {
            blank(bytes, at, at + line.len());
        }
        at += line.len();
    }
}

/// Masks inline code and quotations, from an opening mark to the next matching closing mark.
fn blank_pairs(text: &str, bytes: &mut [u8]) {
    let mut open: Option<(usize, char)> = None;
    for (at, c) in text.char_indices() {
        if bytes[at] == b' ' && c != ' ' {
            continue;
        }
        if let Some((start, closing)) = open {
            if c == closing {
                blank(bytes, start, at + c.len_utf8());
                open = None;
                continue;
            }
            if at - start > LONGEST_QUOTE {
                open = None;
            }
        }
        if open.is_none() {
            open = closing_of(c).map(|closing| (at, closing));
        }
    }
}

fn closing_of(c: char) -> Option<char> {
    match c {
        '`' => Some('`'),
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
    fn what_is_not_said_is_blanked_and_places_stay() {
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
            assert_eq!(speech_only(text), expected, "{text}");
            assert_eq!(speech_only(text).len(), text.len());
        }
    }
}
