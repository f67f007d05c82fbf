//! What each turn counts for, and the sums of it. When something about a turn changes, what it
//! counted for is taken back and what it counts for now is added: the sums are always those of the
//! turns as they are.

mod many;
mod row;
mod unit;

use model::{LooseFact, Reaction, Sentiment, TurnFact, VerdictStatus};

use super::super::keys::Key;
use super::sums::{self, Place};
use super::{Subject, experiment};
use crate::read::quality::{QualityCounts, wait_step};
use crate::sql::{self, Connection, OptionalExtension, Remembered};

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
    comments: Comments,
}

/// What a transaction remembers of a turn's facts.
#[derive(Clone, Debug)]
pub(in super::super) struct Known(pub(in super::super) Option<Facts>);

impl Remembered for Known {
    const TABLE: &'static str = "turns";

    fn of_new() -> Option<Self> {
        Some(Self(None))
    }
}

/// Comments on a turn, by what they sound like.
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

/// Changes what is known of a turn, and the sums with it.
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
    experiment::amended(connection, subject, turn, &after.of_unit().since(&before.of_unit()))?;
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
) -> sql::Result<()> {
    amend(connection, subject, turn, |facts| {
        facts.user = subject.user;
        facts.ts = Some(subject.ts.as_micros());
        facts.refined |= refines;
    })
}

/// What is thought of the turn changed.
pub(super) fn judge(
    connection: &Connection,
    subject: &Subject,
    turn: Key,
    opinions: Opinions,
) -> sql::Result<()> {
    amend(connection, subject, turn, |facts| facts.opinions = opinions)
}

/// The session ended after the turn.
pub(super) fn end(
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

/// Something else became known of the turn.
pub(super) fn note(
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
        TurnFact::GotFeedback => facts.heard = true,
        TurnFact::Refined => facts.refined = true,
        TurnFact::Commented(sentiment) => facts.comments.count(*sentiment),
    })
}

/// Something that names no turn.
pub(super) fn count(
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
    let place = Place { hour: sums::hour_of(subject.ts.as_micros()), model: "", prompt: "" };
    sums::add(connection, subject.project, place, &counts)
}
