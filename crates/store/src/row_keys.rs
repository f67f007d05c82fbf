//! Maps text ids to the integer keys and blobs of the tables.

use std::collections::HashMap;
use std::sync::LazyLock;

use model::{ANONYMOUS, EventId, Project, Scope, Tenant};
use sql::{Connection, Row, ToSql, ValueRef};
#[cfg(feature = "scaled")]
use sql::{RowBatch, RowPart};
use uuid::Uuid;

/// The integer key of a project, user, conversation or turn.
pub(crate) type Key = i64;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Table {
    Users,
    Conversations,
    Turns,
}

pub(crate) struct TableStatements {
    #[cfg(feature = "scaled")]
    pub(crate) name: &'static str,
    select: String,
    insert: String,
    /// Inserts a row with a prefetched key.
    #[cfg(feature = "scaled")]
    insert_key: String,
    /// Prefetch the keys of ids, and unused keys.
    #[cfg(feature = "scaled")]
    pub(crate) select_keys: String,
    #[cfg(feature = "scaled")]
    pub(crate) free_keys: String,
}

/// In the order of [`Table`].
pub(crate) static TABLES: LazyLock<[TableStatements; 3]> = LazyLock::new(|| {
    ["users", "conversations", "turns"].map(|name| TableStatements {
        select: format!("SELECT key FROM {name} WHERE project = ?1 AND id = ?2"),
        insert: format!("INSERT INTO {name} (project, id) VALUES (?1, ?2)"),
        #[cfg(feature = "scaled")]
        insert_key: format!("INSERT INTO {name} (key, project, id) VALUES (?1, ?2, ?3)"),
        #[cfg(feature = "scaled")]
        select_keys: format!(
            "SELECT t.project, t.id, t.key
             FROM unnest($1::BIGINT[], $2::TEXT[]) AS asked (project, id)
             JOIN {name} t ON t.project = asked.project AND t.id = asked.id"
        ),
        #[cfg(feature = "scaled")]
        free_keys: format!("SELECT nextval('{name}_key_seq') FROM generate_series(1, $1::BIGINT)"),
        #[cfg(feature = "scaled")]
        name,
    })
});

impl Table {
    fn statements(self) -> &'static TableStatements {
        &TABLES[self as usize]
    }

    #[cfg(feature = "scaled")]
    fn name(self) -> &'static str {
        self.statements().name
    }
}

pub(crate) fn find_key(
    connection: &Connection,
    table: Table,
    project: Key,
    id: &str,
) -> sql::Result<Option<Key>> {
    if sql::is_prefixed() {
        // The caches know the rows of the projections.
        return connection.find_row(&table.statements().select, (project, id));
    }
    #[cfg(feature = "scaled")]
    if let Some(keys) = connection.postgres().map(|session| session.keys()) {
        if let Some(key) = keys.get(table.name(), project, id) {
            return Ok(Some(key));
        }
        if keys.has_none(table.name(), project, id) {
            return Ok(None);
        }
    }
    let found = connection.find_row(&table.statements().select, (project, id))?;
    #[cfg(feature = "scaled")]
    if let (Some(session), Some(key)) = (connection.postgres(), found) {
        session.keys().put(table.name(), project, id, key);
    }
    Ok(found)
}

/// Finds the key of an id, or creates it.
pub(crate) fn resolve_key(
    connection: &Connection,
    table: Table,
    project: Key,
    id: &str,
) -> sql::Result<Key> {
    if let Some(key) = find_key(connection, table, project, id)? {
        return Ok(key);
    }
    if sql::is_prefixed() {
        return connection.read_row(COPY_TURN, (project, id));
    }
    let key = make_key(connection, table, project, id)?;
    #[cfg(feature = "scaled")]
    if let Some(session) = connection.postgres() {
        session.keys().put(table.name(), project, id, key);
        session.memory().made(table.name(), key);
    }
    Ok(key)
}

/// Baselines have turns under the keys of the projections. The quoted table gets no prefix.
const COPY_TURN: &str = "INSERT INTO turns (key, project, id)
    SELECT key, project, id FROM \"turns\" WHERE project = ?1 AND id = ?2 RETURNING key";

fn make_key(connection: &Connection, table: Table, project: Key, id: &str) -> sql::Result<Key> {
    #[cfg(feature = "scaled")]
    if let Some(key) = connection.postgres().and_then(|s| s.keys().take_free(table.name())) {
        let TableStatements { insert_key, name, .. } = table.statements();
        let part = RowPart { table: name, is_new: true, columns: &["key", "project", "id"] };
        connection.add_row(insert_key, RowBatch::Part(part), (key, project, id))?;
        return Ok(key);
    }
    let Some(file) = connection.sqlite() else {
        let insert = format!("{} RETURNING key", table.statements().insert);
        return connection.read_row(&insert, (project, id));
    };
    // Without RETURNING, for which SQLite copies pages until the statement ends.
    connection.execute_cached(&table.statements().insert, (project, id))?;
    Ok(file.last_insert_rowid())
}

/// Finds the key of a scope.
pub(crate) fn find_project(connection: &Connection, scope: &Scope) -> sql::Result<Option<Key>> {
    let (tenant, name) = (scope.tenant.as_str(), scope.project.as_str());
    #[cfg(feature = "scaled")]
    if let Some(key) = connection.postgres().and_then(|s| s.keys().project(tenant, name)) {
        return Ok(Some(key));
    }
    let found = connection
        .find_row("SELECT key FROM projects WHERE tenant = ?1 AND project = ?2", (tenant, name))?;
    #[cfg(feature = "scaled")]
    if let (Some(session), Some(key)) = (connection.postgres(), found) {
        session.keys().put_project(tenant, name, key);
    }
    Ok(found)
}

/// Finds the key of an id in a scope.
pub(crate) fn find_scoped_key(
    connection: &Connection,
    scope: &Scope,
    table: Table,
    id: &str,
) -> sql::Result<Option<Key>> {
    let Some(project) = find_project(connection, scope)? else { return Ok(None) };
    find_key(connection, table, project, id)
}

pub(crate) fn read_project_scope(connection: &Connection, project: Key) -> sql::Result<Scope> {
    connection
        .prepare_cached("SELECT tenant, project FROM projects WHERE key = ?1")?
        .query_row([project], read_scope)
}

/// The keys of a tenant's projects, or of one of them.
pub(crate) fn find_projects(
    connection: &Connection,
    tenant: &Tenant,
    project: Option<&Project>,
) -> sql::Result<Vec<Key>> {
    connection.read_rows(
        "SELECT key FROM projects WHERE tenant = ?1 AND (project = ?2 OR ?2 IS NULL) ORDER BY key",
        (tenant.as_str(), project.map(Project::as_str)),
    )
}

/// All scopes, oldest first.
pub(crate) fn all_scopes(connection: &Connection) -> sql::Result<Vec<Scope>> {
    connection.read_rows_with("SELECT tenant, project FROM projects ORDER BY key", (), read_scope)
}

/// Reads tenant and project from the first two columns.
pub(crate) fn read_scope(row: &Row<'_>) -> sql::Result<Scope> {
    let (tenant, name): (String, String) = (row.get(0)?, row.get(1)?);
    let unreadable = |_| sql::Error::Unreadable("invalid tenant or project id".into());
    Ok(Scope {
        tenant: Tenant::new(tenant).map_err(unreadable)?,
        project: Project::new(name).map_err(unreadable)?,
    })
}

/// Scopes known to the writer. Cleared after a rollback, because their rows may be gone.
#[derive(Debug, Default)]
pub(crate) struct Projects(HashMap<Scope, Key>);

impl Projects {
    /// Finds the key of a scope, or creates it.
    pub(crate) fn resolve_key(
        &mut self,
        connection: &Connection,
        scope: &Scope,
    ) -> sql::Result<Key> {
        if let Some(key) = self.0.get(scope) {
            return Ok(*key);
        }
        let key = match find_project(connection, scope)? {
            Some(key) => key,
            None => connection.read_row(
                "INSERT INTO projects (tenant, project) VALUES (?1, ?2) RETURNING key",
                (scope.tenant.as_str(), scope.project.as_str()),
            )?,
        };
        self.0.insert(scope.clone(), key);
        Ok(key)
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

/// An id as stored: 16 bytes for a UUID in canonical form, otherwise text. Blobs and texts never
/// compare equal in SQLite, so a text cannot match a UUID.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PackedId {
    Uuid([u8; 16]),
    Text(String),
}

impl PackedId {
    pub(crate) fn pack(id: &str) -> Self {
        let usual_form = |uuid: &Uuid| uuid.hyphenated().encode_lower(&mut [0; 36]) == id;
        match Uuid::try_parse(id).ok().filter(usual_form) {
            Some(uuid) => Self::Uuid(uuid.into_bytes()),
            None => Self::Text(id.to_owned()),
        }
    }

    /// For the id of an event that may be a further one of a write: the id of the first, and its
    /// number in the write.
    pub(crate) fn first_of_write(&self) -> Option<(Self, i64)> {
        let Self::Uuid(bytes) = self else { return None };
        // Of most ids this is all there is to do.
        if bytes[6] >> 4 != 7 || bytes[15] == 0 {
            return None;
        }
        let (first, number) = EventId::new(self.text()).ok()?.first_of_write()?;
        Some((Self::pack(first.as_str()), i64::from(number)))
    }

    pub(crate) fn text(&self) -> String {
        match self {
            Self::Uuid(bytes) => Uuid::from_bytes(*bytes).hyphenated().to_string(),
            Self::Text(text) => text.clone(),
        }
    }

    pub(crate) fn read(row: &Row<'_>, column: usize) -> sql::Result<Option<String>> {
        match row.get_ref(column)? {
            ValueRef::Blob(bytes) => match Uuid::from_slice(bytes) {
                Ok(uuid) => Ok(Some(uuid.hyphenated().to_string())),
                Err(_) => Err(sql::Error::Unreadable(format!(
                    "invalid id of {} bytes, expected 16",
                    bytes.len()
                ))),
            },
            ValueRef::Null
            | ValueRef::Integer(_)
            | ValueRef::Real(_)
            | ValueRef::Text(_)
            | ValueRef::Uuid(_) => row.get(column),
        }
    }
}

impl ToSql for PackedId {
    fn to_sql(&self) -> ValueRef<'_> {
        match self {
            Self::Uuid(bytes) => ValueRef::Uuid(bytes),
            Self::Text(text) => ValueRef::Text(text),
        }
    }
}

/// The user of a reaction that names none: the turn's user, otherwise the anonymous user.
pub(crate) fn find_turn_user(
    connection: &Connection,
    project: Key,
    turn: Key,
) -> sql::Result<Option<Key>> {
    // A turn that was not sent may belong to another user than the one whose feedback opened it.
    let select =
        "SELECT u.key FROM turns t LEFT JOIN users u ON u.key = t.user AND u.erased IS NULL
         WHERE t.key = ?1 AND t.opened IS NOT NULL AND t.opened_derived = 0";
    let of_turn: Option<Option<Key>> =
        connection.find_row_with(select, [turn], |row| row.get(0))?;
    match of_turn {
        None => Ok(None),
        Some(Some(user)) => Ok(Some(user)),
        Some(None) => find_key(connection, Table::Users, project, ANONYMOUS),
    }
}
