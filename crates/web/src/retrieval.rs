//! The retrieval page: most used and most ignored items.

use std::collections::HashSet;

use askama::Template;
use engine::EntityStats;

use crate::chip::Chip;
use crate::layout::PageLayout;
use crate::number_format::{format_count, format_percent};

#[derive(Clone, Debug)]
pub struct RetrievedItem {
    pub id: String,
    pub returned: String,
    pub used: String,
    pub ignored: String,
    pub rate: String,
    pub percent: u8,
    pub positive: String,
    pub negative: String,
    pub multiplier: Chip,
}

#[derive(Debug, Template)]
#[template(path = "retrieval.html")]
pub struct RetrievalPage {
    pub layout: PageLayout,
    pub project: String,
    pub helpful: Vec<RetrievedItem>,
    pub ignored: Vec<RetrievedItem>,
}

impl RetrievalPage {
    pub fn new(
        layout: PageLayout,
        project: &str,
        helpful: Vec<RetrievedItem>,
        ignored: Vec<RetrievedItem>,
    ) -> Self {
        let (helpful, ignored) = assign_to_one_list(helpful, ignored);
        Self { layout, project: project.to_owned(), helpful, ignored }
    }
}

/// Keeps each item only in the list where it ranks higher; ties go to `helpful`. With few items,
/// both lists contain the same ones.
fn assign_to_one_list(
    mut helpful: Vec<RetrievedItem>,
    mut ignored: Vec<RetrievedItem>,
) -> (Vec<RetrievedItem>, Vec<RetrievedItem>) {
    let ranks_higher = |(place, item): &(usize, &RetrievedItem)| {
        helpful.iter().position(|other| other.id == item.id).is_none_or(|other| *place < other)
    };
    let own = ignored.iter().enumerate().filter(ranks_higher).map(|(_, item)| item.id.clone());
    let own: HashSet<String> = own.collect();
    helpful.retain(|item| !own.contains(&item.id));
    ignored.retain(|item| own.contains(&item.id));
    (helpful, ignored)
}

impl RetrievedItem {
    pub fn new(stats: &EntityStats, multiplier: f64) -> Self {
        let tally = &stats.tally;
        let total = tally.used + tally.ignored;
        let rate = engine::report::Rate { numerator: tally.used, denominator: total };
        let share = rate.value().unwrap_or(0.0);
        let interval = rate.interval().map_or_else(String::new, |(low, high)| {
            format!(" ({:.0}–{:.0}%)", low * 100.0, high * 100.0)
        });
        let class = match multiplier {
            more if more > 1.001 => "good",
            less if less < 0.999 => "bad",
            _ => "none",
        };
        Self {
            id: stats.entity_id.clone(),
            returned: format_count(tally.returned.iter().sum()),
            used: format_count(tally.used),
            ignored: format_count(tally.ignored),
            rate: rate.value().map_or_else(
                || "–".to_owned(),
                |share| format!("{}{interval}", format_percent(share)),
            ),
            percent: (share * 100.0).round() as u8,
            positive: format_count(tally.positive),
            negative: format_count(tally.negative),
            multiplier: Chip::new(class, format!("×{multiplier:.2}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(id: &str) -> RetrievedItem {
        let none = String::new;
        RetrievedItem {
            id: id.to_owned(),
            returned: none(),
            used: none(),
            ignored: none(),
            rate: none(),
            percent: 0,
            positive: none(),
            negative: none(),
            multiplier: Chip::new("none", ""),
        }
    }

    #[test]
    fn item_is_listed_where_it_ranks_higher() {
        let items = |ids: &[&str]| ids.iter().map(|id| item(id)).collect::<Vec<_>>();
        let ids =
            |items: &[RetrievedItem]| items.iter().map(|item| item.id.clone()).collect::<Vec<_>>();
        let (used, ignored) =
            assign_to_one_list(items(&["a", "b", "c", "d"]), items(&["c", "x", "b", "d"]));
        assert_eq!(
            (ids(&used), ids(&ignored)),
            (ids(&items(&["a", "b", "d"])), ids(&items(&["c", "x"])))
        );
    }
}
