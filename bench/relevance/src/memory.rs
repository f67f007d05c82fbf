//! Learned state in maps, in place of the store.

use learn::{
    Examination, ItemEvidence, ItemStanding, ItemTally, RankBand, RankTotals, RelevanceSignal,
};
use rustc_hash::FxHashMap;

#[derive(Default)]
pub(crate) struct Memory {
    entities: FxHashMap<u64, ItemTally>,
    pairs: FxHashMap<(u64, u64), ItemTally>,
    totals: RankTotals,
}

impl Memory {
    /// One session is one query, so there is no earlier state.
    pub(crate) fn tell(&mut self, cluster: u64, document: u64, rank: u32, used: bool) {
        let signal = if used { RelevanceSignal::Used } else { RelevanceSignal::Ignored };
        let (_, delta) = ItemStanding::default().apply_signal(signal);
        let band = RankBand::from_rank(Some(rank));
        self.entities.entry(document).or_default().add_delta(delta, band);
        self.pairs.entry((cluster, document)).or_default().add_delta(delta, band);
        self.totals.add_delta(delta, band);
    }

    pub(crate) fn known(&self, cluster: u64, document: u64) -> ItemEvidence {
        ItemEvidence {
            entity: self.entities.get(&document).copied(),
            pair: self.pairs.get(&(cluster, document)).copied(),
        }
    }

    pub(crate) fn examination(&self) -> Examination {
        self.totals.estimate_examination()
    }
}
