//! The list of conversations: what was asked, how it went, the newest or the worst first.

use askama::Template;
use engine::{ConversationTally, ListCursor, ListedConversation, StoredExchange, TurnMark};
use model::{Scope, Timestamp, VerdictStatus};

use crate::choices::Choices;
use crate::filter::{Filter, encoded};
use crate::moment::Moment;
use crate::number;
use crate::shell::Shell;

/// Characters of a question in a row.
const LINE: usize = 180;

/// What was read for it.
#[derive(Debug)]
pub struct Found {
    /// The rows.
    pub rows: Vec<Row>,
    /// Where the next page begins.
    pub next: Option<ListCursor>,
    /// The search was given up here.
    pub stopped_at: Option<Timestamp>,
    /// How it was searched, in words.
    pub how: Option<String>,
}

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Asked {
    /// What turns are like.
    pub mark: TurnMark,
    /// Whether the worst come first.
    pub worst: bool,
    /// Words to search for.
    pub words: String,
    /// Whether to search for what means the same, whatever its words.
    pub by_meaning: bool,
    /// Whether this is not the first page.
    pub is_further: bool,
}

/// A conversation on the list.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its id.
    pub id: String,
    /// Where it leads.
    pub link: String,
    /// What was asked.
    pub question: String,
    /// Who asked.
    pub user: Option<String>,
    /// Which model answered.
    pub model: Option<String>,
    /// When.
    pub when: Moment,
    /// How the turn was taken: a class and words.
    pub status: (&'static str, &'static str),
    /// How sure, as a percentage.
    pub sure: String,
    /// What else is said of the conversation: a class and words.
    pub chips: Vec<(&'static str, String)>,
    /// How many turns it has.
    pub turns: Option<String>,
    /// Its project.
    pub project: String,
}

/// What can be chosen.
#[derive(Clone, Debug)]
pub struct Choice {
    /// What it is called.
    pub name: &'static str,
    /// Its word.
    pub word: &'static str,
    /// Whether it is chosen.
    pub is_here: bool,
}

/// The page.
#[derive(Debug, Template)]
#[template(path = "conversations.html")]
pub struct Conversations {
    /// The frame.
    pub shell: Shell,
    /// What turns can be like.
    pub marks: Vec<Choice>,
    /// Models to choose from.
    pub models: Choices,
    /// Prompts to choose from.
    pub prompts: Choices,
    /// What is asked for.
    pub asked: Asked,
    /// The rows.
    pub rows: Vec<Row>,
    /// The next page.
    pub next: Option<String>,
    /// The first page, when this is not it.
    pub first: Option<String>,
    /// The search was given up here.
    pub stopped_at: Option<Moment>,
    /// How it was searched, in words.
    pub how: Option<String>,
    /// The same search for what means the same, where it was by words.
    pub by_meaning: Option<String>,
    /// Periods: days and what they are called.
    pub periods: Vec<(u32, String)>,
}

impl Conversations {
    /// The page out of what was read.
    pub fn of(
        shell: Shell,
        asked: Asked,
        (models, prompts): (Choices, Choices),
        found: Found,
    ) -> Self {
        let link = |cursor: &str| {
            let order = if asked.worst { "worst" } else { "" };
            let show = if asked.mark == TurnMark::All { "" } else { asked.mark.as_word() };
            let others =
                [("show", show), ("order", order), ("q", asked.words.as_str()), ("after", cursor)];
            shell.filter.link_with("/conversations", &others)
        };
        Self {
            by_meaning: (!asked.words.is_empty() && !asked.by_meaning).then(|| {
                let others = [("q", asked.words.as_str()), ("by", "meaning")];
                shell.filter.link_with("/conversations", &others)
            }),
            marks: marks(asked.mark),
            next: found.next.map(|ListCursor(a, b)| link(&format!("{a}.{b}"))),
            first: asked.is_further.then(|| link("")),
            stopped_at: found.stopped_at.map(Moment::minute),
            how: found.how,
            rows: found.rows,
            periods: periods(shell.filter.days),
            models,
            prompts,
            asked,
            shell,
        }
    }
}

/// The usual ones and the one that is chosen, which is then shown as such.
fn periods(chosen: u32) -> Vec<(u32, String)> {
    let usual = [(1, "24 h"), (7, "7 days"), (30, "30 days"), (90, "90 days"), (3650, "all time")];
    let mut periods: Vec<(u32, String)> =
        usual.into_iter().map(|(days, name)| (days, name.to_owned())).collect();
    if periods.iter().all(|(days, _)| *days != chosen) {
        periods.push((chosen, format!("{chosen} days")));
        periods.sort();
    }
    periods
}

fn marks(chosen: TurnMark) -> Vec<Choice> {
    let choice = |mark: &TurnMark| Choice {
        name: name(*mark),
        word: mark.as_word(),
        is_here: *mark == chosen,
    };
    TurnMark::ALL.iter().map(choice).collect()
}

fn name(mark: TurnMark) -> &'static str {
    match mark {
        TurnMark::All => "everything",
        TurnMark::Trouble => "anything went wrong",
        TurnMark::Rejected => "rejected",
        TurnMark::Wrong => "rejected or corrected",
        TurnMark::Accepted => "accepted",
        TurnMark::Corrected => "corrected",
        TurnMark::Failed => "failed",
        TurnMark::Ok => "good reaction",
        TurnMark::NotOk => "bad reaction",
        TurnMark::Reacted => "any reaction",
        TurnMark::Heard => "any human signal",
        TurnMark::Retried => "asked again",
        TurnMark::Refined => "refined",
        TurnMark::Abandoned => "abandoned",
        TurnMark::Disagreed => "user and machine disagree",
        TurnMark::ToReview => "waiting for review",
        TurnMark::Slow => "slow (over 10 s)",
    }
}

/// How a turn was taken: a class and words.
pub(crate) fn status(status: VerdictStatus) -> (&'static str, &'static str) {
    match status {
        VerdictStatus::Rejected => ("bad", "rejected"),
        VerdictStatus::Accepted => ("good", "accepted"),
        VerdictStatus::Neutral => ("none", "neutral"),
    }
}

impl Row {
    /// The row of a conversation that was listed.
    pub fn of(listed: &ListedConversation, filter: &Filter) -> Self {
        let row = Self::of_turn(&listed.scope, &listed.shown, filter);
        let ConversationTally { turns, rejected, corrected, failed, ok, not_ok } = listed.tally;
        let chip = |many: u64, class: &'static str, words: &str| {
            let text = if many == 1 { words.to_owned() } else { format!("{words} ×{many}") };
            (many > 0).then_some((class, text))
        };
        let chips = [
            chip(not_ok, "bad", "bad reaction"),
            chip(corrected, "bad", "corrected"),
            chip(rejected, "bad", "rejected"),
            chip(failed, "unsure", "failed"),
            chip(ok, "good", "good reaction"),
        ];
        // The status says so already, where there is one turn.
        let chips = chips.into_iter().flatten().filter(|(_, text)| text != row.status.1);
        let turns = format!("{} {}", number::count(turns), number::of(turns, "turn", "turns"));
        Self { chips: chips.collect(), turns: Some(turns), ..row }
    }

    /// The row of a turn that was found.
    pub fn of_turn(scope: &Scope, shown: &StoredExchange, filter: &Filter) -> Self {
        let id = shown.conversation.as_ref().map_or("", |id| id.as_str());
        let path = format!("/conversations/{}", encoded(id));
        let turn = encoded(shown.turn.as_str());
        let link = filter.place_link(&path, scope.project.as_str(), &[]);
        Self {
            id: id.to_owned(),
            link: format!("{link}#turn-{turn}"),
            question: line(&shown.opening.text),
            user: shown.user.as_ref().map(ToString::to_string),
            model: shown.completion.as_ref().and_then(|completion| completion.model.clone()),
            when: Moment::minute(shown.ts),
            status: status(shown.standing.status),
            sure: format!("{:.0}%", shown.standing.confidence.get() * 100.0),
            chips: Vec::new(),
            turns: None,
            project: scope.project.to_string(),
        }
    }
}

/// The beginning of a text, on one line.
pub(crate) fn line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().take(LINE).collect();
    let text = words.join(" ");
    match text.char_indices().nth(LINE) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_period_that_is_chosen_can_be_chosen() {
        assert_eq!(periods(7).len(), 5);
        assert_eq!(periods(14)[2], (14, "14 days".to_owned()));
    }

    #[test]
    fn a_line_is_short() {
        assert_eq!(line(" a\n b "), "a b");
        assert_eq!(line(&"é".repeat(100_000)).chars().count(), LINE + 1);
    }
}
