//! IP addresses of both families, without versions, masks and addresses of the machine itself.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::context::{Meaning, evidence_for};
use super::pattern::pattern;

static IP4: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?-u:\b)[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?-u:\b)"));
static IP6: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?:[0-9A-Fa-f]{1,4}|:):[0-9A-Fa-f:.]*[0-9A-Fa-f:]"));

/// Words up to the word that says "version".
const NEAR: usize = 3;
/// Ends of file names that contain a version.
const ARCHIVES: [&str; 9] =
    [".tar", ".tgz", ".zip", ".jar", ".whl", ".exe", ".deb", ".rpm", ".msi"];

pub(super) fn find_ip4(text: &str) -> Vec<Range<usize>> {
    let found = IP4.find_iter(text).map(|found| found.range());
    found.filter(|range| is_ip4(text, range)).collect()
}

fn is_ip4(text: &str, range: &Range<usize>) -> bool {
    let (before, after) = (&text[..range.start], &text[range.end..]);
    let Ok(address) = text[range.clone()].parse::<Ipv4Addr>() else { return false };
    // A mask, or the machine itself.
    let first = address.octets()[0];
    let is_local = first == 127 || first == 255 || address.is_unspecified();
    let behind = after.strip_prefix(['.', '-']);
    let goes_on = behind.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    !is_local && !goes_on && !is_version(before, after) && !is_named_version(text, range)
}

/// `Chrome/120.0.0.0`, `>=1.2.3.4`, `tool-1.2.3.4.tar.gz`.
fn is_version(before: &str, after: &str) -> bool {
    let mut behind = before.chars().rev();
    let (last, second) = (behind.next(), behind.next());
    let is_product = last == Some('/')
        && second.is_some_and(|c| c.is_ascii_alphanumeric())
        && !after.starts_with(':')
        && !before.contains("://");
    let is_requirement = before.ends_with('§')
        || before.ends_with("==")
        || before.ends_with(">=")
        || before.ends_with(['^', '~']);
    is_product || is_requirement || ARCHIVES.iter().any(|end| after.starts_with(end))
}

fn is_named_version(text: &str, range: &Range<usize>) -> bool {
    evidence_for(text, range)
        .is_some_and(|word| word.meaning == Meaning::Version && word.distance <= NEAR)
}

/// Candidates need two colons side by side, or seven.
pub(super) fn find_ip6(text: &str) -> Vec<Range<usize>> {
    let is_possible = text.contains("::") || text.bytes().filter(|byte| *byte == b':').count() >= 7;
    if !is_possible {
        return Vec::new();
    }
    IP6.find_iter(text).filter_map(|found| ip6_within(text, found.range())).collect()
}

/// Requires a digit and two groups outside of a word: `a::b` is mostly code.
fn ip6_within(text: &str, mut range: Range<usize>) -> Option<Range<usize>> {
    let (before, after) = (&text[..range.start], &text[range.end..]);
    // An adjacent colon belongs to the sentence: `host:2001:db8::1: refused`.
    let candidate = &text[range.clone()];
    if candidate.strip_suffix(':').is_some_and(|bare| !bare.ends_with(':')) {
        range.end -= 1;
    }
    let address = &text[range.clone()];
    let part = |c: char| c.is_alphanumeric() && c.is_ascii() || c == '_';
    let is_alone = !before.ends_with(part) && !before.ends_with("::") && !after.starts_with(part);
    let groups = address.split(':').filter(|group| !group.is_empty()).count();
    let has_digit = address.bytes().any(|byte| byte.is_ascii_digit());
    let is_whole = address.contains("::") || address.bytes().any(|byte| byte.is_ascii_alphabetic());
    // The letters of an address have one case, names in code do not: `f16::E`.
    let is_mixed = address.bytes().any(|byte| byte.is_ascii_lowercase())
        && address.bytes().any(|byte| byte.is_ascii_uppercase());
    let is_address =
        is_alone && !is_mixed && groups >= 2 && has_digit && is_whole && address.len() >= 6;
    (is_address && address.parse::<Ipv6Addr>().is_ok()).then_some(range)
}
