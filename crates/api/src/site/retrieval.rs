//! What was retrieved.

use axum::extract::State;
use axum::response::Response;
use engine::{Estimator, Extreme};
use model::Scope;
use web::{Item, Retrieval, View};

use super::Site;
use super::answer::html;
use super::trouble::Trouble;
use super::visitor::Visitor;

/// Items of each sort.
const MOST: usize = 25;

/// `GET /retrieval`
pub(super) async fn show(State(site): State<Site>, visitor: Visitor) -> Result<Response, Trouble> {
    let scope = visitor.scope();
    let helpful = items(&site, &scope, Extreme::Helpful).await?;
    let ignored = items(&site, &scope, Extreme::Ignored).await?;
    let shell = visitor.shell(&site, Some(View::Retrieval));
    Ok(html(&Retrieval::of(shell, scope.project.as_str(), helpful, ignored)))
}

async fn items(site: &Site, scope: &Scope, which: Extreme) -> Result<Vec<Item>, Trouble> {
    let found = site.engine.retrieval.list_extreme_entities(scope, which, MOST).await?;
    let results: Vec<(String, f64)> =
        found.iter().map(|stats| (stats.entity_id.clone(), 1.0)).collect();
    let ranked =
        site.engine.retrieval.rerank_results(scope, None, &results, Estimator::Seed).await?;
    let mut multipliers = vec![1.0; found.len()];
    for one in ranked {
        multipliers[one.index] = one.multiplier.value;
    }
    Ok(found.iter().zip(multipliers).map(|(stats, by)| Item::of(stats, by)).collect())
}
