//! The index of artifacts, searched without touching anything else.

use event::{Position, Timestamp, Window};
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
    store: &dyn Store,
    seal: &Seal,
    search: ArtifactSearch,
) -> Result<ArtifactPage, ReportError> {
    let ArtifactSearch { mut query, cursor } = search;
    let purpose = purpose(&query);
    if let Some(text) = cursor {
        let payload = seal.open(&purpose, &text).ok_or(ReportError::BadCursor)?;
        let place = Place::read(&payload).ok_or(ReportError::BadCursor)?;
        (query.window, query.before) = (place.window, Some(place.before));
    }
    let (scope, limit, window) = (query.scope.clone(), query.limit, query.window);
    query.limit += 1;
    let mut found = store.search_reactions(query).await?;
    let more = found.len() > limit;
    found.truncate(limit);
    let last = found.last().filter(|_| more);
    let next = last.map(|last| Place { window, before: (last.ts, last.position) });
    let next_cursor = next.map(|place| seal.close(&purpose, &place.write()));
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

impl Place {
    fn write(&self) -> Vec<u8> {
        let Self { window, before: (ts, position) } = self;
        let moments = [window.start, window.end, *ts].map(Timestamp::as_micros);
        let numbers = moments.into_iter().chain([position.0 as i64]);
        numbers.flat_map(i64::to_be_bytes).collect()
    }

    fn read(payload: &[u8]) -> Option<Self> {
        let number = |at: usize| {
            let bytes = payload.get(at * 8..at * 8 + 8)?;
            Some(i64::from_be_bytes(bytes.try_into().ok()?))
        };
        let moment = |at| number(at).map(Timestamp::from_micros);
        let window = Window { start: moment(0)?, end: moment(1)? };
        Some(Self { window, before: (moment(2)?, Position(number(3)? as u64)) })
    }
}
