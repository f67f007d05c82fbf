use proptest::prelude::*;

use super::*;

fn contrast(wants: &str, instead_of: &str) -> Contrast {
    let side = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    Contrast { wants: side(wants), instead_of: side(instead_of) }
}

#[track_caller]
fn check(rows: &[(&str, &str, &str, Option<&str>)]) {
    for (query, wants, instead_of, expected) in rows {
        let contrast = contrast(wants, instead_of);
        let found = rewrite_query(query, &contrast);
        assert_eq!(found.as_deref(), *expected, "{query} | {wants} | {instead_of}");
        let again = found.and_then(|found| rewrite_query(&found, &contrast));
        assert_eq!(again, None, "again: {query} | {wants} | {instead_of}");
    }
}

#[test]
fn rewrite_replaces_the_unwanted_phrase() {
    check(&[
        (
            "business laptops under $1000",
            "gaming laptops",
            "business laptops",
            Some("gaming laptops under $1000"),
        ),
        ("Hotels in Bern", "Berlin", "Bern", Some("Hotels in Berlin")),
        ("hotels in Bern", "in Berlin", "Bern", Some("hotels in Berlin")),
        ("flights to Paris", "Rome", "to Paris", Some("flights to Rome")),
        ("laptops for business", "gaming", "for business", Some("laptops for gaming")),
        (
            "daily total of orders",
            "monthly total",
            "the daily one",
            Some("monthly total of orders"),
        ),
        ("camiseta azul barata", "roja", "la azul", Some("camiseta roja barata")),
        (
            "cheap flights from Paris",
            "flights to Paris",
            "flights from Paris",
            Some("cheap flights to Paris"),
        ),
        ("gaming laptops under $1000", "laptops", "gaming laptops", Some("laptops under $1000")),
        (
            "a Business Laptop, under $1000",
            "gaming laptops",
            "business laptops",
            Some("a gaming Laptop, under $1000"),
        ),
        ("price with tax", "without tax", "with tax", Some("price without tax")),
        ("parse it in C++", "C#", "C++", Some("parse it in C#")),
        (
            "laptops for business under $1000",
            "gaming laptops",
            "the ones for business",
            Some("gaming laptops under $1000"),
        ),
        (
            "sales of 2023 and returns of 2023",
            "2024",
            "2023",
            Some("sales of 2024 and returns of 2024"),
        ),
    ]);
}

#[test]
fn rewrite_replaces_the_differing_middle() {
    check(&[
        ("business machines", "gaming laptops", "business laptops", Some("gaming machines")),
        (
            "total revenue grouped by month",
            "revenue by quarter",
            "revenue by month",
            Some("total revenue grouped by quarter"),
        ),
        ("revenue by month", "quarterly", "monthly", Some("revenue by quarter")),
        ("monthly revenue", "by quarter", "by month", Some("quarterly revenue")),
        (
            "cheap business notebooks",
            "cheap gaming laptops",
            "business laptops",
            Some("cheap gaming notebooks"),
        ),
    ]);
}

#[test]
fn rewrite_inserts_beside_the_shared_words() {
    check(&[
        (
            "laptops under $1000",
            "gaming laptops",
            "business laptops",
            Some("gaming laptops under $1000"),
        ),
        (
            "a laptop under $1000",
            "gaming laptops",
            "business laptops",
            Some("a gaming laptop under $1000"),
        ),
        ("Show me laptops", "gaming laptops", "business laptops", Some("Show me gaming laptops")),
        (
            "camisetas baratas",
            "camisetas rojas",
            "camisetas azules",
            Some("camisetas rojas baratas"),
        ),
        ("iPhone cases", "iPhone 15", "iPhone 14", Some("iPhone 15 cases")),
        ("laptops under $1000", "gaming laptops", "", Some("gaming laptops under $1000")),
        (
            "laptops under $1000",
            "laptops with a good keyboard",
            "tablets",
            Some("laptops with a good keyboard under $1000"),
        ),
        ("flights to Paris", "flights to London", "", Some("flights to London")),
        (
            "laptops under $1000 with SSD",
            "gaming laptops under $800",
            "",
            Some("gaming laptops under $800 with SSD"),
        ),
        ("top 10 products", "20 products", "", Some("top 20 products")),
    ]);
}

#[test]
fn rewrite_follows_a_wanted_side_alone() {
    check(&[
        ("running shoes size 42", "road shoes", "", Some("running road shoes size 42")),
        ("tests for parse_date", "pytest", "", Some("tests for parse_date, pytest")),
        (
            "convert the totals to dollars",
            "US dollars",
            "",
            Some("convert the totals to US dollars"),
        ),
        ("what did we earn in March?", "net", "", Some("what did we earn in March, net")),
        (
            "set the heating to 21",
            "the living room",
            "",
            Some("set the heating to 21, living room"),
        ),
        ("日报", "周报", "", Some("日报, 周报")),
        // The query has it already, or the phrase names nothing.
        ("the closing price", "closing", "", None),
        ("a report", "something better", "", None),
        ("a report", "red two three four five six seven", "", None),
    ]);
}

#[test]
fn rewrite_returns_none_when_unsure() {
    check(&[
        // The query already fits.
        ("gaming laptops under $1000", "gaming laptops", "business laptops", None),
        ("trains from Berlin to Bern", "Berlin", "Bern", None),
        // Query and wish share nothing.
        ("photos of the Alps", "Dolomites", "Pyrenees", None),
        ("revenue by region", "quarterly", "monthly", None),
        ("laptops", "", "business laptops", None),
        ("laptops", "the other one", "", None),
        ("", "gaming laptops", "business laptops", None),
        // The existing phrase is too long to replace.
        ("flights from Rome to New York", "flights to London", "", None),
        ("show laptops", "show total revenue", "", None),
        // The unwanted words would stay.
        ("business laptops", "gaming laptops", "laptops for business use", None),
        // Code is never rewritten.
        ("SELECT * FROM laptops WHERE price < 1000", "gaming laptops", "business laptops", None),
        ("{\"match\": \"laptops\"}", "gaming laptops", "business laptops", None),
        ("https://shop.example/laptops", "gaming laptops", "business laptops", None),
        // Scripts without spaces have no word boundaries.
        ("笔记本电脑", "游戏笔记本", "商务笔记本", None),
    ]);
}

#[test]
fn emphasis_capitalises_the_distinguishing_words() {
    let rows = [
        ("gaming laptops", "business laptops", "GAMING laptops"),
        ("Berlin", "Bern", "BERLIN"),
        ("the monthly total", "the daily total", "the MONTHLY total"),
        ("orders_v2", "orders", "orders_v2"),
        ("iPhone", "Pixel", "iPhone"),
        ("straße", "", "STRASSE"),
        ("laptops", "laptop", "laptops"),
        ("", "x", ""),
    ];
    for (wants, against, expected) in rows {
        assert_eq!(emphasise_difference(wants, against), expected, "{wants}");
    }
}

/// Words that often meet, to reach the rules, and arbitrary text.
fn any_text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        8 => prop::sample::select(vec![
            "gaming", "business", "laptop", "laptops", "the", "one", "for", "to", "under", "$1000",
            "20", "10", "monthly", "month", "quarter", "daily", "with", "Bern", "C++", "İ", "ß",
        ]).prop_map(str::to_owned),
        1 => "\\PC{0,8}",
        1 => any::<String>(),
    ];
    prop::collection::vec(word, 0..7).prop_map(|parts| parts.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn rewrite_is_idempotent(query in any_text(), wants in any_text(), instead_of in any_text()) {
        let contrast = contrast(&wants, &instead_of);
        if let Some(once) = rewrite_query(&query, &contrast) {
            prop_assert_eq!(rewrite_query(&once, &contrast), None);
            prop_assert!(once != query && once.chars().count() <= MAX_QUOTED_CHARS);
        }
        emphasise_difference(&wants, &instead_of);
    }
}
