//! What an export holds.

use std::collections::{BTreeMap, BTreeSet};

use model::UnitInterval;

use super::pair::PairSource;
use super::split::{Split, SplitShares};

/// The shape of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// TRL's preference shape: `prompt`, `chosen`, `rejected`.
    Dpo,
    /// TRL's unpaired shape: `prompt`, `completion`, `label`.
    Kto,
    /// TRL's language-modelling shape: `messages`.
    Sft,
    /// The preference shape for reward models, which read `margin`.
    Reward,
    /// OpenAI's: `input`, `preferred_output`, `non_preferred_output`.
    OpenAiDpo,
}

impl ExportFormat {
    /// Every shape.
    pub const ALL: [Self; 5] = [Self::Dpo, Self::Kto, Self::Sft, Self::Reward, Self::OpenAiDpo];

    /// The word on the wire.
    pub const fn as_word(self) -> &'static str {
        match self {
            Self::Dpo => "dpo",
            Self::Kto => "kto",
            Self::Sft => "sft",
            Self::Reward => "reward",
            Self::OpenAiDpo => "openai_dpo",
        }
    }

    /// The shape that a word names.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.as_word() == word)
    }
}

/// What goes into an export.
#[derive(Clone, Debug)]
pub struct ExportRule {
    /// The shape of the rows.
    pub format: ExportFormat,
    /// Where rows may come from.
    pub sources: BTreeSet<PairSource>,
    /// Only this part; all when absent.
    pub split: Option<Split>,
    /// How the parts are cut.
    pub shares: SplitShares,
    /// Nothing less sure than this.
    pub min_confidence: UnitInterval,
    /// At most so many rows of a source: the first that come.
    pub caps: BTreeMap<PairSource, u64>,
    /// How many earlier turns a prompt holds at most.
    pub context_turns: usize,
}

impl ExportRule {
    /// All sources and parts, at least 0.7 sure, with up to ten earlier turns.
    pub fn new(format: ExportFormat) -> Self {
        Self {
            format,
            sources: PairSource::ALL.into(),
            split: None,
            shares: SplitShares::default(),
            min_confidence: UnitInterval::new(0.7).unwrap_or(UnitInterval::ONE),
            caps: BTreeMap::new(),
            context_turns: 10,
        }
    }
}
