//! Instruction text for every clause that is added, removed or replaced.

use super::instruct_sql;

/// Original, correction and expected instruction.
type InstructionRows = &'static [(&'static str, &'static str, &'static str)];

fn check(original: &str, corrected: &str, what: &str) {
    let told = instruct_sql(&[(original, corrected); 2]);
    let expected = format!("When the question is about orders, {what}.");
    assert_eq!(told, [expected], "{original} -> {corrected}");
}

const GROUPED: &str = "SELECT a, count(*) FROM t GROUP BY a";

/// A statement, the same with one more clause, and the texts for adding and removing it.
#[rustfmt::skip]
const ADDED_CLAUSES: &[(&str, &str, [&str; 2])] = &[
    ("SELECT a FROM t", "SELECT a FROM t WHERE b = 1", ["filter b = 1 unless asked otherwise", "do not filter b = 1 unless asked to"]),
    (GROUPED, "SELECT a, count(*) FROM t GROUP BY a HAVING count(*) > 5", ["keep only groups with count(*) > 5 unless asked otherwise", "do not leave out groups by count(*) > 5 unless asked to"]),
    ("SELECT a FROM t", "SELECT a FROM t, u", ["use the table u", "do not use the table u"]),
    ("SELECT a FROM t", "SELECT a FROM t JOIN u USING (id)", ["add JOIN u USING (id)", "do not add JOIN u USING (id)"]),
    ("SELECT a FROM t", "SELECT a, sum(b) FROM t", ["compute sum(b)", "do not compute sum(b)"]),
    ("SELECT a FROM t", "SELECT DISTINCT a FROM t", ["leave out duplicates (DISTINCT)", "keep duplicates (no DISTINCT)"]),
    (GROUPED, "SELECT a, count(*) FROM t GROUP BY a, b", ["group by b", "do not group by b"]),
    ("SELECT a FROM t", "SELECT a, b FROM t", ["show b too", "do not show b"]),
    ("SELECT a FROM t", "SELECT a FROM t ORDER BY a DESC", ["order by a DESC", "do not order by a DESC"]),
    ("SELECT a FROM t", "SELECT a FROM t LIMIT 5", ["show at most 5 rows unless asked otherwise", "do not cut the result to 5 rows unless asked to"]),
    ("SELECT a FROM t", "SELECT a FROM t UNION ALL SELECT a FROM t", ["combine the parts with UNION ALL", "do not use UNION ALL"]),
];

#[test]
fn added_and_removed_clauses_are_described() {
    for (less, more, [added, removed]) in ADDED_CLAUSES {
        check(less, more, added);
        check(more, less, removed);
    }
}

#[rustfmt::skip]
const REPLACED_CLAUSES: InstructionRows = &[
    ("SELECT a FROM t WHERE b = 1", "SELECT a FROM t WHERE b = 2", "filter b = 2 rather than b = 1"),
    ("SELECT a FROM t", "SELECT a FROM u", "use the table u rather than t"),
    ("SELECT a FROM t JOIN u USING (id)", "SELECT a FROM t LEFT JOIN u USING (id)", "use LEFT JOIN u USING (id) rather than JOIN u USING (id)"),
    ("SELECT avg(a) FROM t", "SELECT median(a) FROM t", "compute median(a) rather than avg(a)"),
    ("SELECT DISTINCT a FROM t", "SELECT DISTINCT ON (a) a FROM t", "use DISTINCT ON (a) rather than DISTINCT"),
    ("SELECT count(*) FROM t GROUP BY a", "SELECT count(*) FROM t GROUP BY b", "group by b rather than a"),
    ("SELECT a FROM t", "SELECT b FROM t", "show b rather than a"),
    ("SELECT a FROM t ORDER BY a", "SELECT a FROM t ORDER BY b", "order by b rather than a"),
    ("SELECT a FROM t LIMIT 10", "SELECT a FROM t LIMIT 5", "show 5 rows rather than 10"),
    ("SELECT a FROM t UNION SELECT a FROM t", "SELECT a FROM t UNION ALL SELECT a FROM t", "use UNION ALL rather than UNION"),
];

#[test]
fn replaced_clauses_are_described_with_both_sides() {
    for (original, corrected, what) in REPLACED_CLAUSES {
        check(original, corrected, what);
    }
}

#[test]
fn overlong_conditions_are_not_suggested() {
    let long = format!("SELECT a FROM t WHERE b = '{}'", "x".repeat(200));
    let nothing: [&str; 0] = [];
    assert_eq!(instruct_sql(&[("SELECT a FROM t", &*long); 2]), nothing);
    assert_eq!(instruct_sql(&[(&*long, "SELECT a FROM t"); 2]), nothing);
}

#[test]
fn suggestions_are_sorted_by_support_then_clause_kind() {
    let all = ("SELECT a FROM t", "SELECT a, c FROM t WHERE b = 1 LIMIT 5");
    let told = instruct_sql(&[all, all, ("SELECT a FROM t", "SELECT a FROM t LIMIT 5")]);
    let expected = [
        "show at most 5 rows unless asked otherwise",
        "filter b = 1 unless asked otherwise",
        "show c too",
    ];
    let expected = expected.map(|what| format!("When the question is about orders, {what}."));
    assert_eq!(told, expected);
}
