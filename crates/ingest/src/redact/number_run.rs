//! Runs of digit groups: the candidates for phone numbers, cards and numeric national ids.

use std::ops::Range;

use super::replacement::{ends_with_escape, is_joined};

/// Groups and digits of the longest number of any kind.
const MAX_GROUPS: usize = 9;
pub(super) const MAX_DIGITS: usize = 19;
/// Characters between two groups of one number, such as `) ` or ` - `.
const MAX_SEPARATOR: usize = 3;

/// Consecutive groups of digits, with separators that a number may contain.
pub(super) struct NumberRun {
    groups: Vec<Range<usize>>,
    digits: usize,
}

/// Some consecutive groups of a run, as one number.
pub(super) struct Number<'t> {
    text: &'t str,
    /// The first group and those after it.
    groups: &'t [Range<usize>],
    pub(super) digits: Vec<u8>,
    pub(super) sizes: Vec<usize>,
    pub(super) has_plus: bool,
    /// The first group, or the plus before it, follows a bracket that closes within the number.
    pub(super) has_bracket: bool,
    pub(super) range: Range<usize>,
    /// Digits of the whole run.
    run_digits: usize,
    previous: Option<&'t Range<usize>>,
    next: Option<&'t Range<usize>>,
}

/// Finds the runs of a text whose other characters are ASCII where it matters.
pub(super) fn find_runs(text: &str) -> Vec<NumberRun> {
    let bytes = text.as_bytes();
    let mut runs: Vec<NumberRun> = Vec::new();
    let (mut at, mut last_end) = (0, None);
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let length = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let group = at..at + length;
        let goes_on = last_end.is_some_and(|end| is_separator(&bytes[end..at]));
        match runs.last_mut() {
            Some(run) if goes_on => {
                run.groups.push(group);
                run.digits += length;
            }
            _ => runs.push(NumberRun { groups: vec![group], digits: length }),
        }
        at += length;
        last_end = Some(at);
    }
    runs
}

fn is_separator(between: &[u8]) -> bool {
    let is_part = |byte: &u8| matches!(byte, b' ' | b'.' | b'-' | b'/' | b'(' | b')' | b'\n');
    between.len() <= MAX_SEPARATOR && between.iter().all(is_part)
}

impl NumberRun {
    /// Calls `judge` with each number of the run, the longest first, from the left. A number that it
    /// accepts uses up its groups.
    pub(super) fn visit_numbers(&self, text: &str, mut judge: impl FnMut(&Number<'_>) -> bool) {
        let mut first = 0;
        while first < self.groups.len() {
            let last = self.last_groups(first).find(|last| judge(&self.number(text, first, *last)));
            first = last.map_or(first + 1, |last| last + 1);
        }
    }

    /// The last groups of the numbers that begin with a group.
    fn last_groups(&self, first: usize) -> impl Iterator<Item = usize> + use<> {
        let mut digits = 0;
        let mut fitting = Vec::new();
        for (offset, group) in self.groups[first..].iter().take(MAX_GROUPS).enumerate() {
            digits += group.len();
            if digits > MAX_DIGITS {
                break;
            }
            if digits >= 7 {
                fitting.push(first + offset);
            }
        }
        fitting.into_iter().rev()
    }

    fn number<'t>(&'t self, text: &'t str, first: usize, last: usize) -> Number<'t> {
        let groups = &self.groups[first..=last];
        let mut range = groups[0].start..groups[groups.len() - 1].end;
        let inner = &text[range.clone()];
        let digits = inner.bytes().filter(u8::is_ascii_digit).map(|byte| byte - b'0').collect();
        let has_plus = text[..range.start].ends_with('+');
        range.start -= usize::from(has_plus);
        let has_bracket = text[..range.start].ends_with('(') && closes_first(inner);
        range.start -= usize::from(has_bracket);
        Number {
            text,
            groups,
            digits,
            sizes: groups.iter().map(Range::len).collect(),
            has_plus,
            has_bracket,
            range,
            run_digits: self.digits,
            previous: first.checked_sub(1).map(|at| &self.groups[at]),
            next: self.groups.get(last + 1),
        }
    }
}

/// True when a bracket before the text closes in it.
fn closes_first(text: &str) -> bool {
    let opening = text.find('(').unwrap_or(text.len());
    text.find(')').is_some_and(|closing| closing < opening)
}

impl Number<'_> {
    /// The text between two groups.
    pub(super) fn separators(&self) -> impl Iterator<Item = &str> {
        self.groups.windows(2).map(|pair| &self.text[pair[0].end..pair[1].start])
    }

    /// True when all separators are the same, and this one.
    pub(super) fn is_separated_by(&self, separator: &str) -> bool {
        self.separators().all(|found| found == separator)
    }

    pub(super) fn has_line_break(&self) -> bool {
        self.separators().any(|found| found.contains('\n'))
    }

    /// True for the path of a link that calls or writes to the number.
    pub(super) fn follows_call_link(&self) -> bool {
        ["wa.me/", "tel:", "tel://", "send?phone="]
            .iter()
            .any(|link| self.text[..self.range.start].ends_with(link))
    }

    /// True when it is a part of a word, or of a number that is longer than any card with the year
    /// before it and the code after it.
    pub(super) fn is_within_longer(&self) -> bool {
        const LONGEST: usize = 26;
        let (before, after) = (&self.text[..self.range.start], &self.text[self.range.end..]);
        let touches = |c: char| c.is_ascii_alphanumeric() || c == '_';
        self.has_plus
            || (before.ends_with(touches) && !ends_with_escape(before))
            || after.starts_with(touches)
            || (self.run_digits > LONGEST && self.is_part_of_row())
    }

    /// True when neither letters nor other digits belong to the same word.
    pub(super) fn stands_alone(&self) -> bool {
        let (before, after) = (&self.text[..self.range.start], &self.text[self.range.end..]);
        let mut ahead = after.chars();
        let (next, second) = (ahead.next(), ahead.next());
        let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
        let joins = |c: Option<char>| c.is_some_and(is_joined);
        let continues = joins(next)
            || (matches!(next, Some('-' | '/')) && joins(second))
            || (matches!(next, Some('.' | ',')) && is_digit(second));
        let mut behind = before.chars().rev();
        let (last, second) = (behind.next(), behind.next());
        let is_continued = (joins(last) && !ends_with_escape(before))
            || matches!(last, Some('-' | '+'))
            || (matches!(last, Some('.' | ',' | ':')) && is_digit(second))
            || (last == Some('/')
                && second.is_some_and(|c| !c.is_whitespace())
                && !self.follows_call_link());
        !continues && !is_continued && !self.is_part_of_row()
    }

    /// True when a group next to the number is separated like its own groups, so that all may be
    /// one longer number or a row of small ones.
    fn is_part_of_row(&self) -> bool {
        let outer = [
            self.previous.map(|group| &self.text[group.end..self.range.start]),
            self.next.map(|group| &self.text[self.range.end..group.start]),
        ];
        let own = self.separators().next();
        outer.into_iter().flatten().any(|between| match own {
            Some(own) => between == own && !self.has_plus && !self.has_bracket,
            None => !between.contains(' ') && !between.contains('\n'),
        })
    }
}
