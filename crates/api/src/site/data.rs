//! Training data and the annotation queue.

use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use engine::{
    ListOrder, ListedConversation, PreferencePair, PreferenceQuery, PreferenceRequest,
    QualityQuery, TurnMark, TurnView,
};
use model::Scope;
use web::{DataPage, DataPageInput, View};

use super::Site;
use super::page_response::{PageError, PageResult, html_page};
use super::visitor::{Visitor, list_query};
use crate::routes::preferences::stream_rows;

/// Turns listed per kind of feedback.
const MAX_TURNS: usize = 6;

pub(super) async fn show_data(State(site): State<Site>, visitor: Visitor) -> PageResult {
    let scope = visitor.scope();
    let readings = DataPageInput {
        pairs: load_pairs(&site, &visitor, &scope).await?,
        waiting: load_turns(&site, &visitor, &scope, TurnMark::ToReview).await?,
        calibration: site.engine.turns.calibration_report(&scope).await?,
    };
    Ok(html_page(&DataPage::new(visitor.shell(&site, Some(View::Data)), &scope, &readings)))
}

/// Preference pairs of the newest conversations that have feedback.
async fn load_pairs(
    site: &Site,
    visitor: &Visitor,
    scope: &Scope,
) -> Result<Vec<PreferencePair>, PageError> {
    let mut conversations = Vec::new();
    for mark in [TurnMark::Corrected, TurnMark::Rejected, TurnMark::NotOk, TurnMark::Ok] {
        for item in load_conversations(site, visitor, scope, mark).await? {
            let id = item.shown.conversation;
            conversations.extend(id.filter(|id| !conversations.contains(id)));
        }
    }
    Ok(site.engine.training_data.preference_pairs(scope, conversations).await?)
}

async fn load_turns(
    site: &Site,
    visitor: &Visitor,
    scope: &Scope,
    mark: TurnMark,
) -> Result<Vec<TurnView>, PageError> {
    let mut found = Vec::new();
    for item in load_conversations(site, visitor, scope, mark).await? {
        found.extend(site.engine.turns.load_turn_view(scope, item.shown.turn).await?);
    }
    Ok(found)
}

async fn load_conversations(
    site: &Site,
    visitor: &Visitor,
    scope: &Scope,
    mark: TurnMark,
) -> Result<Vec<ListedConversation>, PageError> {
    let project = Some(scope.project.clone());
    let period = visitor.query(site.engine.now(), 1);
    let period = QualityQuery { project, model: None, prompt: None, ..period };
    let query = list_query(period, mark, MAX_TURNS);
    Ok(site.engine.insights.list_conversations(query, ListOrder::Newest).await?.items)
}

/// `GET /data/pairs`: the export of the API as a file.
pub(super) async fn export_pairs(State(site): State<Site>, visitor: Visitor) -> PageResult {
    let wish = PreferenceRequest {
        format: visitor.parameter("format").map(str::to_owned),
        ..PreferenceRequest::default()
    };
    let name = wish.format.clone().unwrap_or_else(|| "dpo".to_owned());
    let query = PreferenceQuery::parse(wish)?;
    let mut export = site.engine.training_data.preferences(&visitor.scope(), query);
    let first = export.next().await?;
    let headers = [
        (header::CONTENT_TYPE, "application/x-ndjson".to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}.jsonl\"")),
        (header::CACHE_CONTROL, "no-store".to_owned()),
    ];
    Ok((headers, stream_rows(first, export)).into_response())
}
