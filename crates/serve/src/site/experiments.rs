//! Experiments, and what is done with them.

use axum::extract::{Path, State};
use axum::response::Response;
use event::{ExperimentId, Position};
use flow::experiment::Action;
use pages::{Experiments, Trial, View};

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

/// `GET /experiments`
pub(super) async fn show(State(site): State<Site>, visitor: Visitor) -> Result<Response, Trouble> {
    let scope = visitor.scope();
    let after = visitor.parameter("after").map(str::parse).transpose();
    let bad = |_| Problem::invalid("after", "after: expected the end of an earlier page");
    let after = address::position("after", after.map_err(bad)?)?;
    let found = site.engine.experiments(&scope, after, PAGE).await?;
    let project = scope.project.as_str();
    let mut trials = Vec::with_capacity(found.len());
    for view in found.iter().rev() {
        let (view, results) = site.engine.experiment_results(&scope, &view.id).await?;
        let days = site.engine.experiment_sequence(&scope, &view).await?;
        trials.push(Trial::of(&view, &results, days.as_deref(), visitor.filter(), project));
    }
    let last =
        found.last().filter(|_| found.len() == PAGE).map_or(Position(0), |last| last.position);
    let next = |last: Position| {
        visitor.filter().place_link("/experiments", project, &[("after", &last.to_string())])
    };
    Ok(html(&Experiments {
        project: project.to_owned(),
        next: (last.0 > 0).then(|| next(last)),
        may_act: visitor.may_manage(),
        shell: visitor.shell(&site, Some(View::Experiments)),
        trials,
    }))
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
    site.engine.act_on_experiment(&scope, &id, action, None).await?;
    let project = scope.project.as_str();
    Ok(to(&visitor.filter().place_link("/experiments", project, &[("done", "moved")])))
}
