//! A person's words with the parts marked that decided, clipped where they are long.

use askama::Template;
use model::Evidence;

/// Characters that are shown at once; the rest is one click away.
const SHOWN: usize = 1_200;

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// What it says.
    pub text: String,
    /// The rule that it set off, in words.
    pub mark: Option<String>,
}

/// A text as it is shown. Whatever it holds, it is only ever text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Template)]
#[template(path = "said.html")]
pub struct Said {
    /// What is shown at once.
    pub parts: Vec<Part>,
    /// What is behind it.
    pub rest: Vec<Part>,
    /// How many characters it has.
    pub characters: String,
}

impl Said {
    /// A text without marks.
    pub fn plain(text: &str) -> Self {
        Self::marked(text, &[])
    }

    /// A text with what was found in it.
    pub fn marked(text: &str, evidence: &[Evidence]) -> Self {
        let mut said = Self {
            characters: crate::number::count(text.chars().count() as u64),
            ..Self::default()
        };
        let cut = match text.char_indices().nth(SHOWN) {
            // A little more than that is shown as a whole.
            Some((cut, _)) if text[cut..].chars().nth(SHOWN / 4).is_some() => cut,
            Some(_) | None => text.len(),
        };
        for (start, end, mark) in stretches(text, evidence) {
            let mut take = |parts: bool, from: usize, to: usize| {
                if from < to {
                    let part = Part { text: text[from..to].to_owned(), mark: mark.clone() };
                    if parts { said.parts.push(part) } else { said.rest.push(part) }
                }
            };
            take(true, start, end.min(cut));
            take(false, start.max(cut), end);
        }
        said
    }

    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }
}

/// The whole text in stretches, marked or not. What does not fit the text is left out: it was found in words
/// that were taken away since.
fn stretches(text: &str, evidence: &[Evidence]) -> Vec<(usize, usize, Option<String>)> {
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
        found.push((start, one.end, Some(words(&one.rule))));
        at = one.end;
    }
    if at < text.len() {
        found.push((at, text.len(), None));
    }
    found
}

/// A name as words.
pub(crate) fn words(name: &str) -> String {
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
        let said = Said::marked(text, evidence);
        let parts: Vec<(&str, bool)> =
            said.parts.iter().map(|part| (part.text.as_str(), part.mark.is_some())).collect();
        assert_eq!(parts, expected);
    }

    #[test]
    fn what_decided_is_marked() {
        check("No, by date", &[found(0, 2)], &[("No", true), (", by date", false)]);
        check("ab", &[found(0, 2)], &[("ab", true)]);
        check("abcd", &[found(1, 3), found(2, 4)], &[("a", false), ("bc", true), ("d", true)]);
    }

    #[test]
    fn what_does_not_fit_is_left_out() {
        check("é", &[found(0, 1), found(5, 9), found(1, 1)], &[("é", false)]);
        check("", &[found(0, 3)], &[]);
    }

    #[test]
    fn a_long_text_is_clipped_and_whole() {
        let text = "é".repeat(100_000);
        let said = Said::marked(&text, &[found(2 * (SHOWN - 1), 2 * (SHOWN + 1))]);
        let length =
            |parts: &[Part]| parts.iter().map(|part| part.text.chars().count()).sum::<usize>();
        assert_eq!((length(&said.parts), length(&said.rest)), (SHOWN, 100_000 - SHOWN));
        assert!(said.parts[1].mark.is_some() && said.rest[0].mark.is_some(), "cut in the middle");
        assert_eq!(said.characters, "100,000");
        assert!(Said::plain(&"x".repeat(SHOWN + 100)).rest.is_empty());
    }

    #[test]
    fn a_text_is_only_ever_text() {
        let page = Said::marked("<script>alert(1)</script> & \"x\"", &[found(0, 8)]).to_string();
        assert!(!page.contains("<script>"), "{page}");
        assert!(page.contains("&#60;script&#62;") || page.contains("&lt;script&gt;"), "{page}");
    }
}
