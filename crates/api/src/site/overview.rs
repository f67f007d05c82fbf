//! The overview page.

use std::collections::BTreeSet;

use axum::extract::State;
use engine::QualityQuery;
use web::{OverviewInput, OverviewPage, SelectOptions, View};

use super::Site;
use super::page_response::{PageError, PageResult, html_page};
use super::visitor::Visitor;

const MAX_ALERTS: usize = 20;

pub(super) async fn show_overview(State(site): State<Site>, visitor: Visitor) -> PageResult {
    let query = visitor.query(site.engine.now(), bucket_hours(visitor.filter().days));
    let readings = load_readings(&site, &visitor, query).await?;
    Ok(html_page(&OverviewPage::new(visitor.shell(&site, Some(View::Overview)), readings)))
}

/// Loads the data for the metrics of a period.
pub(super) async fn load_readings(
    site: &Site,
    visitor: &Visitor,
    query: QualityQuery,
) -> Result<OverviewInput, PageError> {
    let engine = &site.engine;
    let buckets = engine.insights.quality(query.clone()).await?;
    let before = engine.insights.quality_before(query.clone()).await?;
    let (models, prompts) = load_choices(site, &query).await?;
    Ok(OverviewInput {
        buckets,
        bucket_hours: query.bucket_hours,
        before,
        window: query.window,
        targets: engine.insights.tenant_targets(&visitor.tenant),
        alerts: engine.insights.alerts(&visitor.tenant, query.project.as_ref(), MAX_ALERTS).await?,
        models,
        prompts,
        is_empty: !visitor.has_data(),
    })
}

/// Bucket size that gives a chart about thirty points.
pub(super) fn bucket_hours(days: u32) -> u32 {
    match days {
        0..=2 => 1,
        3..=10 => 6,
        11..=120 => 24,
        _ => 168,
    }
}

/// Models and prompts of the period, regardless of the current selection.
pub(super) async fn load_choices(
    site: &Site,
    query: &QualityQuery,
) -> Result<(SelectOptions, SelectOptions), PageError> {
    let all = QualityQuery { model: None, prompt: None, ..query.clone() };
    let found = site.engine.insights.answered_by(all).await?;
    let names = |names: BTreeSet<&String>, chosen: &Option<String>| {
        let names = names.into_iter().filter(|name| !name.is_empty()).cloned();
        SelectOptions::new(names, chosen.as_deref())
    };
    let models = names(found.iter().map(|one| &one.model).collect(), &query.model);
    let prompts = names(found.iter().map(|one| &one.prompt).collect(), &query.prompt);
    Ok((models, prompts))
}
