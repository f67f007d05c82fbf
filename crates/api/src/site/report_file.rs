//! The report as a self-contained HTML file.

use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use engine::{ListOrder, ListedConversation, QualityBucket, QualityQuery, TurnMark, TurnView};
use model::Scope;
use web::{ReportFile, ReportFileInput, SelectOptions};

use super::Site;
use super::overview::{bucket_hours, load_readings};
use super::page_response::{PageError, PageResult, html_page};
use super::routing;
use super::visitor::{Visitor, list_query};
use crate::error::Problem;

const MAX_CONVERSATIONS: usize = 8;
const MAX_MODELS: usize = 12;

/// `GET /report`: errors are problem responses, because the command line uses this route too.
pub(super) async fn show_report(State(site): State<Site>, visitor: Visitor) -> Response {
    match build_report(&site, &visitor).await {
        Ok(response) => response,
        Err(PageError::Problem(problem)) => problem.into_response(),
        Err(error @ PageError::LoginRequired(_)) => error.into_response(),
    }
}

async fn build_report(site: &Site, visitor: &Visitor) -> PageResult {
    let scope = visitor.scope();
    if let Some(asked) =
        visitor.parameter("project").filter(|asked| *asked != scope.project.as_str())
    {
        let known = SelectOptions::new(visitor.projects.iter().cloned(), None);
        let others =
            known.omitted_hint("project").map(|others| format!(", {others}")).unwrap_or_default();
        let known = known.names.join(", ");
        let detail = format!("project {asked} not found, expected one of {known}{others}");
        return Err(Problem::not_found(detail).into());
    }
    let engine = &site.engine;
    let hours = bucket_hours(visitor.filter().days);
    let query =
        QualityQuery { project: Some(scope.project.clone()), ..visitor.query(engine.now(), hours) };
    let by_day = QualityQuery { bucket_hours: 24, ..query.clone() };
    let unfiltered = QualityQuery { model: None, prompt: None, ..query.clone() };
    let readings = ReportFileInput {
        at: engine.now(),
        failures: engine.insights.failure_report(by_day).await?,
        worst: load_worst(site, &scope, &query).await?,
        models: load_models(site, &query).await?,
        routers: routing::load_readings(site, &scope, &unfiltered).await?,
        overview: load_readings(site, visitor, query).await?,
        scope,
    };
    let name = format!("uptake-{}-{}.html", readings.scope.tenant, readings.scope.project);
    let mut response = html_page(&ReportFile::new(&visitor.shell(site, None), readings));
    let disposition = format!("attachment; filename=\"{name}\"");
    if let Ok(value) = HeaderValue::from_str(&disposition) {
        response.headers_mut().insert(header::CONTENT_DISPOSITION, value);
    }
    Ok(response)
}

/// Loads the conversations with the most failures.
async fn load_worst(
    site: &Site,
    scope: &Scope,
    query: &QualityQuery,
) -> Result<Vec<(ListedConversation, TurnView)>, PageError> {
    let query = list_query(query.clone(), TurnMark::Trouble, MAX_CONVERSATIONS);
    let page = site.engine.insights.list_conversations(query, ListOrder::Worst).await?;
    let mut found = Vec::with_capacity(page.items.len());
    for item in page.items {
        let view = site.engine.turns.load_turn_view(scope, item.shown.turn.clone()).await?;
        found.extend(view.map(|view| (item, view)));
    }
    Ok(found)
}

/// Loads the metrics of each model, most answers first.
async fn load_models(
    site: &Site,
    query: &QualityQuery,
) -> Result<Vec<(String, QualityBucket)>, PageError> {
    let mut counts = std::collections::BTreeMap::<String, u64>::new();
    for one in site.engine.insights.answered_by(query.clone()).await? {
        let is_asked = query.model.as_ref().is_none_or(|model| *model == one.model);
        if is_asked && !one.model.is_empty() {
            *counts.entry(one.model).or_default() += one.answered;
        }
    }
    let mut names: Vec<(String, u64)> =
        counts.into_iter().filter(|(_, answers)| *answers > 0).collect();
    names.sort_by_key(|(_, answers)| std::cmp::Reverse(*answers));
    let mut found = Vec::new();
    for (name, _) in names.into_iter().take(MAX_MODELS) {
        let by = QualityQuery { model: Some(name.clone()), ..query.clone() };
        found.push((name, engine::report::sum_buckets(&site.engine.insights.quality(by).await?)));
    }
    Ok(found)
}
