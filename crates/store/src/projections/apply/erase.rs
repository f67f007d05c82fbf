//! Erases a user: the events become stubs and the id is deleted.
//!
//! The user's key stays in the rows, so counts and rebuilds still agree. Nothing links the key to
//! the user.

use std::sync::LazyLock;

use model::{Body, ClaimSpace, Scope, UserId};
use sql::{Connection, Row, params_from_iter};

use super::Subject;
use crate::event_rows::{self, StoredEvent};
use crate::projections::baseline_positions::lock_project;
use crate::row_keys::{Key, PackedId, Table, find_key, read_project_scope};

/// Events emptied per batch. All writes wait for an erasure, so it makes few round trips.
const TOGETHER: usize = 64;

pub(crate) fn erase(connection: &Connection, subject: &Subject, user: &UserId) -> sql::Result<()> {
    // A user may have nothing but dead letters.
    forget_letters(connection, subject.project, user)?;
    let Some(key) = find_key(connection, Table::Users, subject.project, user.as_str())? else {
        return Ok(());
    };
    // The baseline must not take the user's words from events that are emptied here.
    lock_project(connection, subject.project)?;
    let scope = read_project_scope(connection, subject.project)?;
    // Read once, because a search per batch would be quadratic.
    let own = format!("{USER_EVENTS} SELECT position FROM theirs ORDER BY position");
    let mut positions: Vec<i64> = connection.read_rows(&own, [key])?;
    positions.extend(suggestions(connection, subject.project, key)?);
    for some in positions.chunks(TOGETHER) {
        let events = read_all(connection, &scope, some)?;
        for sql in BESIDE.iter() {
            connection.run(sql, params_from_iter(pad_positions(some)))?;
        }
        events.iter().try_for_each(|event| stub(connection, subject.project, event))?;
    }
    forget_rows(connection, key)?;
    connection.run(
        "UPDATE users SET id = NULL, erased = ?2 WHERE key = ?1",
        (key, subject.row_position()),
    )?;
    connection.invalidate_users()
}

fn forget_letters(connection: &Connection, project: Key, user: &UserId) -> sql::Result<()> {
    let events = match connection.sqlite() {
        Some(_) => "json_each(letter, '$.events') v WHERE v.value",
        // Postgres cannot parse NUL, which a message may contain. Ids never contain it.
        None => {
            "json_array_elements(CAST(replace(letter, '\\u0000', '\\u0020') AS json) -> 'events') v
             WHERE v"
        }
    };
    connection.run(
        &format!(
            "DELETE FROM dead_letters WHERE project = ?1 AND EXISTS (
                 SELECT 1 FROM {events} ->> 'user' = ?2)"
        ),
        (project, user.as_str()),
    )
}

/// The user's turns, and those that were the user's when the baseline reached them. Another user may
/// have opened such a turn since.
pub(crate) const USER_TURNS: &str = "(SELECT key FROM turns WHERE user = ?1
    UNION SELECT key FROM baseline_turns WHERE user = ?1)";

/// Removes the user's attributes and labels, and the user's questions from the index and from other
/// users' corrections of their answers.
fn forget_rows(connection: &Connection, user: Key) -> sql::Result<()> {
    // A refinement counts in rates and holds no personal data.
    let intent = "CASE WHEN lower(intent) = 'refine' THEN intent END";
    let own = "(SELECT key FROM turns WHERE user = ?1)";
    let forget = [
        "UPDATE profiles SET attributes = '{}' WHERE user = ?1".to_owned(),
        "UPDATE baseline_profiles SET attributes = '{}' WHERE user = ?1".to_owned(),
        "UPDATE turns SET track = NULL, bundle = NULL, user_type = NULL WHERE user = ?1".to_owned(),
        format!(
            "UPDATE baseline_turns SET track = NULL, bundle = NULL, user_type = NULL
             WHERE key IN {USER_TURNS}"
        ),
        format!(
            "UPDATE turn_index SET intent = {intent}, has_strategy = 0, language = NULL
             WHERE turn IN {own}"
        ),
        format!(
            "UPDATE baseline_turn_index SET intent = {intent}, language = NULL
             WHERE turn IN {USER_TURNS}"
        ),
        // The answer of another user's turn is not the user's.
        format!("UPDATE baseline_turn_index SET has_strategy = 0 WHERE turn IN {own}"),
        format!("UPDATE turn_facts SET strategy = '' WHERE turn IN {own}"),
        format!("UPDATE baseline_turn_facts SET strategy = '' WHERE turn IN {own}"),
        format!("DELETE FROM turn_vectors WHERE turn IN {own}"),
        format!("DELETE FROM baseline_turn_vectors WHERE turn IN {USER_TURNS}"),
        // Turn-log copies outside the database must be made again.
        format!(
            "INSERT INTO copies_due (turn) SELECT key FROM turns WHERE key IN {USER_TURNS}
             ON CONFLICT (turn) DO NOTHING"
        ),
        format!("UPDATE router_turns SET features = NULL WHERE turn IN {own}"),
        // Touches the rows of chained corrections, so that the similarity index is updated.
        format!(
            "WITH RECURSIVE corrections (turn) AS (
                 SELECT turn FROM turn_index WHERE corrects IN {own}
                 UNION
                 SELECT i.turn FROM corrections c JOIN turn_index i ON i.corrects = c.turn)
             UPDATE turn_vectors SET model = model WHERE turn IN (SELECT turn FROM corrections)"
        ),
    ];
    forget.iter().try_for_each(|sql| connection.run(sql, [user]))
}

/// The positions of a user's events: events that name the user, events that name only one of the
/// user's turns, events that name only a conversation in which no other user has a turn, and spans
/// (type `log`, source `trace`) of a trace in which other spans name the user. With them go events that name nothing but an id of theirs: early outcomes of their decisions, and
/// reports without a user on the queries whose results they have.
///
/// SQLite joins in the order of a `CROSS JOIN`. Without it, the union scans the whole log.
pub(crate) const USER_EVENTS: &str = "
    WITH own_turns AS (
        SELECT DISTINCT t.key, t.conversation FROM events e JOIN turns t ON t.key = e.turn
        WHERE e.user = ?1 AND t.user = ?1),
    own_conversations AS (
        SELECT DISTINCT conversation FROM own_turns o
        WHERE conversation IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM turns other
            WHERE other.conversation = o.conversation AND other.user IS DISTINCT FROM ?1)),
    named (position) AS (
        SELECT position FROM events WHERE user = ?1
        UNION
        SELECT e.position FROM own_turns o CROSS JOIN events e
        WHERE e.turn = o.key AND e.user IS NULL
        UNION
        SELECT e.position FROM own_conversations c CROSS JOIN events e
        WHERE e.conversation = c.conversation AND e.user IS NULL AND e.turn IS NULL
        UNION
        SELECT e.position FROM events own CROSS JOIN events e
        WHERE own.user = ?1 AND own.type = 1 AND own.source = 3
            AND e.turn = own.turn AND e.user IS NULL AND e.type = 1 AND e.source = 3),
    theirs (position) AS (
        SELECT position FROM named
        UNION
        SELECT d.settled FROM own_conversations c CROSS JOIN decisions d
        WHERE d.conversation = c.conversation AND d.settled IS NOT NULL
        UNION
        SELECT d.settled FROM named n CROSS JOIN decisions d
        WHERE d.made = n.position AND d.settled IS NOT NULL
        UNION
        SELECT early.position
        FROM named n CROSS JOIN decisions d CROSS JOIN early_outcomes early
        WHERE d.made = n.position AND early.project = d.project AND early.id = d.id
        UNION
        SELECT e.position
        FROM named n CROSS JOIN returned r CROSS JOIN returned same CROSS JOIN events e
        WHERE r.position = n.position AND same.project = r.project AND same.query = r.query
            AND e.position = same.position AND e.user IS NULL)";

/// Suggestions derived from the user's turns, found by the prefix of their ids.
fn suggestions(connection: &Connection, project: Key, user: Key) -> sql::Result<Vec<i64>> {
    let evidence = match connection.sqlite() {
        Some(_) => "SELECT value FROM json_each(e.data, '$.evidence')",
        None => "SELECT json_array_elements_text(CAST(e.data AS json) -> 'evidence') AS value",
    };
    connection.read_rows(
        &format!(
            "SELECT e.position FROM claims c JOIN events e ON e.position = c.position
             WHERE c.project = ?2 AND c.space = ?3 AND c.id >= 'suggestion.' AND c.id < 'suggestion/'
                 AND EXISTS (
                     SELECT 1 FROM ({evidence}) v
                         JOIN turns t ON t.project = ?2 AND t.id = v.value
                     WHERE t.key IN {USER_TURNS})"
        ),
        (user, project, ClaimSpace::Event.code()),
    )
}

/// Placeholders for [`numbers`]. Short lists repeat their last number, so one plan serves all.
fn pad_positions(positions: &[i64]) -> Vec<i64> {
    let mut padded = positions.to_vec();
    padded.resize(TOGETHER, positions.last().copied().unwrap_or_default());
    padded
}

fn numbers() -> String {
    let numbers: Vec<String> = (1..=TOGETHER).map(|n| format!("?{n}")).collect();
    numbers.join(", ")
}

static READ: LazyLock<String> =
    LazyLock::new(|| format!("{} WHERE e.position IN ({})", event_rows::SELECT, numbers()));

/// Statements for everything deleted along with events.
static BESIDE: LazyLock<[String; 4]> = LazyLock::new(|| {
    let positions = numbers();
    let turns = format!("SELECT turn FROM events WHERE position IN ({positions})");
    // The partial index covers one space. The planner uses it only for a literal, and `INDEXED BY`
    // rules out a full scan.
    let keys = ClaimSpace::RequestKey.code();
    [
        format!(
            "UPDATE turns SET track = NULL, bundle = NULL, user_type = NULL
             WHERE key IN ({turns}) AND opened IN ({positions})"
        ),
        format!("DELETE FROM turn_logs WHERE turn IN ({turns})"),
        // Turn-log copies outside the database must be made again.
        format!(
            "INSERT INTO copies_due (turn) {turns} AND turn IS NOT NULL
             ON CONFLICT (turn) DO NOTHING"
        ),
        format!(
            "UPDATE claims INDEXED BY claims_of_requests SET mac = NULL
             WHERE space = {keys} AND position IN ({positions})"
        ),
    ]
});

fn read_all(
    connection: &Connection,
    scope: &Scope,
    positions: &[i64],
) -> sql::Result<Vec<StoredEvent>> {
    let read = |row: &Row<'_>| {
        event_rows::read_event(row, scope)
            .map_err(|error| sql::Error::Unreadable(error.to_string()))
    };
    connection.read_rows_with(&READ, params_from_iter(pad_positions(positions)), read)
}

fn stub(connection: &Connection, project: Key, stored: &StoredEvent) -> sql::Result<()> {
    let (event, position) = (&stored.event, stored.position.0 as i64);
    let data = event.stub_body().to_json();
    connection
        .run("UPDATE events SET data = ?2, tags = NULL WHERE position = ?1", (position, data))?;
    let turn = event.turn.as_ref().map(|id| id.as_str());
    let made =
        if let Body::Decision(made) = &event.body { made.decision_id.as_ref() } else { None };
    let decision = made.map(|id| id.as_str());
    let claims = [
        (ClaimSpace::Event, Some(event.id.as_str())),
        (ClaimSpace::Turn, turn),
        (ClaimSpace::Completion, turn),
        (ClaimSpace::Decision, decision),
    ];
    let mut forget = connection.prepare_cached(
        "UPDATE claims SET mac = NULL
         WHERE project = ?1 AND space = ?2 AND id = ?3 AND position = ?4",
    )?;
    claims.into_iter().filter_map(|(space, id)| Some((space, id?))).try_for_each(|(space, id)| {
        forget.run((project, space.code(), PackedId::pack(id), position))
    })
}
