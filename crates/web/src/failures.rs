//! The failures page: failure patterns with examples, lifts and suggestions.

use askama::Template;
use engine::{
    CachedReport, CountedContrast, FailureDirection, FailurePattern, FailureReport, FailureTrend,
    Lift, Suggestion,
};
use model::encode_path_segment;

use crate::chip::Chip;
use crate::display_time::DisplayTime;
use crate::filter::Filter;
use crate::highlight::{HighlightedText, humanize_name};
use crate::layout::PageLayout;
use crate::number_format::{count_noun, format_percent, pluralize};
use crate::overview::{PeriodLink, period_links};
use crate::select_options::SelectOptions;

const MAX_LISTED_TURNS: usize = 30;
const PATTERNS_PER_PAGE: usize = 15;

#[derive(Clone, Debug)]
pub struct PatternCard {
    pub id: String,
    pub label: String,
    pub count: String,
    pub share: String,
    pub percent: u8,
    pub trend: Chip,
    pub error: Option<String>,
    pub examples: Vec<PatternExample>,
    pub lifts: Vec<Lift>,
    pub contrasts: Vec<CountedContrast>,
    pub suggestions: Vec<Suggestion>,
    pub turns: Vec<TurnLink>,
    pub more: usize,
}

#[derive(Clone, Debug)]
pub struct TurnLink {
    pub id: String,
    pub link: String,
}

#[derive(Clone, Debug)]
pub struct PatternExample {
    pub link: String,
    pub question: String,
    pub comment: Option<HighlightedText>,
}

#[derive(Clone, Debug)]
pub struct CorrectedQuestion {
    pub question: String,
    pub corrections: u32,
    /// Empty when no turn is known.
    pub link: String,
}

#[derive(Clone, Debug)]
pub struct PatternList {
    pub negatives: String,
    pub truncated: bool,
    pub at: DisplayTime,
    pub patterns: Vec<PatternCard>,
    pub part: Option<String>,
    pub before: Option<String>,
    pub next: Option<String>,
    pub corrected: Vec<CorrectedQuestion>,
}

#[derive(Debug, Template)]
#[template(path = "failures.html")]
pub struct FailuresPage {
    pub layout: PageLayout,
    pub periods: Vec<PeriodLink>,
    pub models: SelectOptions,
    pub prompts: SelectOptions,
    pub all: String,
    pub found: Option<PatternList>,
    pub is_earlier: bool,
    pub again: String,
    pub form: String,
    pub may_try: bool,
    pub project: String,
}

impl FailuresPage {
    /// `from` is the index of the first pattern on the page.
    pub fn new(
        layout: PageLayout,
        (models, prompts): (SelectOptions, SelectOptions),
        (project, from): (&str, usize),
        known: &CachedReport,
        may_try: bool,
    ) -> Self {
        let filter = layout.filter.clone();
        let (report, is_earlier) = match known {
            CachedReport::Fresh(report) => (Some(report), false),
            CachedReport::Stale(report) => (Some(report), true),
            CachedReport::Pending => (None, false),
        };
        Self {
            periods: period_links(&filter, "/failures"),
            all: filter.place_link("/conversations", project, &[("show", "trouble")]),
            project: project.to_owned(),
            found: report.map(|report| pattern_list(report, &filter, project, from)),
            is_earlier,
            again: filter.link("/failures"),
            form: filter.link("/failures/experiment"),
            models,
            prompts,
            may_try,
            layout,
        }
    }

    /// True while the first analysis is running.
    pub fn is_pending(&self) -> bool {
        self.found.is_none()
    }
}

pub(crate) fn pattern_list(
    report: &FailureReport,
    filter: &Filter,
    project: &str,
    from: usize,
) -> PatternList {
    let link = |turn: &str| turn_link(filter, project, turn);
    let pattern = |found: &FailurePattern| {
        let own = report.suggestions.iter().filter(|one| one.pattern_id == found.id);
        pattern_card(found, own.cloned().collect(), &link)
    };
    let count = report.negatives as u64;
    let (all, from) = (report.patterns.len(), from.min(report.patterns.len()));
    let to = (from + PATTERNS_PER_PAGE).min(all);
    let page = |from: usize| match from {
        0 => filter.link("/failures"),
        from => filter.link_with("/failures", &[("from", &from.to_string())]),
    };
    PatternList {
        negatives: count_noun(count, "turn", "turns"),
        truncated: report.truncated,
        at: DisplayTime::with_minutes(report.at),
        patterns: report.patterns[from..to].iter().map(pattern).collect(),
        part: (to - from < all).then(|| format!("{} to {to} of {all} patterns", from + 1)),
        before: (from > 0).then(|| page(from.saturating_sub(PATTERNS_PER_PAGE))),
        next: (to < all).then(|| page(to)),
        corrected: report
            .most_corrected
            .iter()
            .map(|one| CorrectedQuestion {
                question: one.query.clone(),
                corrections: one.corrections,
                link: one.turns.first().map_or_else(String::new, |turn| link(turn)),
            })
            .collect(),
    }
}

/// The link to a turn, which redirects to its conversation.
pub(crate) fn turn_link(filter: &Filter, project: &str, turn: &str) -> String {
    filter.place_link(&format!("/turns/{}", encode_path_segment(turn)), project, &[])
}

fn pattern_card(
    found: &FailurePattern,
    suggestions: Vec<Suggestion>,
    link: &dyn Fn(&str) -> String,
) -> PatternCard {
    PatternCard {
        id: found.id.clone(),
        label: found.label.replace('_', " "),
        count: format!("{} {}", found.count, pluralize(found.count.into(), "turn", "turns")),
        share: format_percent(found.share),
        percent: (found.share * 100.0).round() as u8,
        trend: trend_chip(found.trend),
        error: found.error_type.as_deref().map(humanize_name),
        examples: found
            .examples
            .iter()
            .map(|one| PatternExample {
                link: link(&one.turn_id),
                question: crate::conversations::truncate_to_line(&one.question),
                comment: one.remark.as_deref().map(HighlightedText::plain),
            })
            .collect(),
        lifts: found.lifts.clone(),
        contrasts: found.contrasts.clone(),
        turns: found
            .turns
            .iter()
            .take(MAX_LISTED_TURNS)
            .map(|turn| TurnLink { id: turn.clone(), link: link(turn) })
            .collect(),
        more: found.turns.len().saturating_sub(MAX_LISTED_TURNS),
        suggestions,
    }
}

/// A pattern without earlier turns is `new`, whatever its direction.
fn trend_chip(trend: FailureTrend) -> Chip {
    let class = match trend.direction {
        FailureDirection::Rising => "bad",
        FailureDirection::Falling => "good",
        FailureDirection::Steady => "none",
    };
    let words = match trend.before {
        0 => "new".to_owned(),
        before => format!("{}, {before} before", trend.direction.as_word()),
    };
    Chip::new(class, words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::View;

    #[test]
    fn pattern_without_earlier_turns_is_new() {
        let rows = [
            (3_u32, 0_u32, FailureDirection::Steady, ("none", "new")),
            (9, 0, FailureDirection::Rising, ("bad", "new")),
            (9, 2, FailureDirection::Rising, ("bad", "rising, 2 before")),
            (3, 4, FailureDirection::Steady, ("none", "steady, 4 before")),
            (0, 8, FailureDirection::Falling, ("good", "falling, 8 before")),
        ];
        for (now, before, direction, (class, words)) in rows {
            let difference = i64::from(now) - i64::from(before);
            let chip = trend_chip(FailureTrend { now, before, difference, direction });
            assert_eq!(chip, Chip::new(class, words));
        }
    }

    #[test]
    fn pending_analysis_is_not_shown_as_no_patterns() {
        let none = (SelectOptions::default(), SelectOptions::default());
        let layout = PageLayout::test_layout(View::Failures);
        let page = FailuresPage::new(layout, none, ("default", 0), &CachedReport::Pending, true);
        assert!(page.is_pending());
        let page = page.to_string();
        assert!(page.contains("Finding failure patterns"));
        assert!(!page.contains("No failure patterns") && !page.contains("with problems ·"));
    }

    #[test]
    fn page_hints_at_omitted_options() {
        let cut = |left_out| SelectOptions { names: vec!["a".to_owned()], left_out };
        let layout = PageLayout {
            projects: cut(7),
            may_choose_project: true,
            ..PageLayout::test_layout(View::Failures)
        };
        let place = ("default", 0);
        let page = FailuresPage::new(layout, (cut(8), cut(0)), place, &CachedReport::Pending, true);
        let page = page.to_string();
        assert!(page.contains("7 more, selectable with project= in the URL"), "{page}");
        assert!(page.contains("8 more, selectable with model= in the URL"), "{page}");
        assert!(!page.contains("prompt= in the URL"), "{page}");
    }
}
