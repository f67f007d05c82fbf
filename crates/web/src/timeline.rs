//! A conversation as a timeline: which answers failed, why we think so, how sure we are.

mod turn;

use std::collections::HashMap;

use askama::Template;
use engine::{Timeline, TurnView};
use model::{Evidence, Scope, TurnId};

use crate::filter::{Filter, encoded};
use crate::moment::Moment;
use crate::number;
use crate::shell::Shell;

pub(crate) use turn::ShownTurn;

/// The page.
#[derive(Debug, Template)]
#[template(path = "timeline.html")]
pub struct Conversation {
    /// The frame.
    pub shell: Shell,
    /// Its id.
    pub id: String,
    /// Who asks.
    pub user: Option<String>,
    /// Its project.
    pub project: String,
    /// When the first of these turns was asked.
    pub since: Option<Moment>,
    /// How many are shown.
    pub count: String,
    /// How many of them were rejected, and so on, in words.
    pub summary: Vec<(&'static str, String)>,
    /// The turns, the oldest first.
    pub turns: Vec<ShownTurn>,
    /// Older turns.
    pub older: Option<String>,
    /// The newest, when these are older ones.
    pub newest: Option<String>,
    /// Back to the list.
    pub back: String,
}

/// What a message says about an earlier answer, by the message's turn.
type Heard<'a> = HashMap<&'a TurnId, (&'a TurnId, &'a [Evidence])>;

impl Conversation {
    /// The page out of what was read. `is_older` when it does not begin with the newest turns.
    pub fn of(shell: Shell, scope: &Scope, id: &str, timeline: &Timeline, is_older: bool) -> Self {
        let (turns, filter) = (&timeline.turns, &shell.filter);
        let heard: Heard<'_> = turns.iter().filter_map(heard).collect();
        let here = |more: &[(&str, &str)]| here(filter, scope, id, more);
        let older = timeline.older_than.map(|(ts, at)| format!("{}-{at}", ts.as_micros()));
        let many = turns.len() as u64;
        Self {
            user: turns
                .iter()
                .find_map(|view| view.exchange.user.as_ref())
                .map(ToString::to_string),
            project: scope.project.to_string(),
            since: turns.first().map(|view| Moment::minute(view.exchange.ts)),
            count: format!("{} {}", number::count(many), number::of(many, "turn", "turns")),
            summary: summary(turns),
            turns: turns
                .iter()
                .map(|view| ShownTurn::of(view, turns, &heard, filter, scope))
                .collect(),
            older: older.map(|cursor| here(&[("before", &cursor)])),
            newest: is_older.then(|| here(&[])),
            back: filter.link("/conversations"),
            id: id.to_owned(),
            shell,
        }
    }
}

/// Where a conversation is.
fn here(filter: &Filter, scope: &Scope, id: &str, more: &[(&str, &str)]) -> String {
    filter.place_link(&format!("/conversations/{}", encoded(id)), scope.project.as_str(), more)
}

fn heard(view: &TurnView) -> Option<(&TurnId, (&TurnId, &[Evidence]))> {
    let (found, _) = view.verdict.as_ref()?;
    Some((&found.detected_in, (&view.exchange.turn, &found.verdict.evidence)))
}

fn summary(turns: &[TurnView]) -> Vec<(&'static str, String)> {
    use model::VerdictStatus::{Accepted, Rejected};
    let count = |is: &dyn Fn(&TurnView) -> bool| turns.iter().filter(|view| is(view)).count();
    let failed = |view: &TurnView| {
        view.signals.as_ref().is_some_and(|signals| signals.failure.error_type.is_some())
    };
    [
        ("bad", "rejected", count(&|view| view.exchange.standing.status == Rejected)),
        ("unsure", "failed", count(&failed)),
        ("good", "accepted", count(&|view| view.exchange.standing.status == Accepted)),
    ]
    .into_iter()
    .filter(|(_, _, many)| *many > 0)
    .map(|(class, words, many)| (class, format!("{many} {words}")))
    .collect()
}
