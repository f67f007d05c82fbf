-- API keys, with the hash of the secret only. Revoked keys stay in the table: after the first key the
-- server never returns to open mode.
CREATE TABLE keys (
    id         TEXT PRIMARY KEY,
    hash       BLOB NOT NULL,
    tenant     TEXT NOT NULL,
    project    TEXT,
    role       INTEGER NOT NULL,
    rate       INTEGER,
    origin     TEXT,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
) WITHOUT ROWID;
