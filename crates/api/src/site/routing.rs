//! The routing page.

use std::collections::{BTreeMap, HashMap};

use axum::extract::State;
use engine::{KindFilter, QualityQuery};
use model::{Body, Finding, Position, RouterChoice, Scope, Source, Timestamp, Type};
use serde_json::json;
use web::{RouterInput, RoutingPage, View};

use super::Site;
use super::overview::bucket_hours;
use super::page_response::{PageError, PageResult, html_page};
use super::visitor::Visitor;

const MAX_ROUTERS: usize = 10;
const MAX_ARMS: usize = 12;
/// Choices shown per router. They are searched in the newest `PAGE_EVENTS * MAX_PAGES` findings.
const MAX_CHOICES: usize = 30;
const PAGE_EVENTS: usize = 250;
const MAX_PAGES: usize = 8;

pub(super) async fn show_routing(State(site): State<Site>, visitor: Visitor) -> PageResult {
    let scope = visitor.scope();
    let hours = bucket_hours(visitor.filter().days);
    let query = QualityQuery {
        project: Some(scope.project.clone()),
        model: None,
        prompt: None,
        ..visitor.query(site.engine.now(), hours)
    };
    let readings = load_readings(&site, &scope, &query).await?;
    let shell = visitor.shell(&site, Some(View::Routing));
    Ok(html_page(&RoutingPage::new(shell, scope.project.as_str(), query.window, hours, &readings)))
}

/// Loads the routers of a project with the answers of their arms.
pub(super) async fn load_readings(
    site: &Site,
    scope: &Scope,
    query: &QualityQuery,
) -> Result<Vec<RouterInput>, PageError> {
    let names = site.engine.routing.list_router_names(scope);
    let choices =
        if names.is_empty() { Vec::new() } else { load_choices(site, scope, &names).await? };
    let mut by_model: HashMap<String, BTreeMap<i64, u64>> = HashMap::new();
    for (model, hour, answered) in site.engine.insights.answers_over_time(query.clone()).await? {
        by_model.entry(model).or_default().insert(hour, answered);
    }
    let mut readings = Vec::new();
    for name in names.into_iter().take(MAX_ROUTERS) {
        let view = site.engine.routing.load_router(scope, &name).await?;
        let arms = view.arms.iter().take(MAX_ARMS);
        let answered = arms.map(|arm| by_model.get(&arm.id).cloned().unwrap_or_default()).collect();
        let word = json!(view.definition.algorithm);
        let own = choices.iter().filter(|(_, _, choice)| choice.router == name);
        readings.push(RouterInput {
            algorithm: word.as_str().unwrap_or_default().to_owned(),
            choices: own.take(MAX_CHOICES).cloned().collect(),
            view,
            answered,
        });
    }
    Ok(readings)
}

type Choice = (Timestamp, Option<String>, RouterChoice);

/// Loads choices, newest first, until every router has enough.
async fn load_choices(
    site: &Site,
    scope: &Scope,
    routers: &[String],
) -> Result<Vec<Choice>, PageError> {
    let kind = KindFilter { types: vec![Type::Quality], source: Some(Source::Engine) };
    let (mut before, mut found) = (Position(u64::MAX), Vec::<Choice>::new());
    for _ in 0..MAX_PAGES {
        let page =
            site.engine.feedback.newest_events(scope, kind.clone(), before, PAGE_EVENTS).await?;
        let Some(last) = page.last() else { break };
        before = last.position;
        for stored in page {
            let event = stored.event.into_inner();
            if let Body::Finding(Finding::Choice(choice)) = event.body {
                let turn = event.turn.as_ref().map(ToString::to_string);
                found.push((event.ts, turn, choice));
            }
        }
        let count = |name: &String| found.iter().filter(|(_, _, one)| one.router == *name).count();
        if routers.iter().take(MAX_ROUTERS).all(|name| count(name) >= MAX_CHOICES) {
            break;
        }
    }
    Ok(found)
}
