//! The index of artifacts, searched without touching anything else.

use event::{Origin, Position, Timestamp};
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
        query.before = Some(read_place(&payload).ok_or(ReportError::BadCursor)?);
    }
    let (scope, limit) = (query.scope.clone(), query.limit);
    query.limit += 1;
    let mut found = store.search_reactions(query).await?;
    let more = found.len() > limit;
    found.truncate(limit);
    let last = found.last().filter(|_| more);
    let next_cursor = last.map(|last| seal.close(&purpose, &write_place(last.ts, last.position)));
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

fn purpose(query: &ReactionSearch) -> String {
    let ReactionSearch { scope, within, filter, turn, track, .. } = query;
    let origin = filter.origin.map(Origin::as_word);
    format!("artifacts {} {} {within:?} {origin:?} {turn:?} {track:?}", scope.tenant, scope.project)
}

fn write_place(ts: Timestamp, position: Position) -> Vec<u8> {
    ts.as_micros().to_be_bytes().into_iter().chain(position.0.to_be_bytes()).collect()
}

fn read_place(payload: &[u8]) -> Option<(Timestamp, Position)> {
    let (ts, position) = payload.split_at_checked(8)?;
    let ts = i64::from_be_bytes(ts.try_into().ok()?);
    let position = u64::from_be_bytes(position.try_into().ok()?);
    Some((Timestamp::from_micros(ts), Position(position)))
}
