//! Short excerpts of a text for the terminal, with the evidence highlighted.

use model::Evidence;

const EXCERPT_CHARS: usize = 100;

/// One line of the text, with the evidence in bold red when `colour` is set and in »…« otherwise.
pub(super) fn highlight_evidence(text: &str, evidence: &[Evidence], colour: bool) -> String {
    let (open, close) = if colour { ("\x1b[1;31m", "\x1b[0m") } else { ("»", "«") };
    let place = evidence
        .iter()
        .map(|e| (e.start, e.end))
        .find(|(start, end)| start < end && text.get(*start..*end).is_some())
        .filter(|place| *place != (0, text.len()));
    let Some((start, end)) = place else { return truncate_line(text, EXCERPT_CHARS) };
    let before = keep_end(&flatten(&text[..start]), EXCERPT_CHARS / 3);
    let after = truncate_line(&text[end..], EXCERPT_CHARS / 2);
    format!("{before}{open}{}{close}{after}", flatten(&text[start..end]))
}

/// The text on one line of at most `width` characters.
pub(super) fn truncate_line(text: &str, width: usize) -> String {
    let line = flatten(text);
    if line.chars().count() <= width {
        return line;
    }
    let kept: String = line.chars().take(width.saturating_sub(1)).collect();
    format!("{kept}…")
}

fn keep_end(text: &str, width: usize) -> String {
    let count = text.chars().count();
    if count <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().skip(count - width).collect();
    format!("…{kept}")
}

/// Replaces line breaks, control and bidi characters by spaces: a log must not control the terminal.
fn flatten(text: &str) -> String {
    let is_bidi = |c: char| matches!(c, '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().map(|c| if c.is_control() || is_bidi(c) { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_is_highlighted_and_control_characters_are_removed() {
        let evidence = [Evidence { start: 5, end: 10, rule: "x".to_owned() }];
        assert_eq!(
            highlight_evidence("it's wrong, sorry", &evidence, false),
            "it's »wrong«, sorry"
        );
        assert_eq!(highlight_evidence("a\x1b[2Jb", &[], true), "a [2Jb");
        let outside = [Evidence { start: 4, end: 900, rule: "x".to_owned() }];
        assert_eq!(highlight_evidence("short", &outside, false), "short");
    }
}
