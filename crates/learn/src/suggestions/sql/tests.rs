//! Rows of an original, a correction and the expected diff: `+` added, `-` removed, `a => b`
//! replaced.

use super::*;

fn describe_edit(edit: &SqlEdit) -> String {
    let part = format!("{:?}", edit.part).to_lowercase();
    match (&edit.removed, &edit.added) {
        (None, Some(added)) => format!("{part} + {added}"),
        (Some(removed), None) => format!("{part} - {removed}"),
        (Some(removed), Some(added)) => format!("{part} {removed} => {added}"),
        (None, None) => part,
    }
}

type DiffRows = &'static [(&'static str, &'static str, &'static [&'static str])];

const ORDERS: &str = "SELECT SUM(amount) FROM orders";

fn check_all(rows: DiffRows) {
    rows.iter().for_each(|(original, corrected, expected)| check(original, corrected, expected));
}

fn check(original: &str, corrected: &str, expected: &[&str]) {
    let original = extract_statement(original).unwrap_or(original);
    let corrected = extract_statement(corrected).unwrap_or(corrected);
    let found: Vec<String> =
        diff_statements(original, corrected).iter().map(describe_edit).collect();
    assert_eq!(found, expected, "{original} -> {corrected}");
}

#[rustfmt::skip]
const CONDITIONS: DiffRows = &[
    (ORDERS, "SELECT SUM(amount) FROM orders WHERE status = 'completed'", &["filter + status = 'completed'"]),
    (ORDERS, "select sum(amount) from Orders where STATUS='completed';", &["filter + status = 'completed'"]),
    (ORDERS, "SELECT SUM(o.amount) FROM orders o WHERE o.status = 'completed'", &["filter + status = 'completed'"]),
    (ORDERS, "SELECT SUM(amount) FROM orders WHERE status IN ('completed')", &["filter + status = 'completed'"]),
    (ORDERS, "SELECT SUM(amount) FROM orders WHERE 'completed' = status", &["filter + status = 'completed'"]),
    (ORDERS, "SELECT SUM(amount) FROM orders WHERE (((status = 'completed')))", &["filter + status = 'completed'"]),
    (ORDERS, "SELECT SUM(amount) FROM shop.orders -- only these\nWHERE status = 'completed' /* yes */", &["filter + status = 'completed'"]),
    (ORDERS, "SELECT SUM(amount) FROM orders WHERE NOT status = 'open'", &["filter + status <> 'open'"]),
    (ORDERS, "SELECT SUM(amount) FROM orders WHERE status != 'open'", &["filter + status <> 'open'"]),
    ("SELECT a FROM t WHERE x = 1 AND y = 2", "SELECT a FROM t WHERE y = 2 AND x = 1", &[]),
    ("SELECT a FROM t WHERE x = 1 OR y = 2", "SELECT a FROM t WHERE (y = 2 OR x = 1)", &[]),
    ("SELECT a FROM t WHERE x IN (1, 2)", "SELECT a FROM t WHERE x IN (2, 1)", &[]),
    ("SELECT a FROM t WHERE x = 1", "SELECT a FROM t WHERE x = 1 OR y = 2", &["filter + (x = 1 OR y = 2)", "filter - x = 1"]),
    ("SELECT a FROM t WHERE x = 1", "SELECT a FROM t WHERE x IN (1, 2)", &["filter x = 1 => x IN (1, 2)"]),
    ("SELECT a FROM t WHERE d >= '2024-01-01'", "SELECT a FROM t WHERE d >= '2025-01-01'", &["filter d >= '2024-01-01' => d >= '2025-01-01'"]),
    ("SELECT a FROM t WHERE 5 <= n", "SELECT a FROM t WHERE n >= 6", &["filter n >= 5 => n >= 6"]),
    ("SELECT a FROM t WHERE 5 < n", "SELECT a FROM t WHERE n >= 5", &["filter n > 5 => n >= 5"]),
    ("SELECT a FROM t WHERE deleted_at IS NULL", "SELECT a FROM t", &["filter - deleted_at IS NULL"]),
    ("SELECT a FROM t WHERE name LIKE 'A%'", "SELECT a FROM t WHERE name LIKE 'B%'", &["filter name LIKE 'A%' => name LIKE 'B%'"]),
    ("SELECT a FROM t", "SELECT a FROM t WHERE d BETWEEN '2024-01-01' AND '2024-12-31'", &["filter + d BETWEEN '2024-01-01' AND '2024-12-31'"]),
];

#[test]
fn sql_diff_compares_conditions_individually() {
    check_all(CONDITIONS);
}

#[rustfmt::skip]
const OTHER_PARTS: DiffRows = &[
    ("SELECT COUNT(id) FROM t", "SELECT COUNT(DISTINCT id) FROM t", &["aggregate count(id) => count(DISTINCT id)"]),
    ("SELECT AVG(x) FROM t", "SELECT MEDIAN(x) FROM t", &["aggregate avg(x) => median(x)"]),
    ("SELECT a FROM t", "SELECT DISTINCT a FROM t", &["distinct + DISTINCT"]),
    ("SELECT a FROM orders", "SELECT a FROM sales", &["table orders => sales"]),
    ("SELECT a FROM t", "SELECT a, b FROM t", &["column + b"]),
    ("SELECT * FROM t", "SELECT a FROM t", &["column * => a"]),
    ("SELECT a, count(*) FROM t GROUP BY a", "SELECT a, count(*) FROM t GROUP BY a, b", &["group + b"]),
    ("SELECT a, count(*) FROM t GROUP BY a", "SELECT a, count(*) FROM t GROUP BY a HAVING count(*) > 5", &["having + count(*) > 5"]),
    ("SELECT a FROM t ORDER BY a", "SELECT a FROM t ORDER BY a DESC", &["order a => a DESC"]),
    ("SELECT a FROM t LIMIT 10", "SELECT a FROM t LIMIT 5", &["limit 10 => 5"]),
    ("SELECT a FROM t LIMIT 10", "SELECT a FROM t LIMIT 20, 5", &["limit 10 => 5"]),
    ("SELECT TOP 10 a FROM t", "SELECT TOP 5 a FROM t", &["limit 10 => 5"]),
    ("SELECT TOP (10) a FROM t", "SELECT TOP 5 a FROM t", &["limit 10 => 5"]),
    ("SELECT TOP 10 a FROM t", "SELECT TOP 10 PERCENT a FROM t", &["limit 10 => 10 PERCENT"]),
    ("SELECT DISTINCT a FROM t", "SELECT DISTINCT ON (t.a) a FROM t", &["distinct DISTINCT => DISTINCT ON (a)"]),
    ("SELECT a FROM t JOIN u ON t.id = u.t_id", "SELECT a FROM t LEFT JOIN u ON u.t_id = t.id", &["join JOIN u ON t.id = u.t_id => LEFT JOIN u ON t.id = u.t_id"]),
    ("SELECT o.total FROM orders o", "SELECT o.total FROM orders o JOIN customers c ON c.id = o.customer_id WHERE c.active = true", &[
                "filter + active = true", "join + JOIN customers ON customers.id = orders.customer_id",
            ]),
    ("SELECT a FROM t JOIN u ON t.id = u.id", "SELECT a FROM t JOIN u USING (ID)", &["join JOIN u ON t.id = u.id => JOIN u USING (id)"]),
    ("SELECT a FROM t JOIN u USING (id, day)", "SELECT a FROM t JOIN u USING (day, id)", &[]),
    ("SELECT a FROM t", "SELECT a FROM t NATURAL JOIN u", &["join + NATURAL JOIN u"]),
    ("SELECT a FROM t", "SELECT a FROM t CROSS JOIN u", &["join + CROSS JOIN u"]),
    ("SELECT a FROM t", "SELECT a FROM t RIGHT JOIN u ON u.day <= t.day", &["join + RIGHT JOIN u ON u.day <= t.day"]),
    ("SELECT a FROM t", "SELECT a FROM t FULL OUTER JOIN u ON u.id = t.id", &["join + FULL JOIN u ON t.id = u.id"]),
    ("SELECT a FROM t UNION SELECT a FROM u", "SELECT a FROM t UNION ALL SELECT a FROM u", &["combination UNION => UNION ALL"]),
];

#[test]
fn sql_diff_compares_every_clause() {
    check_all(OTHER_PARTS);
}

#[rustfmt::skip]
const INNER_QUERIES: DiffRows = &[
    ("WITH m AS (SELECT * FROM orders) SELECT sum(x) FROM m", "WITH m AS (SELECT * FROM orders WHERE status = 'completed') SELECT sum(x) FROM m", &["filter + status = 'completed'"]),
    ("SELECT a FROM t WHERE id IN (SELECT t_id FROM u)", "SELECT a FROM t WHERE id IN (SELECT t_id FROM u WHERE active)", &["filter + active"]),
    ("WITH a AS (SELECT id, SUM(CASE WHEN (x > 0 AND (y < 1 OR z IN (1, 2))) THEN ROUND(COALESCE(v, 0), 2) ELSE 0 END) s
                FROM (SELECT * FROM (SELECT * FROM t) i) j GROUP BY id) SELECT * FROM a WHERE id IN (SELECT id FROM u)", "WITH a AS (SELECT id, SUM(CASE WHEN (x > 0 AND (y < 1 OR z IN (1, 2))) THEN ROUND(COALESCE(v, 0), 2) ELSE 0 END) s
                FROM (SELECT * FROM (SELECT * FROM t WHERE NOT deleted) i) j GROUP BY id) SELECT * FROM a WHERE id IN (SELECT id FROM u)", &["filter + NOT deleted"]),
    ("SELECT a FROM t", "SELECT a FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.x = 2)", &["filter + NOT EXISTS (subquery)", "filter + x = 2", "table + u", "column + 1"]),
    ("SELECT a FROM (SELECT a FROM t) x", "SELECT a FROM (SELECT a FROM t WHERE b > 0) x", &["filter + b > 0"]),
];

#[test]
fn sql_diff_includes_ctes_and_subqueries() {
    check_all(INNER_QUERIES);
}

#[rustfmt::skip]
const DIALECTS: DiffRows = &[
    ("SELECT `a` FROM `t`", "SELECT `a` FROM `t` WHERE `s` = 'x'", &["filter + s = 'x'"]),
    ("SELECT [A] FROM [t]", "SELECT [a] FROM [t] WHERE [s] = 'x'", &["filter + s = 'x'"]),
    ("```sql\nSELECT a FROM t\n```", "Here:\n```sql\nSELECT a FROM t WHERE s = 'x'\n```", &["filter + s = 'x'"]),
    ("SELECT a FROM t WHERE WHERE u", "SELECT a FROM t WHERE WHERE u AND s = 'x' ORDER BY a", &[]),
    ("SELECT a FROM t WHERE s = 'x", "SELECT a FROM t WHERE s = 'y", &[]),
    ("SELECT a FROM t", "SELECT a FROM t WHERE status = = 'completed' AND", &[]),
    ("SELECT a FROM t WHERE (", "SELECT a FROM t WHERE s = 'x'", &[]),
];

#[test]
fn sql_diff_reads_dialects_and_fences_and_skips_broken_sql() {
    check_all(DIALECTS);
}

#[test]
fn text_without_sql_has_no_statement() {
    for text in ["", "The answer is 42.", "selected items", "```\nhello\n```", "--", "/*"] {
        assert_eq!(extract_statement(text), None, "{text}");
    }
    assert!(extract_statement("-- why\n(SELECT 1)").is_some());
    assert_eq!(extract_statement(&format!("SELECT {}", "a".repeat(30_000))), None);
}

#[test]
fn sql_diff_survives_long_and_deep_statements() {
    let chain = |link: &str, count: usize| {
        let conditions: Vec<String> = (0..count).map(|n| format!("c{n} = {n}")).collect();
        format!("SELECT a FROM t WHERE {}", conditions.join(link))
    };
    let deep = |depth: usize| format!("SELECT {}1{} FROM t", "(".repeat(depth), ")".repeat(depth));
    let nested = |depth: usize| {
        format!("{}SELECT 1{}", "SELECT * FROM (".repeat(depth), ") x".repeat(depth))
    };
    let unions = vec!["SELECT 1"; 190].join(" UNION ");
    let nots = format!("SELECT {} a FROM t", "NOT ".repeat(190));
    let statements =
        [chain(" AND ", 60), chain(" AND ", 1_000), chain(" OR ", 60), chain(" OR ", 1_000)];
    let others =
        [deep(30), deep(5_000), nested(10), nested(900), unions, nots, "SELECT".repeat(3_000)];
    for text in statements.iter().chain(&others) {
        let _ = diff_statements(text, "SELECT a FROM t");
        let _ = diff_statements("SELECT a FROM t WHERE x = 1", text);
    }
    assert_eq!(diff_statements(&chain(" AND ", 60), &chain(" AND ", 61)).len(), 1);
    assert_eq!(
        diff_statements(&chain(" AND ", 1_000), &chain(" AND ", 1_001)),
        [],
        "too long to parse"
    );
}

proptest::proptest! {
    #[test]
    fn sql_diff_never_panics(a in ".{0,200}", b in "(SELECT|WITH|FROM|WHERE|AND|OR|\\(|\\)|'|a|b|=|,|\\*| ){0,60}") {
        let _ = diff_statements(&a, &b);
        let _ = diff_statements(&format!("SELECT {b}"), &format!("SELECT {a}"));
        proptest::prop_assert!(diff_statements(&b, &b).is_empty());
    }
}
