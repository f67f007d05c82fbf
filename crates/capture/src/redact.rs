//! Removes secrets and personal data from texts, before anything else sees them.
//!
//! Candidates are found by one pattern and then checked by what can be checked: a card number by its
//! check digit, an IBAN by its checksum, an address by parsing it. What is not sure to be one stays.

use std::borrow::Cow;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::LazyLock;

use event::Event;
use regex::{Captures, Regex};
use serde_json::Value;

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
const IDS: [&str; 3] = ["message_id", "decision_id", "entity_id"];

#[expect(clippy::expect_used, reason = "the pattern is fixed, and a test compiles it")]
static PATTERN: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r#"(?x)
        (?P<block>-----BEGIN\ [A-Z\ ]*PRIVATE\ KEY-----[\s\S]*?(?:-----END\ [A-Z\ ]*PRIVATE\ KEY-----|\z))
      | (?P<token>\b(?:
            sk-[A-Za-z0-9_-]{16,} | [prs]k_(?:live|test)_[A-Za-z0-9]{10,}
          | gh[pousr]_[A-Za-z0-9]{20,} | github_pat_[A-Za-z0-9_]{20,} | glpat-[A-Za-z0-9_-]{16,}
          | xox[abprs]-[A-Za-z0-9-]{10,} | AKIA[0-9A-Z]{16} | AIza[0-9A-Za-z_-]{30,}
          | hf_[A-Za-z0-9]{20,} | uk_[a-z0-9]{8,}_[a-z0-9]{20,}
          | eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{5,}))
      | (?P<assigned>(?i:\b(?:api[_-]?key|secret|token|password|passwd|pwd)\b["']?\s*[:=]\s*["']?))
            (?P<value>[^\s"',;\[\]]{6,})
      | (?P<email>[\p{L}0-9._%+'-]+@[\p{L}0-9-]+(?:\.[\p{L}0-9-]+)*\.\p{L}{2,})
      | (?P<iban>\b[A-Z]{2}[0-9]{2}(?:[\ ]?[A-Z0-9]{4}){2,7}(?:[\ ]?[A-Z0-9]{1,4})?\b)
      | (?P<ip6>(?:[0-9A-Fa-f]{1,4}|:):[0-9A-Fa-f:.]*[0-9A-Fa-f:])
      | (?P<ip4>\b[0-9]{1,3}(?:\.[0-9]{1,3}){3}\b)
      | (?P<phone>(?:\+|\b00)[0-9](?:[\s().-]{0,2}[0-9]){7,14}\b
          | \([0-9]{2,4}\)[\s.-]?[0-9]{3,4}[\s.-]?[0-9]{3,4}\b
          | \b[0-9]{3}[.-][0-9]{3}[.-][0-9]{4}\b
          | \b0[0-9]{2,4}[\s/-][0-9]{3,4}[\s-]?[0-9]{3,5}\b)
      | (?P<card>\b[2-6](?:[\ -]?[0-9]){12,18}\b)
    "#;
    Regex::new(pattern).expect("the pattern compiles")
});

impl Redactor {
    /// Redacts every text of an event: in its data and its tags.
    pub fn redact_event(&self, event: &mut Event) {
        event.tags.iter_mut().for_each(|tag| self.redact_text(tag));
        for (name, value) in &mut event.data {
            if !IDS.contains(&name.as_str()) {
                self.redact_value(value);
            }
        }
    }

    fn redact_value(&self, value: &mut Value) {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
            Value::String(text) => self.redact_text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.redact_value(item)),
            Value::Object(fields) => {
                for (name, value) in fields {
                    if !IDS.contains(&name.as_str()) {
                        self.redact_value(value);
                    }
                }
            }
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
        PATTERN.replace_all(text, |found: &Captures<'_>| self.replacement(text, found))
    }

    fn replacement(&self, text: &str, found: &Captures<'_>) -> String {
        let whole = &found[0];
        let is = |name: &str| found.name(name).is_some();
        let put = |on: bool, word: &str| if on { word.to_owned() } else { whole.to_owned() };
        if let Some(name) = found.name("assigned") {
            return put(self.secret, &format!("{}[secret]", name.as_str()));
        }
        if is("block") || is("token") {
            return put(self.secret, "[secret]");
        }
        if is("email") {
            return put(self.email, "[email]");
        }
        if is("iban") {
            return put(self.iban && is_iban(whole), "[iban]");
        }
        if let Some(address) = found.name("ip6") {
            let alone = stands_alone(text, address.start(), address.end());
            return put(self.ip && alone && is_ip6(whole), "[ip]");
        }
        if is("ip4") {
            return put(self.ip && whole.parse::<Ipv4Addr>().is_ok(), "[ip]");
        }
        // Digits that go on behind a hyphen are a part of something longer.
        let (start, end) = found.get(0).map_or((0, 0), |all| (all.start(), all.end()));
        let part = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
        let alone = !text[..start].ends_with(part) && !text[end..].starts_with(part);
        if is("phone") {
            return put(self.phone && alone && !is_card(whole), "[phone]");
        }
        put(self.card && alone && is_card(whole), "[card]")
    }
}

/// Not in the middle of a word, such as a path of modules.
fn stands_alone(text: &str, start: usize, end: usize) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    !text[..start].ends_with(part) && !text[end..].starts_with(part)
}

/// An address with at least three groups and a digit: `a::b` is more often code.
fn is_ip6(text: &str) -> bool {
    let groups = text.split(':').filter(|group| !group.is_empty()).count();
    let digits = text.bytes().any(|byte| byte.is_ascii_digit());
    groups >= 3 && digits && text.parse::<Ipv6Addr>().is_ok()
}

fn digits(text: &str) -> impl DoubleEndedIterator<Item = u32> + '_ {
    text.chars().filter_map(|c| c.to_digit(10))
}

/// 13 to 19 digits, not all the same, with the right check digit (Luhn).
fn is_card(text: &str) -> bool {
    let count = digits(text).count();
    let first = digits(text).next();
    if !(13..=19).contains(&count) || digits(text).all(|digit| Some(digit) == first) {
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
fn is_iban(text: &str) -> bool {
    let plain: Vec<char> = text.chars().filter(|c| *c != ' ').collect();
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
        check("from 192.168.1.77 and 2001:db8::8a2e:370:7334.", "from [ip] and [ip].");
        check("call +49 (0)30 901820-0 or 555-123-4567", "call [phone] or [phone]");
        check("(555) 123-4567 / 030 9018 2000", "[phone] / [phone]");
        check("key sk-abcdefghijklmnop1234 leaked", "key [secret] leaked");
        check("AKIAIOSFODNN7EXAMPLE", "[secret]");
        check("password = hunter2hunter2", "password = [secret]");
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
            "DE89 3704 0044 0532 0130 01",
            "999.1.1.1",
            "std::net::Ipv6Addr and a::b and x::y::z",
            "at 12:30:45 on 2026-01-15",
            "2026-11-15T06:33:23.250000Z",
            "prices 100 200 300",
            "a @ b, me@home",
            "turn_1762441078644_qp8d27",
            "the token is expired",
            "SELECT 1",
            "0193a1b2-0000-7000-8000-00000000000f",
        ] {
            check(text, text);
        }
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
        let data =
            serde_json::json!({"deep": [{"text": "a@b.example"}], "message_id": "a@b.example"});
        event.data = data.as_object().unwrap().clone();
        Redactor::default().redact_event(&mut event);
        assert_eq!(event.tags, ["[email]"]);
        assert_eq!(event.data["deep"][0]["text"], "[email]");
        assert_eq!(event.data["message_id"], "a@b.example");
    }
}
