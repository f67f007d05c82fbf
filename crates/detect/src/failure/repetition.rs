//! Finds answers that repeat a phrase, a sentence or a list item again and again.

use std::sync::LazyLock;

use model::Evidence;

use super::{FAILURES, InspectedAnswer};
use crate::pattern::PatternSet;
use crate::text::{Word, WordKind, hash};

static ABOUT_REPETITION: LazyLock<PatternSet> =
    LazyLock::new(|| PatternSet::parse(FAILURES, "about_repetition"));

/// Longest repeated part, in words.
const MAX_PERIOD: usize = 60;
const MAX_WORDS: usize = 600;

pub(super) fn find_repetition(answer: &InspectedAnswer<'_>) -> Option<Evidence> {
    let wanted = answer.question.is_some_and(|question| ABOUT_REPETITION.is_in(&question.text));
    let found = find_code_loop(answer.response).or_else(|| find_word_loop(answer, wanted));
    found.map(|(start, end)| Evidence { start, end, rule: "loop".to_owned() })
}

/// The bytes of a run of words that repeats. Table rows do not count.
fn find_word_loop(answer: &InspectedAnswer<'_>, wanted: bool) -> Option<(usize, usize)> {
    let table: Vec<(usize, usize)> = table_rows(&answer.prose);
    let in_table = |w: &Word| table.iter().any(|row| row.0 <= w.start && w.start < row.1);
    let words = answer.text.lexical_words().filter(|w| !is_item_number(&answer.prose, w));
    let words: Vec<&Word> = words.filter(|w| !in_table(w)).take(MAX_WORDS).collect();
    let hashes: Vec<u32> = words.iter().map(|w| w.hash).collect();
    for period in 1..=MAX_PERIOD.min(hashes.len() / 2) {
        let Some((first, last)) = longest_run(&hashes, period) else { continue };
        let length = last + 1 - first;
        let is_sign = words[first].kind == WordKind::Sign;
        if is_loop(period, length, hashes.len(), is_sign, wanted) {
            return Some((words[first].start, words[last].end));
        }
    }
    None
}

/// Item numbers change from item to item of a list that loops.
fn is_item_number(prose: &str, word: &Word) -> bool {
    let before = &prose[..word.start];
    let line = &before[before.rfind('\n').map_or(0, |at| at + 1)..];
    word.kind == WordKind::Number
        && line.trim().is_empty()
        && prose[word.end..].starts_with(['.', ')'])
        && prose[word.end + 1..].starts_with(' ')
}

fn table_rows(prose: &str) -> Vec<(usize, usize)> {
    let mut at = 0;
    let mut rows = Vec::new();
    for line in prose.split_inclusive('\n') {
        if line.trim_start().starts_with('|') {
            rows.push((at, at + line.len()));
        }
        at += line.len();
    }
    rows
}

/// First and last word of the longest run that repeats every `period` words.
fn longest_run(hashes: &[u32], period: usize) -> Option<(usize, usize)> {
    let mut best: Option<(usize, usize)> = None;
    let mut start = 0;
    for at in period..=hashes.len() {
        if at < hashes.len() && hashes[at] == hashes[at - period] {
            continue;
        }
        // Words from `start` to `at - 1` repeat.
        let longer = best.is_none_or(|(first, last)| at - start > last + 1 - first);
        if at - start > period && longer {
            best = Some((start, at - 1));
        }
        start = at + 1 - period;
    }
    best
}

/// True for a run of `length` words with a period that people do not write. Verse and wanted
/// repetitions need many more copies.
fn is_loop(period: usize, length: usize, total: usize, is_sign: bool, wanted: bool) -> bool {
    let copies = length / period;
    let least = match period {
        1 => 8,
        2 => 5,
        3 => 4,
        _ => 3,
    };
    let least = if wanted { 8 } else { least };
    let words = if is_sign { length / 2 } else { length };
    copies >= least && words >= 8 && length * 3 >= total
}

/// The same line of code many times, or a code block that never ends.
fn find_code_loop(response: &str) -> Option<(usize, usize)> {
    const MIN_LINES: usize = 8;
    if !response.contains("```") {
        return None;
    }
    let lines: Vec<(usize, &str)> = {
        let mut at = 0;
        let with_start = response.split_inclusive('\n').map(|line| {
            at += line.len();
            (at - line.len(), line.trim())
        });
        with_start.filter(|(_, line)| !line.is_empty()).collect()
    };
    let hashes: Vec<u32> = lines.iter().map(|(_, line)| hash(0, line.as_bytes())).collect();
    (1..=4).find_map(|period| {
        let (first, last) = longest_run(&hashes, period)?;
        let length = last + 1 - first;
        let loops = length >= MIN_LINES.max(period * 4) && length * 3 >= lines.len();
        loops.then(|| (lines[first].0, lines[last].0 + lines[last].1.len()))
    })
}
