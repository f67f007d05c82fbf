//! Items that SQL and imports of an answer name.

use super::super::*;

/// Name and content of an item.
type Item = (&'static str, Option<&'static str>);

/// Items, answer, and the indexes of the used items.
type CodeRow = (&'static [Item], &'static str, &'static [usize]);

fn check(kind: AnswerKind, rows: &[CodeRow]) {
    let rule = UsageRule::default();
    for (items, answer, expected) in rows {
        let item = |(name, content): &Item| ReturnedItem {
            entity_id: "q",
            name: Some(name),
            content: *content,
            rank: None,
        };
        let items: Vec<ReturnedItem<'_>> = items.iter().map(item).collect();
        let found = detect_item_use(&rule, &ParsedAnswer::parse(&rule, answer, kind), &items);
        let used = (0..found.len()).filter(|at| matches!(found[*at], ItemUse::Used(_)));
        assert_eq!(used.collect::<Vec<_>>(), *expected, "{answer:?}: {found:?}");
    }
}

#[test]
fn table_in_sql_uses_the_item_that_describes_it() {
    const EVENTS: Item = ("events", Some("CREATE TABLE events (kind text, at timestamptz)"));
    const VISITS: Item = ("visits", Some("CREATE TABLE visits (kind text, at timestamptz)"));
    const NOTES: Item = ("notes", Some("Release notes are written on Fridays."));
    check(
        AnswerKind::Code,
        &[
            (&[EVENTS, VISITS], "SELECT kind FROM events", &[0]),
            (&[EVENTS, VISITS], "select e.kind from visits v, events as e", &[0, 1]),
            (&[EVENTS, VISITS], "SELECT 1 FROM a LEFT JOIN \"visits\" ON true", &[1]),
            (&[EVENTS, VISITS], "INSERT INTO visits(kind) SELECT kind FROM events;", &[0, 1]),
            (&[EVENTS, VISITS], "DELETE FROM [dbo].[Events] WHERE kind = 'x'", &[0]),
            (&[EVENTS], "SELECT extract(day FROM events) FROM log", &[]),
            (&[EVENTS], "SELECT a IS DISTINCT FROM events FROM log", &[]),
            (&[EVENTS], "SELECT * FROM events('x')", &[]),
            (&[EVENTS], "SELECT * FROM (SELECT * FROM events) e", &[0]),
            (&[EVENTS], "WITH events AS (SELECT 1) SELECT * FROM events", &[]),
            (&[EVENTS], "CREATE TABLE events AS SELECT * FROM log", &[]),
            (&[EVENTS], "CREATE INDEX by_kind ON events (kind)", &[0]),
            (&[EVENTS], "CREATE VIEW v AS SELECT 1 FROM a JOIN b ON events.x = b.x", &[]),
            (&[EVENTS], "from events import listen\nselect(listen)", &[]),
            (&[EVENTS], "import { select } from 'events';", &[]),
            (&[NOTES], "SELECT body FROM notes", &[]),
            (&[("notes", None)], "SELECT body FROM notes", &[0]),
            (&[("notes table", Some("Columns: body, author"))], "SELECT body FROM notes", &[0]),
        ],
    );
    check(
        AnswerKind::Response,
        &[
            (&[EVENTS], "Select the best from events of the week.", &[]),
            (&[EVENTS], "SELECT kind\nFROM events\n", &[0]),
            (&[EVENTS], "Run `select kind from events` and read from it.", &[0]),
            (&[EVENTS, VISITS], "Run `select kind from visits`; mail from events stays.", &[1]),
        ],
    );
}

#[test]
fn qualifier_of_a_table_must_agree() {
    const TEAMS: &[Item] = &[("hr.teams", None), ("game.teams", None)];
    check(
        AnswerKind::Code,
        &[
            (TEAMS, "SELECT * FROM game.teams", &[1]),
            (TEAMS, "SELECT * FROM `lake-1.hr.teams`", &[0]),
            (TEAMS, "SELECT * FROM teams", &[]),
            (TEAMS, "SELECT * FROM shop.teams", &[]),
        ],
    );
}

#[test]
fn column_belongs_to_the_table_of_its_alias() {
    const COLUMNS: &[Item] =
        &[("loans.state", Some("Values: open, repaid.")), ("banks.state", Some("Two letters."))];
    check(
        AnswerKind::Code,
        &[
            (COLUMNS, "SELECT b.state FROM loans l JOIN banks b ON b.id = l.bank", &[1]),
            (COLUMNS, "SELECT loans.state FROM loans", &[0]),
            (COLUMNS, "SELECT state FROM banks WHERE id = 3", &[1]),
            (COLUMNS, "SELECT id FROM banks", &[]),
        ],
    );
}

#[test]
fn columns_of_another_table_are_no_evidence() {
    const STAFF: Item = ("Staff", Some("CREATE TABLE staff (badge_no int, hired_on date)"));
    check(
        AnswerKind::Response,
        &[
            (&[STAFF], "```sql\nSELECT badge_no, hired_on FROM guests\n```", &[]),
            (&[STAFF], "```sql\nSELECT badge_no, hired_on FROM staff\n```", &[0]),
            (&[STAFF], "Take `badge_no` and `hired_on`.", &[0]),
        ],
    );
}

#[test]
fn import_uses_the_module_with_its_path() {
    const TAX: &[Item] = &[("shop/rules/tax.py", None), ("shop/rules/rebate.py", None)];
    const COLOUR: &[Item] = &[("web/colour.ts", None), ("app/src/colour.ts", None)];
    const LEASE: &[Item] = &[("src/lease/mod.rs", None), ("src/lock.rs", None)];
    const CLOCK: &[Item] = &[("org.acme.time.Clock", None), ("org.acme.ui.Clock", None)];
    check(
        AnswerKind::Code,
        &[
            (TAX, "from shop.rules.tax import net\n", &[0]),
            (TAX, "from .rebate import half\n", &[1]),
            (TAX, "from .rules import tax, rebate\n", &[0, 1]),
            (TAX, "import tax\n", &[]),
            (TAX, "from other.tax import net\n", &[]),
            (COLOUR, "import { mix } from './colour';\n", &[]),
            (&COLOUR[..1], "import { mix } from './colour';\n", &[0]),
            (&COLOUR[..1], "const { mix } = require(\"../web/colour\");\n", &[0]),
            (&COLOUR[..1], "export * from './colour.js';\n", &[0]),
            (&COLOUR[..1], "import { mix } from 'tiny/colour';\n", &[]),
            (LEASE, "use crate::lease::{Lease, Term};\n", &[0]),
            (LEASE, "pub use super::lock::Guard;\n", &[1]),
            (LEASE, "use other::lock::Guard;\n", &[]),
            (CLOCK, "import org.acme.time.Clock;\n", &[0]),
            (CLOCK, "import java.time.Clock;\n", &[]),
            (&[("ledger/audit", None)], "import (\n\t\"fmt\"\n\t\"a.dev/ledger/audit\"\n)\n", &[0]),
            (&[("gfx/brush.h", None)], "#include \"gfx/brush.h\"\n", &[0]),
            (&[("lib/sendMail.js", None)], "const send = require('./send-mail');\n", &[0]),
            (&[("pandas", None)], "import pandas as pd\n", &[]),
        ],
    );
    check(
        AnswerKind::Response,
        &[
            (TAX, "```python\nfrom shop.rules.tax import net\n```", &[0]),
            (TAX, "Goods from shop are subject to import tax.", &[]),
        ],
    );
}
