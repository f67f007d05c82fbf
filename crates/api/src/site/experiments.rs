//! The experiments page.

use axum::extract::{Path, State};
use engine::experiment::LifecycleAction;
use engine::{EngineError, ExperimentView};
use model::{ExperimentId, Position, Scope};
use web::{ExperimentCard, ExperimentsPage, View};

use super::Site;
use super::form::SubmittedForm;
use super::login::redirect_to;
use super::page_response::{PageResult, html_page};
use super::visitor::Visitor;
use crate::error::{Problem, quote};
use crate::params;

const PAGE_EXPERIMENTS: usize = 20;
/// Definitions read per query.
const BATCH_ROWS: usize = 500;

pub(super) async fn show_experiments(State(site): State<Site>, visitor: Visitor) -> PageResult {
    let scope = visitor.scope();
    let before = visitor.parameter("before").map(str::parse).transpose();
    let bad =
        |_| Problem::invalid("before", "before is invalid, expected the cursor of an earlier page");
    let before: Option<u64> = before.map_err(bad)?;
    let (found, last) =
        newest_page(load_experiments(&site, &scope).await?, |view| view.position.0, before);
    let project = scope.project.as_str();
    let mut trials = Vec::with_capacity(found.len());
    for view in &found {
        let (view, results) = site.engine.experiments.experiment_results(&scope, &view.id).await?;
        let days = site.engine.experiments.experiment_sequence(&scope, &view).await?;
        trials.push(ExperimentCard::new(
            &view,
            &results,
            days.as_deref(),
            visitor.filter(),
            project,
        ));
    }
    let next = |last: u64| visitor.link("/experiments", &[("before", &last.to_string())]);
    Ok(html_page(&ExperimentsPage {
        project: project.to_owned(),
        next: last.map(next),
        may_act: visitor.may_manage(),
        layout: visitor.shell(&site, Some(View::Experiments)),
        trials,
    }))
}

/// Loads all experiments of a project, oldest first.
async fn load_experiments(site: &Site, scope: &Scope) -> Result<Vec<ExperimentView>, EngineError> {
    let (mut found, mut after) = (Vec::new(), Position(0));
    loop {
        let some = site.engine.experiments.list_experiments(scope, after, BATCH_ROWS).await?;
        let Some(last) = some.last() else { return Ok(found) };
        after = last.position;
        found.extend(some);
    }
}

/// Returns a page of the newest before a position, and the cursor of the next page.
fn newest_page<T>(
    mut all: Vec<T>,
    position: impl Fn(&T) -> u64,
    before: Option<u64>,
) -> (Vec<T>, Option<u64>) {
    all.retain(|one| before.is_none_or(|before| position(one) < before));
    all.reverse();
    let is_more = all.len() > PAGE_EXPERIMENTS;
    all.truncate(PAGE_EXPERIMENTS);
    let last = all.last().filter(|_| is_more).map(&position);
    (all, last)
}

pub(super) async fn act_on_experiment(
    State(site): State<Site>,
    Path((id, word)): Path<(String, String)>,
    posted: SubmittedForm,
) -> PageResult {
    let SubmittedForm { visitor, .. } = posted.require_manager()?;
    let id = params::parse_segment("id", id, ExperimentId::new)?;
    let unknown = || Problem::not_found(format!("action {} not found", quote(&word)));
    let action = LifecycleAction::from_word(&word).ok_or_else(unknown)?;
    site.engine.experiments.apply_action(&visitor.scope(), &id, action, None).await?;
    Ok(redirect_to(&visitor.link("/experiments", &[("done", "moved")])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newest_page_lists_newest_first_with_a_cursor() {
        let all: Vec<u64> = (1..=45).collect();
        let down = |from: u64, to: u64| -> Vec<u64> { (from..=to).rev().collect() };
        let rows = [
            (None, down(26, 45), Some(26)),
            (Some(26), down(6, 25), Some(6)),
            (Some(6), down(1, 5), None),
            (Some(1), Vec::new(), None),
        ];
        for (before, expected, next) in rows {
            assert_eq!(newest_page(all.clone(), |position| *position, before), (expected, next));
        }
    }
}
