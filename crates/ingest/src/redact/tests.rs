//! Unit tests of redaction: what is replaced, what stays, and linear time.

use super::*;

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(Redactor::default().redact(text), expected);
}

#[test]
fn personal_data_and_secrets_are_redacted() {
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
    check("a eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.x-sk-abcdefghijklmnop1 b", "a [secret] b");
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
    check("2001:db8::1: refused, from:2001:db8::2", "[ip]: refused, from:[ip]");
    check("[2001:db8::1]:8080 and fe80::1a2b::", "[[ip]]:8080 and fe80::1a2b::");
    check(r#"{"api_key": "abc123def456"}"#, r#"{"api_key": "[secret]"}"#);
    check("-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY----- x", "[secret] x");
}

#[test]
fn lookalikes_are_kept() {
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
fn long_digit_lists_take_linear_time() {
    // Quadratic matching would not finish.
    let list = "7 8\n".repeat(5_000);
    check(&list, &list);
    check(&format!("{list}4111 1111 1111 1111"), &format!("{list}[card]"));
}

#[test]
fn texts_full_of_secrets_take_linear_time() {
    // Quadratic matching would take minutes. The last letter disables the regex engine's fast
    // path.
    let key = "sk-abcdefghijklmnop";
    let many = format!("{}é", vec![key; 20_000].join("."));
    check(&many, &format!("{}é", vec!["[secret]"; 20_000].join(".")));
    let many = format!("{}é", "eyJ-AKIAIOSFODNN7EXAMPLE-".repeat(16_000));
    check(&many, &format!("{}é", "eyJ-[secret]-".repeat(16_000)));
}

#[test]
fn each_kind_can_be_switched_off() {
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
        national_id: false,
        name_address: false,
    };
    assert_eq!(none.redact(text), text);
}

#[test]
fn redaction_covers_an_event_except_its_ids() {
    let mut event = testkit::event(&model::Scope::default(), "e1");
    event.tags = vec!["a@b.example".into()];
    let data = serde_json::json!({"deep": [{"text": "a@b.example"}],
        "message_id": "a@b.example", "a@b.example": 5, "c@d.example": 6, "api_key": "plain",
        "entity_id": {"note": "a@b.example"}});
    event.body = model::Body::Other(data.as_object().unwrap().clone());
    let event = Redactor::default().redact_event(event);
    let fields = event.body.to_fields();
    assert_eq!(event.tags, ["[email]"]);
    assert_eq!(fields["deep"][0]["text"], "[email]");
    assert_eq!(fields["message_id"], "a@b.example");
    assert_eq!(fields["[email]"], 5);
    assert_eq!(fields["[email] 2"], 6);
    assert_eq!(fields["entity_id"]["note"], "[email]");
    assert_eq!(fields["api_key"], "[secret]");
}
