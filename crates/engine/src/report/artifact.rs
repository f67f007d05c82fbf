//! Searches the index of artifacts.

use model::{Position, Timestamp, Window};
use store::{ReactionSearch, Store};

use crate::report::ReportError;
use crate::report::item::FeedbackItem;
use crate::report::seal::Seal;

#[derive(Clone, Debug)]
pub struct ArtifactSearch {
    /// The filter; its `before` is taken from the cursor.
    pub query: ReactionSearch,
    pub cursor: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Artifact {
    pub tags: Vec<String>,
    pub item: FeedbackItem,
}

/// One page, newest first.
#[derive(Clone, Debug, PartialEq)]
pub struct ArtifactPage {
    pub items: Vec<Artifact>,
    /// Cursor of the next page; `None` at the end.
    pub next_cursor: Option<String>,
}

/// Returns one page.
pub async fn search_artifacts(
    store: &Store,
    seal: &Seal,
    search: ArtifactSearch,
) -> Result<ArtifactPage, ReportError> {
    let ArtifactSearch { mut query, cursor } = search;
    let purpose = cursor_purpose(&query);
    if let Some(text) = cursor {
        let numbers = seal.open_numbers(&purpose, &text).ok_or(ReportError::BadCursor)?;
        let place = ArtifactCursor::from(numbers);
        (query.window, query.before) = (place.window, Some(place.before));
    }
    let (scope, limit, window) = (query.scope.clone(), query.limit, query.window);
    query.limit += 1;
    let mut found = store.search_reactions(query).await?;
    let more = found.len() > limit;
    found.truncate(limit);
    let last = found.last().filter(|_| more);
    let next = last.map(|last| ArtifactCursor { window, before: (last.ts, last.position) });
    let next_cursor = next.map(|place| seal.close_numbers(&purpose, place.into()));
    let items = found.into_iter().map(|reaction| {
        let mut tags = vec![
            "artifact:turn.log.reaction".to_owned(),
            format!("turn:{}", reaction.turn),
            format!("origin:{}", reaction.origin.as_word()),
        ];
        tags.extend(reaction.track.as_ref().map(|track| format!("track:{track}")));
        Artifact { tags, item: FeedbackItem::new(&scope, reaction) }
    });
    Ok(ArtifactPage { items: items.collect(), next_cursor })
}

/// A cursor is valid only for the same filter; it also carries its window.
fn cursor_purpose(query: &ReactionSearch) -> String {
    let ReactionSearch { scope, filter, conversation, turn, track, .. } = query;
    let names = (scope.tenant.as_str(), scope.project.as_str());
    format!("artifacts {names:?} {filter:?} {conversation:?} {turn:?} {track:?}")
}

struct ArtifactCursor {
    window: Window,
    before: (Timestamp, Position),
}

impl From<[i64; 4]> for ArtifactCursor {
    fn from([start, end, ts, position]: [i64; 4]) -> Self {
        let [start, end, ts] = [start, end, ts].map(Timestamp::from_micros);
        Self { window: Window { start, end }, before: (ts, Position(position as u64)) }
    }
}

impl From<ArtifactCursor> for [i64; 4] {
    fn from(place: ArtifactCursor) -> Self {
        let ArtifactCursor { window: Window { start, end }, before: (ts, position) } = place;
        [start.as_micros(), end.as_micros(), ts.as_micros(), position.0 as i64]
    }
}
