//! Data for training, and what waits for a person.

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use engine::{
    ListOrder, ListQuery, ListedConversation, PreferencePair, PreferenceQuery, PreferenceWish,
    TurnMark, TurnView,
};
use model::Scope;
use web::{Data, DataReadings, View};

use super::Site;
use super::answer::html;
use super::trouble::Trouble;
use super::visitor::Visitor;
use crate::routes::preferences::streamed;

/// Turns of each sort on the page.
const MOST: usize = 6;

/// `GET /data`
pub(super) async fn show(State(site): State<Site>, visitor: Visitor) -> Result<Response, Trouble> {
    let scope = visitor.scope();
    let readings = DataReadings {
        pairs: pairs_of_newest(&site, &visitor, &scope).await?,
        waiting: turns(&site, &visitor, &scope, TurnMark::ToReview).await?,
        calibration: site.engine.turns.calibration_report(&scope).await?,
    };
    Ok(html(&Data::of(visitor.shell(&site, Some(View::Data)), &scope, &readings)))
}

/// Pairs that the newest conversations make of which somebody or something says that an answer is better.
async fn pairs_of_newest(
    site: &Site,
    visitor: &Visitor,
    scope: &Scope,
) -> Result<Vec<PreferencePair>, Trouble> {
    let mut conversations = Vec::new();
    for mark in [TurnMark::Corrected, TurnMark::Rejected, TurnMark::NotOk, TurnMark::Ok] {
        for item in listed(site, visitor, scope, mark).await? {
            let id = item.shown.conversation;
            conversations.extend(id.filter(|id| !conversations.contains(id)));
        }
    }
    Ok(site.engine.training_data.preference_pairs(scope, conversations).await?)
}

async fn turns(
    site: &Site,
    visitor: &Visitor,
    scope: &Scope,
    mark: TurnMark,
) -> Result<Vec<TurnView>, Trouble> {
    let mut found = Vec::new();
    for item in listed(site, visitor, scope, mark).await? {
        found.extend(site.engine.turns.load_turn_view(scope, item.shown.turn).await?);
    }
    Ok(found)
}

async fn listed(
    site: &Site,
    visitor: &Visitor,
    scope: &Scope,
    mark: TurnMark,
) -> Result<Vec<ListedConversation>, Trouble> {
    let period = visitor.query(site.engine.now(), 1);
    let query = ListQuery {
        tenant: scope.tenant.clone(),
        project: Some(scope.project.clone()),
        window: period.window,
        model: None,
        prompt: None,
        user: None,
        words: None,
        mark,
        behind: None,
        limit: MOST,
    };
    Ok(site.engine.insights.list_conversations(query, ListOrder::Newest).await?.items)
}

/// `GET /data/pairs`: the rows as the API gives them, as a file.
pub(super) async fn pairs(State(site): State<Site>, visitor: Visitor) -> Result<Response, Trouble> {
    let wish = PreferenceWish {
        format: visitor.parameter("format").map(str::to_owned),
        ..PreferenceWish::default()
    };
    let name = wish.format.clone().unwrap_or_else(|| "dpo".to_owned());
    let query = PreferenceQuery::read(wish)?;
    let mut export = site.engine.training_data.preferences(&visitor.scope(), query);
    let first = export.next().await?;
    let headers = [
        (header::CONTENT_TYPE, "application/x-ndjson".to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}.jsonl\"")),
        (header::CACHE_CONTROL, "no-store".to_owned()),
    ];
    Ok((headers, streamed(first, export)).into_response())
}
