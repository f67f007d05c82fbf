//! Keys, tokens and passwords: by the form that their vendor gives them, or by the word before them.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::pattern::pattern;
use super::profile::Profile;
use super::replacement::{Replacement, is_unspaced};

/// Tokens of vendors. A long candidate must not contain other candidates unless it is a secret:
/// otherwise a text of many nested candidates takes quadratic time.
static TOKEN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?x) (?-u:\b)(?:
            sk-[A-Za-z0-9_-]{16,} | [prs]k_(?:live|test)_[A-Za-z0-9]{10,}
          | gh[pousr]_[A-Za-z0-9]{20,} | github_pat_[A-Za-z0-9_]{20,} | gl(?:pat|rt|dt|ptt|ft|soat|cbt|agent)-[A-Za-z0-9_-]{16,}
          | xox[abeoprs]-[A-Za-z0-9-]{10,} | xapp-[0-9]-[A-Za-z0-9-]{20,} | A[KS]IA[0-9A-Z]{16} | AIza[0-9A-Za-z_-]{30,}
          | GOCSPX-[A-Za-z0-9_-]{20,} | ya29\.[A-Za-z0-9_-]{20,}
          | hf_[A-Za-z0-9]{20,} | npm_[A-Za-z0-9]{30,} | pypi-[A-Za-z0-9_-]{40,} | whsec_[A-Za-z0-9]{16,}
          | do[opr]_v1_[a-f0-9]{32,} | dapi[a-f0-9]{32} | dp\.(?:pt|st|ct|sa)\.[A-Za-z0-9._-]{20,}
          | (?:AC|SK)[0-9a-f]{32} | key-[0-9a-f]{32} | [0-9a-f]{32}-us[0-9]{1,2}
          | sh(?:pat|pss|pca|ppa)_[a-fA-F0-9]{32} | sq0(?:atp|csp)-[A-Za-z0-9_-]{20,} | EAAA[A-Za-z0-9_-]{50,}
          | gsk_[A-Za-z0-9]{20,} | xai-[A-Za-z0-9]{20,} | pplx-[A-Za-z0-9]{20,} | r8_[A-Za-z0-9]{20,}
          | lin_api_[A-Za-z0-9]{20,} | ntn_[A-Za-z0-9]{20,} | secret_[A-Za-z0-9]{40,} | figd_[A-Za-z0-9_-]{20,}
          | ATATT3[A-Za-z0-9_=-]{20,} | NRAK-[A-Z0-9]{20,} | gl(?:sa|c)_[A-Za-z0-9_+/=]{20,} | hv[sb]\.[A-Za-z0-9_-]{20,}
          | sntry[su]_[A-Za-z0-9_=/+-]{20,} | PMAK-[a-f0-9-]{30,} | sbp_[a-f0-9]{30,} | tskey-[A-Za-z0-9-]{20,}
          | pat[A-Za-z0-9]{14}\.[a-f0-9]{40,} | AGE-SECRET-KEY-1[A-Z0-9]{40,} | uk_[a-z0-9]{8,}_[a-z0-9]{20,}
          | SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}
          | [MNO][A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,45}
          | [0-9]{8,10}:[A-Za-z0-9_-]{32,40})
        | bot[0-9]{8,10}:[A-Za-z0-9_-]{32,40}
        | (?:https://)?hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_-]{10,}
        | (?:https://)?(?:[a-z]+\.)?discord(?:app)?\.com/api/webhooks/[0-9]+/[A-Za-z0-9_-]{20,}
        | (?:https://)?[a-z0-9-]+\.webhook\.office\.com/webhookb2/[A-Za-z0-9@/_-]{20,}",
    )
});
/// JSON web tokens have a pass of their own, since their parts may look like other tokens.
static JWT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?-u:\b)eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{5,}")
});
static HEADER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?i:(?-u:\b)(?:bearer|basic)\s+)(?P<value>[A-Za-z0-9._~+/=-]{16,})")
});
/// The password in a URL, in a command.
static URL: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"://[^\s:@/"'<>]*:(?P<value>[^\s@/"'<>]{3,})@"#));
static COMMAND: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?-u:\b)(?:(?:mysql[a-z]*|mariadb)(?-u:\b)[^\n|;]{0,80}?\s-p|sshpass\s+-p\s*|curl(?-u:\b)[^\n|;]{0,80}?\s(?:-u|--user)\s+[^\s:]+:)(?P<value>[^\s"']{4,})"#,
    )
});
/// A word that says what follows, words between, and a sign or verb that joins them.
static LABEL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?ix) (?: (?P<password>
              passw(?:or)?d|passcode|passphrase|passwort|kennwort|pwd|(?-u:\b)(?:pass|pw|psw|mdp|clave|senha|parola[mn]?|sifre|haslo|heslo)(?-u:\b)
            | mot\ de\ passe|contraseña|palavra-passe|wachtwoord|hasł[oa]|şifre|lösenord|парол[ьяею]|パスワード|パスフレーズ|密码|密碼|口令|비밀번호|पासवर्ड|(?:wlan|wifi|wi-fi)[-\ ](?:schlüssel|key|code))
          | api[_\ -]?key|secret(?:[_\ -](?:access[_\ -])?key)?|token|account[_-]?key|access[_\ -]?key|auth[_-]?key|密钥|schlüssel)
          [A-Za-z0-9_]*(?:\\?["'])?
          (?: (?P<between>(?:\s+[\p{L}'’]{1,12}){0,3}?)
              (?P<link>\s*(?::=|=>|->|[:=：＝])\s*|\s+[-–—]\s+|\s+(?:is|was|ist|war|lautet|est|c['’]est|es|era|é|è|jest|to|este)\s+|\s*(?:是|为|は|が)\s*)
            | \s+)"#,
    )
});

const PEM_BEGIN: &str = "-----BEGIN ";
const PEM_END: &str = "-----END ";

/// Bytes of a value that decide whether it is a secret.
const JUDGED_BYTES: usize = 200;

/// Shortest secret of a vendor.
const SHORTEST_TOKEN: usize = 16;

/// Secrets in the order of the text, without overlaps.
pub(super) fn find_secrets(text: &str, profile: &Profile) -> Vec<Replacement> {
    let mut found: Vec<Replacement> = Vec::new();
    let mut add = |range: Range<usize>| found.push(Replacement { range, by: "[secret]" });
    if profile.longest_token >= SHORTEST_TOKEN {
        TOKEN
            .find_iter(text)
            .filter(|token| !is_placeholder(token.as_str()))
            .for_each(|token| add(token.range()));
        JWT.find_iter(text).for_each(|token| add(token.range()));
    }
    if text.contains(PEM_BEGIN) {
        find_pem_blocks(text).into_iter().for_each(&mut add);
    }
    if profile.longest_token >= SHORTEST_TOKEN {
        values_of(&HEADER, text).filter(|value| is_random(&text[value.clone()])).for_each(&mut add);
    }
    if text.contains("://") {
        values_of(&URL, text)
            .filter(|value| !is_placeholder(&text[value.clone()]))
            .for_each(&mut add);
    }
    if text.contains(" -") {
        values_of(&COMMAND, text)
            .filter(|value| !is_placeholder(&text[value.clone()]))
            .for_each(&mut add);
    }
    find_labelled(text, &mut found);
    merge(found)
}

fn values_of<'t>(
    pattern: &'static Regex,
    text: &'t str,
) -> impl Iterator<Item = Range<usize>> + 't {
    pattern.captures_iter(text).filter_map(|found| Some(found.name("value")?.range()))
}

/// Joins overlapping parts. The longer one of the first decides what replaces them.
fn merge(mut found: Vec<Replacement>) -> Vec<Replacement> {
    found.sort_by_key(|part| (part.range.start, usize::MAX - part.range.end));
    let mut merged: Vec<Replacement> = Vec::with_capacity(found.len());
    for part in found {
        match merged.last_mut() {
            Some(last) if part.range.start < last.range.end => {
                last.range.end = last.range.end.max(part.range.end);
            }
            _ => merged.push(part),
        }
    }
    merged
}

/// Private keys with their content. A text that only names the first line has none.
fn find_pem_blocks(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(begin) = text[at..].find(PEM_BEGIN) {
        let start = at + begin;
        at = start + PEM_BEGIN.len();
        let Some(length) = text[at..].find("-----") else { break };
        let title = &text[at..at + length];
        if title.len() > 60 || !title.contains("PRIVATE KEY") {
            continue;
        }
        let body = at + length + 5;
        let end = match text[body..].find(PEM_END) {
            Some(end) => {
                let line = body + end + PEM_END.len();
                text[line..].find("-----").map_or(text.len(), |end| line + end + 5)
            }
            None if has_key_data(&text[body..]) => text.len(),
            None => break,
        };
        found.push(start..end);
        at = end;
    }
    found
}

/// True when a long word of base64 follows.
fn has_key_data(body: &str) -> bool {
    let body = body.trim_start().trim_start_matches("\\n");
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    body.bytes().take_while(is_part).count() >= SHORTEST_TOKEN
}

/// The sign or word between a label and its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Link {
    Equals,
    Colon,
    Word,
    Space,
}

fn find_labelled(text: &str, found: &mut Vec<Replacement>) {
    let mut at = 0;
    while let Some(label) = LABEL.captures_at(text, at) {
        let Some(whole) = label.get(0) else { break };
        at = whole.end();
        let is_password = label.name("password").is_some();
        let between = label.name("between").is_some_and(|words| !words.is_empty());
        let link = match label.name("link").map(|link| link.as_str().trim()) {
            None => Link::Space,
            Some("=" | ":=" | "＝") => Link::Equals,
            Some(":" | "：" | "->" | "-" | "–" | "—") => Link::Colon,
            Some(_) => Link::Word,
        };
        if between && !is_password {
            // The words may hold another label.
            at = label.name("between").map_or(at, |words| words.start().max(whole.start() + 1));
            continue;
        }
        let Some(value) = value_at(text, at, link, is_password) else { continue };
        at = value.range.end;
        found.push(value);
    }
}

fn value_at(text: &str, at: usize, link: Link, is_password: bool) -> Option<Replacement> {
    // Markdown marks code and bold text.
    let marks = text[at..].len() - text[at..].trim_start_matches(['`', '*']).len();
    let at = if marks <= 3 { at + marks } else { at };
    let rest = &text[at..];
    if let Some((length, by)) = quoted_length(rest) {
        let value = &rest[..length];
        let is_certain = match link {
            Link::Equals | Link::Colon => true,
            Link::Word => is_password || value.bytes().any(|byte| byte.is_ascii_digit()),
            Link::Space => false,
        };
        let is_value = is_certain && !is_placeholder(value);
        return is_value.then_some(Replacement { range: at..at + length, by });
    }
    // The beginning decides, so that a text of many labels takes linear time.
    let near = &rest[..rest.floor_char_boundary(JUDGED_BYTES)];
    let value = &near[..bare_length(near, link)];
    let is_call = rest[value.len()..].starts_with(['(', '[']);
    let is_value = !is_call
        && value.chars().count() >= 6
        && !is_placeholder(value)
        && is_certain(value, link, is_password);
    is_value.then(|| Replacement { range: at..at + bare_length(rest, link), by: "[secret]" })
}

/// The length of a quoted text of at least four characters, and its replacement.
fn quoted_length(rest: &str) -> Option<(usize, &'static str)> {
    let (is_escaped, inner) = match rest.strip_prefix('\\') {
        Some(inner) => (true, inner),
        None => (false, rest),
    };
    let inner = inner.strip_prefix(['"', '\''])?;
    let end = inner.find(['"', '\'', '\\', '\n'])?;
    let closing = &inner[end..];
    let closed = closing.strip_prefix('\\').unwrap_or(closing);
    if end < 4 || !closed.starts_with(['"', '\'']) {
        return None;
    }
    let length = rest.len() - closed.len() + 1;
    Some((length, if is_escaped { "\\\"[secret]\\\"" } else { "\"[secret]\"" }))
}

/// The length of a value without quotes, without the punctuation of the sentence.
fn bare_length(rest: &str, link: Link) -> usize {
    let mut spaced = None;
    let ends = |c: char| {
        let changes = is_unspaced(c) == *spaced.get_or_insert(!is_unspaced(c));
        c.is_whitespace()
            || "\"',;()<>[]{}`（），。；".contains(c)
            || (c == '&' && link == Link::Equals)
            || changes
    };
    let value = &rest[..rest.find(ends).unwrap_or(rest.len())];
    value.trim_end_matches(['.', ':', '?', '*']).len()
}

/// Bare values without a digit are mostly words, types or variables.
fn is_certain(value: &str, link: Link, is_password: bool) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let has_letter = value.chars().any(char::is_alphabetic);
    if !has_letter
        || value.contains("::")
        || value.contains("://")
        || (!is_password && is_identifier(value))
    {
        return false;
    }
    let inner: Vec<char> = value.chars().collect();
    let inner = &inner[1..inner.len().max(2) - 1];
    let has_symbol = inner.iter().any(|c| "!#$%^*+&@~".contains(*c));
    match link {
        Link::Space if is_password => {
            digits > 0 && value.len() >= 8 && !value.contains('=') && (has_symbol || digits >= 4)
        }
        Link::Space => digits >= 4 && value.len() >= 20 && is_random(value),
        Link::Equals => digits > 0,
        Link::Colon | Link::Word => {
            let is_phrase = value.split('-').filter(|word| word.len() > 1).count() >= 3
                && value.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
            digits > 0 || (is_password && (has_symbol || is_phrase))
        }
    }
}

/// Names in code have at most one short number: `tokens2`, `args.colon2_token`.
fn is_identifier(value: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
    let numbers = value.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty());
    let (count, longest) =
        numbers.fold((0, 0), |(count, longest), digits| (count + 1, digits.len().max(longest)));
    value.bytes().all(is_part) && count <= 1 && longest <= 3 && value.len() < 30
}

/// True for letters with digits, or with capitals in the middle, as no word has them.
fn is_random(value: &str) -> bool {
    let has_digit = value.bytes().any(|byte| byte.is_ascii_digit());
    let has_lower = value.bytes().any(|byte| byte.is_ascii_lowercase());
    let capitals = value.bytes().skip(1).filter(u8::is_ascii_uppercase).count();
    has_digit || (has_lower && capitals >= 2)
}

/// `sk-xxxxxxxx`, `YOUR_API_KEY`, `********`, `${TOKEN}`.
fn is_placeholder(value: &str) -> bool {
    const WORDS: [&str; 9] =
        ["your", "xxxx", "placeholder", "changeme", "redacted", "insert", "replace", "****", "..."];
    let lower = value.to_ascii_lowercase();
    let plain = lower.trim_matches(['"', '\'', '\\']);
    let distinct: HashSet<char> = plain.chars().filter(|c| c.is_alphanumeric()).collect();
    distinct.len() < 3
        || WORDS.iter().any(|word| lower.contains(word))
        || plain.starts_with(['$', '<', '{', '%'])
        || ["password", "passwd", "pass", "pwd", "secret", "string", "token"].contains(&plain)
}
