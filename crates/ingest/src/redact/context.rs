//! The meaning of a number, by the words beside it.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use super::replacement::is_unspaced;

/// Words before and after a number that may tell its meaning.
const WORDS_BEFORE: usize = 8;
const WORDS_AFTER: usize = 8;
const BYTES_BEFORE: usize = 90;
const BYTES_AFTER: usize = 60;
/// Characters before a number in a language without spaces.
const UNSPACED_BEFORE: usize = 12;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Phone,
    NationalId,
    Card,
    /// A program, a chapter or another thing whose parts are numbered with full stops.
    Version,
    /// An order, an invoice, an amount …
    Other,
    /// Only called a number.
    Number,
}

/// The word that tells a meaning, and how near it is.
#[derive(Clone, Copy)]
pub(super) struct Evidence {
    pub(super) meaning: Meaning,
    /// Words between, plus one. "number" and "is" do not count.
    pub(super) distance: usize,
}

impl Evidence {
    /// True for a number of another kind, named by a word within the distance.
    pub(super) fn is_other(self, distance: usize) -> bool {
        let is_other = matches!(self.meaning, Meaning::Other | Meaning::Version);
        is_other && self.distance <= distance
    }
}

#[derive(Clone, Copy)]
enum Entry {
    Means(Meaning),
    /// "number" alone: another word may say of what.
    Number,
    /// "id" alone: of an order or the like, unless the word before it says of what.
    Id,
    /// "is" and the like between a name and its value.
    Verb,
}

struct Words {
    exact: HashMap<&'static str, Entry>,
    /// Beginnings of words, by their first character.
    stems: HashMap<char, Vec<(&'static str, Entry)>>,
    unspaced: Vec<(&'static str, Entry)>,
}

static WORDS: LazyLock<Words> = LazyLock::new(|| {
    let mut words = Words { exact: HashMap::new(), stems: HashMap::new(), unspaced: Vec::new() };
    for line in include_str!("words.txt").lines() {
        let Some((group, listed)) = line.split_once(": ") else { continue };
        let entry = match group {
            "phone" => Entry::Means(Meaning::Phone),
            "id" => Entry::Means(Meaning::NationalId),
            "number" => Entry::Number,
            "name" => Entry::Id,
            "verb" => Entry::Verb,
            "card" => Entry::Means(Meaning::Card),
            "version" => Entry::Means(Meaning::Version),
            "other" => Entry::Means(Meaning::Other),
            _ => continue,
        };
        for word in listed.split(' ') {
            let first = word.chars().next().unwrap_or(' ');
            if let Some(stem) = word.strip_suffix('*') {
                words.stems.entry(first).or_default().push((stem, entry));
            } else if is_unspaced(first) {
                words.unspaced.push((word, entry));
            } else {
                words.exact.insert(word, entry);
            }
        }
    }
    words
});

/// The nearest word before the number decides, then the symbols around it, then the words after.
pub(super) fn evidence_for(text: &str, number: &Range<usize>) -> Option<Evidence> {
    let (before, after) = (&text[..number.start], &text[number.end..]);
    if before.ends_with(['#', '№', '$', '€', '£', '¥']) || is_amount(after) {
        return Some(Evidence { meaning: Meaning::Other, distance: 1 });
    }
    evidence_before(clause_before(before)).or_else(|| evidence_after(clause_after(after)))
}

fn is_amount(after: &str) -> bool {
    after.trim_start().starts_with(['€', '$', '£', '%', '°', '₹'])
}

fn evidence_before(clause: &str) -> Option<Evidence> {
    if let Some(meaning) = unspaced_meaning(clause) {
        return Some(Evidence { meaning, distance: 1 });
    }
    let mut general = None;
    let mut distance = 1;
    let mut later = String::new();
    for word in words_of(clause).into_iter().rev() {
        if distance > WORDS_BEFORE {
            break;
        }
        if word.bytes().all(|byte| byte.is_ascii_digit()) {
            continue;
        }
        // "social security" and "order-id" may be one word or two.
        match lookup_exact(&format!("{word}{later}")).or_else(|| lookup(&word)) {
            Some(Entry::Means(meaning)) => return Some(Evidence { meaning, distance }),
            Some(Entry::Number) => {
                general = general.or(Some(Evidence { meaning: Meaning::Number, distance }));
            }
            Some(Entry::Id) => general = Some(Evidence { meaning: Meaning::Other, distance }),
            Some(Entry::Verb) => continue,
            None => distance += 1,
        }
        later = word;
    }
    general
}

fn evidence_after(clause: &str) -> Option<Evidence> {
    for (place, word) in words_of(clause).iter().take(WORDS_AFTER).enumerate() {
        match lookup(word) {
            // "0171 1234567 about my order" is still a phone number.
            Some(Entry::Means(Meaning::Other | Meaning::Version)) if place > 0 => return None,
            Some(Entry::Means(meaning)) => return Some(Evidence { meaning, distance: place + 1 }),
            Some(Entry::Number | Entry::Id | Entry::Verb) | None => {}
        }
    }
    None
}

fn lookup_exact(word: &str) -> Option<Entry> {
    WORDS.exact.get(word).copied()
}

fn lookup(word: &str) -> Option<Entry> {
    let first = word.chars().next()?;
    if let Some(entry) = lookup_exact(word) {
        return Some(entry);
    }
    let stems = WORDS.stems.get(&first)?;
    let fitting = stems.iter().filter(|(stem, _)| word.starts_with(stem));
    fitting.max_by_key(|(stem, _)| stem.len()).map(|(_, entry)| *entry)
}

fn unspaced_meaning(clause: &str) -> Option<Meaning> {
    let tail = clause.char_indices().rev().nth(UNSPACED_BEFORE).map_or(0, |(at, _)| at);
    let tail = &clause[tail..];
    if !tail.chars().any(is_unspaced) {
        return None;
    }
    let found = WORDS.unspaced.iter().filter_map(|(word, entry)| Some((tail.rfind(word)?, entry)));
    match found.max_by_key(|(at, _)| *at)?.1 {
        Entry::Means(meaning) => Some(*meaning),
        Entry::Number | Entry::Id | Entry::Verb => None,
    }
}

/// Words in lower case. A capital within a word begins a new one: `orderId`.
fn words_of(clause: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut previous = ' ';
    for c in clause.chars() {
        let is_part = |c: char| c.is_alphanumeric() || is_mark(c);
        if is_part(c) {
            let begins = !is_part(previous) || (previous.is_lowercase() && c.is_uppercase());
            if begins {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.extend(c.to_lowercase());
            }
        }
        previous = c;
    }
    words
}

/// Vowel signs of Hindi and its relatives, which are no letters.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{900}'..='\u{903}' | '\u{93a}'..='\u{94f}')
}

/// The end of the text before a number, within its sentence.
fn clause_before(before: &str) -> &str {
    let cut = before.ceil_char_boundary(before.len().saturating_sub(BYTES_BEFORE));
    let near = &before[cut..];
    let mut begin = 0;
    for (at, c) in near.char_indices() {
        let rest = &near[at + c.len_utf8()..];
        let ends = match c {
            '\n' | ';' | '。' | '！' | '？' | '；' => true,
            '!' | '?' => rest.starts_with(' '),
            // Longer words before a full stop end a sentence, shorter ones are abbreviations.
            '.' => rest.starts_with(' ') && !ends_in_abbreviation(&near[begin..at]),
            _ => false,
        };
        if ends {
            begin = at + c.len_utf8();
        }
    }
    // A label on the line before belongs to the number: "Phone\n555 …".
    let clause = &near[begin..];
    if clause.trim().is_empty() {
        near.trim_end().rsplit('\n').next().unwrap_or("")
    } else {
        clause
    }
}

fn ends_in_abbreviation(before: &str) -> bool {
    let word = before.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or("");
    let word = word.to_lowercase();
    word.chars().count() <= 4 || word.ends_with("nr") || word.ends_with("no")
}

/// The beginning of the text after a number, within its clause.
fn clause_after(after: &str) -> &str {
    let near = &after[..after.floor_char_boundary(BYTES_AFTER)];
    let end =
        near.find(['\n', ';', '!', '?', ',', '。', '，', '？', '{', '"']).unwrap_or(near.len());
    let near = &near[..end];
    &near[..near.find(". ").unwrap_or(near.len())]
}
