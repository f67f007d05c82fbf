//! Reading which conversations there were: by time, or the worst first.

use model::{Project, Scope, Tenant, Timestamp, UserId, VerdictStatus, Window};

use super::exchanges::StoredExchange;

// One list: the mark, its word, and what makes a turn have it.
macro_rules! marks {
    ($($(#[$doc:meta])* $mark:ident $word:literal $sql:literal),+ $(,)?) => {
        /// What can be said of a turn, by which it is found.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum TurnMark { $($(#[$doc])* $mark),+ }

        impl TurnMark {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$mark),+];

            /// The word for it.
            pub const fn as_word(self) -> &'static str {
                match self { $(Self::$mark => $word),+ }
            }

            /// The mark of a word.
            pub fn from_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|mark| mark.as_word() == word)
            }

            /// What its facts (`f`) have.
            pub(crate) fn condition(self) -> String {
                let condition = match self { $(Self::$mark => $sql),+ };
                let code = |status: VerdictStatus| status.code().to_string();
                condition
                    .replace("REJECTED", &code(VerdictStatus::Rejected))
                    .replace("ACCEPTED", &code(VerdictStatus::Accepted))
            }
        }
    };
}

marks! {
    /// Every turn.
    All "all" "1 = 1",
    /// Something about it went wrong.
    Trouble "trouble" "f.negative = 1",
    /// It was rejected.
    Rejected "rejected" "f.negative = 1 AND f.answered = 1 AND f.status = REJECTED",
    /// It was rejected or corrected.
    Wrong "wrong" "f.negative = 1 AND f.answered = 1 AND (f.status = REJECTED OR f.corrected = 1)",
    /// It was accepted.
    Accepted "accepted" "f.answered = 1 AND f.status = ACCEPTED",
    /// It was corrected.
    Corrected "corrected" "f.negative = 1 AND f.corrected = 1",
    /// It failed by itself.
    Failed "failed" "f.negative = 1 AND f.failed > 0",
    /// A user reacted well.
    Ok "ok" "f.ok > 0",
    /// A user reacted badly.
    NotOk "not_ok" "f.negative = 1 AND f.not_ok > 0",
    /// A user reacted at all.
    Reacted "reacted" "f.ok + f.not_ok + f.neutral > 0",
    /// A person gave any sign.
    Heard "heard" "(f.ok + f.not_ok + f.neutral > 0 OR f.heard = 1 OR f.corrected = 1)",
    /// Its question was asked again.
    Retried "retried" "f.retried = 1",
    /// It refines an earlier question.
    Refined "refined" "f.refined = 1",
    /// Its session was abandoned after it.
    Abandoned "abandoned" "f.abandoned = 1",
    /// User and machine say the contrary of each other.
    Disagreed "disagreed" "f.both = 1 AND f.agree = 0",
    /// The machine thinks that it was rejected, and no person said anything.
    ToReview "to_review" "f.negative = 1 AND f.answered = 1 AND f.status = REJECTED
        AND f.ok + f.not_ok + f.neutral = 0 AND f.corrected = 0 AND NOT EXISTS (
            SELECT 1 FROM turn_index i WHERE i.turn = f.turn AND i.reviewed IS NOT NULL)",
    /// It took longer than people bear.
    Slow "slow" "f.millis > 10000",
}

impl TurnMark {
    /// Whether only turns of which something went wrong can have it.
    pub(crate) const fn is_negative(self) -> bool {
        match self {
            Self::Trouble
            | Self::Rejected
            | Self::Wrong
            | Self::Corrected
            | Self::Failed
            | Self::ToReview
            | Self::NotOk => true,
            Self::All
            | Self::Accepted
            | Self::Ok
            | Self::Reacted
            | Self::Heard
            | Self::Retried
            | Self::Refined
            | Self::Abandoned
            | Self::Disagreed
            | Self::Slow => false,
        }
    }
}

/// Where a page of the list ends: two numbers that only the store understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListMark(pub i64, pub i64);

/// Which conversations are wanted: those that have a turn like this.
#[derive(Clone, Debug)]
pub struct ListQuery {
    /// Whose.
    pub tenant: Tenant,
    /// Of which project; of all when absent.
    pub project: Option<Project>,
    /// When the turn was asked.
    pub window: Window,
    /// Answered by this model.
    pub model: Option<String>,
    /// Answered with this prompt: `id` for all of its versions, or `id@version`.
    pub prompt: Option<String>,
    /// Asked by this user.
    pub user: Option<UserId>,
    /// Something with these words was said in it: by the user, in the answer, or about it. A word of three
    /// letters or more finds all that begin with it. Only for the newest first.
    pub words: Option<String>,
    /// What is said of it.
    pub mark: TurnMark,
    /// Behind this one, when they are read page by page.
    pub behind: Option<ListMark>,
    /// At most so many conversations.
    pub limit: usize,
}

/// A conversation on the list, with the turn by which it was found.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedConversation {
    /// Where it is.
    pub scope: Scope,
    /// The newest turn that is like what is wanted.
    pub shown: StoredExchange,
    /// Its first turn.
    pub first: Timestamp,
    /// Its last turn.
    pub last: Timestamp,
    /// What its turns were like.
    pub tally: ConversationTally,
}

/// How many turns of a conversation were how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConversationTally {
    /// All.
    pub turns: u64,
    /// Rejected ones.
    pub rejected: u64,
    /// Corrected ones.
    pub corrected: u64,
    /// Failed ones.
    pub failed: u64,
    /// Good reactions of users.
    pub ok: u64,
    /// Bad ones.
    pub not_ok: u64,
}

/// A page of the list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListPage {
    /// The conversations.
    pub items: Vec<ListedConversation>,
    /// Where the next page begins, if there may be one.
    pub next: Option<ListMark>,
    /// The search went back to here and no further, before it found as many as wanted.
    pub stopped_at: Option<Timestamp>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mark_has_its_word() {
        for mark in TurnMark::ALL {
            assert_eq!(TurnMark::from_word(mark.as_word()), Some(*mark));
            assert_eq!(mark.is_negative(), mark.condition().contains("f.negative = 1"), "{mark:?}");
        }
        assert_eq!(TurnMark::from_word("nothing"), None);
    }
}
