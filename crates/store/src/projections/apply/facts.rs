//! The facts of each turn, and the sums over them. A change of a turn subtracts its old
//! contribution and adds the new one.

mod many;
mod row;
mod unit;

use model::{LooseFact, Reaction, Sentiment, TurnFact, VerdictStatus};
use sql::{CachedFact, Connection, OptionalExtension};

use super::sums::{self, Place};
use super::{Subject, experiment};
use crate::projections::counters::{QualityCounts, wait_step};
use crate::row_keys::Key;

/// The application reported a failure.
const REPORTED: u8 = 1;
/// The detector found a failure.
const DETECTED: u8 = 2;

/// The cap per turn, so that sums over a million turns fit into 64 bits.
const MAX_MILLIS: u64 = 1 << 42;

/// The facts of a turn that count in rates.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Facts {
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
    comments: Comments,
}

/// Cached facts of a turn.
#[derive(Clone, Debug)]
pub(crate) struct Known(pub(in super::super) Option<Facts>);

impl CachedFact for Known {
    const TABLE: &'static str = "turns";

    fn for_new_row() -> Option<Self> {
        Some(Self(None))
    }
}

/// Comments on a turn by sentiment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Comments {
    positive: i64,
    negative: i64,
    neutral: i64,
}

impl Comments {
    fn count(&mut self, sentiment: Sentiment) {
        match sentiment {
            Sentiment::Positive => self.positive += 1,
            Sentiment::Negative => self.negative += 1,
            Sentiment::Neutral => self.neutral += 1,
        }
    }

    fn add_to(self, counts: &mut QualityCounts) {
        counts.comments_positive += self.positive;
        counts.comments_negative += self.negative;
        counts.comments_neutral += self.neutral;
    }
}

/// Opinions on a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Opinions {
    pub(crate) ok: i64,
    pub(crate) not_ok: i64,
    pub(crate) neutral: i64,
    /// The verdict in effect.
    pub(crate) status: Option<VerdictStatus>,
    pub(crate) both: bool,
    pub(crate) agree: bool,
}

impl Facts {
    fn is_rejected(&self) -> bool {
        self.opinions.status == Some(VerdictStatus::Rejected)
    }

    fn is_negative(&self) -> bool {
        let unhappy = self.is_rejected() || self.opinions.not_ok > 0 || self.corrected;
        self.ts.is_some() && (unhappy || self.failed > 0)
    }

    /// The row of sums the turn counts in; `None` until it is opened.
    pub(crate) fn place(&self) -> Option<Place<'_>> {
        let hour = sums::hour_number(self.ts?);
        Some(Place { hour, model: &self.model, prompt: &self.prompt })
    }

    pub(crate) fn step(&self) -> Option<u32> {
        self.millis.filter(|_| self.answered).map(wait_step)
    }

    pub(crate) fn counts(&self) -> QualityCounts {
        let Opinions { ok, not_ok, neutral, status, both, agree } = self.opinions;
        let answered = |fact: bool| i64::from(self.answered && fact);
        let reacted = ok + not_ok + neutral > 0;
        let mut counts = QualityCounts {
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
            ..QualityCounts::default()
        };
        self.comments.add_to(&mut counts);
        counts
    }
}

/// Changes the facts of a turn and the sums.
fn amend(
    connection: &Connection,
    subject: &Subject,
    turn: Key,
    change: impl FnOnce(&mut Facts),
) -> sql::Result<()> {
    let project = subject.project;
    let known = match connection.recall(turn) {
        Some(Known(facts)) => facts,
        None => connection
            .prepare_cached("SELECT * FROM turn_facts WHERE turn = ?1")?
            .query_row([turn], Facts::read)
            .optional()?,
    };
    let before = known.clone().unwrap_or_default();
    let mut after = before.clone();
    change(&mut after);
    if known.is_some() && after == before {
        return Ok(());
    }
    after.write(connection, project, turn)?;
    connection.remember(turn, || Known(Some(after.clone())));
    experiment::amended(connection, subject, turn, &after.unit_sums().since(&before.unit_sums()))?;
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

pub(crate) fn open(
    connection: &Connection,
    subject: &Subject,
    turn: Key,
    refines: bool,
) -> sql::Result<()> {
    amend(connection, subject, turn, |facts| {
        facts.user = subject.user;
        facts.ts = Some(subject.ts.as_micros());
        facts.refined |= refines;
    })
}

pub(crate) fn judge(
    connection: &Connection,
    subject: &Subject,
    turn: Key,
    opinions: Opinions,
) -> sql::Result<()> {
    amend(connection, subject, turn, |facts| facts.opinions = opinions)
}

/// Records the end of the session after the turn.
pub(crate) fn end(
    connection: &Connection,
    subject: &Subject,
    turn: Key,
    abandoned: bool,
) -> sql::Result<()> {
    amend(connection, subject, turn, |facts| {
        facts.ended = true;
        facts.abandoned = abandoned;
    })
}

/// Records another fact of the turn.
pub(crate) fn note(
    connection: &Connection,
    subject: &Subject,
    turn: Key,
    fact: &TurnFact,
) -> sql::Result<()> {
    amend(connection, subject, turn, |facts| match fact {
        TurnFact::Answered { model, prompt, strategy, failed, tokens, cost } => {
            facts.answered = true;
            facts.model = model.clone().unwrap_or_default();
            facts.prompt = prompt.clone().unwrap_or_default();
            facts.strategy = strategy.clone().unwrap_or_default();
            facts.failed = facts.failed & DETECTED | if *failed { REPORTED } else { 0 };
            facts.tokens = (*tokens).min(MAX_MILLIS) as i64;
            facts.cost = (*cost).min(MAX_MILLIS) as i64;
        }
        TurnFact::Shown { failed, millis } => {
            facts.failed = facts.failed & REPORTED | if *failed { DETECTED } else { 0 };
            facts.millis = millis.map(|millis| millis.min(MAX_MILLIS));
        }
        TurnFact::Retried => facts.retried = true,
        TurnFact::Corrected => facts.corrected = true,
        TurnFact::Heard => facts.heard = true,
        TurnFact::Refined => facts.refined = true,
        TurnFact::Commented(sentiment) => facts.comments.count(*sentiment),
    })
}

/// Counts an event that names no turn.
pub(crate) fn count(
    connection: &Connection,
    subject: &Subject,
    fact: LooseFact,
) -> sql::Result<()> {
    let mut counts = QualityCounts::default();
    match fact {
        LooseFact::Rated(Reaction::Ok) => counts.ok = 1,
        LooseFact::Rated(Reaction::NotOk) => counts.not_ok = 1,
        LooseFact::Rated(Reaction::Neutral) => counts.neutral = 1,
        LooseFact::Corrected => counts.loose_corrected = 1,
        LooseFact::Refined => counts.loose_refined = 1,
        LooseFact::Commented(sentiment) => {
            let mut comments = Comments::default();
            comments.count(sentiment);
            comments.add_to(&mut counts);
        }
    }
    let place = Place { hour: sums::hour_number(subject.ts.as_micros()), model: "", prompt: "" };
    sums::add(connection, subject.project, place, &counts)
}
