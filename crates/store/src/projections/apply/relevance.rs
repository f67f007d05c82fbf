//! The use of items that queries returned: one row per item, with counters.

use model::{Delta, ItemStanding, Opinion, RankBand, RelevanceSignal, UsageStanding};
use sql::{Connection, OptionalExtension};

use super::Subject;
use crate::row_keys::Key;

/// Stores the position of the event with a query's results.
pub(crate) fn note_returned(
    connection: &Connection,
    subject: &Subject,
    query: &str,
) -> sql::Result<()> {
    connection
        .prepare_cached("INSERT INTO returned (project, query, position) VALUES (?1, ?2, ?3)")?
        .run((subject.project, query, subject.row_position()))
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Weighed<'a> {
    pub(crate) query: &'a str,
    pub(crate) cluster: Option<u64>,
    pub(crate) entity: &'a str,
    pub(crate) band: RankBand,
}

/// Applies signals about an item. A repeat changes nothing.
pub(crate) fn weigh(
    connection: &Connection,
    subject: &Subject,
    weighed: Weighed<'_>,
    signal: RelevanceSignal,
) -> sql::Result<()> {
    let project = subject.project;
    let Weighed { query, entity, .. } = weighed;
    let before = standing(connection, project, query, entity)?;
    let (stood, old) = before.unwrap_or((
        ItemStanding::default(),
        Place { entity, band: weighed.band, cluster: weighed.cluster },
    ));
    // The first known rank and cluster stay.
    let place = Place {
        entity,
        band: if old.band == RankBand::UNKNOWN { weighed.band } else { old.band },
        cluster: old.cluster.or(weighed.cluster),
    };
    let (now, delta) = stood.after(signal);
    if delta.is_zero() && place == old {
        return Ok(());
    }
    connection
        .prepare_cached(
            "REPLACE INTO relevance (project, query, entity, usage, opinion, band, cluster)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .run((
            project,
            query,
            entity,
            now.usage.map(|usage| usage == UsageStanding::Used),
            now.opinion.map(|opinion| opinion == Opinion::Positive),
            place.band.index() as i64,
            place.cluster.map(u64::cast_signed),
        ))?;
    if place == old {
        return count(connection, project, place, delta);
    }
    count(connection, project, old, stood.removal())?;
    count(connection, project, place, ItemStanding::default().becoming(now))
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
    let entity_key = "INSERT INTO entity_tallies (project, entity) VALUES (?1, ?2)
        ON CONFLICT DO NOTHING";
    connection.prepare_cached(entity_key)?.run((project, entity))?;
    let row = "project = ?5 AND entity = ?6";
    let Delta { used, ignored, positive, negative } = delta;
    connection.prepare_cached(&add_to("entity_tallies", band, row))?.run((
        used,
        ignored,
        positive,
        negative,
        project,
        entity,
        delta.returns(),
    ))?;
    if let Some(cluster) = cluster.map(u64::cast_signed) {
        let pair_key = "INSERT INTO pair_tallies (project, cluster, entity) VALUES (?1, ?2, ?3)
            ON CONFLICT DO NOTHING";
        connection.prepare_cached(pair_key)?.run((project, cluster, entity))?;
        let row = "project = ?5 AND entity = ?6 AND cluster = ?8";
        connection.prepare_cached(&add_to("pair_tallies", band, row))?.run((
            used,
            ignored,
            positive,
            negative,
            project,
            entity,
            delta.returns(),
            cluster,
        ))?;
    }
    add_to_totals(connection, project, band, delta)
}

fn add_to(table: &str, band: RankBand, place: &str) -> String {
    let column = format!("r{}", band.index());
    format!(
        "UPDATE {table} SET used = used + ?1, ignored = ignored + ?2, positive = positive + ?3,
             negative = negative + ?4, {column} = {column} + ?7
         WHERE {place}"
    )
}

fn add_to_totals(
    connection: &Connection,
    project: Key,
    band: RankBand,
    delta: Delta,
) -> sql::Result<()> {
    if delta.returns() == 0 && delta.used == 0 {
        return Ok(());
    }
    connection
        .prepare_cached(
            "INSERT INTO rank_totals (project, band, returned, used) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (project, band) DO UPDATE
                 SET returned = rank_totals.returned + excluded.returned,
                     used = rank_totals.used + excluded.used",
        )?
        .run((project, band.index() as i64, delta.returns(), delta.used))
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
    connection
        .prepare_cached(
            "SELECT usage, opinion, band, cluster FROM relevance
             WHERE project = ?1 AND query = ?2 AND entity = ?3",
        )?
        .query_row((project, query, entity), |row| {
            let (usage, opinion): (Option<bool>, Option<bool>) = (row.get(0)?, row.get(1)?);
            let used = |used| if used { UsageStanding::Used } else { UsageStanding::Ignored };
            let said = |good| if good { Opinion::Positive } else { Opinion::Negative };
            let standing = ItemStanding { usage: usage.map(used), opinion: opinion.map(said) };
            let cluster: Option<i64> = row.get(3)?;
            let band = RankBand::at(row.get(2)?);
            Ok((standing, Place { entity, band, cluster: cluster.map(i64::cast_unsigned) }))
        })
        .optional()
}
