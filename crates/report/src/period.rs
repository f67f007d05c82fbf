//! Reactions by conversation in a period.

use model::{ConversationId, Scope, Timestamp, TurnId, Window};
use store::{
    ActiveConversation, PeriodCursor, PeriodQuery, ReactionCounts, ReactionFilter, Store,
    StoredReaction,
};

use crate::error::ReportError;
use crate::item::FeedbackItem;
use crate::seal::Seal;

/// How far back a report goes that names no window.
const DEFAULT_DAYS: i64 = 30;

/// What is asked.
#[derive(Clone, Debug)]
pub struct PeriodRequest {
    /// Whose conversations.
    pub scope: Scope,
    /// By the reaction's own time. When absent: the cursor's, or the last 30 days.
    pub window: Option<Window>,
    /// What time it is.
    pub now: Timestamp,
    /// Which reactions count.
    pub filter: ReactionFilter,
    /// Conversations on a page.
    pub limit: usize,
    /// Whether to list the reactions by turn.
    pub include_turns: bool,
    /// Where the last page ended.
    pub cursor: Option<String>,
}

/// One page.
#[derive(Clone, Debug, PartialEq)]
pub struct PeriodReport {
    /// The window that the page is of.
    pub window: Window,
    /// Conversations, newest activity first.
    pub items: Vec<PeriodItem>,
    /// Where the next page begins; `None` at the end. A page may be shorter than asked for, even
    /// empty, and still have one behind it.
    pub next_cursor: Option<String>,
}

/// One conversation with matching reactions.
#[derive(Clone, Debug, PartialEq)]
pub struct PeriodItem {
    /// Which one.
    pub conversation: ConversationId,
    /// Its newest matching reaction in the window.
    pub last_activity_at: Timestamp,
    /// Its first turn, when known.
    pub started_at: Option<Timestamp>,
    /// Matching reactions in the window.
    pub counts: ReactionCounts,
    /// The reactions by turn, if they were asked for.
    pub turns: Option<Vec<TurnFeedback>>,
}

/// The reactions on one turn.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnFeedback {
    /// Which turn.
    pub turn: TurnId,
    /// Its newest reaction.
    pub ts: Timestamp,
    /// Oldest first.
    pub feedbacks: Vec<FeedbackItem>,
}

/// Answers one page.
pub async fn period(
    store: &Store,
    seal: &Seal,
    request: PeriodRequest,
) -> Result<PeriodReport, ReportError> {
    let purpose = purpose(&request);
    let place = match &request.cursor {
        None => None,
        Some(text) => {
            let numbers = seal.open_numbers(&purpose, text).ok_or(ReportError::BadCursor)?;
            Some(Place::from(numbers))
        }
    };
    let PeriodRequest { scope, window, now, filter, limit, include_turns, .. } = request;
    let window = match (window, &place) {
        (Some(asked), Some(place)) if asked != place.window => return Err(ReportError::BadCursor),
        (Some(asked), _) => asked,
        (None, Some(place)) => place.window,
        (None, None) => Window { start: now.plus_secs(-DEFAULT_DAYS * 86_400), end: now },
    };
    let query = PeriodQuery {
        scope: scope.clone(),
        window,
        filter,
        after: place.map(|place| place.mark),
        limit,
        with_reactions: include_turns,
    };
    let page = store.active_conversations(query).await?;
    let next = page.next.map(|mark| Place { window, mark });
    let next_cursor = next.map(|place| seal.close_numbers(&purpose, place.into()));
    let item = |active| item(&scope, active, include_turns);
    Ok(PeriodReport { window, items: page.items.into_iter().map(item).collect(), next_cursor })
}

fn item(scope: &Scope, active: ActiveConversation, include_turns: bool) -> PeriodItem {
    PeriodItem {
        conversation: active.conversation,
        last_activity_at: active.mark.last_activity,
        started_at: active.started_at,
        counts: active.counts,
        turns: include_turns.then(|| by_turn(scope, active.reactions)),
    }
}

/// Turns in the order of their first reaction.
pub(crate) fn by_turn(scope: &Scope, reactions: Vec<StoredReaction>) -> Vec<TurnFeedback> {
    let mut turns: Vec<TurnFeedback> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for reaction in reactions {
        let (turn, ts) = (reaction.turn.clone(), reaction.ts);
        let place = *places.entry(turn.clone()).or_insert_with(|| {
            turns.push(TurnFeedback { turn, ts, feedbacks: Vec::new() });
            turns.len() - 1
        });
        turns[place].ts = turns[place].ts.max(ts);
        turns[place].feedbacks.push(FeedbackItem::of(scope, reaction));
    }
    turns
}

/// A cursor is good for the scope and the filter it was made with, and for nothing else.
fn purpose(request: &PeriodRequest) -> String {
    let PeriodRequest { scope, filter, .. } = request;
    let user = filter.user.as_ref().map(|user| user.as_str());
    let (origin, reaction) = (filter.origin, filter.reaction);
    format!("period {} {} {user:?} {origin:?} {reaction:?}", scope.tenant, scope.project)
}

/// What a cursor remembers.
struct Place {
    window: Window,
    mark: PeriodCursor,
}

impl From<[i64; 4]> for Place {
    fn from([start, end, last, key]: [i64; 4]) -> Self {
        let [start, end, last] = [start, end, last].map(Timestamp::from_micros);
        Self { window: Window { start, end }, mark: PeriodCursor { last_activity: last, key } }
    }
}

impl From<Place> for [i64; 4] {
    fn from(place: Place) -> Self {
        let Place { window: Window { start, end }, mark } = place;
        [start.as_micros(), end.as_micros(), mark.last_activity.as_micros(), mark.key]
    }
}
