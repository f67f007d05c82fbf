//! The steps of a story, and which of them share a commit.

use std::fmt;

use model::{Tenant, Timestamp, Write};

use super::generator::StoryGenerator;
use super::random::SeededRandom;

#[derive(Clone)]
pub(crate) struct Story(pub(crate) Vec<Step>);

#[derive(Clone)]
pub(crate) enum Step {
    Submit(Submission),
    /// Drops a tenant's events from before a time.
    Retain(Tenant, Timestamp),
    /// Like a crash before they are dropped: they are in the baseline and in the log.
    Cover(Tenant, Timestamp),
    Rebuild,
}

/// The writes of one request.
#[derive(Clone)]
pub(crate) struct Submission {
    pub(crate) writes: Vec<Write>,
    /// Shares a commit with the previous submission.
    pub(crate) joins: bool,
    /// The node that receives it.
    pub(crate) by_second: bool,
}

impl Story {
    pub(crate) fn of(seed: u64, most: usize) -> Self {
        let mut dice = SeededRandom::of(seed);
        let (steps, closeness) = (1 + dice.below(most), dice.of_these(&[50, 80, 95, 100]));
        let mut teller = StoryGenerator::of(SeededRandom::of(!seed));
        let step = |number: usize| match dice.below(60) {
            kind @ 0..=1 => {
                let before = teller.now().plus_secs(-(dice.below(10) as i64));
                let step = if kind == 0 { Step::Retain } else { Step::Cover };
                step(teller.tenant(), before)
            }
            2 if number > 1 => Step::Rebuild,
            _ => Step::Submit(Submission {
                writes: teller.next(),
                joins: dice.percent(closeness),
                by_second: dice.percent(50),
            }),
        };
        Self((0..steps).map(step).collect())
    }

    pub(crate) fn without(&self, from: usize, count: usize) -> Self {
        let end = (from + count).min(self.0.len());
        Self([&self.0[..from], &self.0[end..]].concat())
    }
}

impl fmt::Debug for Story {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &self.0 {
            match step {
                Step::Retain(tenant, before) => writeln!(f, "retain {tenant} before {before}")?,
                Step::Cover(tenant, before) => writeln!(f, "cover {tenant} before {before}")?,
                Step::Rebuild => writeln!(f, "rebuild")?,
                Step::Submit(Submission { writes, joins, by_second }) => {
                    let how = if *joins { "with it" } else { "then" };
                    writeln!(f, "{how}, to node {}:", u8::from(*by_second))?;
                    writes.iter().try_for_each(|write| tell(f, write))?;
                }
            }
        }
        Ok(())
    }
}

fn tell(f: &mut fmt::Formatter<'_>, write: &Write) -> fmt::Result {
    let claims: Vec<_> = write.claims.iter().map(|claim| (claim.space, &claim.id)).collect();
    writeln!(f, "    claims {claims:?}, needs {:?}", write.needs)?;
    for entry in std::iter::once(&write.entry).chain(&write.more) {
        let event = &entry.event;
        let id = |id: Option<&str>| id.unwrap_or("-").to_owned();
        writeln!(
            f,
            "    {} of {}: turn {}, conversation {}, user {}, ts {}, {}",
            event.id,
            event.scope.tenant,
            id(event.turn.as_ref().map(|id| id.as_str())),
            id(event.conversation.as_ref().map(|id| id.as_str())),
            id(event.user.as_ref().map(|id| id.as_str())),
            event.ts,
            event.body.to_json(),
        )?;
        writeln!(f, "        {:?}", entry.changes)?;
    }
    Ok(())
}
