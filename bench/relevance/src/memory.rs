//! Learned state in maps, in place of the store.

use learn::{
    Examination, ItemCounts, ItemEvidence, ItemStanding, ItemTally, RankBand, RankTotals,
    RelevanceSignal,
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
        let (_, delta) = ItemStanding::default().after(signal);
        let band = RankBand::of(Some(rank));
        self.entities.entry(document).or_default().add_delta(delta, band);
        self.pairs.entry((cluster, document)).or_default().add_delta(delta, band);
        self.totals.add_delta(delta, band);
    }

    pub(crate) fn known(&self, cluster: u64, document: u64) -> ItemEvidence {
        let counts =
            |tally: Option<&ItemTally>| tally.map(ItemTally::to_counts) as Option<ItemCounts>;
        ItemEvidence {
            entity: counts(self.entities.get(&document)),
            pair: counts(self.pairs.get(&(cluster, document))),
        }
    }

    pub(crate) fn examination(&self) -> Examination {
        self.totals.estimate_examination()
    }
}
