//! Server-sent events that notify a page about new data.

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

/// Pages reload at most this often.
const MIN_UPDATE_INTERVAL: Duration = Duration::from_secs(2);

/// `GET /live`: notifies about new data in the selected projects, until the session ends. Starts at
/// the log position that the page was rendered at.
pub(super) async fn stream_updates(State(site): State<Site>, visitor: Visitor) -> Response {
    let engine = Arc::clone(&site.engine);
    let (scopes, pass) = (visitor.scopes(), visitor.pass.clone());
    let head = visitor.position;
    let rendered_at =
        visitor.parameter("position").and_then(|text| text.parse().ok()).map(Position);
    // Another node may have rendered the page and may be ahead of this one.
    let after = rendered_at.map_or(head, |rendered_at| rendered_at.min(head));
    let begin = (after, engine, scopes, pass);
    let lines = stream::unfold(begin, |(after, engine, scopes, pass)| async move {
        let stored =
            engine.feedback.wait_for_events(&scopes, after, MIN_UPDATE_INTERVAL, &pass).await;
        let position = stored.ok().flatten()?;
        let line = Line::default().event("stored").data(position.0.to_string());
        Some((Ok::<_, Infallible>(line), (position, engine, scopes, pass)))
    });
    Sse::new(lines).keep_alive(KeepAlive::default()).into_response()
}
