//! The statements that update sums, built from the list of counters. Additions run before
//! clean-ups.

use std::sync::LazyLock;

use crate::projections::counters::QualityCounts;

pub(crate) struct Statements {
    pub(crate) add: String,
    pub(crate) add_many: String,
    pub(crate) clean: String,
    pub(crate) clean_many: String,
    pub(crate) wait: String,
    pub(crate) wait_many: String,
    pub(crate) clean_wait: String,
    pub(crate) clean_wait_many: String,
}

pub(crate) static BY_HOUR: LazyLock<Statements> =
    LazyLock::new(|| Statements::new("quality", "waits", "hour"));
pub(crate) static BY_DAY: LazyLock<Statements> =
    LazyLock::new(|| Statements::new("quality_days", "waits_days", "day"));

const PLACE_ARRAYS: &str = "$1::BIGINT[], $2::BIGINT[], $3::TEXT[], $4::TEXT[]";

impl Statements {
    /// `time` is the column of the hour or day.
    fn new(quality: &str, waits: &str, time: &str) -> Self {
        let columns = QualityCounts::COLUMNS;
        let names = columns.join(", ");
        let each = |one: &dyn Fn(usize, &str) -> String, between: &str| {
            let all: Vec<String> =
                columns.iter().enumerate().map(|(n, name)| one(n + 5, name)).collect();
            all.join(between)
        };
        let places = each(&|n, _| format!("?{n}"), ", ");
        let sums = each(&|_, name| format!("{name} = {quality}.{name} + excluded.{name}"), ", ");
        let zeros = each(&|_, name| format!("{quality}.{name} = 0"), " AND ");
        let added = each(&|_, name| format!("CAST(sum({name}) AS BIGINT)"), ", ");
        let arrays = each(&|n, _| format!("${n}::BIGINT[]"), ", ");
        let place = format!("project, {time}, model, prompt");
        let same = |table: &str| {
            format!(
                "{table}.project = given.project AND {table}.{time} = given.{time}
                 AND {table}.model = given.model AND {table}.prompt = given.prompt"
            )
        };
        let at = format!("project = ?1 AND {time} = ?2 AND model = ?3 AND prompt = ?4");
        let waited = format!(
            "ON CONFLICT ({place}, step) DO UPDATE SET count = {waits}.count + excluded.count"
        );
        Self {
            add: format!(
                "INSERT INTO {quality} ({place}, {names}) VALUES (?1, ?2, ?3, ?4, {places})
                 ON CONFLICT ({place}) DO UPDATE SET {sums}"
            ),
            add_many: format!(
                "INSERT INTO {quality} ({place}, {names})
                 SELECT {place}, {added}
                 FROM unnest({PLACE_ARRAYS}, {arrays}) AS given ({place}, {names})
                 GROUP BY {place}
                 ON CONFLICT ({place}) DO UPDATE SET {sums}"
            ),
            clean: format!("DELETE FROM {quality} WHERE {at} AND {zeros}"),
            clean_many: format!(
                "DELETE FROM {quality} USING unnest({PLACE_ARRAYS}) AS given ({place})
                 WHERE {} AND {zeros}",
                same(quality)
            ),
            wait: format!(
                "INSERT INTO {waits} ({place}, step, count) VALUES (?1, ?2, ?3, ?4, ?5, ?6) {waited}"
            ),
            wait_many: format!(
                "INSERT INTO {waits} ({place}, step, count)
                 SELECT {place}, step, CAST(sum(count) AS BIGINT)
                 FROM unnest({PLACE_ARRAYS}, $5::BIGINT[], $6::BIGINT[])
                     AS given ({place}, step, count)
                 GROUP BY {place}, step {waited}"
            ),
            clean_wait: format!("DELETE FROM {waits} WHERE {at} AND step = ?5 AND count = 0"),
            clean_wait_many: format!(
                "DELETE FROM {waits} USING unnest({PLACE_ARRAYS}, $5::BIGINT[]) AS given ({place}, step)
                 WHERE {} AND {waits}.step = given.step AND {waits}.count = 0",
                same(waits)
            ),
        }
    }
}
