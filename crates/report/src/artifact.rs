//! The index of artifacts, searched without touching anything else.

use model::{Position, Timestamp, Window};
use store::{ReactionSearch, Store};

use crate::error::ReportError;
use crate::item::FeedbackItem;
use crate::seal::Seal;

/// What is asked, and where the last page ended.
#[derive(Clone, Debug)]
pub struct ArtifactSearch {
    /// The search itself; its `before` is taken from the cursor.
    pub query: ReactionSearch,
    /// Where the last page ended.
    pub cursor: Option<String>,
}

/// One row of the index.
#[derive(Clone, Debug, PartialEq)]
pub struct Artifact {
    /// Its labels.
    pub tags: Vec<String>,
    /// What it is.
    pub item: FeedbackItem,
}

/// One page, newest first.
#[derive(Clone, Debug, PartialEq)]
pub struct ArtifactPage {
    /// The rows.
    pub items: Vec<Artifact>,
    /// Where the next page begins; `None` at the end.
    pub next_cursor: Option<String>,
}

/// Answers one page.
pub async fn search(
    store: &Store,
    seal: &Seal,
    search: ArtifactSearch,
) -> Result<ArtifactPage, ReportError> {
    let ArtifactSearch { mut query, cursor } = search;
    let purpose = purpose(&query);
    if let Some(text) = cursor {
        let numbers = seal.open_numbers(&purpose, &text).ok_or(ReportError::BadCursor)?;
        let place = Place::from(numbers);
        (query.window, query.before) = (place.window, Some(place.before));
    }
    let (scope, limit, window) = (query.scope.clone(), query.limit, query.window);
    query.limit += 1;
    let mut found = store.search_reactions(query).await?;
    let more = found.len() > limit;
    found.truncate(limit);
    let last = found.last().filter(|_| more);
    let next = last.map(|last| Place { window, before: (last.ts, last.position) });
    let next_cursor = next.map(|place| seal.close_numbers(&purpose, place.into()));
    let items = found.into_iter().map(|reaction| {
        let mut tags = vec![
            "artifact:turn.log.reaction".to_owned(),
            format!("turn:{}", reaction.turn),
            format!("origin:{}", reaction.origin.as_word()),
        ];
        tags.extend(reaction.track.as_ref().map(|track| format!("track:{track}")));
        Artifact { tags, item: FeedbackItem::of(&scope, reaction) }
    });
    Ok(ArtifactPage { items: items.collect(), next_cursor })
}

/// A cursor goes on with the search it was made by, in the window that it had.
fn purpose(query: &ReactionSearch) -> String {
    let ReactionSearch { scope, filter, conversation, turn, track, .. } = query;
    let names = (scope.tenant.as_str(), scope.project.as_str());
    format!("artifacts {names:?} {filter:?} {conversation:?} {turn:?} {track:?}")
}

/// What a cursor remembers.
struct Place {
    window: Window,
    before: (Timestamp, Position),
}

impl From<[i64; 4]> for Place {
    fn from([start, end, ts, position]: [i64; 4]) -> Self {
        let [start, end, ts] = [start, end, ts].map(Timestamp::from_micros);
        Self { window: Window { start, end }, before: (ts, Position(position as u64)) }
    }
}

impl From<Place> for [i64; 4] {
    fn from(place: Place) -> Self {
        let Place { window: Window { start, end }, before: (ts, position) } = place;
        [start.as_micros(), end.as_micros(), ts.as_micros(), position.0 as i64]
    }
}
