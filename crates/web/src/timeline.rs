//! The conversation page: a timeline of turns with verdicts and feedback.

mod turn;

use std::collections::HashMap;

use askama::Template;
use engine::{Timeline, TurnView};
use model::{Evidence, Scope, TurnId, encode_path_segment};

use crate::chip::Chip;
use crate::display_time::DisplayTime;
use crate::layout::PageLayout;
use crate::number_format::count_noun;

pub(crate) use turn::TurnCard;

#[derive(Debug, Template)]
#[template(path = "timeline.html")]
pub struct ConversationPage {
    pub layout: PageLayout,
    pub id: String,
    pub user: Option<String>,
    pub project: String,
    pub since: Option<DisplayTime>,
    pub count: String,
    pub summary: Vec<Chip>,
    pub turns: Vec<TurnCard>,
    pub older: Option<String>,
    pub newest: Option<String>,
    pub back: String,
}

/// Turn of a message to the earlier turn it refers to, with the evidence.
type MessageEvidence<'a> = HashMap<&'a TurnId, (&'a TurnId, &'a [Evidence])>;

impl ConversationPage {
    /// `is_older` is true when the page does not start at the newest turns.
    pub fn new(
        layout: PageLayout,
        scope: &Scope,
        id: &str,
        timeline: &Timeline,
        is_older: bool,
    ) -> Self {
        let (turns, filter) = (&timeline.turns, &layout.filter);
        let evidence: MessageEvidence<'_> = turns.iter().filter_map(message_evidence).collect();
        let path = format!("/conversations/{}", encode_path_segment(id));
        let here = |more: &[(&str, &str)]| filter.place_link(&path, scope.project.as_str(), more);
        let older = timeline.older_than.map(|(ts, at)| format!("{}-{at}", ts.as_micros()));
        let many = turns.len() as u64;
        Self {
            user: turns
                .iter()
                .find_map(|view| view.exchange.user.as_ref())
                .map(ToString::to_string),
            project: scope.project.to_string(),
            since: turns.first().map(|view| DisplayTime::with_minutes(view.exchange.ts)),
            count: count_noun(many, "turn", "turns"),
            summary: summarize_turns(turns),
            turns: turns
                .iter()
                .map(|view| TurnCard::new(view, turns, &evidence, filter, scope))
                .collect(),
            older: older.map(|cursor| here(&[("before", &cursor)])),
            newest: is_older.then(|| here(&[])),
            back: filter.link("/conversations"),
            id: id.to_owned(),
            layout,
        }
    }
}

fn message_evidence(view: &TurnView) -> Option<(&TurnId, (&TurnId, &[Evidence]))> {
    let (found, _) = view.verdict.as_ref()?;
    Some((&found.detected_in, (&view.exchange.turn, &found.verdict.evidence)))
}

fn summarize_turns(turns: &[TurnView]) -> Vec<Chip> {
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
    .map(|(class, words, many)| Chip::new(class, format!("{many} {words}")))
    .collect()
}
