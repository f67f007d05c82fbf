//! Shows a text on a terminal, short, with the telling words marked.

use model::Evidence;

const WIDTH: usize = 100;

/// One line of the text, with the evidence in bold red on a terminal and in »…« elsewhere.
pub(super) fn marked(text: &str, evidence: &[Evidence], colour: bool) -> String {
    let (open, close) = if colour { ("\x1b[1;31m", "\x1b[0m") } else { ("»", "«") };
    let place = evidence
        .iter()
        .map(|e| (e.start, e.end))
        .find(|(start, end)| start < end && text.get(*start..*end).is_some());
    let Some((start, end)) = place else { return one_line(text, WIDTH) };
    let whole = start == 0 && end == text.len();
    if whole {
        return one_line(text, WIDTH);
    }
    let before = tail(&flat(&text[..start]), WIDTH / 3);
    let after = one_line(&text[end..], WIDTH / 2);
    format!("{before}{open}{}{close}{after}", flat(&text[start..end]))
}

/// One line, cut with an ellipsis.
pub(super) fn one_line(text: &str, width: usize) -> String {
    let flat = flat(text);
    if flat.chars().count() <= width {
        return flat;
    }
    let kept: String = flat.chars().take(width.saturating_sub(1)).collect();
    format!("{kept}…")
}

fn tail(text: &str, width: usize) -> String {
    let count = text.chars().count();
    if count <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().skip(count - width).collect();
    format!("…{kept}")
}

/// Line ends and control characters become spaces: a log must not steer the terminal.
fn flat(text: &str) -> String {
    let turns_text = |c: char| matches!(c, '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().map(|c| if c.is_control() || turns_text(c) { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_telling_words_are_marked() {
        let evidence = [Evidence { start: 5, end: 10, rule: "x".to_owned() }];
        assert_eq!(marked("it's wrong, sorry", &evidence, false), "it's »wrong«, sorry");
        assert_eq!(marked("a\x1b[2Jb", &[], true), "a [2Jb");
        let outside = [Evidence { start: 4, end: 900, rule: "x".to_owned() }];
        assert_eq!(marked("short", &outside, false), "short");
    }
}
