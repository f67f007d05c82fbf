//! The retrieval page.

use axum::extract::State;
use engine::{Estimator, Extreme};
use model::Scope;
use web::{RetrievalPage, RetrievedItem, View};

use super::Site;
use super::page_response::{PageError, PageResult, html_page};
use super::visitor::Visitor;

/// Items per list.
const MAX_ITEMS: usize = 25;

pub(super) async fn show_retrieval(State(site): State<Site>, visitor: Visitor) -> PageResult {
    let scope = visitor.scope();
    let helpful = load_items(&site, &scope, Extreme::Helpful).await?;
    let ignored = load_items(&site, &scope, Extreme::Ignored).await?;
    let shell = visitor.shell(&site, Some(View::Retrieval));
    Ok(html_page(&RetrievalPage::new(shell, scope.project.as_str(), helpful, ignored)))
}

async fn load_items(
    site: &Site,
    scope: &Scope,
    which: Extreme,
) -> Result<Vec<RetrievedItem>, PageError> {
    let found = site.engine.retrieval.list_extreme_entities(scope, which, MAX_ITEMS).await?;
    let results: Vec<(String, f64)> =
        found.iter().map(|stats| (stats.entity_id.clone(), 1.0)).collect();
    let ranked =
        site.engine.retrieval.rerank_results(scope, None, &results, Estimator::Seed).await?;
    let mut multipliers = vec![1.0; found.len()];
    for one in ranked {
        multipliers[one.index] = one.multiplier.value;
    }
    Ok(found.iter().zip(multipliers).map(|(stats, by)| RetrievedItem::new(stats, by)).collect())
}
