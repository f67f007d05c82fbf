//! Names that must match, and words that only look like names.

use super::super::*;

/// Item name, names of the other items, answer, and true when the answer names the item.
type NameRow = (&'static str, &'static [&'static str], &'static str, bool);

fn check(kind: AnswerKind, rows: &[NameRow]) {
    let rule = UsageRule::default();
    for (name, beside, answer, expected) in rows {
        let named = |name| ReturnedItem { entity_id: "q", name: Some(name), ..Default::default() };
        let items: Vec<ReturnedItem<'_>> =
            std::iter::once(*name).chain(beside.iter().copied()).map(named).collect();
        let found =
            detect_item_use(&rule, &ParsedAnswer::parse(&rule, answer, kind), &items).remove(0);
        let is_used = matches!(found, ItemUse::Used(_));
        assert_eq!(is_used, *expected, "{name} in {answer:?}: {found:?}");
    }
}

#[test]
fn path_tail_names_the_file() {
    check(
        AnswerKind::Response,
        &[
            ("src/auth/login.py", &[], "Edit login.py", true),
            ("src/auth/login.py", &[], "Edit `auth/login.py`, line 3.", true),
            ("src/auth/login.py", &[], "Edit /home/me/app/src/auth/login.py", true),
            ("src/auth/login.py", &[], "The login fails.", false),
            ("src/auth/login.py", &[], "Edit tests/auth/login.py", false),
            ("src/auth/login.py", &[], "Edit test_login.py", false),
            ("src/auth/login.py", &[], "Edit my-login.py", false),
            ("src/auth/login.py", &["tests/auth/login.py"], "Edit login.py", false),
            ("src/auth/login.py", &["web/login.py"], "Edit auth/login.py", true),
            // Two chunks of one file share a name.
            ("src/auth/login.py", &["src/auth/login.py"], "Edit login.py", true),
            ("crates/store/src/sqlite/relevance.rs", &[], "`sqlite/relevance.rs`, line 40", true),
            (
                "crates/store/src/sqlite/relevance.rs",
                &[],
                "`postgres/relevance.rs`, line 40",
                false,
            ),
            ("crates/store/src/lib.rs", &[], "Every crate has a lib.rs.", false),
            ("crates/store/src/lib.rs", &[], "See store/src/lib.rs.", true),
            ("README.md", &[], "Write a README.md first.", false),
            ("C:\\tools\\Sync-Rates.ps1", &[], "Run Sync-Rates.ps1 now.", true),
            ("docs/runbooks/queue-flood.md", &[], "Follow the queue-flood runbook.", true),
            ("docs/runbooks/queue-flood.md", &[], "A flood in the queue.", false),
            ("docs/runbooks/index.md", &[], "Rebuild the index.", false),
        ],
    );
}

#[test]
fn qualified_name_tail_names_the_symbol() {
    let response: &[NameRow] = &[
        ("com.acme.billing.InvoiceService", &[], "Use InvoiceService", true),
        ("com.acme.billing.InvoiceService", &[], "Use `billing.InvoiceService`.", true),
        ("com.acme.billing.InvoiceService", &[], "Use com.other.billing.InvoiceService.", false),
        ("com.acme.billing.InvoiceService", &[], "Use InvoiceServiceTest.", false),
        ("com.acme.billing.InvoiceService", &["org.b.InvoiceService"], "Use InvoiceService", false),
        ("com.acme.billing.Invoice", &[], "Send the invoice today.", false),
        ("app.services.payment.PaymentGateway", &[], "`PaymentGateway#charge` fails.", true),
        ("PaymentGateway#charge", &[], "Look at `PaymentGateway#charge`.", true),
        ("PaymentGateway#charge", &[], "The charge came twice.", false),
        ("PaymentGateway#charge", &[], "Call `gateway.charge()` once.", true),
        ("net::pool::IdleReaper", &[], "The `IdleReaper` sleeps.", true),
        ("net::pool::Idle", &[], "The pool is idle.", false),
        ("tests/test_sum.py::test_half_cents", &[], "`test_half_cents` fails.", true),
    ];
    check(AnswerKind::Response, response);
    let code: &[NameRow] = &[
        ("app.services.payment.PaymentGateway", &[], "gw = PaymentGateway()\n", true),
        ("PaymentGateway#charge", &[], "gw = PaymentGateway()\ngw.charge(3)\n", true),
        ("PaymentGateway#charge", &[], "battery.charge(3)\n", false),
        ("net::pool::IdleReaper", &[], "let r = pool::IdleReaper::new();", true),
        ("net::pool::IdleReaper", &[], "let r = other::IdleReaper::new();", false),
    ];
    check(AnswerKind::Code, code);
}

#[test]
fn other_version_does_not_match() {
    check(
        AnswerKind::Response,
        &[
            ("Falcon v3", &[], "Deploy Falcon v3 now.", true),
            ("Falcon v3", &[], "Deploy Falcon v3.5 now.", false),
            ("Python 3", &[], "Install Python 3.12 now.", false),
        ],
    );
}

#[test]
fn title_matches_without_its_site() {
    check(
        AnswerKind::Response,
        &[
            ("React Hooks - useEffect", &[], "Call `useEffect` once.", true),
            ("React Hooks - useEffect", &["Preact - useEffect"], "Call `useEffect` once.", false),
            (
                "How to rotate the API keys | Acme Docs",
                &[],
                "See \"How to rotate the API keys\".",
                true,
            ),
            ("How to rotate the API keys | Acme Docs", &[], "It is in the Acme Docs.", false),
            ("Pricing | Acme Docs", &[], "The pricing is fair.", false),
            (
                "Guides > Storage > Resumable uploads in parts",
                &[],
                "Use resumable uploads in parts.",
                true,
            ),
            ("Guides > Storage > Limits", &[], "Know your limits.", false),
        ],
    );
}

#[test]
fn everyday_word_names_no_item() {
    const WORDS: &str = "config data user test main index file error service handler settings login \
        server client cache logger endpoint webhook benutzer konto données usuario utente пользователь";
    for word in WORDS.split(' ') {
        for answer in [format!("The {word} is broken."), format!("Open the {word} and look.")] {
            let rule = UsageRule::default();
            let named = ReturnedItem { entity_id: "q", name: Some(word), ..Default::default() };
            let parsed = ParsedAnswer::parse(&rule, &answer, AnswerKind::Response);
            assert_eq!(detect_item_use(&rule, &parsed, &[named]), [ItemUse::Ignored], "{answer}");
        }
    }
    check(AnswerKind::Response, &[("config", &[], "The config file is broken", false)]);
}

#[test]
fn unspaced_name_does_not_match_inside_a_longer_word() {
    check(
        AnswerKind::Response,
        &[
            ("京都", &[], "東京都に住んでいます。", false),
            ("京都", &[], "京都に住んでいます。", true),
            ("サービス", &[], "ログインサービスを使います。", false),
            ("北海", &[], "北海道は寒い。", false),
            ("云盘", &[], "请看云盘的说明。", true),
            ("人民", &[], "中国人民银行", false),
            ("返品規定", &[], "当店返品規定をご覧ください。", true),
        ],
    );
}

#[test]
fn lookalike_citations_do_not_match() {
    let rule = UsageRule::default();
    for (id, rank, answer, expected) in [
        ("x", 9, "- [x] done", false),
        ("login", 9, "Go to https://example.com/login", false),
        ("login-help", 9, "Go to https://example.com/login-help", true),
        ("q", 1, "- [1] milk\n- [2] eggs", false),
        ("q", 1, "[1] means the first step", false),
        ("q", 1, "It rains (Source: 1).", true),
    ] {
        let item = ReturnedItem { entity_id: id, rank: Some(rank), ..Default::default() };
        let parsed = ParsedAnswer::parse(&rule, answer, AnswerKind::Response);
        let found = detect_item_use(&rule, &parsed, &[item]).remove(0);
        assert_eq!(matches!(found, ItemUse::Used(_)), expected, "{id} in {answer:?}");
    }
}

#[test]
fn everyday_word_with_a_capital_needs_a_mark_or_content() {
    const TIDES: &str = "Page with the tides of the week and a button for the printable almanac.";
    let rule = UsageRule::default();
    for (name, content, answer, expected) in [
        ("Harbor", None, "We met at the Harbor for lunch.", false),
        ("Harbor", None, "Open `Harbor` and pick a day.", true),
        ("Harbor", None, "Open **Harbor** and pick a day.", true),
        ("Harbor", None, "Open “Harbor” and pick a day.", true),
        ("Harbor", None, "The \"harbor\" is a pond.", false),
        ("Harbor", Some(TIDES), "In the Harbor they sell an almanac.", false),
        ("Harbor", Some(TIDES), "Open \"Harbor\" to see the tides.", true),
        ("Harbor", Some(TIDES), "In Harbor you see the tides and the printable almanac.", true),
    ] {
        let item = ReturnedItem { entity_id: "q", name: Some(name), content, rank: None };
        let parsed = ParsedAnswer::parse(&rule, answer, AnswerKind::Response);
        let found = detect_item_use(&rule, &parsed, &[item]).remove(0);
        assert_eq!(matches!(found, ItemUse::Used(_)), expected, "{answer}: {found:?}");
    }
}
