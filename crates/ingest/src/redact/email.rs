//! E-mail addresses, also encoded for URLs and HTML or spelled out against robots.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::pattern::pattern;
use super::profile::Profile;
use super::replacement::is_unspaced;

/// Characters before the sign. Longer ones are cut, so that a text takes linear time.
const MAX_LOCAL: usize = 128;

/// A sign other than `@`, with the spaces around it if it is a word.
static SIGN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?ix) \x20@\x20 | @ | %(?:25)?40 | &\#0*64;? | &\#x0*40;? | &commat; | \\u0040
          | \x20?[(\[{<]\x20?(?:at|ät|a|arroba|arobase|chiocciola|małpa|malpa|собака|et|apenstaartje)\x20?[)\]}>]\x20?
          | \x20(?:at|ät|arroba|arobase|chiocciola|małpa|malpa|собака|apenstaartje)\x20",
    )
});
/// A full stop of the domain that is written in another way.
static STOP: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?ix) ^(?: \. | %2e | &\#0*46;? | &period;
          | \x20?[(\[{]\x20?(?:\.|dot|punkt|point|punto|ponto|kropka|nokta|точка)\x20?[)\]}]\x20?
          | \x20(?:dot|punkt|point|punto|ponto|kropka|nokta|точка)\x20)",
    )
});
/// Local parts of placeholders such as `user@example.com`.
const PLACEHOLDERS: [&str; 12] = [
    "user",
    "username",
    "name",
    "your.name",
    "yourname",
    "you",
    "your",
    "email",
    "your.email",
    "youremail",
    "first.last",
    "firstname.lastname",
];
/// File types after a version or size: `logo@2x.png`.
const FILE_TYPES: [&str; 12] =
    ["png", "jpg", "jpeg", "gif", "svg", "webp", "tgz", "zip", "js", "ts", "css", "json"];

const BRACKETS: [char; 4] = ['(', '[', '{', '<'];
/// Ends of addresses that are spelled out.
const SPELLED_ENDS: [&str; 34] = [
    "com", "net", "org", "de", "fr", "es", "it", "nl", "pl", "tr", "ru", "jp", "cn", "br", "pt",
    "uk", "ch", "at", "io", "dev", "co", "edu", "gov", "info", "eu", "us", "ca", "au", "be", "se",
    "cz", "app", "ai", "biz",
];

pub(super) fn find_emails(text: &str, profile: &Profile) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut add = |sign: Range<usize>| {
        let free = found.last().map_or(0, |last| last.end);
        if sign.start >= free
            && let Some(address) = address_around(text, free, &sign)
        {
            found.push(address);
        }
    };
    if may_be_encoded(text, profile) {
        SIGN.find_iter(text).for_each(|sign| add(sign.range()));
    } else if profile.has_at() {
        text.match_indices('@').for_each(|(at, _)| add(at..at + 1));
    }
    found
}

/// True when an address may have a sign other than `@`.
fn may_be_encoded(text: &str, profile: &Profile) -> bool {
    let has_any = |signs: &[&str]| signs.iter().any(|sign| text.contains(sign));
    let is_encoded =
        profile.has_encoding() && has_any(&["%40", "%2540", "&#", "&commat", "\\u0040"]);
    let is_bracketed = profile.has_encoding()
        && has_any(&[
            "at)", "at]", "at}", "AT)", "AT]", "(a)", "[a]", "ät)", "ba)", "ba]", "łpa)", "la)",
            "ase)",
        ]);
    let is_spelled = has_any(&[
        " @ ", " dot ", " DOT ", " punkt ", " point ", " punto ", " ponto ", " kropka ", "(dot)",
        "[dot]",
    ]);
    is_encoded || is_bracketed || is_spelled
}

fn address_around(text: &str, free: usize, sign: &Range<usize>) -> Option<Range<usize>> {
    let start = local_start(text, free, sign.start);
    let local = &text[start..sign.start];
    if !local.contains(|c: char| c.is_alphanumeric()) {
        return None;
    }
    let written = &text[sign.clone()];
    let domain = domain_after(&text[sign.end..], written.starts_with(' '))?;
    // A word such as " at " counts only before a domain that is spelled out too.
    if written.starts_with(' ') && written.ends_with(' ') && !written.contains(BRACKETS) {
        let spelled = &text[sign.end..sign.end + domain.length];
        let last = spelled.rsplit(' ').next().unwrap_or("");
        // "at this point in" has the words of an address too, but of two languages.
        let is_english = matches!(written.trim(), "at" | "AT");
        let is_mixed = is_english && !spelled.to_lowercase().contains(" dot ");
        let is_spelled = domain.is_spelled || written == " @ ";
        let last = last.rsplit('.').next().unwrap_or(last);
        if is_mixed || !is_spelled || !SPELLED_ENDS.contains(&last) {
            return None;
        }
    }
    let end = sign.end + domain.length;
    let name = &text[sign.end..end];
    let after = &text[end..];
    let is_remote = local == "git" && after.starts_with([':', '/']);
    let is_file = name.starts_with(|c: char| c.is_ascii_digit())
        && name.rsplit_once('.').is_some_and(|(_, last)| FILE_TYPES.contains(&last));
    let is_placeholder = PLACEHOLDERS.contains(&local.to_lowercase().as_str())
        && ["example.com", "example.org", "example.net"].contains(&name);
    let is_call = after.starts_with('(');
    (!is_remote && !is_file && !is_placeholder && !is_call).then_some(start..end)
}

fn local_start(text: &str, free: usize, end: usize) -> usize {
    let mut start = end;
    let mut spaced = None;
    for (at, c) in text[free..end].char_indices().rev().take(MAX_LOCAL) {
        let is_part = c.is_alphanumeric() || "._%+'-".contains(c);
        // In "发到ann@…" the address begins at the change of script.
        let changes = is_unspaced(c) == *spaced.get_or_insert(!is_unspaced(c));
        if !is_part || changes {
            break;
        }
        start = free + at;
    }
    let local = &text[start..end];
    end - local.trim_start_matches(['.', '\'', '-']).len()
}

struct Domain {
    length: usize,
    /// A full stop is a word, as in "example dot com".
    is_spelled: bool,
}

/// The longest domain at the beginning of a text: labels, the last one of letters.
fn domain_after(text: &str, may_be_spelled: bool) -> Option<Domain> {
    let mut at = 0;
    let mut best = None;
    let mut is_spelled = false;
    loop {
        let label = label_length(&text[at..]);
        if label == 0 {
            return best;
        }
        let name = &text[at..at + label];
        let letters = name.chars().take_while(|c| c.is_alphabetic()).count();
        if at > 0 && (letters >= 2 || name.starts_with("xn--")) {
            let length = if letters >= 2 && !name.contains('-') {
                name.char_indices().nth(letters).map_or(label, |(end, _)| end)
            } else {
                label
            };
            best = Some(Domain { length: at + length, is_spelled });
        }
        at += label;
        let Some(stop) = STOP.find(&text[at..]) else { return best };
        let is_word = stop.as_str().starts_with(' ');
        if is_word && !may_be_spelled {
            return best;
        }
        is_spelled |= is_word || stop.as_str().contains(['(', '[', '{']);
        at += stop.end();
    }
}

/// Letters, digits and hyphens, in the script of the first one.
fn label_length(text: &str) -> usize {
    let mut spaced = None;
    let end = text.char_indices().find(|(_, c)| {
        let is_part = c.is_alphanumeric() || *c == '-';
        let changes = is_unspaced(*c) == *spaced.get_or_insert(!is_unspaced(*c));
        !is_part || changes
    });
    end.map_or(text.len(), |(at, _)| at)
}
