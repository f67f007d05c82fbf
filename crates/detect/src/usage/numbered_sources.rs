use super::word_lists::lists;

/// Finds sources named by number without brackets: "according to document 3", "(Source: 1)",
/// "sources 1, 2 and 4". Returns byte ranges and numbers.
pub(super) fn numbered_sources(speech: &str) -> Vec<(usize, usize, u64)> {
    let mut found = Vec::new();
    let mut expected = Expected::Nothing;
    let mut start = 0;
    for word in speech.split_inclusive(char::is_whitespace) {
        let (from, shown) = (start, word.trim());
        start += word.len();
        if shown.is_empty() {
            continue;
        }
        let bare = shown.trim_matches(|c: char| !c.is_alphanumeric());
        let number = bare.parse().ok().filter(|n| (1..100).contains(n));
        expected = match (expected, number) {
            (Expected::Number, Some(n)) => {
                let end = from + word.trim_end().len();
                found.push((from, end, n));
                if shown.ends_with(',') { Expected::Number } else { Expected::Joint }
            }
            // "Results: 3 days" is an amount; "Source: 3)" and "Source: 3" at a line end are
            // sources.
            (Expected::Last, Some(n))
                if !shown.ends_with(char::is_alphanumeric)
                    || word.ends_with('\n')
                    || start == speech.len() =>
            {
                let end = from + word.trim_end().len();
                found.push((from, end, n));
                if shown.ends_with(',') { Expected::Last } else { Expected::Nothing }
            }
            (Expected::Joint, None) if lists().joining.contains(shown) => Expected::Number,
            _ => Expected::after(shown),
        };
    }
    found
}

/// Parser state: the expected next word.
#[derive(Clone, Copy)]
enum Expected {
    Nothing,
    Number,
    /// A number that ends the clause.
    Last,
    /// A conjunction, followed by another number.
    Joint,
}

impl Expected {
    fn after(word: &str) -> Self {
        let word = word.trim_start_matches('(').to_lowercase();
        match word.strip_suffix(':') {
            Some(word) if lists().numbered.contains(word) => Self::Last,
            None if lists().numbered.contains(word.as_str()) => Self::Number,
            Some(_) | None => Self::Nothing,
        }
    }
}
