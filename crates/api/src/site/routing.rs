//! Routers.

use std::collections::{BTreeMap, HashMap};

use axum::extract::State;
use axum::response::Response;
use engine::{KindFilter, QualityQuery};
use model::{Body, Finding, Position, RouterChoice, Scope, Source, Timestamp, Type};
use serde_json::json;
use web::{RouterReadings, Routing, View};

use super::Site;
use super::answer::html;
use super::overview::stretch;
use super::trouble::Trouble;
use super::visitor::Visitor;

/// Routers on the page, and arms of each whose answers are counted.
const ROUTERS: usize = 10;
const ARMS: usize = 12;
/// How many choices are shown, and among how many of the newest findings of the project they are looked for.
const CHOICES: usize = 30;
const PAGE: usize = 250;
const PAGES: usize = 8;

/// `GET /routing`
pub(super) async fn show(State(site): State<Site>, visitor: Visitor) -> Result<Response, Trouble> {
    let scope = visitor.scope();
    let hours = stretch(visitor.filter().days);
    let query = QualityQuery {
        project: Some(scope.project.clone()),
        model: None,
        prompt: None,
        ..visitor.query(site.engine.now(), hours)
    };
    let readings = readings(&site, &scope, &query).await?;
    let shell = visitor.shell(&site, Some(View::Routing));
    Ok(html(&Routing::of(shell, scope.project.as_str(), query.window, hours, &readings)))
}

/// A project's routers, with what their arms answered.
pub(super) async fn readings(
    site: &Site,
    scope: &Scope,
    query: &QualityQuery,
) -> Result<Vec<RouterReadings>, Trouble> {
    let names = site.engine.routing.list_router_names(scope);
    let choices = if names.is_empty() { Vec::new() } else { choices(site, scope, &names).await? };
    let mut by_model: HashMap<String, BTreeMap<i64, u64>> = HashMap::new();
    for (model, hour, answered) in site.engine.insights.answers_over_time(query.clone()).await? {
        by_model.entry(model).or_default().insert(hour, answered);
    }
    let mut readings = Vec::new();
    for name in names.into_iter().take(ROUTERS) {
        let view = site.engine.routing.load_router(scope, &name).await?;
        let arms = view.arms.iter().take(ARMS);
        let answered = arms.map(|arm| by_model.get(&arm.id).cloned().unwrap_or_default()).collect();
        let word = json!(view.definition.algorithm);
        let own = choices.iter().filter(|(_, _, choice)| choice.router == name);
        readings.push(RouterReadings {
            algorithm: word.as_str().unwrap_or_default().to_owned(),
            choices: own.take(CHOICES).cloned().collect(),
            view,
            answered,
        });
    }
    Ok(readings)
}

type Choice = (Timestamp, Option<String>, RouterChoice);

/// The newest choices of a project, the newest first, until there are enough for each of its routers.
async fn choices(site: &Site, scope: &Scope, routers: &[String]) -> Result<Vec<Choice>, Trouble> {
    let kind = KindFilter { types: vec![Type::Quality], source: Some(Source::Engine) };
    let (mut before, mut found) = (Position(u64::MAX), Vec::<Choice>::new());
    for _ in 0..PAGES {
        let page = site.engine.feedback.newest_events(scope, kind.clone(), before, PAGE).await?;
        let Some(last) = page.last() else { break };
        before = last.position;
        for stored in page {
            let body = Body::read(stored.event.kind, &stored.event.data);
            if let Ok(Body::Finding(Finding::Choice(choice))) = body {
                let turn = stored.event.turn.as_ref().map(ToString::to_string);
                found.push((stored.event.ts, turn, choice));
            }
        }
        let of = |name: &String| found.iter().filter(|(_, _, one)| one.router == *name).count();
        if routers.iter().take(ROUTERS).all(|name| of(name) >= CHOICES) {
            break;
        }
    }
    Ok(found)
}
