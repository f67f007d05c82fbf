//! What was learnt, kept in maps: stands in for the store.

use learn::{
    Counts, Examination, ItemStanding, Known, RankBand, RankTotals, RelevanceSignal, Tally,
};
use rustc_hash::FxHashMap;

#[derive(Default)]
pub(crate) struct Memory {
    entities: FxHashMap<u64, Tally>,
    pairs: FxHashMap<(u64, u64), Tally>,
    totals: RankTotals,
}

impl Memory {
    /// One session is one query, so nothing stood for it before.
    pub(crate) fn tell(&mut self, cluster: u64, document: u64, rank: u32, used: bool) {
        let signal = if used { RelevanceSignal::Used } else { RelevanceSignal::Ignored };
        let (_, delta) = ItemStanding::default().apply_signal(signal);
        let band = RankBand::from_rank(Some(rank));
        self.entities.entry(document).or_default().add(delta, band);
        self.pairs.entry((cluster, document)).or_default().add(delta, band);
        self.totals.add(delta, band);
    }

    pub(crate) fn known(&self, cluster: u64, document: u64) -> Known {
        let counts = |tally: Option<&Tally>| tally.map(Tally::counts) as Option<Counts>;
        Known {
            entity: counts(self.entities.get(&document)),
            pair: counts(self.pairs.get(&(cluster, document))),
        }
    }

    pub(crate) fn examination(&self) -> Examination {
        self.totals.examination()
    }
}
