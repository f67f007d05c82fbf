//! Experiments, and what is done with them.

use axum::extract::{Path, State};
use axum::response::Response;
use engine::experiment::Action;
use engine::{ExperimentView, FlowError};
use model::{ExperimentId, Position, Scope};
use web::{Experiments, Trial, View};

use super::Site;
use super::answer::html;
use super::door::to;
use super::posted::Posted;
use super::trouble::Trouble;
use super::visitor::Visitor;
use crate::address;
use crate::error::Problem;

/// Experiments on a page.
const PAGE: usize = 20;
/// Definitions that are read together.
const STRETCH: usize = 500;

/// `GET /experiments`
pub(super) async fn show(State(site): State<Site>, visitor: Visitor) -> Result<Response, Trouble> {
    let scope = visitor.scope();
    let before = visitor.parameter("before").map(str::parse).transpose();
    let bad = |_| Problem::invalid("before", "before: expected the end of an earlier page");
    let before: Option<u64> = before.map_err(bad)?;
    let (found, last) = newest(all(&site, &scope).await?, |view| view.position.0, before);
    let project = scope.project.as_str();
    let mut trials = Vec::with_capacity(found.len());
    for view in &found {
        let (view, results) = site.engine.experiments.experiment_results(&scope, &view.id).await?;
        let days = site.engine.experiments.experiment_sequence(&scope, &view).await?;
        trials.push(Trial::of(&view, &results, days.as_deref(), visitor.filter(), project));
    }
    let next = |last: u64| {
        visitor.filter().place_link("/experiments", project, &[("before", &last.to_string())])
    };
    Ok(html(&Experiments {
        project: project.to_owned(),
        next: last.map(next),
        may_act: visitor.may_manage(),
        shell: visitor.shell(&site, Some(View::Experiments)),
        trials,
    }))
}

/// Those of a project, in the order in which they were defined.
async fn all(site: &Site, scope: &Scope) -> Result<Vec<ExperimentView>, FlowError> {
    let (mut found, mut after) = (Vec::new(), Position(0));
    loop {
        let some = site.engine.experiments.list_experiments(scope, after, STRETCH).await?;
        let Some(last) = some.last() else { return Ok(found) };
        after = last.position;
        found.extend(some);
    }
}

/// A page of the newest before a place, and from where the next one goes on.
fn newest<T>(
    mut all: Vec<T>,
    place: impl Fn(&T) -> u64,
    before: Option<u64>,
) -> (Vec<T>, Option<u64>) {
    all.retain(|one| before.is_none_or(|before| place(one) < before));
    all.reverse();
    let is_more = all.len() > PAGE;
    all.truncate(PAGE);
    let last = all.last().filter(|_| is_more).map(&place);
    (all, last)
}

/// `POST /experiments/{id}/{action}`
pub(super) async fn act(
    State(site): State<Site>,
    Path((id, word)): Path<(String, String)>,
    posted: Posted,
) -> Result<Response, Trouble> {
    let Posted { visitor, .. } = posted.by_a_manager()?;
    let id = address::id("id", id, ExperimentId::new)?;
    let unknown = || Problem::not_found("there is nothing at this address");
    let action = Action::from_word(&word).ok_or_else(unknown)?;
    let scope = visitor.scope();
    site.engine.experiments.apply_action(&scope, &id, action, None).await?;
    let project = scope.project.as_str();
    Ok(to(&visitor.filter().place_link("/experiments", project, &[("done", "moved")])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_are_on_the_first_page() {
        let all: Vec<u64> = (1..=45).collect();
        let down = |from: u64, to: u64| -> Vec<u64> { (from..=to).rev().collect() };
        let rows = [
            (None, down(26, 45), Some(26)),
            (Some(26), down(6, 25), Some(6)),
            (Some(6), down(1, 5), None),
            (Some(1), Vec::new(), None),
        ];
        for (before, expected, next) in rows {
            assert_eq!(newest(all.clone(), |place| *place, before), (expected, next));
        }
    }
}
