//! What was retrieved: used most, ignored most, and what that makes of its rank.

use askama::Template;
use engine::EntityStats;

use crate::number;
use crate::shell::Shell;

/// An item on the page.
#[derive(Clone, Debug)]
pub struct Item {
    /// Which.
    pub id: String,
    /// Queries that returned it.
    pub returned: String,
    /// Answers that used it.
    pub used: String,
    /// Answers that did not.
    pub ignored: String,
    /// Of all that could have, with its interval.
    pub rate: String,
    /// The same from 0 to 100.
    pub percent: u8,
    /// People who called it helpful, and not.
    pub votes: (String, String),
    /// What its score is multiplied by: a class and a number.
    pub multiplier: (&'static str, String),
}

/// The page.
#[derive(Debug, Template)]
#[template(path = "retrieval.html")]
pub struct Retrieval {
    /// The frame.
    pub shell: Shell,
    /// The project.
    pub project: String,
    /// What helps most.
    pub helpful: Vec<Item>,
    /// What is ignored most.
    pub ignored: Vec<Item>,
}

impl Retrieval {
    /// The page. Where there are few items, the same ones are used most and ignored most: each is shown
    /// where it stands higher.
    pub fn of(shell: Shell, project: &str, helpful: Vec<Item>, ignored: Vec<Item>) -> Self {
        let (helpful, ignored) = where_they_stand_higher(helpful, ignored);
        Self { shell, project: project.to_owned(), helpful, ignored }
    }
}

/// Each item in one of the lists only. One that stands as high in both is used most.
fn where_they_stand_higher(helpful: Vec<Item>, ignored: Vec<Item>) -> (Vec<Item>, Vec<Item>) {
    let place = |items: &[Item], id: &str| items.iter().position(|item| item.id == id);
    let is_ignored = |id: &str| match (place(&helpful, id), place(&ignored, id)) {
        (Some(helpful), Some(ignored)) => ignored < helpful,
        (None, _) => true,
        (Some(_), None) => false,
    };
    let own: Vec<bool> = helpful.iter().map(|item| !is_ignored(&item.id)).collect();
    let others: Vec<bool> = ignored.iter().map(|item| is_ignored(&item.id)).collect();
    let keep = |items: Vec<Item>, keep: Vec<bool>| {
        items.into_iter().zip(keep).filter_map(|(item, keep)| keep.then_some(item)).collect()
    };
    (keep(helpful, own), keep(ignored, others))
}

impl Item {
    /// An item with what its score is multiplied by.
    pub fn of(stats: &EntityStats, multiplier: f64) -> Self {
        let tally = &stats.tally;
        let told = tally.used + tally.ignored;
        let rate = report::Rate { numerator: tally.used, denominator: told };
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
            returned: number::count(tally.returned.iter().sum()),
            used: number::count(tally.used),
            ignored: number::count(tally.ignored),
            rate: rate.value().map_or_else(
                || "–".to_owned(),
                |share| format!("{}{interval}", number::percent(share)),
            ),
            percent: (share * 100.0).round() as u8,
            votes: (number::count(tally.positive), number::count(tally.negative)),
            multiplier: (class, format!("×{multiplier:.2}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(id: &str) -> Item {
        let none = String::new;
        Item {
            id: id.to_owned(),
            returned: none(),
            used: none(),
            ignored: none(),
            rate: none(),
            percent: 0,
            votes: (none(), none()),
            multiplier: ("none", none()),
        }
    }

    #[test]
    fn an_item_is_shown_where_it_stands_higher() {
        let items = |ids: &[&str]| ids.iter().map(|id| item(id)).collect::<Vec<_>>();
        let ids = |items: &[Item]| items.iter().map(|item| item.id.clone()).collect::<Vec<_>>();
        let (used, ignored) =
            where_they_stand_higher(items(&["a", "b", "c", "d"]), items(&["c", "x", "b", "d"]));
        assert_eq!(
            (ids(&used), ids(&ignored)),
            (ids(&items(&["a", "b", "d"])), ids(&items(&["c", "x"])))
        );
    }
}
