//! The first page.

use std::collections::BTreeSet;

use axum::extract::State;
use axum::response::Response;
use engine::QualityQuery;
use web::{Choices, Overview, Readings, View};

use super::Site;
use super::answer::html;
use super::trouble::Trouble;
use super::visitor::Visitor;

/// Alerts that are looked at.
const ALERTS: usize = 20;

/// `GET /`
pub(super) async fn show(State(site): State<Site>, visitor: Visitor) -> Result<Response, Trouble> {
    let query = visitor.query(site.engine.now(), stretch(visitor.filter().days));
    let readings = readings(&site, &visitor, query).await?;
    Ok(html(&Overview::of(visitor.shell(&site, Some(View::Overview)), readings)))
}

/// What the figures of a period are made of.
pub(super) async fn readings(
    site: &Site,
    visitor: &Visitor,
    query: QualityQuery,
) -> Result<Readings, Trouble> {
    let engine = &site.engine;
    let buckets = engine.insights.quality(query.clone()).await?;
    let before = engine.insights.quality_before(query.clone()).await?;
    let (models, prompts) = choices(site, &query).await?;
    Ok(Readings {
        buckets,
        bucket_hours: query.bucket_hours,
        before,
        window: query.window,
        targets: engine.insights.tenant_targets(visitor.tenant()),
        alerts: engine.insights.alerts(visitor.tenant(), query.project.as_ref(), ALERTS).await?,
        models,
        prompts,
        is_empty: !visitor.has_data(),
    })
}

/// Hours that are put together, so that a chart has some thirty stretches.
pub(super) fn stretch(days: u32) -> u32 {
    match days {
        0..=2 => 1,
        3..=10 => 6,
        11..=120 => 24,
        _ => 168,
    }
}

/// What can be chosen: models and prompts of the period, whatever is chosen now.
pub(super) async fn choices(
    site: &Site,
    query: &QualityQuery,
) -> Result<(Choices, Choices), Trouble> {
    let all = QualityQuery { model: None, prompt: None, ..query.clone() };
    let found = site.engine.insights.answered_by(all).await?;
    let names = |names: BTreeSet<&String>, chosen: &Option<String>| {
        let names = names.into_iter().filter(|name| !name.is_empty()).cloned();
        Choices::of(names, chosen.as_deref())
    };
    let models = names(found.iter().map(|one| &one.model).collect(), &query.model);
    let prompts = names(found.iter().map(|one| &one.prompt).collect(), &query.prompt);
    Ok((models, prompts))
}
