//! Reactions of a period, by conversation.

use model::{ConversationId, Scope, Timestamp, TurnId, Window};
use store::{
    ActiveConversation, PeriodCursor, PeriodQuery, ReactionCounts, ReactionFilter, Store,
    StoredReaction,
};

use crate::report::ReportError;
use crate::report::item::FeedbackItem;
use crate::report::seal::Seal;

/// Default length of the window.
const DEFAULT_DAYS: i64 = 30;

#[derive(Clone, Debug)]
pub struct PeriodRequest {
    pub scope: Scope,
    /// By the reaction's own time. Defaults to the cursor's window, or the last 30 days.
    pub window: Option<Window>,
    /// The current time.
    pub now: Timestamp,
    pub filter: ReactionFilter,
    /// Maximum conversations per page.
    pub limit: usize,
    /// True to list the reactions by turn.
    pub include_turns: bool,
    pub cursor: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PeriodReport {
    pub window: Window,
    /// Conversations, latest activity first.
    pub items: Vec<PeriodItem>,
    /// Cursor of the next page; `None` at the end. A page may be shorter than the limit, or empty,
    /// and still have a successor.
    pub next_cursor: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PeriodItem {
    pub conversation: ConversationId,
    /// Time of its newest matching reaction in the window.
    pub last_activity_at: Timestamp,
    /// Time of its first turn, when known.
    pub started_at: Option<Timestamp>,
    pub counts: ReactionCounts,
    /// Reactions by turn, if requested.
    pub turns: Option<Vec<TurnFeedback>>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct TurnFeedback {
    pub turn: TurnId,
    /// Time of its newest reaction.
    pub ts: Timestamp,
    /// Sorted oldest first.
    pub feedbacks: Vec<FeedbackItem>,
}

/// Returns one page.
pub async fn report_period(
    store: &Store,
    seal: &Seal,
    request: PeriodRequest,
) -> Result<PeriodReport, ReportError> {
    let purpose = cursor_purpose(&request);
    let place = match &request.cursor {
        None => None,
        Some(text) => {
            let numbers = seal.open_numbers(&purpose, text).ok_or(ReportError::BadCursor)?;
            Some(ReportCursor::from(numbers))
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
    let next = page.next.map(|mark| ReportCursor { window, mark });
    let next_cursor = next.map(|place| seal.close_numbers(&purpose, place.into()));
    let item = |active| build_item(&scope, active, include_turns);
    Ok(PeriodReport { window, items: page.items.into_iter().map(item).collect(), next_cursor })
}

fn build_item(scope: &Scope, active: ActiveConversation, include_turns: bool) -> PeriodItem {
    PeriodItem {
        conversation: active.conversation,
        last_activity_at: active.mark.last_activity,
        started_at: active.started_at,
        counts: active.counts,
        turns: include_turns.then(|| group_by_turn(scope, active.reactions)),
    }
}

/// Turns in the order of their first reaction.
pub(crate) fn group_by_turn(scope: &Scope, reactions: Vec<StoredReaction>) -> Vec<TurnFeedback> {
    let mut turns: Vec<TurnFeedback> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for reaction in reactions {
        let (turn, ts) = (reaction.turn.clone(), reaction.ts);
        let place = *places.entry(turn.clone()).or_insert_with(|| {
            turns.push(TurnFeedback { turn, ts, feedbacks: Vec::new() });
            turns.len() - 1
        });
        turns[place].ts = turns[place].ts.max(ts);
        turns[place].feedbacks.push(FeedbackItem::new(scope, reaction));
    }
    turns
}

/// A cursor is valid only for its scope and filter.
fn cursor_purpose(request: &PeriodRequest) -> String {
    let PeriodRequest { scope, filter, .. } = request;
    let user = filter.user.as_ref().map(|user| user.as_str());
    let (origin, reaction) = (filter.origin, filter.reaction);
    format!("period {} {} {user:?} {origin:?} {reaction:?}", scope.tenant, scope.project)
}

struct ReportCursor {
    window: Window,
    mark: PeriodCursor,
}

impl From<[i64; 4]> for ReportCursor {
    fn from([start, end, last, key]: [i64; 4]) -> Self {
        let [start, end, last] = [start, end, last].map(Timestamp::from_micros);
        Self { window: Window { start, end }, mark: PeriodCursor { last_activity: last, key } }
    }
}

impl From<ReportCursor> for [i64; 4] {
    fn from(place: ReportCursor) -> Self {
        let ReportCursor { window: Window { start, end }, mark } = place;
        [start.as_micros(), end.as_micros(), mark.last_activity.as_micros(), mark.key]
    }
}
