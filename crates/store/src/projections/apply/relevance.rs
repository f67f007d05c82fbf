//! The use of items that queries returned: one row per item, with counters.

use model::{
    Delta, ItemStanding, Opinion, RankBand, RelevanceSignal, RetrievalChange, UsageStanding,
};
use sql::Connection;

use super::Subject;
use crate::row_keys::Key;

pub(super) fn apply(
    connection: &Connection,
    subject: &Subject,
    change: &RetrievalChange,
) -> sql::Result<()> {
    match change {
        RetrievalChange::Return { query } => connection.run(
            "INSERT INTO returned (project, query, position) VALUES (?1, ?2, ?3)",
            (subject.project, query.as_str(), subject.row_position()),
        ),
        RetrievalChange::Weigh { query, cluster, entity, band, signal } => {
            let weighed = Weighed { query, cluster: *cluster, entity, band: *band };
            weigh(connection, subject, weighed, *signal)
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Weighed<'a> {
    query: &'a str,
    cluster: Option<u64>,
    entity: &'a str,
    band: RankBand,
}

/// Applies signals about an item. A repeat changes nothing.
fn weigh(
    connection: &Connection,
    subject: &Subject,
    weighed: Weighed<'_>,
    signal: RelevanceSignal,
) -> sql::Result<()> {
    let project = subject.project;
    let Weighed { query, entity, .. } = weighed;
    let new = Place { entity, band: weighed.band, cluster: weighed.cluster };
    let before = standing(connection, project, query, entity)?;
    let (stood, old) = before.unwrap_or((ItemStanding::default(), new));
    // The first known rank and cluster stay.
    let place = Place {
        entity,
        band: if old.band == RankBand::UNKNOWN { weighed.band } else { old.band },
        cluster: old.cluster.or(weighed.cluster),
    };
    let (now, delta) = stood.apply_signal(signal);
    if delta.is_zero() && place == old {
        return Ok(());
    }
    let used = now.usage.map(|usage| usage == UsageStanding::Used);
    let liked = now.opinion.map(|opinion| opinion == Opinion::Positive);
    let (band, cluster) = (place.band.index() as i64, place.cluster.map(u64::cast_signed));
    connection.run(
        "REPLACE INTO relevance (project, query, entity, usage, opinion, band, cluster)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        (project, query, entity, used, liked, band, cluster),
    )?;
    if place == old {
        return count(connection, project, place, delta);
    }
    count(connection, project, old, stood.removal())?;
    count(connection, project, place, ItemStanding::default().change_to(now))
}

/// The row a counter belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place<'a> {
    entity: &'a str,
    band: RankBand,
    cluster: Option<u64>,
}

/// Adds to the counters of the item, of the item in its cluster, and of the rank.
fn count(connection: &Connection, project: Key, place: Place<'_>, delta: Delta) -> sql::Result<()> {
    if delta.is_zero() {
        return Ok(());
    }
    let Place { entity, band, cluster } = place;
    let Delta { used, ignored, positive, negative } = delta;
    let returns = delta.returns();
    connection.run(
        "INSERT INTO entity_tallies (project, entity) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
        (project, entity),
    )?;
    connection.run(
        &add_to("entity_tallies", band, "project = ?5 AND entity = ?6"),
        (used, ignored, positive, negative, project, entity, returns),
    )?;
    if let Some(cluster) = cluster.map(u64::cast_signed) {
        connection.run(
            "INSERT INTO pair_tallies (project, cluster, entity) VALUES (?1, ?2, ?3)
             ON CONFLICT DO NOTHING",
            (project, cluster, entity),
        )?;
        connection.run(
            &add_to("pair_tallies", band, "project = ?5 AND entity = ?6 AND cluster = ?8"),
            (used, ignored, positive, negative, project, entity, returns, cluster),
        )?;
    }
    if returns == 0 && used == 0 {
        return Ok(());
    }
    connection.run(
        "INSERT INTO rank_totals (project, band, returned, used) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (project, band) DO UPDATE
             SET returned = rank_totals.returned + excluded.returned,
                 used = rank_totals.used + excluded.used",
        (project, band.index() as i64, returns, used),
    )
}

fn add_to(table: &str, band: RankBand, place: &str) -> String {
    let column = format!("r{}", band.index());
    format!(
        "UPDATE {table} SET used = used + ?1, ignored = ignored + ?2, positive = positive + ?3,
             negative = negative + ?4, {column} = {column} + ?7
         WHERE {place}"
    )
}

pub(crate) fn item_standing(
    connection: &Connection,
    project: Key,
    query: &str,
    entity: &str,
) -> sql::Result<Option<ItemStanding>> {
    Ok(standing(connection, project, query, entity)?.map(|(standing, _)| standing))
}

fn standing<'a>(
    connection: &Connection,
    project: Key,
    query: &str,
    entity: &'a str,
) -> sql::Result<Option<(ItemStanding, Place<'a>)>> {
    connection.find_row_with(
        "SELECT usage, opinion, band, cluster FROM relevance
         WHERE project = ?1 AND query = ?2 AND entity = ?3",
        (project, query, entity),
        |row| {
            let (usage, opinion): (Option<bool>, Option<bool>) = (row.get(0)?, row.get(1)?);
            let used = |used| if used { UsageStanding::Used } else { UsageStanding::Ignored };
            let said = |good| if good { Opinion::Positive } else { Opinion::Negative };
            let standing = ItemStanding { usage: usage.map(used), opinion: opinion.map(said) };
            let cluster: Option<i64> = row.get(3)?;
            let band = RankBand::from_index(row.get(2)?);
            Ok((standing, Place { entity, band, cluster: cluster.map(i64::cast_unsigned) }))
        },
    )
}
