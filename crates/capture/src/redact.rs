//! Removes secrets and personal data from texts, before anything else sees them.
//!
//! One pass per kind. Candidates are found by a pattern and then checked by what can be checked: a
//! card number by its check digit, an IBAN by its checksum, an address by parsing it. What is not
//! sure to be one stays.

mod numbers;

use std::borrow::Cow;
use std::collections::HashMap;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::LazyLock;

use event::{EntityId, Event, EventId, Source};
use regex::{Captures, Regex};
use serde_json::{Map, Value};

use numbers::{cards, is_iban};

/// What is removed. Everything unless a tenant switches it off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "six switches are six switches")]
pub struct Redactor {
    /// E-mail addresses.
    pub email: bool,
    /// Phone numbers.
    pub phone: bool,
    /// Payment cards.
    pub card: bool,
    /// Bank accounts.
    pub iban: bool,
    /// Network addresses.
    pub ip: bool,
    /// Keys, tokens and passwords.
    pub secret: bool,
}

impl Default for Redactor {
    fn default() -> Self {
        Self { email: true, phone: true, card: true, iban: true, ip: true, secret: true }
    }
}

/// Values under these names are ids; changing one would tear apart what belongs together.
const IDS: [&str; 4] = ["message_id", "decision_id", "entity_id", "query_id"];
/// Whether the value under a name is an id.
type IsId = fn(&str, &str) -> bool;

/// Texts under these names are secrets, whatever they look like (letters and digits only).
const SECRET_NAMES: [&str; 12] = [
    "password",
    "passwd",
    "pwd",
    "passphrase",
    "secret",
    "clientsecret",
    "secretkey",
    "apikey",
    "accesstoken",
    "refreshtoken",
    "privatekey",
    "authorization",
];

#[expect(clippy::expect_used, reason = "the patterns are fixed, and a test compiles them")]
fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern compiles")
}

/// Nothing in it may go on for long without being a secret while others begin and end within: whoever wrote many of
/// those would have the rest of the text read again for each.
static SECRET: LazyLock<Regex> = LazyLock::new(|| {
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
/// Tokens of several parts: these do go on for long before they are any, so they have a pass of their own.
static PARTED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?x) \b(?: SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}
          | eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{5,})",
    )
});
static EMAIL: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"[\p{L}0-9._%+'-]+@[\p{L}0-9-]+(?:\.[\p{L}0-9-]+)*\.\p{L}{2,}"));
static IBAN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"\b[A-Z]{2}[0-9]{2}(?:[ \u{a0}]?[A-Z0-9]{4}){2,7}(?:[ \u{a0}]?[A-Z0-9]{1,4})?\b")
});
static DIGITS: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"[0-9](?:[ .\-\u{a0}\u{202f}\n]?[0-9]){12,}"));
static IP6: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?:[0-9A-Fa-f]{1,4}|:):[0-9A-Fa-f:.]*[0-9A-Fa-f:]"));
static IP4: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b[0-9]{1,3}(?:\.[0-9]{1,3}){3}\b"));
static PHONE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?x) \+[1-9][0-9]{0,2}(?:[\ \u{a0}()/-]{0,3}[0-9]){7,13}\b
          | \b00[1-9](?:[\ \u{a0}()/-]{0,2}[0-9]){8,13}\b
          | \([0-9]{2,5}\)[\ .-]?[0-9]{3,4}[\ .-]?[0-9]{3,4}\b
          | \b(?:1[\ .-])?[2-9][0-9]{2}[.-][0-9]{3}[.-][0-9]{4}\b
          | \b0[1-9][0-9]{1,3}[\ /-][0-9]{3,4}[\ -]?[0-9]{3,5}\b
          | \b0[1-9](?:[\ .-][0-9]{2}){4}\b",
    )
});

impl Redactor {
    /// Redacts every text of an event: in its data, also in the names of its fields, and its tags.
    pub fn redact_event(&self, event: &mut Event) {
        event.tags.iter_mut().for_each(|tag| self.redact_text(tag));
        let is_id: IsId = match event.kind.source {
            // In data of our own shape an id was checked as one and may be any name, and the address of a
            // webhook is no text.
            Source::Engine => {
                |name, text| (IDS.contains(&name) || name == "url") && EntityId::new(text).is_ok()
            }
            Source::Turn => |name, text| IDS.contains(&name) && EntityId::new(text).is_ok(),
            // In what clients make up, only what looks like an id is taken for one.
            Source::ApplicationLog
            | Source::SystemMetric
            | Source::Trace
            | Source::UserRating
            | Source::UserComment
            | Source::UserCorrection
            | Source::QueryResult
            | Source::ModelResponse
            | Source::PipelineOutput
            | Source::ApiResponse
            | Source::DatabaseQuery
            | Source::ExternalService
            | Source::UserInteraction
            | Source::SessionAnalysis
            | Source::Reaction => |name, text| IDS.contains(&name) && EventId::new(text).is_ok(),
        };
        self.redact_fields(&mut event.data, is_id);
    }

    fn redact_fields(&self, fields: &mut Map<String, Value>, is_id: IsId) {
        let renamed: Vec<(String, String)> = fields
            .keys()
            .filter_map(|name| match self.redact(name) {
                Cow::Borrowed(_) => None,
                Cow::Owned(redacted) => Some((name.clone(), redacted)),
            })
            .collect();
        // Several names may be the same without what was in them; their values all stay.
        let mut last: HashMap<String, usize> = HashMap::new();
        for (name, redacted) in renamed {
            let Some(value) = fields.remove(&name) else { continue };
            let mut free = redacted.clone();
            while fields.contains_key(&free) {
                let number = last.entry(redacted.clone()).or_insert(1);
                *number += 1;
                free = format!("{redacted} {number}");
            }
            fields.insert(free, value);
        }
        for (name, value) in fields {
            let is_id_here = value.as_str().is_some_and(|text| is_id(name, text));
            if self.secret && is_secret_name(name) && value.is_string() {
                *value = Value::String("[secret]".to_owned());
            } else if !is_id_here {
                self.redact_value(value, is_id);
            }
        }
    }

    fn redact_value(&self, value: &mut Value, is_id: IsId) {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
            Value::String(text) => self.redact_text(text),
            Value::Array(items) => {
                items.iter_mut().for_each(|item| self.redact_value(item, is_id));
            }
            Value::Object(fields) => self.redact_fields(fields, is_id),
        }
    }

    fn redact_text(&self, text: &mut String) {
        if let Cow::Owned(redacted) = self.redact(text) {
            *text = redacted;
        }
    }

    /// The text without what is switched on.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if text.len() < 6 {
            return Cow::Borrowed(text);
        }
        let digits = text.bytes().filter(u8::is_ascii_digit).count();
        let mut text = Cow::Borrowed(text);
        if self.secret && text.len() >= 8 {
            text = pass(text, &SECRET, secret);
            text = pass(text, &PARTED, |_, _| Some("[secret]".to_owned()));
        }
        if self.email && text.contains('@') {
            text = pass(text, &EMAIL, email);
        }
        if self.iban && digits >= 2 && text.len() >= 15 {
            text = pass(text, &IBAN, |found, _| is_iban(&found[0]).then(|| "[iban]".to_owned()));
        }
        if self.card && digits >= 13 {
            text = pass(text, &DIGITS, |found, around| {
                // A plus makes it a phone number.
                let is_part = around.before.ends_with(|c: char| c.is_ascii_digit() || c == '+');
                if is_part { None } else { cards(&found[0]) }
            });
        }
        if self.ip && text.contains(':') {
            text = pass(text, &IP6, ip6);
        }
        if self.ip && digits >= 4 && text.contains('.') {
            text = pass(text, &IP4, |found, around| {
                let behind = around.after.strip_prefix(['.', '-']);
                let goes_on =
                    behind.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
                (!goes_on && found[0].parse::<Ipv4Addr>().is_ok()).then(|| "[ip]".to_owned())
            });
        }
        if self.phone && digits >= 8 {
            text = pass(text, &PHONE, phone);
        }
        text
    }
}

/// What stands on both sides of a candidate.
struct Around<'t> {
    before: &'t str,
    after: &'t str,
}

/// Replaces the candidates that are ones; the text is not copied when none is.
fn pass<'t>(
    text: Cow<'t, str>,
    pattern: &Regex,
    judge: impl Fn(&Captures<'_>, &Around<'_>) -> Option<String>,
) -> Cow<'t, str> {
    let mut redacted: Option<String> = None;
    let mut done = 0;
    for found in pattern.captures_iter(&text) {
        let Some(whole) = found.get(0) else { continue };
        let around = Around { before: &text[..whole.start()], after: &text[whole.end()..] };
        if let Some(word) = judge(&found, &around) {
            let redacted = redacted.get_or_insert_default();
            redacted.push_str(&text[done..whole.start()]);
            redacted.push_str(&word);
            done = whole.end();
        }
    }
    match redacted {
        None => text,
        Some(mut redacted) => {
            redacted.push_str(&text[done..]);
            Cow::Owned(redacted)
        }
    }
}

fn is_secret_name(name: &str) -> bool {
    let plain = name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase());
    let plain: String = plain.collect();
    SECRET_NAMES.contains(&plain.as_str())
}

/// A token goes as a whole. Behind a label only the value goes: a quoted one, or a bare one with a
/// digit in it; without one it is more often a word, a type or a variable.
fn secret(found: &Captures<'_>, _: &Around<'_>) -> Option<String> {
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
fn email(found: &Captures<'_>, around: &Around<'_>) -> Option<String> {
    let is_remote = found[0].starts_with("git@") && around.after.starts_with(':');
    (!is_remote).then(|| "[email]".to_owned())
}

fn phone(found: &Captures<'_>, around: &Around<'_>) -> Option<String> {
    // Digits that go on behind a hyphen are a part of something longer.
    let part = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    let alone = !around.before.ends_with(part) && !around.after.starts_with(part);
    let in_a_number = around.after.starts_with('.')
        && around.after[1..].starts_with(|c: char| c.is_ascii_digit());
    (alone && !in_a_number && !found[0].is_empty()).then(|| "[phone]".to_owned())
}

/// Not in the middle of a word, such as a path of modules, and with a digit and three groups:
/// `a::b` is more often code.
fn ip6(found: &Captures<'_>, around: &Around<'_>) -> Option<String> {
    let text = &found[0];
    let part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let alone = !around.before.ends_with(part) && !around.after.starts_with(part);
    let groups = text.split(':').filter(|group| !group.is_empty()).count();
    let digits = text.bytes().any(|byte| byte.is_ascii_digit());
    let whole = text.contains("::") || text.bytes().any(|byte| byte.is_ascii_alphabetic());
    let is_address = alone && groups >= 2 && digits && whole && text.len() >= 6;
    (is_address && text.parse::<Ipv6Addr>().is_ok()).then(|| "[ip]".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(Redactor::default().redact(text), expected);
    }

    #[test]
    fn what_is_personal_or_secret_goes() {
        check("write to Ann.O'Neil+x@mail.example.co.uk, now", "write to [email], now");
        check("müller@bücher.example", "[email]");
        check("my card 4111 1111 1111 1111 expires", "my card [card] expires");
        check("5500-0000-0000-0004", "[card]");
        check("pay DE89 3704 0044 0532 0130 00 please", "pay [iban] please");
        check("GB82WEST12345698765432", "[iban]");
        check("DE89\u{a0}3704\u{a0}0044\u{a0}0532\u{a0}0130\u{a0}00", "[iban]");
        check("from 192.168.1.77 and 2001:db8::8a2e:370:7334.", "from [ip] and [ip].");
        check("call +49 (0)30 901820-0 or 555-123-4567", "call [phone] or [phone]");
        check("(555) 123-4567 / 030 9018 2000", "[phone] / [phone]");
        check("key sk-abcdefghijklmnop1234 leaked", "key [secret] leaked");
        check("AKIAIOSFODNN7EXAMPLE", "[secret]");
        check("password = hunter2hunter2", "password = [secret]");
        check("DB_PASSWORD=tr0ub4dor&x=1", "DB_PASSWORD=[secret]&x=1");
        check("my password is hunter2hunter2", "my password is [secret]");
        check("Authorization: Bearer abcdefghij0123456789", "Authorization: Bearer [secret]");
        check("app.prod.db-password=hunter2hunter2", "app.prod.db-password=[secret]");
        check("x.sk-abcdefghijklmnop1234.password=hunter2", "x.[secret].password=[secret]");
        check("a eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.c2lnbmF0dXJl b", "a [secret] b");
        check("SG.abcdefghijklmnop.abcdefghijklmnop", "[secret]");
        check("token=eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.c2lnbmF0dXJl", "token=[secret]");
        check("access_token: 'a quoted phrase'", "access_token: \"[secret]\"");
        check("Visa 4111 1111 1111 1111 12/27", "Visa [card] 12/27");
        check("2026 4111 1111 1111 1111 123", "2026 [card] 123");
        check("AB12 4111 1111 1111 1111", "AB12 [card]");
        check("4111.1111.1111.1111 and 4111\u{a0}1111\u{a0}1111\u{a0}1111", "[card] and [card]");
        check("node:10.0.0.1, database:10.1.2.3:5432", "node:[ip], database:[ip]:5432");
        check("up-10.0.0.1", "up-[ip]");
        check("up-10.0.0.1…", "up-[ip]…");
        check("up-10.0.0.1 200", "up-[ip] 200");
        check("+49 171 12345005 or 06 12 34 56 78", "[phone] or [phone]");
        check("fe80::1ff:fe23:4567:890a", "[ip]");
        check(r#"{"api_key": "abc123def456"}"#, r#"{"api_key": "[secret]"}"#);
        check(
            "-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY----- x",
            "[secret] x",
        );
    }

    #[test]
    fn what_only_looks_like_it_stays() {
        for text in [
            "4111 1111 1111 1112",
            "order 1234567890123",
            "DE89 3704 5544 2532 2130 02",
            "999.1.1.1",
            "std::net::Ipv6Addr and a::b and x::y::z",
            "at 12:30:45 on 2026-01-15",
            "2026-11-15T06:33:23.250000Z",
            "prices 100 200 300",
            "a @ b, me@home",
            "turn_1762441078644_qp8d27",
            "the token is expired",
            "SELECT 1",
            "password: Option<String>, token: String,",
            "let secret = compute_secret();",
            "SELECT password = user_password FROM t",
            "const pwd = process.cwd()",
            "x = 1 + 12345678 + y, lat +52.5200080",
            "0x00 0000000000 and 00012345678 and 100-200-3000",
            "git@github.com:org/repo.git",
            "1:2:3:4:5:6:7:8",
            "tokens_used: 1200",
            "0193a1b2-0000-7000-8000-00000000000f",
            "version 10.0.0.1.5 and 10.0.0.1-5",
        ] {
            check(text, text);
        }
    }

    #[test]
    fn a_long_list_of_numbers_is_read_to_its_end() {
        // Were each tried with all that follow, nobody would see the end of this.
        let list = "7 8\n".repeat(5_000);
        check(&list, &list);
        check(&format!("{list}4111 1111 1111 1111"), &format!("{list}[card]"));
    }

    #[test]
    fn a_text_full_of_secrets_is_read_once() {
        // Were the rest read again behind each of them, this would take minutes. The last letter is one for which
        // the quickest way of matching does not do.
        let key = "sk-abcdefghijklmnop";
        let many = format!("{}é", vec![key; 20_000].join("."));
        check(&many, &format!("{}é", vec!["[secret]"; 20_000].join(".")));
        let many = format!("{}é", "eyJ-AKIAIOSFODNN7EXAMPLE-".repeat(16_000));
        check(&many, &format!("{}é", "eyJ-[secret]-".repeat(16_000)));
    }

    #[test]
    fn each_can_be_switched_off_alone() {
        let text = "a@b.example 4111111111111111 GB82WEST12345698765432 10.0.0.1 +4930901820 sk-abcdefghijklmnop1234";
        let off = Redactor { email: false, ..Redactor::default() };
        assert!(off.redact(text).starts_with("a@b.example [card] [iban] [ip] [phone] [secret]"));
        let none = Redactor {
            email: false,
            phone: false,
            card: false,
            iban: false,
            ip: false,
            secret: false,
        };
        assert_eq!(none.redact(text), text);
    }

    #[test]
    fn an_event_is_redacted_everywhere_but_in_its_ids() {
        let mut event = testkit::event(&event::Scope::default(), "e1");
        event.tags = vec!["a@b.example".into()];
        let data = serde_json::json!({"deep": [{"text": "a@b.example"}],
            "message_id": "a@b.example", "a@b.example": 5, "c@d.example": 6, "api_key": "plain",
            "entity_id": {"note": "a@b.example"}});
        event.data = data.as_object().unwrap().clone();
        Redactor::default().redact_event(&mut event);
        assert_eq!(event.tags, ["[email]"]);
        assert_eq!(event.data["deep"][0]["text"], "[email]");
        assert_eq!(event.data["message_id"], "a@b.example");
        assert_eq!(event.data["[email]"], 5);
        assert_eq!(event.data["[email] 2"], 6);
        assert_eq!(event.data["entity_id"]["note"], "[email]");
        assert_eq!(event.data["api_key"], "[secret]");
    }
}
