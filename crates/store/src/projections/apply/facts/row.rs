//! Reads and writes rows of `turn_facts`.

use std::sync::LazyLock;

use model::VerdictStatus;
use sql::{Connection, Row, RowBatch, ToSql};

use super::{Comments, Facts, Opinions};
use crate::row_keys::Key;

/// Columns of `turn_facts` after the turn, in write order. Capitals mark text columns.
const COLUMNS: &str =
    "project user ts MODEL PROMPT answered failed millis tokens cost ok not_ok neutral
    status both agree corrected retried heard refined ended abandoned negative comments_positive
    comments_negative comments_neutral STRATEGY measured_ts";

/// Writes one row. Parameters are numbered in the order of the columns.
static ONE: LazyLock<String> = LazyLock::new(|| {
    let names = join(|_, column| column.to_lowercase());
    let places = join(|number, _| format!("?{number}"));
    format!("REPLACE INTO turn_facts (turn, {names}) VALUES (?1, {places})")
});

/// Writes many rows, one array per column. The last row of a turn wins.
static MANY: LazyLock<String> = LazyLock::new(|| {
    let names = join(|_, column| column.to_lowercase());
    let arrays = join(|number, column| {
        let is_text = column.chars().all(|c| c.is_ascii_uppercase());
        format!("${number}::{}[]", if is_text { "TEXT" } else { "BIGINT" })
    });
    let set = join(|_, column| {
        let column = column.to_lowercase();
        format!("{column} = excluded.{column}")
    });
    format!(
        "INSERT INTO turn_facts (turn, {names})
         SELECT DISTINCT ON (turn) turn, {names}
         FROM unnest($1::BIGINT[], {arrays}) WITH ORDINALITY AS given (turn, {names}, number)
         ORDER BY turn, number DESC
         ON CONFLICT (turn) DO UPDATE SET {set}"
    )
});

/// Lists the columns with the numbers of their parameters.
fn join(one: impl Fn(usize, &str) -> String) -> String {
    let all = COLUMNS.split_whitespace().zip(2..).map(|(column, number)| one(number, column));
    all.collect::<Vec<_>>().join(", ")
}

impl Facts {
    pub(crate) fn read(row: &Row<'_>) -> sql::Result<Self> {
        let status: u8 = row.get("status")?;
        Ok(Self {
            user: row.get("user")?,
            ts: row.get("ts")?,
            measured_ts: row.get("measured_ts")?,
            model: row.get("model")?,
            prompt: row.get("prompt")?,
            strategy: row.get("strategy")?,
            answered: row.get("answered")?,
            failed: row.get("failed")?,
            millis: row.get::<_, Option<i64>>("millis")?.map(|millis| millis as u64),
            tokens: row.get("tokens")?,
            cost: row.get("cost")?,
            opinions: Opinions {
                ok: row.get("ok")?,
                not_ok: row.get("not_ok")?,
                neutral: row.get("neutral")?,
                status: VerdictStatus::from_code(status),
                both: row.get("both")?,
                agree: row.get("agree")?,
            },
            corrected: row.get("corrected")?,
            retried: row.get("retried")?,
            heard: row.get("heard")?,
            refined: row.get("refined")?,
            ended: row.get("ended")?,
            abandoned: row.get("abandoned")?,
            comments: Comments {
                positive: row.get("comments_positive")?,
                negative: row.get("comments_negative")?,
                neutral: row.get("comments_neutral")?,
            },
        })
    }

    pub(crate) fn write(
        &self,
        connection: &Connection,
        project: Key,
        turn: Key,
    ) -> sql::Result<()> {
        let millis = self.millis.map(|millis| millis as i64);
        let values = [
            &turn as &dyn ToSql,
            &project,
            &self.user,
            &self.ts,
            &self.model,
            &self.prompt,
            &self.answered,
            &self.failed,
            &millis,
            &self.tokens,
            &self.cost,
            &self.opinions.ok,
            &self.opinions.not_ok,
            &self.opinions.neutral,
            &self.opinions.status.map_or(0, VerdictStatus::code),
            &self.opinions.both,
            &self.opinions.agree,
            &self.corrected,
            &self.retried,
            &self.heard,
            &self.refined,
            &self.ended,
            &self.abandoned,
            &self.is_negative(),
            &self.comments.positive,
            &self.comments.negative,
            &self.comments.neutral,
            &self.strategy,
            &self.measured_ts,
        ];
        connection.add_row(&ONE, RowBatch::Each(&MANY), &values[..])
    }
}
