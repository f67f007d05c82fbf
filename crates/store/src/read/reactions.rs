//! Reading active reactions.

use model::{
    ConversationId, EventId, Origin, Position, Reaction, Scope, Timestamp, TurnId, UnitInterval,
    UserId, Window,
};

/// An active reaction.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredReaction {
    /// Where the event that gave it stands.
    pub position: Position,
    /// That event's id.
    pub event: EventId,
    /// On which turn.
    pub turn: TurnId,
    /// In which conversation, when known.
    pub conversation: Option<ConversationId>,
    /// Whose, when known.
    pub user: Option<UserId>,
    /// By the user or by the machine.
    pub origin: Origin,
    /// How.
    pub reaction: Reaction,
    /// How sure.
    pub confidence: UnitInterval,
    /// When.
    pub ts: Timestamp,
    /// In words.
    pub text: Option<String>,
    /// The turn's.
    pub track: Option<String>,
    /// The turn's.
    pub bundle: Option<String>,
    /// The turn's.
    pub user_type: Option<String>,
}

/// Which reactions; all where nothing is given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReactionFilter {
    /// Only this user's.
    pub user: Option<UserId>,
    /// Only by the user, or only by the machine.
    pub origin: Option<Origin>,
    /// Only these.
    pub reaction: Option<Reaction>,
}

/// A place in the period report: behind this conversation, whose newest matching reaction is this
/// old. The key is the store's own number of the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeriodMark {
    /// The conversation's newest matching reaction.
    pub last_activity: Timestamp,
    /// The conversation.
    pub key: i64,
}

/// A page of the period report.
#[derive(Clone, Debug, PartialEq)]
pub struct PeriodPage {
    /// Conversations, newest activity first. There may be fewer than asked for although there are
    /// more behind them, when finding them took enough work for one page.
    pub items: Vec<ActiveConversation>,
    /// Where the next page begins; `None` when there is nothing more.
    pub next: Option<PeriodMark>,
}

/// A page of conversations that have matching reactions in a window.
#[derive(Clone, Debug)]
pub struct PeriodQuery {
    /// Whose.
    pub scope: Scope,
    /// When, by the reaction's own time.
    pub window: Window,
    /// Which reactions count.
    pub filter: ReactionFilter,
    /// Only conversations behind this one.
    pub after: Option<PeriodMark>,
    /// At most so many.
    pub limit: usize,
    /// Whether to bring the reactions themselves.
    pub with_reactions: bool,
}

/// How many reactions of each sort.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReactionCounts {
    counts: [[u64; 3]; 2],
}

impl ReactionCounts {
    /// Adds some of one sort.
    pub fn add(&mut self, origin: Origin, reaction: Reaction, count: u64) {
        self.counts[Self::row(origin)][Self::column(reaction)] += count;
    }

    /// Those of one sort.
    pub fn of(&self, origin: Origin, reaction: Reaction) -> u64 {
        self.counts[Self::row(origin)][Self::column(reaction)]
    }

    /// Those by one origin.
    pub fn of_origin(&self, origin: Origin) -> u64 {
        self.counts[Self::row(origin)].iter().sum()
    }

    /// Those that say one thing.
    pub fn of_reaction(&self, reaction: Reaction) -> u64 {
        self.counts.iter().map(|row| row[Self::column(reaction)]).sum()
    }

    /// All of them.
    pub fn total(&self) -> u64 {
        self.counts.iter().flatten().sum()
    }

    fn row(origin: Origin) -> usize {
        match origin {
            Origin::User => 0,
            Origin::Machine => 1,
        }
    }

    fn column(reaction: Reaction) -> usize {
        match reaction {
            Reaction::Ok => 0,
            Reaction::NotOk => 1,
            Reaction::Neutral => 2,
        }
    }
}

/// One conversation of a period page.
#[derive(Clone, Debug, PartialEq)]
pub struct ActiveConversation {
    /// Which one.
    pub conversation: ConversationId,
    /// Its place in the report.
    pub mark: PeriodMark,
    /// Its first turn, if any of its turns is known.
    pub started_at: Option<Timestamp>,
    /// Matching reactions in the window.
    pub counts: ReactionCounts,
    /// The reactions themselves, oldest first, if they were asked for; the newest if there are too
    /// many for one page.
    pub reactions: Vec<StoredReaction>,
}

/// Reactions of one conversation.
#[derive(Clone, Debug)]
pub struct ConversationQuery {
    /// Whose.
    pub scope: Scope,
    /// Which conversation.
    pub conversation: ConversationId,
    /// Only on these turns.
    pub turns: Option<Vec<TurnId>>,
    /// Only reactions from then on.
    pub since: Timestamp,
    /// At most so many; the newest.
    pub limit: usize,
}

/// The index-only search of chapter 12: newest first.
#[derive(Clone, Debug)]
pub struct ReactionSearch {
    /// Whose.
    pub scope: Scope,
    /// Which.
    pub filter: ReactionFilter,
    /// Only in this conversation.
    pub conversation: Option<ConversationId>,
    /// Only on this turn.
    pub turn: Option<TurnId>,
    /// Only on turns of this track.
    pub track: Option<String>,
    /// Only in this window.
    pub window: Window,
    /// Only what is older than this: time and position of the last one seen.
    pub before: Option<(Timestamp, Position)>,
    /// At most so many.
    pub limit: usize,
}
