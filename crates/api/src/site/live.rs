//! Tells a page that something was stored, at most every two seconds.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::sse::{Event as Line, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use model::Position;

use super::Site;
use super::visitor::Visitor;

/// A page is read again no more often than this.
const REST: Duration = Duration::from_secs(2);

/// `GET /live`: of the project that is looked at, or of all that are; from the position that a page was made
/// at, or from now on, as long as the visitor may stay.
pub(super) async fn follow(State(site): State<Site>, visitor: Visitor) -> Response {
    let engine = Arc::clone(&site.engine);
    let (scopes, pass) = (visitor.scopes(), visitor.pass().clone());
    let head = visitor.position();
    let made_at = visitor.parameter("position").and_then(|text| text.parse().ok()).map(Position);
    // Another node may have made the page, and may know more of the log.
    let after = made_at.map_or(head, |made_at| made_at.min(head));
    let begin = (after, engine, scopes, pass);
    let lines = stream::unfold(begin, |(after, engine, scopes, pass)| async move {
        let stored = engine.feedback.wait_for_events(&scopes, after, REST, &pass).await;
        let position = stored.ok().flatten()?;
        let line = Line::default().event("stored").data(position.0.to_string());
        Some((Ok::<_, Infallible>(line), (position, engine, scopes, pass)))
    });
    Sse::new(lines).keep_alive(KeepAlive::default()).into_response()
}
