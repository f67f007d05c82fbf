//! The failures page, and experiments from suggestions.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{HeaderName, HeaderValue};
use engine::QualityQuery;
use model::TurnId;
use serde_json::{Map, json};
use web::{FailuresPage, View};

use super::Site;
use super::form::SubmittedForm;
use super::login::redirect_to;
use super::overview::load_choices;
use super::page_response::{PageResult, html_page};
use super::timeline::turn_link;
use super::visitor::Visitor;
use crate::error::Problem;
use crate::params;

const MAC_DOMAIN: &str = "suggestion experiment";
const REFRESH: HeaderName = HeaderName::from_static("refresh");
/// Reload interval of the browser while the analysis is pending.
const REFRESH_SECS: &str = "2";

pub(super) async fn show_failures(State(site): State<Site>, visitor: Visitor) -> PageResult {
    let query = failures_query(&site, &visitor);
    let found = site.engine.insights.cached_failures(query.clone()).await?;
    let choices = load_choices(&site, &query).await?;
    let (scope, shell) = (visitor.scope(), visitor.shell(&site, Some(View::Failures)));
    let may_try = visitor.may_manage();
    let from = visitor.parameter("from").map(str::parse).transpose();
    let bad = |_| Problem::invalid("from", "from is invalid, expected the number of a pattern");
    let place = (scope.project.as_str(), from.map_err(bad)?.unwrap_or(0));
    let page = FailuresPage::new(shell, choices, place, &found, may_try);
    let mut response = html_page(&page);
    if page.is_pending() {
        response.headers_mut().insert(REFRESH, HeaderValue::from_static(REFRESH_SECS));
    }
    Ok(response)
}

/// Restricts the query to one project, because suggestions are stored in a project.
fn failures_query(site: &Site, visitor: &Visitor) -> QualityQuery {
    let project = Some(visitor.scope().project);
    // Daily buckets, so that cached results can be reused.
    QualityQuery { project, ..visitor.query(site.engine.now(), 24) }
}

/// `POST /failures/experiment`: stores the suggestion and defines an experiment for it.
pub(super) async fn create_experiment(
    State(site): State<Site>,
    posted: SubmittedForm,
) -> PageResult {
    let SubmittedForm { visitor, fields } = posted.require_manager()?;
    let (pattern, instruction) = (fields.require("pattern")?, fields.require("instruction")?);
    let scope = visitor.scope();
    let engine = Arc::clone(&site.engine);
    let query = failures_query(&site, &visitor);
    let stored = engine.insights.store_template(&scope, query, (pattern, instruction)).await?;
    let gone =
        || Problem::not_found("suggestion not found: the failures have changed; reload the page");
    let suggestion = stored.ok_or_else(gone)?;
    let mac = engine.fingerprint(MAC_DOMAIN, &json!({}));
    engine.insights.try_suggestion(&scope, &suggestion, Map::new(), mac, None).await?;
    Ok(redirect_to(&visitor.link("/experiments", &[("done", "started")])))
}

/// `GET /turns/{id}`: redirects to the turn in its conversation.
pub(super) async fn redirect_to_turn(
    State(site): State<Site>,
    visitor: Visitor,
    Path(turn): Path<String>,
) -> PageResult {
    let turn = params::parse_segment("turn", turn, TurnId::new)?;
    let found = site.engine.turns.load_turn_view(&visitor.scope(), turn.clone()).await?;
    let unknown = || Problem::not_found(format!("turn {turn} not found in this project"));
    let conversation = found.and_then(|view| view.exchange.conversation).ok_or_else(unknown)?;
    Ok(redirect_to(&turn_link(&visitor, conversation.as_str(), &turn, &[])))
}
