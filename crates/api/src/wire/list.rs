//! The list of conversations.

use engine::{ConversationSummary, SummaryPage};
use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;

use super::csv::Cell;

/// A page of conversations.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ConversationListBody {
    items: Vec<ConversationSummaryBody>,
    /// Number of matching conversations among the newest 10,000 turns.
    total: u64,
    /// True when there are older turns, which were not counted.
    total_is_capped: bool,
    next_cursor: Option<String>,
}

impl ConversationListBody {
    pub(crate) fn new(page: SummaryPage, next_cursor: Option<String>) -> Self {
        let SummaryPage { items, total, total_is_capped, .. } = page;
        let items = items.into_iter().map(ConversationSummaryBody::from).collect();
        Self { items, total, total_is_capped, next_cursor }
    }
}

/// A conversation with counts over all of its turns.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ConversationSummaryBody {
    conversation_id: String,
    /// The user of the first turn.
    user_id: Option<String>,
    first_question: String,
    /// The newest message of a user.
    last_message: String,
    turns: u64,
    /// `rejected` before `neutral` before `accepted`.
    worst_status: &'static str,
    rejected: u64,
    accepted: u64,
    reactions: ReactionTotals,
    cost: f64,
    /// The slowest answer, in seconds.
    max_latency_seconds: Option<f64>,
    started_at: String,
    last_at: String,
}

/// Reactions of users.
#[derive(Debug, Serialize, ToSchema)]
struct ReactionTotals {
    ok: u64,
    not_ok: u64,
    neutral: u64,
}

impl From<ConversationSummary> for ConversationSummaryBody {
    fn from(summary: ConversationSummary) -> Self {
        let counts = summary.counts;
        Self {
            conversation_id: summary.conversation.to_string(),
            user_id: summary.user.map(|user| user.to_string()),
            first_question: summary.first_question,
            last_message: summary.last_message,
            turns: counts.turns,
            worst_status: counts.worst_status().as_word(),
            rejected: counts.rejected,
            accepted: counts.accepted,
            reactions: ReactionTotals {
                ok: counts.ok,
                not_ok: counts.not_ok,
                neutral: counts.neutral,
            },
            cost: counts.cost,
            max_latency_seconds: counts.max_millis.map(|millis| millis as f64 / 1000.0),
            started_at: summary.first.to_string(),
            last_at: summary.last.to_string(),
        }
    }
}

impl ConversationSummaryBody {
    pub(crate) const COLUMNS: [&str; 15] = [
        "conversation_id",
        "user_id",
        "first_question",
        "last_message",
        "turns",
        "worst_status",
        "rejected",
        "accepted",
        "ok",
        "not_ok",
        "neutral",
        "cost",
        "max_latency_seconds",
        "started_at",
        "last_at",
    ];

    /// The cells of a conversation, in the order of the columns.
    pub(crate) fn csv_cells(summary: &ConversationSummary) -> Vec<Cell> {
        let one = json!(Self::from(summary.clone()));
        let cell = |name: &&str| match *name {
            "conversation_id" | "user_id" | "first_question" | "last_message" => {
                Cell::free(&one[*name])
            }
            "ok" | "not_ok" | "neutral" => Cell::exact(&one["reactions"][*name]),
            _ => Cell::exact(&one[*name]),
        };
        Self::COLUMNS.iter().map(cell).collect()
    }
}
