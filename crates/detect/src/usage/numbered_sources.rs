use super::word_lists::word_lists;

/// Finds sources named by number without brackets: "according to document 3", "(Source: 1)",
/// "sources 1, 2 and 4". Returns byte ranges and numbers.
pub(super) fn find_numbered_sources(prose: &str) -> Vec<(usize, usize, u64)> {
    let mut found = Vec::new();
    let mut expected = SourceState::Idle;
    let mut start = 0;
    for word in prose.split_inclusive(char::is_whitespace) {
        let (from, shown) = (start, word.trim());
        start += word.len();
        if shown.is_empty() {
            continue;
        }
        let bare = shown.trim_matches(|c: char| !c.is_alphanumeric());
        let number = bare.parse().ok().filter(|n| (1..100).contains(n));
        expected = match (expected, number) {
            (SourceState::Number, Some(n)) => {
                let end = from + word.trim_end().len();
                found.push((from, end, n));
                if shown.ends_with(',') { SourceState::Number } else { SourceState::Conjunction }
            }
            // "Results: 3 days" is an amount; "Source: 3)" and "Source: 3" at a line end are
            // sources.
            (SourceState::LastNumber, Some(n))
                if !shown.ends_with(char::is_alphanumeric)
                    || word.ends_with('\n')
                    || start == prose.len() =>
            {
                let end = from + word.trim_end().len();
                found.push((from, end, n));
                if shown.ends_with(',') { SourceState::LastNumber } else { SourceState::Idle }
            }
            (SourceState::Conjunction, None) if word_lists().conjunctions.contains(shown) => {
                SourceState::Number
            }
            _ => SourceState::after_word(shown),
        };
    }
    found
}

/// Parser state: the expected next word.
#[derive(Clone, Copy)]
enum SourceState {
    Idle,
    Number,
    /// A number that ends the clause.
    LastNumber,
    /// A conjunction, followed by another number.
    Conjunction,
}

impl SourceState {
    fn after_word(word: &str) -> Self {
        let word = word.trim_start_matches('(').to_lowercase();
        match word.strip_suffix(':') {
            Some(word) if word_lists().source_words.contains(word) => Self::LastNumber,
            None if word_lists().source_words.contains(word.as_str()) => Self::Number,
            Some(_) | None => Self::Idle,
        }
    }
}
