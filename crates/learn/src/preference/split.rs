//! Which part of the data a conversation belongs to: always the same, by a hash of its name.

use model::ConversationId;

use crate::fingerprint::Fingerprint;

/// A part of the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Split {
    /// To learn from.
    Train,
    /// To choose settings by.
    Validation,
    /// To measure with, at the end.
    Test,
}

impl Split {
    /// Every part.
    pub const ALL: [Self; 3] = [Self::Train, Self::Validation, Self::Test];

    /// The word in a file.
    pub const fn as_word(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Validation => "validation",
            Self::Test => "test",
        }
    }

    /// The part that a word names.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|split| split.as_word() == word)
    }
}

/// How many of a hundred conversations are held out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SplitShares {
    /// To choose settings by.
    pub validation: u64,
    /// To measure with.
    pub test: u64,
}

impl Default for SplitShares {
    fn default() -> Self {
        Self { validation: 5, test: 5 }
    }
}

impl SplitShares {
    /// The part of a conversation. It hangs on the name alone, so that a conversation stays where it
    /// is from one export to the next, whatever else comes in.
    pub fn of(self, conversation: &ConversationId) -> Split {
        let hash = Fingerprint::new()
            .add_part(b"split")
            .add_part(conversation.as_str().as_bytes())
            .finish();
        let percent = hash % 100;
        if percent < self.test {
            Split::Test
        } else if percent < self.test.saturating_add(self.validation) {
            Split::Validation
        } else {
            Split::Train
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(name: &str) -> Split {
        SplitShares::default().of(&ConversationId::new(name).unwrap())
    }

    #[test]
    fn nine_of_ten_conversations_are_for_training() {
        let names = (0..20_000).map(|at| format!("c{at}"));
        let mut counts = [0; 3];
        names.for_each(|name| counts[split(&name) as usize] += 1);
        let [train, validation, test] = counts;
        assert!((17_800..18_200).contains(&train), "{counts:?}");
        assert!((900..1_100).contains(&validation) && (900..1_100).contains(&test), "{counts:?}");
    }

    #[test]
    fn without_shares_everything_is_for_training() {
        let all = SplitShares { validation: 0, test: 0 };
        for at in 0..200 {
            let name = ConversationId::new(format!("c{at}")).unwrap();
            assert_eq!(all.of(&name), Split::Train);
        }
    }

    #[test]
    fn words_come_back_as_what_they_were() {
        for split in Split::ALL {
            assert_eq!(Split::from_word(split.as_word()), Some(split));
        }
        assert_eq!(Split::from_word("all"), None);
    }
}
