//! What goes wrong, in patterns: examples, what is over-represented, and what might help.

use askama::Template;
use engine::{
    CachedReport, FailureDirection, FailurePattern, FailureReport, FailureTrend, Lift, Suggestion,
};

use crate::choices::Choices;
use crate::filter::{Filter, encoded};
use crate::marked::Said;
use crate::moment::Moment;
use crate::number;
use crate::overview::{Period, periods};
use crate::shell::Shell;

/// Turns of a pattern that are named.
const TURNS: usize = 30;
/// Patterns on a page.
const PAGE: usize = 15;

/// Turns that went wrong in the same way.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// For anchors and forms.
    pub id: String,
    /// What people call it.
    pub label: String,
    /// How many, in words.
    pub count: String,
    /// Of all that went wrong, as a percentage.
    pub share: String,
    /// The same from 0 to 100.
    pub percent: u8,
    /// Against before: a class and words.
    pub trend: (&'static str, String),
    /// The kind of error they all have.
    pub error: Option<String>,
    /// Examples, with where each is.
    pub examples: Vec<Example>,
    /// What is over-represented.
    pub lifts: Vec<Over>,
    /// What was wanted instead of what, and how often.
    pub contrasts: Vec<(Option<String>, Option<String>, u32)>,
    /// What might help.
    pub suggestions: Vec<Help>,
    /// All turns: an id and where it is.
    pub turns: Vec<(String, String)>,
    /// How many more there are.
    pub more: usize,
}

/// A turn that is typical.
#[derive(Clone, Debug)]
pub struct Example {
    /// Where it is.
    pub link: String,
    /// What was asked.
    pub question: String,
    /// What was said of the answer.
    pub said: Option<Said>,
}

/// Something that is more frequent here than elsewhere.
#[derive(Clone, Debug)]
pub struct Over {
    /// Model, prompt or strategy.
    pub by: &'static str,
    /// Which.
    pub value: String,
    /// How many times.
    pub times: String,
    /// With 95% certainty.
    pub interval: String,
}

/// An instruction that might help.
#[derive(Clone, Debug)]
pub struct Help {
    /// What to put into the prompt.
    pub instruction: String,
    /// What it was concluded from.
    pub why: String,
    /// How many agree.
    pub support: String,
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Found {
    /// How many turns went wrong.
    pub negatives: String,
    /// There were more than were looked at.
    pub truncated: bool,
    /// When it was found out.
    pub at: Moment,
    /// The patterns of this page, the largest first.
    pub patterns: Vec<Pattern>,
    /// Which of how many these are, where there are more.
    pub part: Option<String>,
    /// Where larger ones are.
    pub before: Option<String>,
    /// Where smaller ones are.
    pub next: Option<String>,
    /// Questions whose answers were corrected most: words, how often, where.
    pub corrected: Vec<(String, u32, String)>,
}

/// The page.
#[derive(Debug, Template)]
#[template(path = "failures.html")]
pub struct Failures {
    /// The frame.
    pub shell: Shell,
    /// Periods to choose from.
    pub periods: Vec<Period>,
    /// Models to choose from.
    pub models: Choices,
    /// Prompts to choose from.
    pub prompts: Choices,
    /// All turns that went wrong.
    pub all: String,
    /// What was found; nothing while it is looked for the first time.
    pub found: Option<Found>,
    /// Newer patterns than these are being looked for.
    pub is_earlier: bool,
    /// This page, to look again.
    pub again: String,
    /// Where a form for an experiment goes.
    pub form: String,
    /// Whether the visitor may start experiments.
    pub may_try: bool,
    /// Of which project: what is concluded belongs to one.
    pub project: String,
}

impl Failures {
    /// The page out of what is known, with patterns from one of them on.
    pub fn of(
        shell: Shell,
        (models, prompts): (Choices, Choices),
        (project, from): (&str, usize),
        known: &CachedReport,
        may_try: bool,
    ) -> Self {
        let filter = shell.filter.clone();
        let (report, is_earlier) = match known {
            CachedReport::Fresh(report) => (Some(report), false),
            CachedReport::Stale(report) => (Some(report), true),
            CachedReport::Pending => (None, false),
        };
        Self {
            periods: periods(&filter, "/failures"),
            all: filter.place_link("/conversations", project, &[("show", "trouble")]),
            project: project.to_owned(),
            found: report.map(|report| found_of(report, &filter, project, from)),
            is_earlier,
            again: filter.link("/failures"),
            form: filter.link("/failures/experiment"),
            models,
            prompts,
            may_try,
            shell,
        }
    }

    /// Whether there is nothing to show yet.
    pub fn is_sought(&self) -> bool {
        self.found.is_none()
    }
}

/// The patterns of a report from one of them on.
pub(crate) fn found_of(
    report: &FailureReport,
    filter: &Filter,
    project: &str,
    from: usize,
) -> Found {
    let link = |turn: &str| turn_link(filter, project, turn);
    let pattern = |found: &FailurePattern| {
        let own = report.suggestions.iter().filter(|one| one.pattern_id == found.id);
        pattern_of(found, own.map(help_of).collect(), &link)
    };
    let count = report.negatives as u64;
    let (all, from) = (report.patterns.len(), from.min(report.patterns.len()));
    let to = (from + PAGE).min(all);
    let page = |from: usize| match from {
        0 => filter.link("/failures"),
        from => filter.link_with("/failures", &[("from", &from.to_string())]),
    };
    Found {
        negatives: format!("{} {}", number::count(count), number::of(count, "turn", "turns")),
        truncated: report.truncated,
        at: Moment::minute(report.at),
        patterns: report.patterns[from..to].iter().map(pattern).collect(),
        part: (to - from < all).then(|| format!("{} to {to} of {all} patterns", from + 1)),
        before: (from > 0).then(|| page(from.saturating_sub(PAGE))),
        next: (to < all).then(|| page(to)),
        corrected: report
            .most_corrected
            .iter()
            .map(|one| {
                let place = one.turns.first().map_or_else(String::new, |turn| link(turn));
                (one.query.clone(), one.corrections, place)
            })
            .collect(),
    }
}

/// Where a turn is, wherever its conversation is.
pub(crate) fn turn_link(filter: &Filter, project: &str, turn: &str) -> String {
    filter.place_link(&format!("/turns/{}", encoded(turn)), project, &[])
}

fn pattern_of(
    found: &FailurePattern,
    suggestions: Vec<Help>,
    link: &dyn Fn(&str) -> String,
) -> Pattern {
    Pattern {
        id: found.id.clone(),
        label: found.label.replace('_', " "),
        count: format!("{} {}", found.count, number::of(found.count.into(), "turn", "turns")),
        share: number::percent(found.share),
        percent: (found.share * 100.0).round() as u8,
        trend: trend_of(found.trend),
        error: found.error_type.as_deref().map(crate::marked::words),
        examples: found
            .examples
            .iter()
            .map(|one| Example {
                link: link(&one.turn_id),
                question: crate::conversations::line(&one.question),
                said: one.remark.as_deref().map(Said::plain),
            })
            .collect(),
        lifts: found.lifts.iter().map(over).collect(),
        contrasts: found
            .contrasts
            .iter()
            .map(|one| (one.wants.clone(), one.instead_of.clone(), one.count))
            .collect(),
        turns: found.turns.iter().take(TURNS).map(|turn| (turn.clone(), link(turn))).collect(),
        more: found.turns.len().saturating_sub(TURNS),
        suggestions,
    }
}

/// A class and words. Whether none before is more than chance or not: there was none.
fn trend_of(trend: FailureTrend) -> (&'static str, String) {
    let class = match trend.direction {
        FailureDirection::Rising => "bad",
        FailureDirection::Falling => "good",
        FailureDirection::Steady => "none",
    };
    let words = match trend.before {
        0 => "new".to_owned(),
        before => format!("{}, {before} before", trend.direction.as_word()),
    };
    (class, words)
}

fn over(lift: &Lift) -> Over {
    let [low, high] = lift.interval;
    Over {
        by: lift.dimension.as_word(),
        value: lift.value.clone(),
        times: format!("{:.1}×", lift.lift),
        interval: format!("{low:.1}–{high:.1}×"),
    }
}

fn help_of(found: &Suggestion) -> Help {
    Help {
        instruction: found.instruction.clone(),
        why: found.why.clone(),
        support: format!("{} of {} agree", found.agree, found.total),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::View;

    #[test]
    fn a_pattern_that_was_not_there_before_is_new_and_not_steady() {
        let rows = [
            (3_u32, 0_u32, FailureDirection::Steady, ("none", "new")),
            (9, 0, FailureDirection::Rising, ("bad", "new")),
            (9, 2, FailureDirection::Rising, ("bad", "rising, 2 before")),
            (3, 4, FailureDirection::Steady, ("none", "steady, 4 before")),
            (0, 8, FailureDirection::Falling, ("good", "falling, 8 before")),
        ];
        for (now, before, direction, (class, words)) in rows {
            let difference = i64::from(now) - i64::from(before);
            let told = trend_of(FailureTrend { now, before, difference, direction });
            assert_eq!(told, (class, words.to_owned()));
        }
    }

    #[test]
    fn while_patterns_are_looked_for_the_page_says_so_and_not_that_there_are_none() {
        let none = (Choices::default(), Choices::default());
        let shell = Shell::around(View::Failures);
        let page = Failures::of(shell, none, ("default", 0), &CachedReport::Pending, true);
        assert!(page.is_sought());
        let page = page.to_string();
        assert!(page.contains("Patterns are being looked for"));
        assert!(!page.contains("No pattern among") && !page.contains("went wrong ·"));
    }

    #[test]
    fn a_page_says_what_is_not_on_its_lists() {
        let cut = |left_out| Choices { names: vec!["a".to_owned()], left_out };
        let shell =
            Shell { projects: cut(7), may_choose_project: true, ..Shell::around(View::Failures) };
        let place = ("default", 0);
        let page = Failures::of(shell, (cut(8), cut(0)), place, &CachedReport::Pending, true);
        let page = page.to_string();
        assert!(page.contains("and 7 more, by project= in the address"), "{page}");
        assert!(page.contains("and 8 more, by model= in the address"), "{page}");
        assert!(!page.contains("prompt= in the address"), "{page}");
    }
}
