//! What each kind looks like: the pattern of its candidates, and what tells a real one.

use std::net::Ipv6Addr;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::Around;

#[expect(clippy::expect_used, reason = "the patterns are fixed, and a test compiles them")]
fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern compiles")
}

pub(super) static SECRET: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?x)
        (?P<whole>-----BEGIN\ [A-Z\ ]*PRIVATE\ KEY-----[\s\S]*?(?:-----END\ [A-Z\ ]*PRIVATE\ KEY-----|\z)
          | \b(?:
            sk-[A-Za-z0-9_-]{16,} | [prs]k_(?:live|test)_[A-Za-z0-9]{10,}
          | gh[pousr]_[A-Za-z0-9]{20,} | github_pat_[A-Za-z0-9_]{20,} | glpat-[A-Za-z0-9_-]{16,}
          | xox[abprs]-[A-Za-z0-9-]{10,} | A[KS]IA[0-9A-Z]{16} | AIza[0-9A-Za-z_-]{30,}
          | hf_[A-Za-z0-9]{20,} | npm_[A-Za-z0-9]{30,} | whsec_[A-Za-z0-9]{16,}
          | dop_v1_[a-f0-9]{32,} | ya29\.[A-Za-z0-9_-]{20,}
          | SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,} | uk_[a-z0-9]{8,}_[a-z0-9]{20,}
          | eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{5,}))
      | (?P<name>(?i:\b(?:bearer|basic)\s+))(?P<header>[A-Za-z0-9._~+/=-]{16,})
      | (?P<label>(?i:[A-Za-z0-9_.-]*(?:api[_\ -]?key|secret|token|passw(?:or)?d|passphrase|pwd|account[_-]?key)
            [A-Za-z0-9_]*(?:\\?["'])?\s*(?:[:=]|\bis\b)\s*))
        (?: (?P<quoted>\\?["'][^"'\\\n]{4,}\\?["']) | (?P<bare>[^\s"',;&()<>\[\]{}]{6,}) )
    "#,
    )
});
pub(super) static EMAIL: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"[\p{L}0-9._%+'-]+@[\p{L}0-9-]+(?:\.[\p{L}0-9-]+)*\.\p{L}{2,}"));
pub(super) static IBAN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"\b[A-Z]{2}[0-9]{2}(?:[ \u{a0}]?[A-Z0-9]{4}){2,7}(?:[ \u{a0}]?[A-Z0-9]{1,4})?\b")
});
pub(super) static DIGITS: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"[0-9](?:[ .\-\u{a0}\u{202f}\n]?[0-9]){12,}"));
pub(super) static IP6: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?:[0-9A-Fa-f]{1,4}|:):[0-9A-Fa-f:.]*[0-9A-Fa-f:]"));
pub(super) static IP4: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b[0-9]{1,3}(?:\.[0-9]{1,3}){3}\b"));
pub(super) static PHONE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?x) \+[1-9][0-9]{0,2}(?:[\ \u{a0}()/-]{0,3}[0-9]){7,13}\b
          | \b00[1-9](?:[\ \u{a0}()/-]{0,2}[0-9]){8,13}\b
          | \([0-9]{2,5}\)[\ .-]?[0-9]{3,4}[\ .-]?[0-9]{3,4}\b
          | \b(?:1[\ .-])?[2-9][0-9]{2}[.-][0-9]{3}[.-][0-9]{4}\b
          | \b0[1-9][0-9]{1,3}[\ /-][0-9]{3,4}[\ -]?[0-9]{3,5}\b
          | \b0[1-9](?:[\ .-][0-9]{2}){4}\b",
    )
});

/// A token goes as a whole. Behind a label only the value goes: a quoted one, or a bare one with a
/// digit in it; without one it is more often a word, a type or a variable.
pub(super) fn secret(found: &Captures<'_>, _: &Around<'_>) -> Option<String> {
    if found.name("whole").is_some() {
        return Some("[secret]".to_owned());
    }
    if let Some(name) = found.name("name") {
        return Some(format!("{}[secret]", name.as_str()));
    }
    let label = found.name("label")?.as_str();
    if found.name("quoted").is_some() {
        let quote = if label.contains('\\') { "\\\"" } else { "\"" };
        return Some(format!("{label}{quote}[secret]{quote}"));
    }
    let value = found.name("bare")?.as_str();
    let certain = value.bytes().any(|byte| byte.is_ascii_digit())
        && value.bytes().any(|byte| byte.is_ascii_alphabetic());
    (certain && value != "[secret]").then(|| format!("{label}[secret]"))
}

/// `git@host:path` is an address of another kind.
pub(super) fn email(found: &Captures<'_>, around: &Around<'_>) -> Option<String> {
    let is_remote = found[0].starts_with("git@") && around.after.starts_with(':');
    (!is_remote).then(|| "[email]".to_owned())
}

/// Card numbers among the groups of a long row of digits: whatever comes before or behind them.
pub(super) fn cards(found: &Captures<'_>, around: &Around<'_>) -> Option<String> {
    let run = &found[0];
    // A plus makes it a phone number.
    if around.before.ends_with(|c: char| c.is_ascii_digit() || c == '+') {
        return None;
    }
    let is_digit = |c: char| c.is_ascii_digit();
    // Start and end of every group of digits.
    let mut groups: Vec<(usize, usize)> = Vec::new();
    for (at, c) in run.char_indices() {
        match groups.last_mut() {
            Some((_, end)) if is_digit(c) && *end == at => *end = at + 1,
            _ if is_digit(c) => groups.push((at, at + 1)),
            _ => {}
        }
    }
    let (mut text, mut done, mut first) = (String::new(), 0, 0);
    while first < groups.len() {
        // A group has a digit at least, so no card reaches further. A list of numbers may be very long.
        let end = groups.len().min(first + LONGEST_CARD);
        let card = (first..end).rev().find(|last| {
            let part = &run[groups[first].0..groups[*last].1];
            is_card(part)
        });
        if let Some(last) = card {
            text.push_str(&run[done..groups[first].0]);
            text.push_str("[card]");
            done = groups[last].1;
            first = last + 1;
        } else {
            first += 1;
        }
    }
    (done > 0).then(|| text + &run[done..])
}

pub(super) fn phone(found: &Captures<'_>, around: &Around<'_>) -> Option<String> {
    // Digits that go on behind a hyphen are a part of something longer.
    let part = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    let alone = !around.before.ends_with(part) && !around.after.starts_with(part);
    let in_a_number = around.after.starts_with('.')
        && around.after[1..].starts_with(|c: char| c.is_ascii_digit());
    (alone && !in_a_number && !found[0].is_empty()).then(|| "[phone]".to_owned())
}

/// Not in the middle of a word, such as a path of modules, and with a digit and three groups:
/// `a::b` is more often code.
pub(super) fn ip6(found: &Captures<'_>, around: &Around<'_>) -> Option<String> {
    let text = &found[0];
    let part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let alone = !around.before.ends_with(part) && !around.after.starts_with(part);
    let groups = text.split(':').filter(|group| !group.is_empty()).count();
    let digits = text.bytes().any(|byte| byte.is_ascii_digit());
    let whole = text.contains("::") || text.bytes().any(|byte| byte.is_ascii_alphabetic());
    let is_address = alone && groups >= 2 && digits && whole && text.len() >= 6;
    (is_address && text.parse::<Ipv6Addr>().is_ok()).then(|| "[ip]".to_owned())
}

fn digits(text: &str) -> impl DoubleEndedIterator<Item = u32> + '_ {
    text.chars().filter_map(|c| c.to_digit(10))
}

/// Digits of the longest card.
const LONGEST_CARD: usize = 19;

/// 13 to 19 digits that begin like a card's, not all the same, with the right check digit (Luhn).
fn is_card(text: &str) -> bool {
    let count = digits(text).count();
    let first = digits(text).next();
    let begins = first.is_some_and(|digit| (2..=6).contains(&digit));
    let fits = begins && (13..=LONGEST_CARD).contains(&count);
    if !fits || digits(text).all(|digit| Some(digit) == first) {
        return false;
    }
    let sum: u32 = digits(text)
        .rev()
        .enumerate()
        .map(|(place, digit)| match (place % 2, digit * 2) {
            (0, _) => digit,
            (_, double) if double > 9 => double - 9,
            (_, double) => double,
        })
        .sum();
    sum.is_multiple_of(10)
}

/// 15 to 34 characters whose number, with the first four at the end, is 1 modulo 97.
pub(super) fn is_iban(text: &str) -> bool {
    let plain: Vec<char> = text.chars().filter(|c| !matches!(c, ' ' | '\u{a0}')).collect();
    if !(15..=34).contains(&plain.len()) {
        return false;
    }
    let (head, tail) = plain.split_at(4);
    let rest = tail.iter().chain(head).try_fold(0_u32, |rest, c| {
        let value = c.to_digit(36)?;
        Some(if value < 10 { (rest * 10 + value) % 97 } else { (rest * 100 + value) % 97 })
    });
    rest == Some(1)
}
