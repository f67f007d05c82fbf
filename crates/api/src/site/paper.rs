//! The report as one file, for people who do not come to the server.

use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use engine::{
    ListOrder, ListQuery, ListedConversation, QualityBucket, QualityQuery, TurnMark, TurnView,
};
use model::Scope;
use web::{Choices, Paper, PaperReadings};

use super::Site;
use super::answer::html;
use super::overview::{readings, stretch};
use super::routing;
use super::trouble::Trouble;
use super::visitor::Visitor;
use crate::error::Problem;

/// Conversations and models in it.
const WORST: usize = 8;
const MODELS: usize = 12;

/// `GET /report`: of one project. What is wrong is told as the API tells it: a command asks for this too.
pub(super) async fn show(State(site): State<Site>, visitor: Visitor) -> Response {
    match file(&site, &visitor).await {
        Ok(answer) => answer,
        Err(Trouble::Other(problem)) => problem.into_response(),
        Err(door @ Trouble::Door(_)) => door.into_response(),
    }
}

async fn file(site: &Site, visitor: &Visitor) -> Result<Response, Trouble> {
    let scope = visitor.scope();
    if let Some(asked) =
        visitor.parameter("project").filter(|asked| *asked != scope.project.as_str())
    {
        let known = Choices::of(visitor.projects().iter().cloned(), None);
        let others =
            known.others("project").map(|others| format!(", {others}")).unwrap_or_default();
        let known = known.names.join(", ");
        let detail =
            format!("project: nothing is stored for {asked}, expected one of {known}{others}");
        return Err(Problem::not_found(detail).into());
    }
    let engine = &site.engine;
    let hours = stretch(visitor.filter().days);
    let query =
        QualityQuery { project: Some(scope.project.clone()), ..visitor.query(engine.now(), hours) };
    let by_day = QualityQuery { bucket_hours: 24, ..query.clone() };
    let of_all = QualityQuery { model: None, prompt: None, ..query.clone() };
    let readings = PaperReadings {
        at: engine.now(),
        failures: engine.insights.failures(by_day).await?,
        worst: worst(site, &scope, &query).await?,
        models: models(site, &query).await?,
        routers: routing::readings(site, &scope, &of_all).await?,
        overview: readings(site, visitor, query).await?,
        scope,
    };
    let name = format!("uptake-{}-{}.html", readings.scope.tenant, readings.scope.project);
    let mut answer = html(&Paper::of(&visitor.shell(site, None), readings));
    let shown = format!("attachment; filename=\"{name}\"");
    if let Ok(shown) = HeaderValue::from_str(&shown) {
        answer.headers_mut().insert(header::CONTENT_DISPOSITION, shown);
    }
    Ok(answer)
}

/// The conversations of which most went wrong.
async fn worst(
    site: &Site,
    scope: &Scope,
    query: &QualityQuery,
) -> Result<Vec<(ListedConversation, TurnView)>, Trouble> {
    let query = ListQuery {
        tenant: scope.tenant.clone(),
        project: Some(scope.project.clone()),
        window: query.window,
        model: query.model.clone(),
        prompt: query.prompt.clone(),
        user: None,
        words: None,
        mark: TurnMark::Trouble,
        behind: None,
        limit: WORST,
    };
    let page = site.engine.insights.list_conversations(query, ListOrder::Worst).await?;
    let mut found = Vec::with_capacity(page.items.len());
    for item in page.items {
        let view = site.engine.turns.load_turn_view(scope, item.shown.turn.clone()).await?;
        found.extend(view.map(|view| (item, view)));
    }
    Ok(found)
}

/// What each model answered in the period, those that answered most first.
async fn models(
    site: &Site,
    query: &QualityQuery,
) -> Result<Vec<(String, QualityBucket)>, Trouble> {
    let mut counts = std::collections::BTreeMap::<String, u64>::new();
    for one in site.engine.insights.answered_by(query.clone()).await? {
        let is_asked = query.model.as_ref().is_none_or(|model| *model == one.model);
        if is_asked && !one.model.is_empty() {
            *counts.entry(one.model).or_default() += one.answered;
        }
    }
    let mut names: Vec<(String, u64)> = counts.into_iter().filter(|(_, many)| *many > 0).collect();
    names.sort_by_key(|(_, many)| std::cmp::Reverse(*many));
    let mut found = Vec::new();
    for (name, _) in names.into_iter().take(MODELS) {
        let by = QualityQuery { model: Some(name.clone()), ..query.clone() };
        found.push((name, report::total(&site.engine.insights.quality(by).await?)));
    }
    Ok(found)
}
