//! Changes of the facts of turns. A change subtracts the turn's old contribution from the sums and
//! adds the new one.

use model::{LooseFact, Reaction, TurnFact};
use sql::Connection;

use super::facts::{Comments, Facts, Known, Opinions, find_facts};
use super::sums::{self, Place};
use super::{Subject, experiment, reaction};
use crate::projections::counters::{QualityCounts, wait_step};
use crate::row_keys::Key;

/// The application reported a failure or a refinement.
const REPORTED: u8 = 1;
/// A detector found it.
const DETECTED: u8 = 2;
/// The application reported an error in an event of its own.
const REPORTED_BESIDE: u8 = 4;

/// Cap of each amount per turn (milliseconds, tokens, billionths of the currency), so that sums over
/// a million turns fit into 64 bits.
const MAX_TURN_AMOUNT: u64 = 1 << 42;

/// Changes the facts of a turn and the sums.
fn change_facts(
    connection: &Connection,
    subject: &Subject,
    turn: Key,
    change: impl FnOnce(&mut Facts),
) -> sql::Result<()> {
    let project = subject.project;
    let known = find_facts(connection, turn)?;
    let before = known.clone().unwrap_or_default();
    let mut after = before.clone();
    change(&mut after);
    if known.is_some() && after == before {
        return Ok(());
    }
    after.write(connection, project, turn)?;
    connection.remember(turn, || Known(Some(after.clone())));
    experiment::record_fact_change(
        connection,
        subject,
        turn,
        &after.unit_sums().since(&before.unit_sums()),
    )?;
    if (&before.model, &before.prompt) != (&after.model, &after.prompt) {
        reaction::move_counts(connection, project, turn, [&before, &after])?;
    }
    match (before.place(), after.place()) {
        (Some(from), Some(to)) if from == to => {
            sums::add(connection, project, to, &after.counts().since(&before.counts()))?;
        }
        (from, to) => {
            let gone = QualityCounts::default().since(&before.counts());
            from.map_or(Ok(()), |from| sums::add(connection, project, from, &gone))?;
            to.map_or(Ok(()), |to| sums::add(connection, project, to, &after.counts()))?;
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

pub(crate) fn record_opening(
    connection: &Connection,
    subject: &Subject,
    turn: Key,
    refines: bool,
) -> sql::Result<()> {
    change_facts(connection, subject, turn, |facts| {
        facts.user = subject.user;
        facts.ts = Some(subject.ts.as_micros());
        if refines {
            facts.refined |= REPORTED;
        }
    })
}

/// Records whether the latest detection found that the turn refines an earlier question.
pub(crate) fn record_detected_refinement(
    connection: &Connection,
    subject: &Subject,
    turn: Key,
    refines: bool,
) -> sql::Result<()> {
    change_facts(connection, subject, turn, |facts| {
        facts.refined = facts.refined & REPORTED | if refines { DETECTED } else { 0 };
    })
}

pub(crate) fn record_opinions(
    connection: &Connection,
    subject: &Subject,
    turn: Key,
    opinions: Opinions,
) -> sql::Result<()> {
    change_facts(connection, subject, turn, |facts| facts.opinions = opinions)
}

/// Records the end of the session after the turn. Abandoned once means abandoned: the sweep does not
/// see a report that named only the session.
pub(crate) fn record_session_end(
    connection: &Connection,
    subject: &Subject,
    turn: Key,
    abandoned: bool,
) -> sql::Result<()> {
    change_facts(connection, subject, turn, |facts| {
        facts.ended = true;
        facts.abandoned |= abandoned;
    })
}

/// Records another fact of the turn.
pub(crate) fn record_fact(
    connection: &Connection,
    subject: &Subject,
    turn: Key,
    fact: &TurnFact,
) -> sql::Result<()> {
    change_facts(connection, subject, turn, |facts| match fact {
        TurnFact::Answered { model, prompt, strategy, failed, tokens, cost } => {
            facts.answered = true;
            facts.model = model.clone().unwrap_or_default();
            facts.prompt = prompt.clone().unwrap_or_default();
            facts.strategy = strategy.clone().unwrap_or_default();
            facts.failed = facts.failed & !REPORTED | if *failed { REPORTED } else { 0 };
            // Unknown amounts keep the values that the application measured beside the turn.
            facts.tokens = cap_amount(*tokens).unwrap_or(facts.tokens);
            facts.cost = cap_amount(*cost).unwrap_or(facts.cost);
        }
        TurnFact::Shown { failed, millis } => {
            facts.failed = facts.failed & !DETECTED | if *failed { DETECTED } else { 0 };
            facts.millis = millis.map(|millis| millis.min(MAX_TURN_AMOUNT)).or(facts.millis);
        }
        TurnFact::Measured { millis, tokens, cost } => {
            facts.measured_ts.get_or_insert(subject.ts.as_micros());
            let millis = millis.map(|millis| millis.min(MAX_TURN_AMOUNT));
            facts.millis = facts.millis.or(millis);
            if facts.tokens == 0 {
                facts.tokens = cap_amount(*tokens).unwrap_or(0);
            }
            if facts.cost == 0 {
                facts.cost = cap_amount(*cost).unwrap_or(0);
            }
        }
        TurnFact::ReportedError => {
            facts.measured_ts.get_or_insert(subject.ts.as_micros());
            facts.failed |= REPORTED_BESIDE;
        }
        TurnFact::Retried => facts.retried = true,
        TurnFact::Corrected => facts.corrected = true,
        TurnFact::GotFeedback => facts.heard = true,
        TurnFact::Refined => facts.refined |= REPORTED,
        TurnFact::Commented(sentiment) => facts.comments.count(*sentiment),
    })
}

/// `None` for 0, which means unknown.
fn cap_amount(amount: u64) -> Option<i64> {
    (amount > 0).then(|| amount.min(MAX_TURN_AMOUNT) as i64)
}

/// Counts an event that names no turn.
pub(crate) fn count_loose_fact(
    connection: &Connection,
    subject: &Subject,
    fact: &LooseFact,
) -> sql::Result<()> {
    let mut counts = QualityCounts::default();
    let place = Place { hour: sums::hour_number(subject.ts.as_micros()), model: "", prompt: "" };
    if let LooseFact::Rated(reaction) = fact {
        sums::reacted(connection, subject.project, place, reaction.code(), 1)?;
    }
    match fact {
        LooseFact::Rated(Reaction::Ok) => counts.ok = 1,
        LooseFact::Rated(Reaction::NotOk) => counts.not_ok = 1,
        LooseFact::Rated(Reaction::Neutral) => counts.neutral = 1,
        LooseFact::Corrected => counts.loose_corrected = 1,
        LooseFact::Refined => counts.loose_refined = 1,
        LooseFact::Commented(sentiment) => {
            let mut comments = Comments::default();
            comments.count(*sentiment);
            comments.add_to(&mut counts);
        }
        LooseFact::Measured { model, millis } => {
            let place = Place { model: model.as_deref().unwrap_or(""), ..place };
            return sums::wait(connection, subject.project, place, wait_step(*millis), 1);
        }
        LooseFact::Failed => counts.loose_failed = 1,
    }
    sums::add(connection, subject.project, place, &counts)
}
