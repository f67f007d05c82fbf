//! What goes wrong, and trying what might help.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{HeaderName, HeaderValue};
use axum::response::Response;
use engine::{KeptSuggestion, QualityQuery};
use model::{Scope, TurnId};
use serde_json::{Map, json};
use web::{Failures, View, encoded};

use super::Site;
use super::answer::html;
use super::door::to;
use super::overview::choices;
use super::posted::Posted;
use super::trouble::Trouble;
use super::visitor::Visitor;
use crate::address;
use crate::error::Problem;

const DOOR: &str = "suggestion experiment";
const REFRESH: HeaderName = HeaderName::from_static("refresh");
/// When a browser comes again by itself while there is nothing to show yet.
const LOOK_AGAIN_SECS: &str = "2";

/// `GET /failures`
pub(super) async fn show(State(site): State<Site>, visitor: Visitor) -> Result<Response, Trouble> {
    let query = query(&site, &visitor);
    let found = site.engine.insights.failures_at_hand(query.clone()).await?;
    let choices = choices(&site, &query).await?;
    let (scope, shell) = (visitor.scope(), visitor.shell(&site, Some(View::Failures)));
    let may_try = visitor.may_manage();
    let from = visitor.parameter("from").map(str::parse).transpose();
    let bad = |_| Problem::invalid("from", "from: expected the number of a pattern");
    let place = (scope.project.as_str(), from.map_err(bad)?.unwrap_or(0));
    let page = Failures::of(shell, choices, place, &found, may_try);
    let mut answer = html(&page);
    if page.is_sought() {
        answer.headers_mut().insert(REFRESH, HeaderValue::from_static(LOOK_AGAIN_SECS));
    }
    Ok(answer)
}

/// Of one project: what is concluded is kept in the one it is concluded from.
fn query(site: &Site, visitor: &Visitor) -> QualityQuery {
    let project = Some(visitor.scope().project);
    // By the day, so that what was found can be shown again.
    QualityQuery { project, ..visitor.query(site.engine.now(), 24) }
}

/// `POST /failures/experiment`: keeps the suggestion and defines the experiment that tries it.
pub(super) async fn experiment(
    State(site): State<Site>,
    posted: Posted,
) -> Result<Response, Trouble> {
    let Posted { visitor, fields } = posted.by_a_manager()?;
    let (pattern, instruction) = (fields.need("pattern")?, fields.need("instruction")?);
    let scope = visitor.scope();
    let engine = Arc::clone(&site.engine);
    let kept = engine.insights.suggest(&scope, query(&site, &visitor)).await?;
    let wanted = |one: &&KeptSuggestion| {
        one.found.pattern_id == pattern && one.found.instruction == instruction
    };
    let gone =
        || Problem::not_found("this suggestion does not follow from what went wrong any more");
    let suggestion = kept.iter().find(wanted).ok_or_else(gone)?;
    let mac = engine.fingerprint(DOOR, &json!({}));
    engine.insights.try_suggestion(&scope, &suggestion.id, Map::new(), mac, None).await?;
    let project = scope.project.as_str();
    Ok(to(&visitor.filter().place_link("/experiments", project, &[("done", "started")])))
}

/// `GET /turns/{id}`: to where the turn is in its conversation.
pub(super) async fn turn(
    State(site): State<Site>,
    visitor: Visitor,
    Path(turn): Path<String>,
) -> Result<Response, Trouble> {
    let turn = address::id("turn", turn, TurnId::new)?;
    let scope: Scope = visitor.scope();
    let found = site.engine.turns.load_turn_view(&scope, turn.clone()).await?;
    let unknown = || Problem::not_found("there is no turn with this id here");
    let conversation = found.and_then(|view| view.exchange.conversation).ok_or_else(unknown)?;
    let path = format!("/conversations/{}", encoded(conversation.as_str()));
    let link = visitor.filter().place_link(&path, scope.project.as_str(), &[]);
    Ok(to(&format!("{link}#turn-{}", encoded(turn.as_str()))))
}
