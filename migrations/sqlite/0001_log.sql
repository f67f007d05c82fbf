-- The event log and its indexes.

-- Facts about this store. `seal_key` is the random key behind MACs and sealed tokens.
CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value BLOB NOT NULL
) WITHOUT ROWID;

-- Text ids are mapped once; everything else refers to the integer.
CREATE TABLE projects (
    key     INTEGER PRIMARY KEY,
    tenant  TEXT NOT NULL,
    project TEXT NOT NULL,
    UNIQUE (tenant, project)
);

-- A user who was erased keeps a row without an id, so that the number is never given to another.
CREATE TABLE users (
    key     INTEGER PRIMARY KEY,
    project INTEGER NOT NULL REFERENCES projects (key),
    id      TEXT,
    erased  INTEGER, -- the position of the erasure event
    UNIQUE (project, id)
);

CREATE TABLE conversations (
    key     INTEGER PRIMARY KEY,
    project INTEGER NOT NULL REFERENCES projects (key),
    id      TEXT NOT NULL,
    UNIQUE (project, id)
);

-- The row exists as soon as an event names the turn; the columns behind `id` are a projection,
-- empty until the turn is opened. `opened` and `completed` are positions in the log.
CREATE TABLE turns (
    key          INTEGER PRIMARY KEY,
    project      INTEGER NOT NULL REFERENCES projects (key),
    id           TEXT NOT NULL,
    conversation INTEGER REFERENCES conversations (key),
    user         INTEGER REFERENCES users (key),
    ts           INTEGER,
    opened       INTEGER,
    completed    INTEGER,
    track        TEXT,
    bundle       TEXT,
    user_type    TEXT,
    UNIQUE (project, id)
);

CREATE INDEX turns_by_conversation ON turns (conversation, ts) WHERE conversation IS NOT NULL;
CREATE INDEX turns_by_track ON turns (project, track) WHERE track IS NOT NULL;

-- The truth. Positions have no gaps. `id` is a 16-byte blob for UUIDs, text otherwise.
CREATE TABLE events (
    position     INTEGER PRIMARY KEY,
    project      INTEGER NOT NULL REFERENCES projects (key),
    type         INTEGER NOT NULL,
    source       INTEGER NOT NULL,
    severity     INTEGER NOT NULL,
    category     INTEGER NOT NULL,
    id           BLOB NOT NULL,
    user         INTEGER REFERENCES users (key),
    conversation INTEGER REFERENCES conversations (key),
    turn         INTEGER REFERENCES turns (key),
    ts           INTEGER NOT NULL,
    received_at  INTEGER NOT NULL,
    tags         TEXT,
    data         TEXT NOT NULL
);

-- A project's part of the log, in order, filtered by type and source without touching the rows.
CREATE INDEX events_by_project ON events (project, position, type, source);

-- The events of a turn, in order. Events without a turn are not in it.
CREATE INDEX events_by_turn ON events (turn, position) WHERE turn IS NOT NULL;

-- The events of a user, for erasure.
CREATE INDEX events_by_user ON events (user, position) WHERE user IS NOT NULL;
CREATE INDEX events_of_conversations ON events (conversation, position)
    WHERE conversation IS NOT NULL AND user IS NULL AND turn IS NULL;

-- Used ids, kept permanently. Neither retention nor erasure removes a row; erasure takes `mac`.
CREATE TABLE claims (
    project  INTEGER NOT NULL,
    space    INTEGER NOT NULL,
    id       BLOB NOT NULL,
    mac      BLOB,
    position INTEGER NOT NULL,
    PRIMARY KEY (project, space, id)
) WITHOUT ROWID;

-- Erasure finds request keys by the position of their event; other ids are in the event itself.
CREATE INDEX claims_of_requests ON claims (position) WHERE space = 2;
