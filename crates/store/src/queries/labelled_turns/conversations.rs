//! Reads conversations by id.

use model::{ConversationId, Scope, Timestamp};
use sql::Connection;

use super::turn;
use crate::error::StoreError;
use crate::queries::labelled_turns::{ConversationCursor, LabelledConversation, LabelledTurn};
use crate::queries::similar_turns::TurnNumber;
use crate::row_keys::{Key, Table, find_key, find_project};

/// Longer conversations are split.
const PAGE_TURNS: usize = 1000;
const PREFETCH_CONVERSATIONS: i64 = 64;
/// Bounds the work of a page, because conversations without turns do not fill it.
const MAX_IDS: usize = 512;

/// A page and the next cursor. A page may be empty although more follow.
pub(crate) fn page(
    connection: &Connection,
    scope: &Scope,
    behind: ConversationCursor,
    turns: usize,
) -> Result<(Vec<LabelledConversation>, Option<ConversationCursor>), StoreError> {
    let Some(project) = find_project(connection, scope)? else { return Ok((Vec::new(), None)) };
    let (mut found, mut read) = (Vec::new(), 0);
    let mut mark = behind;
    // The rest of the conversation at the cursor; nothing if it is gone.
    if let (Some(id), Some(after)) = (mark.conversation.clone(), mark.turn.take())
        && let Some(key) = find_key(connection, Table::Conversations, project, id.as_str())?
    {
        let stretch = stretch(connection, key, Some(after))?;
        read += stretch.len();
        mark.turn = rest_behind(&stretch);
        if !stretch.is_empty() {
            found.push(LabelledConversation { id, turns: stretch });
        }
    }
    let mut looked_at = 0;
    while read < turns && mark.turn.is_none() && looked_at < MAX_IDS {
        let ids = ids(connection, project, mark.conversation.as_ref())?;
        if ids.is_empty() {
            return Ok((found, None));
        }
        looked_at += ids.len();
        for (key, id) in ids {
            let stretch = stretch(connection, key, None)?;
            read += stretch.len();
            mark =
                ConversationCursor { conversation: Some(id.clone()), turn: rest_behind(&stretch) };
            if !stretch.is_empty() {
                found.push(LabelledConversation { id, turns: stretch });
            }
            if read >= turns || mark.turn.is_some() {
                break;
            }
        }
    }
    Ok((found, Some(mark)))
}

fn rest_behind(stretch: &[LabelledTurn]) -> Option<(Timestamp, TurnNumber)> {
    let last = stretch.last().filter(|_| stretch.len() == PAGE_TURNS)?;
    Some((last.asked_at, last.number))
}

fn ids(
    connection: &Connection,
    project: Key,
    behind: Option<&ConversationId>,
) -> Result<Vec<(Key, ConversationId)>, StoreError> {
    let behind = behind.map_or("", |id| id.as_str());
    connection.read_rows_with(
        "SELECT key, id FROM conversations WHERE project = ?1 AND id > ?2 ORDER BY id LIMIT ?3",
        (project, behind, PREFETCH_CONVERSATIONS),
        |row| {
            let (key, id): (Key, String) = row.read()?;
            let unreadable = |_| StoreError::Corrupt("a conversation has an invalid id".into());
            Ok((key, ConversationId::new(id).map_err(unreadable)?))
        },
    )
}

fn stretch(
    connection: &Connection,
    conversation: Key,
    after: Option<(Timestamp, TurnNumber)>,
) -> Result<Vec<LabelledTurn>, StoreError> {
    let sql = format!(
        "{} WHERE t.conversation = ?1 AND (t.ts, t.key) > (?2, ?3) ORDER BY t.ts, t.key LIMIT ?4",
        turn::SELECT
    );
    let (ts, key) = after.map_or((i64::MIN, 0), |(ts, turn)| (ts.as_micros(), turn.0));
    let values = (conversation, ts, key, PAGE_TURNS as i64);
    connection.read_rows_with(&sql, values, |row| turn::read(connection, row))
}

/// The latest `most` turns before a turn, followed by the turn.
pub(crate) fn up_to(
    connection: &Connection,
    turn: Key,
    most: usize,
) -> Result<Option<Vec<LabelledTurn>>, StoreError> {
    let Some(last) = turn::read_turn(connection, turn)? else { return Ok(None) };
    let sql = format!(
        "{} WHERE t.conversation = (SELECT conversation FROM turns WHERE key = ?2)
             AND (t.ts, t.key) < (?1, ?2)
         ORDER BY t.ts DESC, t.key DESC LIMIT ?3",
        turn::SELECT
    );
    let values = (last.asked_at.as_micros(), turn, most as i64);
    let mut found = connection.read_rows_with(&sql, values, |row| turn::read(connection, row))?;
    found.reverse();
    found.push(last);
    Ok(Some(found))
}
