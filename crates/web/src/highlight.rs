//! User text with highlighted evidence, truncated when it is long.

use askama::Template;
use model::Evidence;

use crate::number_format::format_count;

/// Characters shown at once; the rest is collapsed.
const PREVIEW_CHARS: usize = 1_200;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextSpan {
    pub text: String,
    pub mark: Option<String>,
}

/// Text for a page. The template escapes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Template)]
#[template(path = "highlighted_text.html")]
pub struct HighlightedText {
    pub parts: Vec<TextSpan>,
    pub rest: Vec<TextSpan>,
    pub characters: String,
}

impl HighlightedText {
    pub fn plain(text: &str) -> Self {
        Self::with_evidence(text, &[])
    }

    pub fn with_evidence(text: &str, evidence: &[Evidence]) -> Self {
        let mut highlighted =
            Self { characters: format_count(text.chars().count() as u64), ..Self::default() };
        let cut = match text.char_indices().nth(PREVIEW_CHARS) {
            // A text only slightly longer than the limit is shown in full.
            Some((cut, _)) if text[cut..].chars().nth(PREVIEW_CHARS / 4).is_some() => cut,
            Some(_) | None => text.len(),
        };
        for (start, end, mark) in split_spans(text, evidence) {
            let mut take = |parts: bool, from: usize, to: usize| {
                if from < to {
                    let part = TextSpan { text: text[from..to].to_owned(), mark: mark.clone() };
                    if parts { highlighted.parts.push(part) } else { highlighted.rest.push(part) }
                }
            };
            take(true, start, end.min(cut));
            take(false, start.max(cut), end);
        }
        highlighted
    }

    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }
}

/// Splits a text into plain and highlighted spans. Evidence outside the text is ignored, because
/// the text may have been redacted since.
fn split_spans(text: &str, evidence: &[Evidence]) -> Vec<(usize, usize, Option<String>)> {
    let fits = |one: &&Evidence| {
        one.start < one.end && text.is_char_boundary(one.start) && text.is_char_boundary(one.end)
    };
    let mut marks: Vec<&Evidence> = evidence.iter().filter(fits).collect();
    marks.sort_by_key(|one| (one.start, one.end));
    let (mut found, mut at) = (Vec::new(), 0);
    for one in marks {
        let start = one.start.max(at);
        if start >= one.end {
            continue;
        }
        if at < start {
            found.push((at, start, None));
        }
        found.push((start, one.end, Some(humanize_name(&one.rule))));
        at = one.end;
    }
    if at < text.len() {
        found.push((at, text.len(), None));
    }
    found
}

/// Replaces underscores and dots with spaces.
pub(crate) fn humanize_name(name: &str) -> String {
    name.replace(['_', '.'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(start: usize, end: usize) -> Evidence {
        Evidence { start, end, rule: "negation_start".into() }
    }

    #[track_caller]
    fn check(text: &str, evidence: &[Evidence], expected: &[(&str, bool)]) {
        let highlighted = HighlightedText::with_evidence(text, evidence);
        let parts: Vec<(&str, bool)> = highlighted
            .parts
            .iter()
            .map(|part| (part.text.as_str(), part.mark.is_some()))
            .collect();
        assert_eq!(parts, expected);
    }

    #[test]
    fn evidence_is_highlighted() {
        check("No, by date", &[found(0, 2)], &[("No", true), (", by date", false)]);
        check("ab", &[found(0, 2)], &[("ab", true)]);
        check("abcd", &[found(1, 3), found(2, 4)], &[("a", false), ("bc", true), ("d", true)]);
    }

    #[test]
    fn evidence_outside_the_text_is_ignored() {
        check("é", &[found(0, 1), found(5, 9), found(1, 1)], &[("é", false)]);
        check("", &[found(0, 3)], &[]);
    }

    #[test]
    fn long_text_is_truncated_and_kept_in_full() {
        let text = "é".repeat(100_000);
        let highlighted = HighlightedText::with_evidence(
            &text,
            &[found(2 * (PREVIEW_CHARS - 1), 2 * (PREVIEW_CHARS + 1))],
        );
        let length =
            |parts: &[TextSpan]| parts.iter().map(|part| part.text.chars().count()).sum::<usize>();
        assert_eq!(
            (length(&highlighted.parts), length(&highlighted.rest)),
            (PREVIEW_CHARS, 100_000 - PREVIEW_CHARS)
        );
        assert!(
            highlighted.parts[1].mark.is_some() && highlighted.rest[0].mark.is_some(),
            "cut in the middle"
        );
        assert_eq!(highlighted.characters, "100,000");
        assert!(HighlightedText::plain(&"x".repeat(PREVIEW_CHARS + 100)).rest.is_empty());
    }

    #[test]
    fn html_in_text_is_escaped() {
        let page =
            HighlightedText::with_evidence("<script>alert(1)</script> & \"x\"", &[found(0, 8)])
                .to_string();
        assert!(!page.contains("<script>"), "{page}");
        assert!(page.contains("&#60;script&#62;") || page.contains("&lt;script&gt;"), "{page}");
    }
}
