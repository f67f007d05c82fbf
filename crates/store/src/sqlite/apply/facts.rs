//! What each turn counts for, and the sums of it. When something about a turn changes, what it
//! counted for is taken back and what it counts for now is added: the sums are always those of the
//! turns as they are.

mod unit;

use event::{LooseFact, Reaction, TurnFact, VerdictStatus};
use rusqlite::{Connection, OptionalExtension, Row, named_params};

use super::super::keys::Key;
use super::sums::{self, Place};
use super::{Subject, experiment};
use crate::read::quality::{QualityCounts, wait_step};

/// The application says that it could not answer.
const SAID: u8 = 1;
/// The detector found a failure in the answer.
const FOUND: u8 = 2;

/// The most of anything that one turn counts for, so that sums of a million of the worst stay whole numbers.
const MOST: u64 = 1 << 42;

/// Everything that is known of a turn for rates.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in super::super) struct Facts {
    user: Option<Key>,
    ts: Option<i64>,
    model: String,
    prompt: String,
    strategy: String,
    answered: bool,
    failed: u8,
    millis: Option<u64>,
    tokens: i64,
    cost: i64,
    opinions: Opinions,
    corrected: bool,
    retried: bool,
    heard: bool,
    refined: bool,
    ended: bool,
    abandoned: bool,
}

/// What is thought of a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Opinions {
    /// Reactions of users.
    pub(super) ok: i64,
    pub(super) not_ok: i64,
    pub(super) neutral: i64,
    /// Whose word counts, and what it is.
    pub(super) status: Option<VerdictStatus>,
    /// User and machine took sides.
    pub(super) both: bool,
    /// And the same one.
    pub(super) agree: bool,
}

impl Facts {
    pub(in super::super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
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
        })
    }

    fn write(&self, connection: &Connection, project: Key, turn: Key) -> rusqlite::Result<()> {
        connection
            .prepare_cached(
                "REPLACE INTO turn_facts (turn, project, user, ts, model, prompt, answered, failed, millis,
                     tokens, cost, ok, not_ok, neutral, status, both, agree, corrected, retried, heard,
                     refined, ended, abandoned, negative, strategy)
                 VALUES (:turn, :project, :user, :ts, :model, :prompt, :answered, :failed, :millis,
                     :tokens, :cost, :ok, :not_ok, :neutral, :status, :both, :agree, :corrected, :retried,
                     :heard, :refined, :ended, :abandoned, :negative, :strategy)",
            )?
            .execute(named_params! {
                ":turn": turn,
                ":project": project,
                ":user": self.user,
                ":ts": self.ts,
                ":model": self.model,
                ":prompt": self.prompt,
                ":answered": self.answered,
                ":failed": self.failed,
                ":millis": self.millis.map(|millis| millis as i64),
                ":tokens": self.tokens,
                ":cost": self.cost,
                ":ok": self.opinions.ok,
                ":not_ok": self.opinions.not_ok,
                ":neutral": self.opinions.neutral,
                ":status": self.opinions.status.map_or(0, VerdictStatus::code),
                ":both": self.opinions.both,
                ":agree": self.opinions.agree,
                ":corrected": self.corrected,
                ":retried": self.retried,
                ":heard": self.heard,
                ":refined": self.refined,
                ":ended": self.ended,
                ":abandoned": self.abandoned,
                ":negative": self.is_negative(),
                ":strategy": self.strategy,
            })
            .map(drop)
    }

    fn is_rejected(&self) -> bool {
        self.opinions.status == Some(VerdictStatus::Rejected)
    }

    fn is_negative(&self) -> bool {
        let unhappy = self.is_rejected() || self.opinions.not_ok > 0 || self.corrected;
        self.ts.is_some() && (unhappy || self.failed > 0)
    }

    /// Where it counts; nowhere until it is opened.
    pub(in super::super) fn place(&self) -> Option<Place<'_>> {
        let hour = sums::hour_of(self.ts?);
        Some(Place { hour, model: &self.model, prompt: &self.prompt })
    }

    pub(in super::super) fn step(&self) -> Option<u32> {
        self.millis.filter(|_| self.answered).map(wait_step)
    }

    /// What it counts for.
    pub(in super::super) fn counts(&self) -> QualityCounts {
        let Opinions { ok, not_ok, neutral, status, both, agree } = self.opinions;
        let answered = |fact: bool| i64::from(self.answered && fact);
        let reacted = ok + not_ok + neutral > 0;
        QualityCounts {
            turns: 1,
            answered: answered(true),
            failed: answered(self.failed > 0),
            ok,
            not_ok,
            neutral,
            accepted: answered(status == Some(VerdictStatus::Accepted)),
            rejected: answered(self.is_rejected()),
            wrong: answered(self.is_rejected() || self.corrected),
            corrected: answered(self.corrected),
            retried: i64::from(self.retried),
            heard: i64::from(reacted || self.heard || self.corrected),
            both: i64::from(both),
            agree: i64::from(agree),
            refined: i64::from(self.refined),
            ended: i64::from(self.ended),
            abandoned: i64::from(self.abandoned),
            tokens: self.tokens,
            cost: self.cost,
            sql_made: 0,
            sql_executed: 0,
        }
    }
}

/// Changes what is known of a turn, and the sums with it.
fn amend(
    connection: &Connection,
    project: Key,
    turn: Key,
    change: impl FnOnce(&mut Facts),
) -> rusqlite::Result<()> {
    let known = connection
        .prepare_cached("SELECT * FROM turn_facts WHERE turn = ?1")?
        .query_row([turn], Facts::read)
        .optional()?;
    let before = known.clone().unwrap_or_default();
    let mut after = before.clone();
    change(&mut after);
    if known.is_some() && after == before {
        return Ok(());
    }
    after.write(connection, project, turn)?;
    experiment::amended(connection, turn, &after.of_unit().since(&before.of_unit()))?;
    let counted =
        |facts: &Facts| facts.place().map_or(QualityCounts::default(), |_| facts.counts());
    if let (Some(from), Some(to)) = (before.place(), after.place())
        && from == to
    {
        sums::add(connection, project, to, &counted(&after).since(&counted(&before)))?;
    } else {
        let nothing = QualityCounts::default();
        if let Some(from) = before.place() {
            sums::add(connection, project, from, &nothing.since(&counted(&before)))?;
        }
        if let Some(to) = after.place() {
            sums::add(connection, project, to, &counted(&after))?;
        }
    }
    if before.place() != after.place() || before.step() != after.step() {
        for (facts, by) in [(&before, -1), (&after, 1)] {
            if let (Some(place), Some(step)) = (facts.place(), facts.step()) {
                sums::wait(connection, project, place, step, by)?;
            }
        }
    }
    Ok(())
}

/// The turn begins.
pub(super) fn open(
    connection: &Connection,
    subject: &Subject,
    turn: Key,
    refines: bool,
) -> rusqlite::Result<()> {
    amend(connection, subject.project, turn, |facts| {
        facts.user = subject.user;
        facts.ts = Some(subject.ts.as_micros());
        facts.refined |= refines;
    })
}

/// What is thought of the turn changed.
pub(super) fn judge(
    connection: &Connection,
    project: Key,
    turn: Key,
    opinions: Opinions,
) -> rusqlite::Result<()> {
    amend(connection, project, turn, |facts| facts.opinions = opinions)
}

/// The session ended after the turn.
pub(super) fn end(
    connection: &Connection,
    subject: &Subject,
    turn: Key,
    abandoned: bool,
) -> rusqlite::Result<()> {
    amend(connection, subject.project, turn, |facts| {
        facts.ended = true;
        facts.abandoned = abandoned;
    })
}

/// Something else became known of the turn.
pub(super) fn note(
    connection: &Connection,
    subject: &Subject,
    turn: Key,
    fact: &TurnFact,
) -> rusqlite::Result<()> {
    amend(connection, subject.project, turn, |facts| match fact {
        TurnFact::Answered { model, prompt, strategy, failed, tokens, cost } => {
            facts.answered = true;
            facts.model = model.clone().unwrap_or_default();
            facts.prompt = prompt.clone().unwrap_or_default();
            facts.strategy = strategy.clone().unwrap_or_default();
            facts.failed = facts.failed & FOUND | if *failed { SAID } else { 0 };
            facts.tokens = (*tokens).min(MOST) as i64;
            facts.cost = (*cost).min(MOST) as i64;
        }
        TurnFact::Shown { failed, millis } => {
            facts.failed = facts.failed & SAID | if *failed { FOUND } else { 0 };
            facts.millis = millis.map(|millis| millis.min(MOST));
        }
        TurnFact::Retried => facts.retried = true,
        TurnFact::Corrected => facts.corrected = true,
        TurnFact::Heard => facts.heard = true,
        TurnFact::Refined => facts.refined = true,
    })
}

/// Something that names no turn.
pub(super) fn count(
    connection: &Connection,
    subject: &Subject,
    fact: LooseFact,
) -> rusqlite::Result<()> {
    let mut counts = QualityCounts::default();
    match fact {
        LooseFact::Rated(Reaction::Ok) => counts.ok = 1,
        LooseFact::Rated(Reaction::NotOk) => counts.not_ok = 1,
        LooseFact::Rated(Reaction::Neutral) => counts.neutral = 1,
        LooseFact::Corrected => (counts.corrected, counts.wrong) = (1, 1),
        LooseFact::Refined => counts.refined = 1,
    }
    let place = Place { hour: sums::hour_of(subject.ts.as_micros()), model: "", prompt: "" };
    sums::add(connection, subject.project, place, &counts)
}
