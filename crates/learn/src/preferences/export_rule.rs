//! Format and filters of an export.

use std::collections::{BTreeMap, BTreeSet};

use model::UnitInterval;

use super::pair::PairSource;
use super::split::{Split, SplitShares};

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
    pub const ALL: [Self; 5] = [Self::Dpo, Self::Kto, Self::Sft, Self::Reward, Self::OpenAiDpo];

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
        Self::ALL.into_iter().find(|format| format.as_word() == word)
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
            sources: PairSource::ALL.into(),
            split: None,
            shares: SplitShares::default(),
            min_confidence: UnitInterval::new(0.7).unwrap_or(UnitInterval::ONE),
            caps: BTreeMap::new(),
            context_turns: 10,
        }
    }
}
