//! Reads and writes rows of `turn_facts`.

use model::VerdictStatus;
use sql::{Connection, Row, RowBatch, ToSql};

use super::many::MANY;
use super::{Comments, Facts, Opinions};
use crate::row_keys::Key;

impl Facts {
    pub(crate) fn read(row: &Row<'_>) -> sql::Result<Self> {
        let status: u8 = row.get("status")?;
        Ok(Self {
            user: row.get("user")?,
            ts: row.get("ts")?,
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
        connection
            .prepare_cached(
                "REPLACE INTO turn_facts (turn, project, user, ts, model, prompt, answered, failed, millis,
                     tokens, cost, ok, not_ok, neutral, status, both, agree, corrected, retried, heard,
                     refined, ended, abandoned, negative, comments_positive, comments_negative,
                     comments_neutral, strategy)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24,
                     ?25, ?26, ?27, ?28)",
            )?
            .add(RowBatch::Each(&MANY), &[
                &turn as &dyn ToSql,
                &project,
                &self.user,
                &self.ts,
                &self.model,
                &self.prompt,
                &self.answered,
                &self.failed,
                &self.millis.map(|millis| millis as i64),
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
            ][..])
    }
}
