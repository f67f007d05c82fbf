//! Patterns and verification of each kind.

use std::net::Ipv6Addr;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::Surroundings;

#[expect(clippy::expect_used, reason = "the patterns are fixed, and a test compiles them")]
fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern compiles")
}

/// A long candidate must not contain other candidates unless it is a secret. Otherwise a text of
/// many nested candidates takes quadratic time.
pub(super) static SECRET: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?x)
        (?P<whole>-----BEGIN\ [A-Z\ ]*PRIVATE\ KEY-----[\s\S]*?(?:-----END\ [A-Z\ ]*PRIVATE\ KEY-----|\z)
          | \b(?:
            sk-[A-Za-z0-9_-]{16,} | [prs]k_(?:live|test)_[A-Za-z0-9]{10,}
          | gh[pousr]_[A-Za-z0-9]{20,} | github_pat_[A-Za-z0-9_]{20,} | glpat-[A-Za-z0-9_-]{16,}
          | xox[abprs]-[A-Za-z0-9-]{10,} | A[KS]IA[0-9A-Z]{16} | AIza[0-9A-Za-z_-]{30,}
          | hf_[A-Za-z0-9]{20,} | npm_[A-Za-z0-9]{30,} | whsec_[A-Za-z0-9]{16,}
          | dop_v1_[a-f0-9]{32,} | ya29\.[A-Za-z0-9_-]{20,} | uk_[a-z0-9]{8,}_[a-z0-9]{20,}))
      | (?P<name>(?i:\b(?:bearer|basic)\s+))(?P<header>[A-Za-z0-9._~+/=-]{16,})
      | (?P<label>(?i:(?:api[_\ -]?key|secret|token|passw(?:or)?d|passphrase|pwd|account[_-]?key)
            [A-Za-z0-9_]*(?:\\?["'])?\s*(?:[:=]|\bis\b)\s*))
        (?: (?P<quoted>\\?["'][^"'\\\n]{4,}\\?["']) | (?P<bare>[^\s"',;&()<>\[\]{}]{6,}) )
    "#,
    )
});
/// Multi-part tokens, whose candidates are long, have a pass of their own. The last part is random
/// and may contain text that the first pass mistakes for a secret.
pub(super) static PARTED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?x) \b(?: SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}
          | eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.(?:[A-Za-z0-9_-]*\[secret\]|[A-Za-z0-9_-]{5,}))",
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

/// A token is removed as a whole. After a label only the value is removed: a quoted one, or a bare
/// one with a digit. Bare values without digits are mostly words, types or variables.
pub(super) fn secret(found: &Captures<'_>, _: &Surroundings<'_>) -> Option<String> {
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

/// `git@host:path` is not an e-mail address.
pub(super) fn email(found: &Captures<'_>, around: &Surroundings<'_>) -> Option<String> {
    let is_remote = found[0].starts_with("git@") && around.after.starts_with(':');
    (!is_remote).then(|| "[email]".to_owned())
}

pub(super) fn phone(found: &Captures<'_>, around: &Surroundings<'_>) -> Option<String> {
    // Digits after a hyphen are part of something longer.
    let part = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    let alone = !around.before.ends_with(part) && !around.after.starts_with(part);
    let in_a_number = around.after.starts_with('.')
        && around.after[1..].starts_with(|c: char| c.is_ascii_digit());
    (alone && !in_a_number && !found[0].is_empty()).then(|| "[phone]".to_owned())
}

/// Requires a digit and two groups outside of a word: `a::b` is mostly code.
pub(super) fn ip6(found: &Captures<'_>, around: &Surroundings<'_>) -> Option<String> {
    // An adjacent colon belongs to the sentence: `host:2001:db8::1: refused`.
    let (text, colon) = match found[0].strip_suffix(':') {
        Some(bare) if !bare.ends_with(':') => (bare, ":"),
        _ => (&found[0], ""),
    };
    let part = |c: char| c.is_alphanumeric() || c == '_';
    let alone = !around.before.ends_with(part)
        && !around.before.ends_with("::")
        && !around.after.starts_with(part);
    let groups = text.split(':').filter(|group| !group.is_empty()).count();
    let digits = text.bytes().any(|byte| byte.is_ascii_digit());
    let whole = text.contains("::") || text.bytes().any(|byte| byte.is_ascii_alphabetic());
    let is_address = alone && groups >= 2 && digits && whole && text.len() >= 6;
    (is_address && text.parse::<Ipv6Addr>().is_ok()).then(|| format!("[ip]{colon}"))
}
