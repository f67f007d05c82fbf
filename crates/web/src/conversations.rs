//! The conversation list page.

use askama::Template;
use engine::{ConversationTally, ListCursor, ListedConversation, StoredExchange, TurnMark};
use model::{Scope, Timestamp, VerdictStatus, encode_path_segment};

use crate::chip::Chip;
use crate::display_time::DisplayTime;
use crate::filter::Filter;
use crate::layout::PageLayout;
use crate::number_format::count_noun;
use crate::select_options::SelectOptions;

/// Longest question shown in a row.
const QUESTION_CHARS: usize = 180;

/// One page of search results.
#[derive(Debug)]
pub struct ConversationRows {
    pub rows: Vec<ConversationRow>,
    pub next: Option<ListCursor>,
    /// Set when the search reached its limit; it continues from here.
    pub stopped_at: Option<Timestamp>,
    pub how: Option<String>,
}

/// The filters and search text of a request.
#[derive(Clone, Debug)]
pub struct ConversationQuery {
    pub mark: TurnMark,
    pub worst: bool,
    pub words: String,
    pub by_meaning: bool,
    pub is_further: bool,
}

#[derive(Clone, Debug)]
pub struct ConversationRow {
    pub id: String,
    pub link: String,
    pub question: String,
    pub user: Option<String>,
    pub model: Option<String>,
    pub when: DisplayTime,
    pub status: Chip,
    pub confidence: String,
    pub chips: Vec<Chip>,
    pub turns: Option<String>,
    pub project: String,
}

/// An entry of the `show` menu.
#[derive(Clone, Debug)]
pub struct MarkOption {
    pub value: &'static str,
    pub label: &'static str,
    pub is_selected: bool,
}

/// An entry of the period menu.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PeriodOption {
    pub days: u32,
    pub label: String,
}

#[derive(Debug, Template)]
#[template(path = "conversations.html")]
pub struct ConversationsPage {
    pub layout: PageLayout,
    pub marks: Vec<MarkOption>,
    pub models: SelectOptions,
    pub prompts: SelectOptions,
    pub query: ConversationQuery,
    pub rows: Vec<ConversationRow>,
    pub next: Option<String>,
    pub first: Option<String>,
    pub stopped_at: Option<DisplayTime>,
    pub how: Option<String>,
    pub by_meaning: Option<String>,
    pub periods: Vec<PeriodOption>,
}

impl ConversationsPage {
    pub fn new(
        layout: PageLayout,
        query: ConversationQuery,
        (models, prompts): (SelectOptions, SelectOptions),
        found: ConversationRows,
    ) -> Self {
        let link = |cursor: &str| {
            let order = if query.worst { "worst" } else { "" };
            let show = if query.mark == TurnMark::All { "" } else { query.mark.as_word() };
            let others =
                [("show", show), ("order", order), ("q", query.words.as_str()), ("after", cursor)];
            layout.filter.link_with("/conversations", &others)
        };
        Self {
            by_meaning: (!query.words.is_empty() && !query.by_meaning).then(|| {
                let others = [("q", query.words.as_str()), ("by", "meaning")];
                layout.filter.link_with("/conversations", &others)
            }),
            marks: TurnMark::ALL_MARKS
                .iter()
                .map(|mark| MarkOption {
                    value: mark.as_word(),
                    label: mark_label(*mark),
                    is_selected: *mark == query.mark,
                })
                .collect(),
            next: found.next.map(|ListCursor { rank, key }| link(&format!("{rank}.{key}"))),
            first: query.is_further.then(|| link("")),
            stopped_at: found.stopped_at.map(DisplayTime::with_minutes),
            how: found.how,
            rows: found.rows,
            periods: period_options(layout.filter.days),
            models,
            prompts,
            query,
            layout,
        }
    }
}

/// The common periods plus the selected one.
fn period_options(chosen: u32) -> Vec<PeriodOption> {
    let usual = [(1, "24 h"), (7, "7 days"), (30, "30 days"), (90, "90 days"), (3650, "All time")];
    let option = |(days, label): (u32, &str)| PeriodOption { days, label: label.to_owned() };
    let mut periods: Vec<PeriodOption> = usual.into_iter().map(option).collect();
    if periods.iter().all(|period| period.days != chosen) {
        periods.push(PeriodOption { days: chosen, label: format!("{chosen} days") });
        periods.sort();
    }
    periods
}

fn mark_label(mark: TurnMark) -> &'static str {
    match mark {
        TurnMark::All => "All",
        TurnMark::Trouble => "Any problem",
        TurnMark::Rejected => "Rejected",
        TurnMark::Wrong => "Rejected or corrected",
        TurnMark::Accepted => "Accepted",
        TurnMark::Corrected => "Corrected",
        TurnMark::Failed => "Failed",
        TurnMark::Ok => "Thumbs up",
        TurnMark::NotOk => "Thumbs down",
        TurnMark::Reacted => "Any reaction",
        TurnMark::Heard => "Any human signal",
        TurnMark::Retried => "Retried",
        TurnMark::Refined => "Refined",
        TurnMark::Abandoned => "Abandoned",
        TurnMark::Disagreed => "User and detector disagree",
        TurnMark::ToReview => "Needs review",
        TurnMark::Slow => "Slow (over 10 s)",
    }
}

pub(crate) fn status_chip(status: VerdictStatus) -> Chip {
    match status {
        VerdictStatus::Rejected => Chip::new("bad", "rejected"),
        VerdictStatus::Accepted => Chip::new("good", "accepted"),
        VerdictStatus::Neutral => Chip::new("none", "neutral"),
    }
}

impl ConversationRow {
    pub fn from_listed(listed: &ListedConversation, filter: &Filter) -> Self {
        let row = Self::from_turn(&listed.scope, &listed.shown, filter);
        let ConversationTally { turns, rejected, corrected, failed, ok, not_ok } = listed.tally;
        let chip = |count: u64, class: &'static str, words: &str| {
            let label = if count == 1 { words.to_owned() } else { format!("{words} ×{count}") };
            (count > 0).then(|| Chip::new(class, label))
        };
        let chips = [
            chip(not_ok, "bad", "thumbs down"),
            chip(corrected, "bad", "corrected"),
            chip(rejected, "bad", "rejected"),
            chip(failed, "unsure", "failed"),
            chip(ok, "good", "thumbs up"),
        ];
        // With a single turn, the status chip already shows it.
        let chips = chips.into_iter().flatten().filter(|chip| chip.label != row.status.label);
        let turns = count_noun(turns, "turn", "turns");
        Self { chips: chips.collect(), turns: Some(turns), ..row }
    }

    pub fn from_turn(scope: &Scope, shown: &StoredExchange, filter: &Filter) -> Self {
        let id = shown.conversation.as_ref().map_or("", |id| id.as_str());
        let path = format!("/conversations/{}", encode_path_segment(id));
        let turn = encode_path_segment(shown.turn.as_str());
        let link = filter.place_link(&path, scope.project.as_str(), &[]);
        Self {
            id: id.to_owned(),
            link: format!("{link}#turn-{turn}"),
            question: truncate_to_line(&shown.opening.text),
            user: shown.user.as_ref().map(ToString::to_string),
            model: shown.completion.as_ref().and_then(|completion| completion.model.clone()),
            when: DisplayTime::with_minutes(shown.ts),
            status: status_chip(shown.standing.status),
            confidence: format!("{:.0}%", shown.standing.confidence.get() * 100.0),
            chips: Vec::new(),
            turns: None,
            project: scope.project.to_string(),
        }
    }
}

/// Joins whitespace and truncates to `QUESTION_CHARS`.
pub(crate) fn truncate_to_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().take(QUESTION_CHARS).collect();
    let text = words.join(" ");
    match text.char_indices().nth(QUESTION_CHARS) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn period_options_include_the_selected_period() {
        assert_eq!(period_options(7).len(), 5);
        let chosen = PeriodOption { days: 14, label: "14 days".to_owned() };
        assert_eq!(period_options(14)[2], chosen);
    }

    #[test]
    fn question_is_truncated_to_one_line() {
        assert_eq!(truncate_to_line(" a\n b "), "a b");
        assert_eq!(truncate_to_line(&"é".repeat(100_000)).chars().count(), QUESTION_CHARS + 1);
    }
}
