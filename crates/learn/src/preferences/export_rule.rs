//! Format, filters and splits of an export.

use std::collections::{BTreeMap, BTreeSet};

use model::{ConversationId, UnitInterval};

use super::pair::PairSource;
use crate::question::Fingerprint;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// TRL preference format: `prompt`, `chosen`, `rejected`.
    Dpo,
    /// TRL unpaired format: `prompt`, `completion`, `label`.
    Kto,
    /// TRL language-modelling format: `messages`.
    Sft,
    /// The preference format with `margin`, for reward models.
    Reward,
    /// OpenAI format: `input`, `preferred_output`, `non_preferred_output`.
    OpenAiDpo,
}

impl ExportFormat {
    pub const ALL_FORMATS: [Self; 5] =
        [Self::Dpo, Self::Kto, Self::Sft, Self::Reward, Self::OpenAiDpo];

    pub const fn as_word(self) -> &'static str {
        match self {
            Self::Dpo => "dpo",
            Self::Kto => "kto",
            Self::Sft => "sft",
            Self::Reward => "reward",
            Self::OpenAiDpo => "openai_dpo",
        }
    }

    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL_FORMATS.into_iter().find(|format| format.as_word() == word)
    }
}

#[derive(Clone, Debug)]
pub struct ExportRule {
    pub format: ExportFormat,
    pub sources: BTreeSet<PairSource>,
    /// Exports this split only; all splits when absent.
    pub split: Option<Split>,
    pub shares: SplitShares,
    pub min_confidence: UnitInterval,
    /// Maximum rows per source, first come first.
    pub caps: BTreeMap<PairSource, u64>,
    pub context_turns: usize,
}

impl ExportRule {
    /// All sources and splits, confidence from 0.7, and up to ten earlier turns.
    pub fn new(format: ExportFormat) -> Self {
        Self {
            format,
            sources: PairSource::ALL_SOURCES.into(),
            split: None,
            shares: SplitShares::default(),
            min_confidence: UnitInterval::new(0.7).unwrap_or(UnitInterval::ONE),
            caps: BTreeMap::new(),
            context_turns: 10,
        }
    }
}

/// Split of a conversation, assigned by a hash of its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Split {
    Train,
    Validation,
    Test,
}

impl Split {
    pub const ALL_SPLITS: [Self; 3] = [Self::Train, Self::Validation, Self::Test];

    pub const fn as_word(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Validation => "validation",
            Self::Test => "test",
        }
    }

    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL_SPLITS.into_iter().find(|split| split.as_word() == word)
    }
}

/// Percentage of conversations held out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SplitShares {
    pub validation: u64,
    pub test: u64,
}

impl Default for SplitShares {
    fn default() -> Self {
        Self { validation: 5, test: 5 }
    }
}

impl SplitShares {
    /// Depends on the id only, so a conversation stays in its split across exports.
    pub fn assign_split(self, conversation: &ConversationId) -> Split {
        let hash = Fingerprint::default().add_part(b"split");
        let percent = hash.add_part(conversation.as_str().as_bytes()).finish() % 100;
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

    fn default_split(name: &str) -> Split {
        SplitShares::default().assign_split(&ConversationId::new(name).unwrap())
    }

    #[test]
    fn default_split_trains_on_nine_of_ten_conversations() {
        let names = (0..20_000).map(|at| format!("c{at}"));
        let mut counts = [0; 3];
        names.for_each(|name| counts[default_split(&name) as usize] += 1);
        let [train, validation, test] = counts;
        assert!((17_800..18_200).contains(&train), "{counts:?}");
        assert!((900..1_100).contains(&validation) && (900..1_100).contains(&test), "{counts:?}");
    }

    #[test]
    fn zero_shares_put_everything_in_training() {
        let all = SplitShares { validation: 0, test: 0 };
        for at in 0..200 {
            let name = ConversationId::new(format!("c{at}")).unwrap();
            assert_eq!(all.assign_split(&name), Split::Train);
        }
    }

    #[test]
    fn split_words_round_trip() {
        for split in Split::ALL_SPLITS {
            assert_eq!(Split::from_word(split.as_word()), Some(split));
        }
        assert_eq!(Split::from_word("all"), None);
    }
}
